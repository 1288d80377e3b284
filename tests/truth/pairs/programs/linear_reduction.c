/* Rank 0 receives and merges the histogram of every rank, 3 ms each; in a tree pairs of ranks merge concurrently. */
#include "pair.h"
#define COUNT 2000

static double histogram[COUNT], other[COUNT];

REGION static void merge(void) {
    pair_sleep(3);
}

REGION static void receive_from(int from) {
    MPI_Recv(other, COUNT, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    merge();
}

REGION static void reduce_histogram(void) {
    if (!IS_FIXED) {
        for (int from = 1; rank == 0 && from < ranks; ++from)
            receive_from(from);
        if (rank > 0)
            MPI_Send(histogram, COUNT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        return;
    }
    for (int step = 1; step < ranks; step *= 2) {
        if (rank & step) {
            MPI_Send(histogram, COUNT, MPI_DOUBLE, rank - step, 0, MPI_COMM_WORLD);
            return;
        }
        if (rank + step < ranks)
            receive_from(rank + step);
    }
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    for (int step = 0; step < 12; ++step) {
        pair_sleep(5);
        reduce_histogram();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pair_end();
    return 0;
}
