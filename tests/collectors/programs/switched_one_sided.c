/* Rounds of puts, gets and accumulates, while each rank switches recording off and on at its own instants: a round has
 * a fence epoch with a put and a get, and a lock with an accumulate, a flush and a put with a request.
 *
 *   switched_one_sided ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logpost.h"

enum { DOUBLES = 64 };

int main(int argc, char** argv) {
    static double out[DOUBLES], in[DOUBLES];
    const int rounds = argc > 1 ? atoi(argv[1]) : 40;
    int rank, size;
    double *here, one = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(DOUBLES * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &here, &win);
    memset(here, 0, DOUBLES * sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
    const int right = (rank + 1) % size;
    for (int i = 0; i < rounds; i++) {
        MPI_Win_fence(0, win);
        if ((i + rank) % 6 == 2)
            logpost_pause();
        MPI_Put(out, 1 + i % 8, MPI_DOUBLE, right, 8, 1 + i % 8, MPI_DOUBLE, win);
        MPI_Get(in, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, win);
        if ((i + 2 * rank) % 6 == 4)
            logpost_resume();
        MPI_Win_fence(0, win);
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
        MPI_Accumulate(&one, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win);
        if ((i + rank) % 7 == 3)
            logpost_pause();
        MPI_Win_flush(right, win);
        MPI_Request request;
        MPI_Rput(out, 2, MPI_DOUBLE, right, 32, 2, MPI_DOUBLE, win, &request);
        if ((i + rank) % 7 == 5)
            logpost_resume();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_unlock(right, win);
    }
    MPI_Win_fence(0, win);
    if (here[0] != rounds)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (rank == 0)
        printf("rounds %d\n", rounds);
    logpost_pause();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
