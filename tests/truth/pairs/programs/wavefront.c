/* A sweep hands its whole boundary on when the rank's block is done, so ranks work one after another; tiles of an
 * eighth let the next rank begin early. */
#include "pair.h"
#define BOUNDARY 8192

static double boundary[BOUNDARY];

REGION static void sweep_tile(double ms) {
    pair_sleep(ms);
}

REGION static void sweep(void) {
    const int tiles = IS_FIXED ? 8 : 1, count = BOUNDARY / tiles;
    for (int tile = 0; tile < tiles; ++tile) {
        if (rank > 0)
            MPI_Recv(boundary + tile * count, count, MPI_DOUBLE, rank - 1, tile, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sweep_tile(16.0 / tiles);
        if (rank < ranks - 1)
            MPI_Send(boundary + tile * count, count, MPI_DOUBLE, rank + 1, tile, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    double norm = 0, all;
    pair_begin(&argc, &argv);
    for (int step = 0; step < 8; ++step) {
        sweep();
        MPI_Allreduce(&norm, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    pair_end();
    return 0;
}
