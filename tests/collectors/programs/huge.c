/* Sizes beyond 2^31 bytes, in a MiB of memory: a type that names the same MiB 2049 times. And more communicators, one
 * after the other, than a library has room for at once. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    static char memory[1 << 20];
    const int made = argc > 1 ? atoi(argv[1]) : 0;
    int rank, size, bytes = 0;
    MPI_Datatype mib, huge;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(1 << 20, MPI_BYTE, &mib);
    MPI_Type_create_hvector(2049, 1, 0, mib, &huge);
    MPI_Type_commit(&huge);
    if (rank == 0)
        MPI_Send(memory, 1, huge, 1, 5, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(memory, 1, huge, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(memory, 3, huge, 0, MPI_COMM_SELF);
    for (int i = 0; i < made; i++) {
        MPI_Comm twin;
        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        if (i % 100 == 99)
            MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, 6, &bytes, 1, MPI_INT, 1 - rank, 6, twin, MPI_STATUS_IGNORE);
        MPI_Comm_free(&twin);
    }
    MPI_Type_free(&huge);
    MPI_Type_free(&mib);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
