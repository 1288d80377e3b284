/* Every rank reports each of its counters to rank 0 by a synchronous message of 8 bytes; one gather does the same. */
#include "pair.h"
#define COUNTERS 1500

REGION static void count(void) {
    pair_sleep(5);
}

REGION static void report_counters(long* all) {
    long mine[COUNTERS];
    for (int i = 0; i < COUNTERS; ++i)
        mine[i] = rank + i;
    if (IS_FIXED) {
        MPI_Gather(mine, COUNTERS, MPI_LONG, all, COUNTERS, MPI_LONG, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        for (int i = 0; i < (ranks - 1) * COUNTERS; ++i)
            MPI_Recv(all + i, 1, MPI_LONG, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < COUNTERS; ++i)
            MPI_Ssend(mine + i, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    long* all = pair_memory(sizeof(long) * COUNTERS * (size_t)ranks);
    for (int step = 0; step < 12; ++step) {
        count();
        report_counters(all);
    }
    pair_end();
    return 0;
}
