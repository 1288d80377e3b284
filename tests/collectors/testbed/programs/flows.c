/* flows BYTES[+US] A B [C D ...]: messages A -> B, C -> D, ... that leave at one moment, or from rank r on
 * (2 r mod 5) x US microseconds after it; prints when each had arrived, in nanoseconds after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logpost_compute.h"

int main(int argc, char** argv) {
    int rank, n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int bytes = atoi(argv[1]);
    MPI_Request requests[64];
    const char* later = strchr(argv[1], '+');
    double arrived = 0;
    for (int i = 2; i + 1 < argc; i += 2)
        if (rank == atoi(argv[i + 1]))
            MPI_Irecv(malloc((size_t)bytes), bytes, MPI_BYTE, atoi(argv[i]), i, MPI_COMM_WORLD, &requests[n++]);
    MPI_Barrier(MPI_COMM_WORLD);
    logpost_compute_seconds(1 - MPI_Wtime() + (later == NULL ? 0 : rank * 2 % 5 * atof(later + 1) * 1e-6));
    for (int i = 2; i + 1 < argc; i += 2)
        if (rank == atoi(argv[i]))
            MPI_Isend(malloc((size_t)bytes), bytes, MPI_BYTE, atoi(argv[i + 1]), i, MPI_COMM_WORLD, &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    arrived = MPI_Wtime();
    for (int i = 2; i + 1 < argc; i += 2)
        if (rank == atoi(argv[i + 1]))
            printf("%d %.6f\n", i / 2 - 1, (arrived - 1) * 1e9);
    MPI_Finalize();
    return 0;
}
