/* Rank 1 ends within a call, in the way that the first argument names; rank 0 waits for it. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* how;

static void handler(MPI_Comm* comm, int* code, ...) {
    if (!strcmp(how, "exec"))
        execl("/bin/false", "false", (char*)0);
    exit(7);
}

int main(int argc, char** argv) {
    int rank, x = 0;
    MPI_Errhandler mine;
    how = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (!strcmp(how, "mpi_abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    else
        MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
    return 0;
}
