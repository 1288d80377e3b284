/* together BYTES: every other rank sends to rank 0 synchronously from the start, and rank 0 waits for all of them in
 * one call; prints the time that it waits, in nanoseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { MOST = 16 };
    int rank, ranks;
    MPI_Request requests[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int bytes = atoi(argv[1]);
    char* data = calloc((size_t)bytes * MOST, 1);
    for (int from = 1; !rank && from < ranks; from++)
        MPI_Irecv(data + (size_t)from * (size_t)bytes, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests[from - 1]);
    const double start = MPI_Wtime();
    if (rank)
        MPI_Ssend(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    else
        MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
    if (!rank)
        printf("%.3f\n", (MPI_Wtime() - start) * 1e9);
    free(data);
    MPI_Finalize();
    return 0;
}
