/* A shift along a ring by blocking synchronous sends: each rank but the last receives and unpacks before it sends, so
 * the shift runs through the ranks one by one. MPI_Sendrecv shifts on all ranks concurrently. */
#include "pair.h"
#define COUNT 20000

static double out[COUNT], in[COUNT];

REGION static void unpack(void) {
    pair_sleep(4);
}

REGION static void shift(void) {
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    if (IS_FIXED) {
        MPI_Sendrecv(out, COUNT, MPI_DOUBLE, right, 0, in, COUNT, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        unpack();
    } else if (rank == 0) {
        MPI_Ssend(out, COUNT, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
        MPI_Recv(in, COUNT, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unpack();
    } else {
        MPI_Recv(in, COUNT, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unpack();
        MPI_Ssend(out, COUNT, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    for (int step = 0; step < 15; ++step) {
        pair_sleep(4);
        shift();
    }
    pair_end();
    return 0;
}
