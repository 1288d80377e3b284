/* Ten messages each way between two ranks, and three barriers. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        if (i % 2 == rank)
            MPI_Send(&i, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
        else
            MPI_Recv(&number, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
