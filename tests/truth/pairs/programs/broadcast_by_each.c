/* Ranks broadcast their norms one after another; one MPI_Allgather has those of all. */
#include "pair.h"
#define NORMS 2
#define MOST_RANKS 16

static double norms[MOST_RANKS][NORMS];

REGION static void share_norms(void) {
    if (IS_FIXED) {
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, norms, NORMS, MPI_DOUBLE, MPI_COMM_WORLD);
        return;
    }
    for (int root = 0; root < ranks; ++root)
        MPI_Bcast(norms[root], NORMS, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    for (int step = 0; step < 50000; ++step)
        share_norms();
    pair_end();
    return 0;
}
