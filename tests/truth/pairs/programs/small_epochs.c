/* A sweep over a plane whose columns are shared out puts the last value of each row into the next rank's memory, 8
 * bytes behind a microsecond of work, in an epoch each; 16 rows in one epoch let the next rank begin 16 rows later. */
#include "pair.h"
enum { ROWS = 2000, COLUMNS = 400 };

static double plane[ROWS][COLUMNS], left[ROWS], right[ROWS];
static MPI_Win lefts;
static MPI_Group before, behind;

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
        if (rank > 0) {
            MPI_Win_post(before, 0, lefts);
            MPI_Win_wait(lefts);
        }
        sweep_rows(i, together);
        if (rank < ranks - 1) {
            MPI_Win_start(behind, 0, lefts);
            MPI_Put(right + i, together, MPI_DOUBLE, rank + 1, i, together, MPI_DOUBLE, lefts);
            MPI_Win_complete(lefts);
        }
    }
}

static void include(MPI_Group every, int one, MPI_Group* group) {
    const int among = one >= 0 && one < ranks;
    MPI_Group_incl(every, among, &one, group);
}

int main(int argc, char** argv) {
    double norm = 0, all;
    MPI_Group every;
    pair_begin(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &every);
    include(every, rank - 1, &before);
    include(every, rank + 1, &behind);
    MPI_Win_create(left, sizeof left, sizeof *left, MPI_INFO_NULL, MPI_COMM_WORLD, &lefts);
    for (int step = 0; step < 60; ++step) {
        sweep();
        MPI_Allreduce(&norm, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Win_free(&lefts);
    pair_end();
    return 0;
}
