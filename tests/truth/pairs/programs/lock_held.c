/* Each rank computes its contribution of 3 ms while it has the exclusive lock of rank 0's window; before the lock it
 * would keep no other rank waiting. */
#include "pair.h"

REGION static double contribution(void) {
    pair_sleep(3);
    return 1.0;
}

REGION static void add_to_total(MPI_Win window) {
    double value = IS_FIXED ? contribution() : 0.0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    if (!IS_FIXED)
        value = contribution();
    MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_unlock(0, window);
}

int main(int argc, char** argv) {
    MPI_Win window;
    double* memory;
    pair_begin(&argc, &argv);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int step = 0; step < 20; ++step)
        add_to_total(window);
    MPI_Win_free(&window);
    pair_end();
    return 0;
}
