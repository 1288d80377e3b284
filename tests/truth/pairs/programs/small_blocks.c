/* A sweep over a plane whose columns are shared out hands on the last value of each row, 8 bytes behind a microsecond
 * of work; 16 rows in one message let the next rank begin 16 rows later. */
#include "pair.h"
enum { ROWS = 2000, COLUMNS = 400 };

static double plane[ROWS][COLUMNS], left[ROWS], right[ROWS];

REGION static void sweep_rows(int first, int count) {
    for (int i = first; i < first + count; ++i) {
        double value = left[i];
        for (int j = 0; j < COLUMNS; ++j)
            value = plane[i][j] = 0.5 * (value + plane[i][j]);
        right[i] = value;
    }
}

REGION static void sweep(void) {
    const int together = IS_FIXED ? 16 : 1;
    for (int i = 0; i < ROWS; i += together) {
        if (rank > 0)
            MPI_Recv(left + i, together, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sweep_rows(i, together);
        if (rank < ranks - 1)
            MPI_Send(right + i, together, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    double norm = 0, all;
    pair_begin(&argc, &argv);
    for (int step = 0; step < 60; ++step) {
        sweep();
        MPI_Allreduce(&norm, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    pair_end();
    return 0;
}
