/* Each of 1000 values is written to the neighbour in a separate epoch; one epoch has all of them. */
#include "pair.h"
#define VALUES 1000

static double values[VALUES];

REGION static void write_values(MPI_Win window) {
    const int to = 1 - rank;
    if (IS_FIXED)
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
    for (int i = 0; i < VALUES; ++i) {
        if (!IS_FIXED)
            MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
        MPI_Put(values + i, 1, MPI_DOUBLE, to, i, 1, MPI_DOUBLE, window);
        if (!IS_FIXED)
            MPI_Win_unlock(to, window);
    }
    if (IS_FIXED)
        MPI_Win_unlock(to, window);
}

int main(int argc, char** argv) {
    MPI_Win window;
    double* memory;
    pair_begin(&argc, &argv);
    MPI_Win_allocate(sizeof *memory * VALUES, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int step = 0; step < 100; ++step) {
        write_values(window);
        pair_spin(0.5);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    pair_end();
    return 0;
}
