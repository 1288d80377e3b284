/* hot MESSAGES BYTES: every other rank sends to rank 0, which receives as fast as it can; prints the mean time that a
 * sender spent in its sends and the time until rank 0 had everything, in nanoseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, ranks;
    double mine = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int messages = atoi(argv[1]), bytes = atoi(argv[2]);
    char* data = calloc((size_t)bytes + 1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; rank && i < messages; i++)
        MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; !rank && i < messages * (ranks - 1); i++)
        MPI_Recv(data, bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double took = MPI_Wtime() - start;
    if (rank)
        mine = took / (ranks - 1);
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("%.3f %.3f\n", sum * 1e9, took * 1e9);
    MPI_Finalize();
    return 0;
}
