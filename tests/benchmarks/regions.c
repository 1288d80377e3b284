/* What a region costs, and a call while recording is off: the fastest of many batches, in ns per pair or call. */
#include <mpi.h>
#include <stdio.h>

#include "logpost.h"

#define BATCHES 400
#define EACH 1000

static double fastest(void (*one)(void)) {
    double best = 1;
    for (int b = 0; b < BATCHES; b++) {
        double begin = MPI_Wtime();
        for (int i = 0; i < EACH; i++)
            one();
        double took = MPI_Wtime() - begin;
        best = took < best ? took : best;
    }
    return best / EACH * 1e9;
}

static void region(void) {
    logpost_region_begin("solve");
    logpost_region_end();
}

__attribute__((noinline)) static void called(void) {
    __asm__ volatile("");
}

static void call(void) {
    int flag;
    MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    double empty = fastest(called), pair = fastest(region), on = fastest(call);
    logpost_pause();
    double off = fastest(call), pair_off = fastest(region);
    logpost_resume();
    printf("empty_ns=%.2f pair_ns=%.2f pair_off_ns=%.2f call_ns=%.2f call_off_ns=%.2f\n", empty, pair, pair_off, on,
           off);
    MPI_Finalize();
    return 0;
}
