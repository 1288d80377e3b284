/* A plug-in that uses MPI, opened by host.c as Python opens mpi4py: the host knows no MPI. */
#include <mpi.h>

int run(void) {
    int rank, x = 0, y;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(&x, 1, MPI_INT, 1 - rank, 5, &y, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
