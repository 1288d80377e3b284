/* What the programs of all pairs share: -DFIXED compiles the variant without the loss.
 *
 * pair_sleep(ms) is work that needs no core, so that ranks may outnumber cores; pair_spin(ms) is work of a core.
 * pair_begin() and pair_end() bound what is measured; rank 0 prints "seconds S".
 */
#ifndef PAIR_H
#define PAIR_H

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#ifdef FIXED
#define IS_FIXED 1
#else
#define IS_FIXED 0
#endif

/* A function that the stacks of a recording show under its name. */
#define REGION __attribute__((noinline))

static int rank, ranks;
static double pair_began;

/* The deadline is absolute: a late wake-up of one sleep does not move the end of the next. */
REGION static void pair_sleep(double ms) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    long long ns = end.tv_nsec + (long long)(ms * 1e6);
    end.tv_sec += (time_t)(ns / 1000000000LL);
    end.tv_nsec = (long)(ns % 1000000000LL);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {
    }
}

REGION static void pair_spin(double ms) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const double end = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6 + ms;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6 < end);
}

static void pair_begin(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0); /* ns; the default of 50,000 lengthens every sleep */
    MPI_Barrier(MPI_COMM_WORLD);
    pair_began = MPI_Wtime();
}

static void pair_end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f\n", MPI_Wtime() - pair_began);
    MPI_Finalize();
    (void)pair_sleep;
    (void)pair_spin;
}

static void* pair_memory(size_t bytes) {
    void* memory = calloc(1, bytes);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

#endif
