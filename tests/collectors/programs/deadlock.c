/* Four ranks that never end: 0 and 1 receive from each other, 2 waits for two receives, 3 is in a barrier. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, x = 0, y = 0;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) {
        MPI_Recv(&x, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 2) {
        MPI_Irecv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
