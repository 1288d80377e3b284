/* One rank receives nearly all of an MPI_Alltoallv and works on what it received; divided evenly, all ranks work. */
#include "pair.h"
#define WHOLE 65536

static char *out, *in;
static int counts_out[64], counts_in[64], places[64];

REGION static void process(int bytes) {
    pair_sleep(24.0 * bytes / WHOLE);
}

REGION static void redistribute(void) {
    int mine = 0;
    for (int other = 0; other < ranks; ++other) {
        const int giant = WHOLE / ranks - (ranks - 1) * 64;
        counts_out[other] = IS_FIXED ? WHOLE / ranks / ranks : other == 1 ? giant : 64;
        counts_in[other] = IS_FIXED ? WHOLE / ranks / ranks : rank == 1 ? giant : 64;
        places[other] = other * (WHOLE / ranks);
        mine += counts_in[other];
    }
    MPI_Alltoallv(out, counts_out, places, MPI_CHAR, in, counts_in, places, MPI_CHAR, MPI_COMM_WORLD);
    process(mine);
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    out = pair_memory(2 * WHOLE);
    in = pair_memory(2 * WHOLE);
    for (int step = 0; step < 15; ++step)
        redistribute();
    pair_end();
    return 0;
}
