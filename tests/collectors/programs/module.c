/* A module for more than one version of MPI, as mpi4py's wheel has: it calls what only some have where it finds it. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

int MPI_Send_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm) __attribute__((weak));

int run(void) {
    int rank, size, rc, x = 7, y = 0;
    if (MPI_Init(0, 0) || MPI_Comm_rank(MPI_COMM_WORLD, &rank) || MPI_Comm_size(MPI_COMM_WORLD, &size))
        return 1;
    int to = (rank + 1) % size;
    MPI_Request request;
    MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
    rc = MPI_Send_c ? MPI_Send_c(&x, 1, MPI_INT, to, 5, MPI_COMM_WORLD)
                    : MPI_Send(&x, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
    if (rc)
        return printf("MPI_Send failed: %d\n", rc), 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return y != 7;
}
