/* A fence behind every MPI_Put keeps all ranks in step although each part is long on another rank; one fence per step
 * completes all of them. */
#include "pair.h"

static double value[8];

REGION static void compute_part(int part) {
    pair_sleep(part % ranks == rank ? 6 : 1);
}

REGION static void put_parts(MPI_Win window) {
    for (int part = 0; part < 4; ++part) {
        compute_part(part);
        MPI_Put(value + part, 1, MPI_DOUBLE, (rank + 1) % ranks, part, 1, MPI_DOUBLE, window);
        if (!IS_FIXED || part == 3)
            MPI_Win_fence(0, window);
    }
}

int main(int argc, char** argv) {
    MPI_Win window;
    double* memory;
    pair_begin(&argc, &argv);
    MPI_Win_allocate(8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    for (int step = 0; step < 15; ++step)
        put_parts(window);
    MPI_Win_free(&window);
    pair_end();
    return 0;
}
