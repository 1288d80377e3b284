/* What every calibration program needs: options, the places of the ranks, a clock, computation, batches of samples,
 * output.
 *
 *   --output FILE    where rank 0 writes the JSON lines (machines/calibration/samples.py declares their keys)
 *   --budget-s S     time that the program may measure for; each visit to a point gets its share of what is left
 *   --rounds N       visits to each point; the list of points is gone through N times
 *   --batch N        samples in a batch (LOGP 3.3: 50)
 *   --bind 0         leave ranks unbound that the launcher left unbound; by default each gets a separate processor
 *   --accuracy F     a visit ends when the half width of the median's 95 % interval is below F of it (LOGP 3.3: 0.05)
 *
 * A sample is the mean over as many repetitions as make it long against the clock. The interval of a visit comes from
 * order statistics of its samples, without a distribution assumed; what a second calibration may differ by comes from
 * the spread between visits, which the caller of the program looks at.
 *
 * Ranks of one simulated run (SimGrid SMPI) are threads of one process: no state outside of struct cal. */
#ifndef LOGPOST_CALIBRATION_H
#define LOGPOST_CALIBRATION_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cal_list {
    int count;
    double* value;
};

/* The communicator of rank 0 (its rank 0) and one partner (its rank 1) of a locality class; MPI_COMM_NULL at all
 * others. */
struct cal_pair {
    MPI_Comm comm;
    const char* locality;
};

struct cal_result {
    double minimum_s, median_s, mean_s, half_width_s;
    double lowest_s, highest_s; /* medians of the fastest and the slowest timer */
    int samples, batches;
    int repeat; /* repetitions in a sample */
    bool reached;
};

struct cal {
    int rank, ranks;
    int argc;
    char** argv;
    FILE* out; /* of rank 0 */
    double budget_s, started_s, accuracy;
    double sample_s;    /* how long a sample is at least, by repetitions: long against the clock */
    int most_batches;   /* in a visit */
    double until_s;     /* no sample begins then, and a visit that is not over is dropped; 0: no such end */
    bool over;          /* the end is reached: visits do nothing any more, and have no samples */
    double visits_left; /* of rank 0: it is there at all */
    bool counting;      /* visits are only counted: see cal_rounds */
    int rounds, batch;
    int crowded; /* some host has more ranks than processors */
    double clock_cost_s, clock_resolution_s, spins_per_s;
    struct cal_place* places; /* of all ranks */
    struct cal_pair pairs[3];
    int pair_count;
};

/* Starts MPI, reads the options above, writes the host line, finds the pairs. Bad options end the program with
 * status 2. */
void cal_open(struct cal* c, int argc, char** argv);
int cal_close(struct cal* c);

/* Ends all ranks with status 2 and one line on stderr. */
_Noreturn void cal_refuse(const struct cal* c, const char* what, const char* value);

double cal_number(const struct cal* c, const char* option, double otherwise);
struct cal_list cal_list(const struct cal* c, const char* option, const char* otherwise);
/* The largest number of a list; 0 of an empty one. */
double cal_largest(struct cal_list list);
bool cal_wants(const struct cal* c, const char* option, const char* word, const char* otherwise);

/* Locality class of the farthest pair that the ranks of two lists form (a[i] with b[i]). */
const char* cal_farthest(const struct cal* c, const int* a, const int* b, int pairs);

/* The group of the ranks of two lists, in the order of from, then to; MPI_COMM_NULL at all others. */
MPI_Comm cal_stream_group(const struct cal* c, const int* from, const int* to, int pairs);

/* All ranks meet. Where a host has more ranks than processors those that wait sleep: they would take a core from those
 * that measure. Elsewhere they don't, because a scheduler moves the ranks that it wakes. */
void cal_rest(const struct cal* c);

double cal_now(void);
/* Time since start_s without the clock's own cost, not below 0. */
double cal_since(const struct cal* c, double start_s);
/* Computation of about s seconds without any MPI call; simulated execution of s seconds under SMPI. */
void cal_compute(const struct cal* c, double seconds);

/* Memory that has been written to, 64-byte aligned; ends the program when there is none. */
void* cal_memory(const struct cal* c, int64_t bytes);
void cal_release(const struct cal* c, void* memory);

/* One sample: `repeat` repetitions by all members of the group; returns seconds per operation at the timers. */
typedef double cal_sample(const struct cal* c, MPI_Comm group, void* what, int repeat);

/* A visit to a point by all members of a group: warm-up, then batches until the accuracy or the time is reached. The
 * first `timers` ranks of the group time; a sample is their median. The result is rank 0's. */
void cal_measure(struct cal* c, MPI_Comm group, int timers, cal_sample* sample, void* what, struct cal_result* result);

/* Whether another sample may begin: rank 0 of the group decides where there is an end (until_s). */
bool cal_may_continue(struct cal* c, MPI_Comm group);

/* The median of n values in any order (they get sorted). */
double cal_median(double* values, int n);

/* The statistics of n samples in any order (they get sorted). */
void cal_statistics(double* samples, int n, double accuracy, struct cal_result* result);

/* All visits of one round, by all ranks. */
typedef void cal_visits(struct cal* c, void* what, int round);

/* All rounds, after a first go through the visits that only counts them: cal_measure, cal_emit and cal_rest do nothing
 * then, and what else a visit does must look at `counting`. */
void cal_rounds(struct cal* c, cal_visits* visits, void* what);

/* The visits that the two ranks of a pair make. */
typedef void cal_pair_visits(struct cal* c, void* what, int round, const struct cal_pair* pair);

/* One pair after the other; ranks that are not of the pair rest. */
void cal_each_pair(struct cal* c, cal_pair_visits* visits, void* what, int round);

/* Rank 0 writes a line; keys is the text of the family's own members, e.g. "\"burst\": 8". */
void cal_emit(struct cal* c, const struct cal_result* r, int round, const char* family, const char* locality,
              int64_t bytes, const char* keys);

#endif
