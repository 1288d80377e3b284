/* Regions that a program names: nested, in a loop, by a buffer that is filled anew, across a time without records,
 * begun before MPI_Init, ended after the last, and instants. With -finstrument-functions its functions, too. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "logpost.h"

#define ROUNDS 10

void exchange(int round) {
    char name[32];
    snprintf(name, sizeof name, "parity %d", round % 2);
    logpost_region_begin(name);
    MPI_Barrier(MPI_COMM_WORLD);
    logpost_region_end();
}

void solve(void) {
    logpost_region_begin("solve");
    for (int i = 0; i < ROUNDS; i++)
        exchange(i);
    logpost_marker("solved");
    logpost_region_end();
}

int main(int argc, char** argv) {
    logpost_region_begin("before"); /* nothing is recorded yet: neither this nor its end */
    MPI_Init(&argc, &argv);
    logpost_region_end();
    solve();
    if (argc > 1 && !strcmp(argv[1], "pause")) {
        logpost_region_begin("outer");
        logpost_region_begin("inner");
        logpost_pause();
        logpost_region_end();
        logpost_region_begin("unseen");
        MPI_Barrier(MPI_COMM_WORLD);
        logpost_resume();
        logpost_region_end(); /* of what began unseen */
        MPI_Barrier(MPI_COMM_WORLD);
        logpost_region_end(); /* of outer */
    }
    logpost_region_end(); /* one too many */
    logpost_region_begin("end");
    MPI_Finalize();
    return 0;
}
