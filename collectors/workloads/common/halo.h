/* Values of nodes that other ranks read, and contributions to nodes that other ranks own: the communication of an
 * irregular program whose pairs of nodes (edges, interactions) are computed by the owner of the first one.
 *
 * forward: the owner's values go to the ranks that compute with them (ghosts).
 * reverse: what a rank has summed up for its ghosts is sent back and added to the owner's sums.
 *   fine      messages of at most `block` nodes; or, with halo_contribute, one message per contribution as soon as it
 *             is known ("Remote writes are used to write the results back to remote nodes as soon as produced",
 *             SENS 4.2)
 *   bulk      one gathered message per neighbour, contributions scattered on arrival
 *   put       one-sided: stores into the ghosts, atomic additions to the owner's sums
 *   shared    SENS's shared memory: the value of a ghost is loaded where the program first needs it, and stays until
 *             the next forward; contributions are atomic additions, each waited for
 *   prefetch  the same, but loads start where the program says that it will need a ghost soon, and no rank waits for an
 * addition Contributions are added in the order of arrival. They must be multiples of HALO_QUANTUM and stay below 2^20,
 * so that every addition is exact and the result does not depend on that order; halo_round() makes them so. */
#ifndef LOGPOST_WORKLOADS_HALO_H
#define LOGPOST_WORKLOADS_HALO_H

#include <math.h>

#include "app.h"
#include "message_options.h"
#include "processor.h"
#include "team.h"

#define HALO_WIDTH 3         /* doubles per node */
#define HALO_QUANTUM 0x1p-32 /* values are multiples of it, so that sums do not depend on their order */

static inline double halo_round(double x) {
    return rint(x * 0x1p32) * HALO_QUANTUM;
}

enum halo_mechanism { HALO_FINE = 0, HALO_BULK, HALO_PUT, HALO_SHARED, HALO_PREFETCH };

struct halo_options {
    enum halo_mechanism mechanism;
    int64_t block; /* nodes per message (fine) or put */
    int locks;     /* shared memory: each addition to another rank's node takes its lock */
    struct message_options messages;
};

struct halo {
    struct halo_options options;
    const struct team* team;
    struct processor* processor;
    int rank, ranks;
    int64_t n_own, n_ghosts;
    int32_t* local_of; /* own nodes count from 0 in their global order, ghosts from n_own; -1: not here */
    int64_t* send_start;
    int32_t* send_node;    /* own nodes that each rank reads, in their global order */
    int64_t* ghost_start;  /* ghosts of each rank, in the same order there */
    int32_t* home;         /* index of each ghost at its owner */
    int64_t contributions; /* pairs that add to a ghost of this rank's, or to an own node elsewhere */
    double *values, *sums; /* HALO_WIDTH per own node, then per ghost */
    double* staging;
    int immediate;                    /* contributions go one by one */
    const struct halo_carrier* carry; /* NULL: one rank, nothing to carry */
    void* carrier;                    /* its state */
    int64_t messages;                 /* sent so far */
    double communication_s, barrier_s;
};

/* What brings the data: messages or remote memory. `need` and `interrupts` may be NULL. */
struct halo_carrier {
    void (*open)(struct halo* h, const char* name);
    void (*close)(struct halo* h);
    void (*forward)(struct halo* h);
    void (*soon)(struct halo* h, int64_t ghost);
    void (*need)(struct halo* h, int64_t ghost);
    void (*contribute)(struct halo* h, int64_t ghost, const double* contribution);
    void (*interrupts)(struct halo* h);
    void (*reverse)(struct halo* h);
};

extern const struct halo_carrier halo_remote;          /* put, shared, prefetch */
extern const struct halo_carrier* const halo_messages; /* fine, bulk; NULL where the library has no messages */

/* The mechanisms that there are, for an option's choices, and the first of them. */
extern const char* const halo_mechanisms;
extern const enum halo_mechanism halo_first;

/* The user's choice: indices of the words of halo_mechanisms and RECEIVE_CHOICES. */
void halo_choose(struct halo_options* options, int mechanism, int receive);

/* Where a rank's time went. */
struct halo_times {
    double total_s, communication_s, compute_s, overhead_s, barrier_s; /* the last two are within communication_s */
};

/* A line with the means over the ranks (total: of rank 0). Collective. */
void halo_print_times(const struct app* app, const struct halo_times* times);

/* Collective over `team`. `owner` of each of the n nodes; pairs are computed by the owner of their first node.
 * immediate: contributions are sent one by one by halo_contribute, where the mechanism is not bulk or put. */
void halo_open(struct halo* h, const struct halo_options* options, int64_t n, const int32_t* owner,
               const int32_t (*pairs)[2], int64_t n_pairs, int immediate, struct processor* processor,
               const struct team* team, const char* name);

/* Sets all sums to 0, then brings the owners' values to the ghosts (shared, prefetch: lets them be loaded). */
void halo_forward(struct halo* h);

/* A ghost's value will be needed some computations from now. */
void halo_soon(struct halo* h, int64_t ghost);

/* Waits until a ghost's value is here. */
void halo_need(struct halo* h, int64_t ghost);

/* Sends a contribution to a ghost at once. */
void halo_contribute(struct halo* h, int64_t ghost, const double contribution[HALO_WIDTH]);

/* After a piece of computation between halo_forward and halo_reverse: handles contributions that have arrived, where
 * they interrupt. */
void halo_interrupts(struct halo* h);

/* Brings the ghosts' sums, or the contributions still in flight, to their owners. */
void halo_reverse(struct halo* h);

void halo_close(struct halo* h);

/* For the carriers. */
static inline double* halo_ghost_value(const struct halo* h, int64_t ghost) {
    return h->values + (h->n_own + ghost) * HALO_WIDTH;
}
static inline double* halo_ghost_sum(const struct halo* h, int64_t ghost) {
    return h->sums + (h->n_own + ghost) * HALO_WIDTH;
}
int halo_owner(const struct halo* h, int64_t ghost);

/* Copies the values that a rank reads, from `first` to `end` in send_node, into their place in the staging buffer. */
const double* halo_gather(struct halo* h, int64_t first, int64_t end);

#endif
