/* The receiver of a large message works for 8 ms before it posts the receive; its sender cannot continue before that.
 */
#include "pair.h"
#define BYTES (1 << 20)

REGION static void update_particles(void) {
    pair_sleep(8);
}

REGION static void sort_particles(void) {
    pair_sleep(8);
}

REGION static void emigrate(char* block) {
    MPI_Send(block, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    sort_particles();
    MPI_Send(block, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
}

REGION static void immigrate(char* block) {
    if (!IS_FIXED)
        update_particles();
    MPI_Recv(block, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (IS_FIXED)
        update_particles();
    MPI_Recv(block, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    char* block = pair_memory(BYTES);
    for (int step = 0; step < 25; ++step) {
        if (rank == 0)
            emigrate(block);
        else
            immigrate(block);
    }
    pair_end();
    return 0;
}
