/* Calls from places that a test can name: the words after "at" are in the lines that they name. */
#include <mpi.h>

static double in = 1, out;

__attribute__((noinline)) void twice(int n) {
    volatile char room[n]; /* a frame of varying size: no fixed distance to the caller's */
    room[0] = 1;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* at first */
    in += room[0];
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* at second */
    room[n - 1] = 1;
}

static inline __attribute__((always_inline)) void inlined(void) {
    MPI_Barrier(MPI_COMM_WORLD); /* at barrier */
    in += 1;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv); /* at init */
    MPI_Pcontrol(3);        /* at level */
    for (int i = 0; i < 40; i++)
        twice(8 + 16 * (i % 3)); /* at loop */
    inlined();                   /* at inlined */
    twice(7);                    /* at last */
    MPI_Finalize();              /* at finalize */
    return 0;
}
