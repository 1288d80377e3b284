/* A row of 4096 doubles is written to the neighbour by one MPI_Put per element; one MPI_Put does the same. */
#include "pair.h"
#define ROW 4096

static double* row;

REGION static void write_row(MPI_Win window) {
    const int to = 1 - rank;
    MPI_Win_fence(0, window);
    if (IS_FIXED)
        MPI_Put(row, ROW, MPI_DOUBLE, to, 0, ROW, MPI_DOUBLE, window);
    else
        for (int i = 0; i < ROW; ++i)
            MPI_Put(row + i, 1, MPI_DOUBLE, to, i, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
}

int main(int argc, char** argv) {
    MPI_Win window;
    double* memory;
    pair_begin(&argc, &argv);
    row = pair_memory(sizeof *row * ROW);
    MPI_Win_allocate(sizeof *memory * ROW, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int step = 0; step < 200; ++step) {
        write_row(window);
    }
    MPI_Win_free(&window);
    pair_end();
    return 0;
}
