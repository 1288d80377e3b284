/* 100 barriers, of which those before the recording's start are not to be kept; then rank 0 requests an archive, and so
 * many seconds later all ends with one barrier more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "logpost.h"

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int start = argc > 2 ? atoi(argv[2]) : -1;
    for (int i = 0; i < 100; i++) {
        if (i == start)
            logpost_start();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        logpost_dump();
    sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
