/* Each rank sends a block to every other one, in the order 0, 1, 2, ...; the owner unpacks a block for 6 ms before it
 * accepts the next. Rotated orders keep all owners busy. */
#include "pair.h"
#define BLOCK 65536

static char *blocks, *arrived;

REGION static void unpack(void) {
    pair_sleep(6);
}

REGION static void transpose(void) {
    MPI_Request request;
    int flag, unpacked = 0;
    MPI_Status status;
    for (int k = 0; k < ranks; ++k) {
        const int to = IS_FIXED ? (rank + 1 + k) % ranks : k;
        int sent = to == rank;
        if (!sent)
            MPI_Issend(blocks, BLOCK, MPI_CHAR, to, 0, MPI_COMM_WORLD, &request);
        while (!sent || (k == ranks - 1 && unpacked < ranks - 1)) {
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &status);
            if (flag) {
                MPI_Recv(arrived, BLOCK, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                unpack();
                ++unpacked;
            }
            if (!sent)
                MPI_Test(&request, &sent, MPI_STATUS_IGNORE);
            if (!flag)
                pair_sleep(0.1);
        }
    }
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    blocks = pair_memory(BLOCK);
    arrived = pair_memory(BLOCK);
    for (int step = 0; step < 8; ++step) {
        transpose();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pair_end();
    return 0;
}
