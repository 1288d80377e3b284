/* Collective operations of an inter-communicator in which one group gives and the other gets, the last rank late. */
#include <mpi.h>
#include <unistd.h>

enum { COUNT = 4, MOST = 64, ROUNDS = 3, LATE_US = 20000 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int gets = rank >= size / 2;
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, gets, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, gets ? 0 : size / 2, 7, &inter);
    int given[MOST] = {rank}, got[MOST];
    int give = gets ? 0 : COUNT, get = gets ? COUNT : 0;
    for (int i = 0; i < ROUNDS; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1)
            usleep(LATE_US);
        MPI_Allgather(given, give, MPI_INT, got, get, MPI_INT, inter);
        MPI_Request request;
        MPI_Iallgather(given, give, MPI_INT, got, get, MPI_INT, inter, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Alltoall(given, give, MPI_INT, got, get, MPI_INT, inter);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
