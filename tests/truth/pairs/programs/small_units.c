/* A master hands out units of 1 ms and needs 1 ms to prepare a reply: three workers wait for it. Units of 8 ms need
 * an eighth of the replies. */
#include "pair.h"
#define UNITS 240

REGION static void prepare(void) {
    pair_sleep(1);
}

REGION static void work_unit(double ms) {
    pair_sleep(ms);
}

REGION static void master(int in_one) {
    int unit, left = UNITS, ended = 0;
    MPI_Status status;
    while (ended < ranks - 1) {
        MPI_Recv(&unit, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        unit = left < in_one ? left : in_one;
        left -= unit;
        if (unit)
            prepare();
        else
            ++ended;
        MPI_Send(&unit, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
    }
}

REGION static void worker(void) {
    int unit = 0;
    do {
        MPI_Send(&unit, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&unit, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (unit)
            work_unit(unit);
    } while (unit);
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    if (rank == 0)
        master(IS_FIXED ? 8 : 1);
    else
        worker();
    pair_end();
    return 0;
}
