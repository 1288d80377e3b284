/* Each of 2000 values is read by MPI_Get and MPI_Win_flush; one flush behind all reads keeps them in flight together.
 */
#include "pair.h"
#define VALUES 2000

static double values[VALUES];

REGION static void read_values(MPI_Win window) {
    for (int i = 0; i < VALUES; ++i) {
        MPI_Get(values + i, 1, MPI_DOUBLE, 1 - rank, i, 1, MPI_DOUBLE, window);
        if (!IS_FIXED)
            MPI_Win_flush(1 - rank, window);
    }
    MPI_Win_flush(1 - rank, window);
}

int main(int argc, char** argv) {
    MPI_Win window;
    double* memory;
    pair_begin(&argc, &argv);
    MPI_Win_allocate(sizeof *memory * VALUES, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    for (int step = 0; step < 100; ++step)
        read_values(window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    pair_end();
    return 0;
}
