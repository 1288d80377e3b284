/* The ranks that run a program together, whatever carries their data: MPI ranks (team_mpi.c) or OpenSHMEM processing
 * elements (team_shmem.c). For what happens in addition to the communication that an application is about: checks,
 * results, barriers between phases. */
#ifndef LOGPOST_WORKLOADS_TEAM_H
#define LOGPOST_WORKLOADS_TEAM_H

#include <stdint.h>

struct team {
    int rank, ranks;
    void* group; /* of the library's own; NULL: this rank alone */
};

/* Starts the library; all ranks, named after the program. */
struct team team_open(int argc, char** argv, const char* name);

/* Ends the library. */
void team_close(struct team* team);

/* The same ranks under another name, for communication that a trace should show apart. Collective. */
struct team team_again(const struct team* team, const char* name);
void team_drop(struct team* team);

/* This rank alone: what a program compares its result with. */
struct team team_alone(void);

/* Seconds since some time in the past: of the wall clock, or simulated ones. */
double team_seconds(void);

/* Collective from here on; results are the same on all ranks. */
void team_barrier(const struct team* team);
void team_sum(const struct team* team, double* values, int n);
void team_sum_words(const struct team* team, uint64_t* values, int n);
double team_largest(const struct team* team, double value);
int team_lowest(const struct team* team, int value);

/* Everybody's `doubles[rank]` values, rank after rank. */
void team_gather(const struct team* team, const double* mine, const int* doubles, double* all);

/* The same `n` words of every rank, rank after rank. */
void team_gather_words(const struct team* team, const int64_t* mine, int n, int64_t* all);

#endif
