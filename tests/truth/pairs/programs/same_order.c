/* Each rank sends a block to every other one, in the order 0, 1, 2, ...; all share the link of rank 0, then that of
 * rank 1. Rotated orders use all links at once. */
#include "pair.h"
#define BLOCK 98304

static char *blocks, *arrived;

REGION static void transform(void) {
    pair_sleep(2);
}

REGION static void transpose(void) {
    MPI_Request requests[64];
    int count = 0;
    for (int from = 0; from < ranks; ++from)
        if (from != rank)
            MPI_Irecv(arrived + (size_t)from * BLOCK, BLOCK, MPI_CHAR, from, 0, MPI_COMM_WORLD, requests + count++);
    for (int k = 0; k < ranks; ++k) {
        const int to = IS_FIXED ? (rank + 1 + k) % ranks : k;
        if (to != rank)
            MPI_Send(blocks + (size_t)to * BLOCK, BLOCK, MPI_CHAR, to, 0, MPI_COMM_WORLD);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    blocks = pair_memory((size_t)ranks * BLOCK);
    arrived = pair_memory((size_t)ranks * BLOCK);
    for (int step = 0; step < 30; ++step) {
        transform();
        transpose();
    }
    pair_end();
    return 0;
}
