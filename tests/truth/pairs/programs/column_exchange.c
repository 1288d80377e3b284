/* Two ranks exchange boundary columns of their tiles of a row-major matrix: one strided datatype of single elements, or
 * packed. */
#include "pair.h"
#define ROWS 4096
#define COLUMNS 512
#define HALO 8

static double *tile, *out, *in;

REGION static void relax(void) {
    for (int row = 0; row < ROWS; ++row)
        for (int column = HALO; column < COLUMNS - HALO; column += 64)
            tile[row * COLUMNS + column] = 0.5 * tile[row * COLUMNS + column - 1] + 1.0;
}

REGION static void exchange_columns(MPI_Datatype columns) {
    const int other = 1 - rank;
    if (!IS_FIXED) {
        for (int column = 0; column < HALO; ++column)
            MPI_Sendrecv(tile + COLUMNS - 2 * HALO + column, 1, columns, other, column, tile + column, 1, columns,
                         other, column, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int row = 0; row < ROWS; ++row)
        memcpy(out + row * HALO, tile + row * COLUMNS + COLUMNS - 2 * HALO, HALO * sizeof *out);
    MPI_Sendrecv(out, ROWS * HALO, MPI_DOUBLE, other, 0, in, ROWS * HALO, MPI_DOUBLE, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int row = 0; row < ROWS; ++row)
        memcpy(tile + row * COLUMNS, in + row * HALO, HALO * sizeof *in);
}

int main(int argc, char** argv) {
    MPI_Datatype columns;
    pair_begin(&argc, &argv);
    tile = pair_memory(sizeof *tile * ROWS * COLUMNS);
    out = pair_memory(sizeof *out * ROWS * HALO);
    in = pair_memory(sizeof *in * ROWS * HALO);
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &columns);
    MPI_Type_commit(&columns);
    for (int step = 0; step < 150; ++step) {
        relax();
        exchange_columns(columns);
    }
    MPI_Type_free(&columns);
    pair_end();
    return 0;
}
