/* Two ranks exchange 50 messages; then the program ends in the way that the first argument names. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 50; i++)
        if (rank == 0)
            MPI_Send(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        else
            MPI_Recv(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(200000); /* the other one gets out of the barrier before the launcher ends it */
    if (!strcmp(argv[1], "exit"))
        exit(7);
    if (!strcmp(argv[1], "_exit"))
        _exit(7);
    if (!strcmp(argv[1], "abort"))
        abort();
    if (!strcmp(argv[1], "segv"))
        raise(SIGSEGV);
    if (!strcmp(argv[1], "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(argv[1], "mpi_abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    for (;;)
        MPI_Recv(&x, 1, MPI_INT, 1 - rank, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* "hang" */
}
