/* Rank 0 probes its sources in the order of their ranks, and rank 1 is the slowest: what has arrived of the others is
 * not worked on. MPI_ANY_SOURCE takes what is there. */
#include "pair.h"

REGION static void digest(void) {
    pair_sleep(4);
}

REGION static void compute(void) {
    pair_sleep(4 * (ranks - rank));
}

REGION static void collect(void) {
    char text[64];
    MPI_Status status;
    for (int from = 1; from < ranks; ++from) {
        MPI_Probe(IS_FIXED ? MPI_ANY_SOURCE : from, 0, MPI_COMM_WORLD, &status);
        MPI_Recv(text, 64, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        digest();
    }
}

int main(int argc, char** argv) {
    char text[64] = "";
    pair_begin(&argc, &argv);
    for (int step = 0; step < 15; ++step) {
        if (rank == 0)
            collect();
        else {
            compute();
            MPI_Send(text, 64, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pair_end();
    return 0;
}
