/* A library call duplicates its communicator on every entry and frees it; it could keep the duplicate. */
#include "pair.h"

static MPI_Comm kept = MPI_COMM_NULL;

REGION static double norm(double mine) {
    double all;
    if (kept == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, kept);
    if (!IS_FIXED)
        MPI_Comm_free(&kept);
    return all;
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    double value = 1.0;
    for (int step = 0; step < 3000; ++step) {
        pair_spin(0.01);
        value = norm(value) / ranks;
    }
    if (kept != MPI_COMM_NULL)
        MPI_Comm_free(&kept);
    pair_end();
    return value > 0 ? 0 : 1;
}
