/* Values of nodes that other ranks read, and contributions to nodes that other ranks own: the communication of an
 * irregular program whose pairs of nodes (edges, interactions) are computed by the owner of the first one.
 *
 * forward: the owner's values go to the ranks that compute with them (ghosts).
 * reverse: what a rank has summed up for its ghosts goes back and is added to the owner's sums.
 *   fine   messages of at most `block` nodes; or, with halo_contribute, one message per contribution as soon as it is
 *          known ("Remote writes are used to write the results back to remote nodes as soon as produced", SENS 4.2)
 *   bulk   one gathered message per neighbour, contributions scattered on arrival
 *   put    MPI_Put into the ghosts, MPI_Accumulate into the owner's sums
 * Contributions are added in the order of arrival. They must be multiples of HALO_QUANTUM and stay below 2^20, so that
 * every addition is exact and the result does not depend on that order; halo_round() makes them so. */
#ifndef LOGPOST_WORKLOADS_HALO_H
#define LOGPOST_WORKLOADS_HALO_H

#include <math.h>
#include <mpi.h>

#include "messages.h"

#define HALO_WIDTH 3 /* doubles per node */
#define HALO_QUANTUM 0x1p-32

static inline double halo_round(double x) {
    return rint(x * 0x1p32) * HALO_QUANTUM;
}

enum halo_mechanism { HALO_FINE = 0, HALO_BULK = 1, HALO_PUT = 2 };

struct halo_options {
    enum halo_mechanism mechanism;
    int64_t block; /* nodes per message (fine) or put */
    struct message_options messages;
};

struct halo {
    struct halo_options options;
    int rank, ranks;
    MPI_Comm comm; /* barriers of put */
    int64_t n_own, n_ghosts;
    int32_t* local_of; /* own nodes count from 0 in their global order, ghosts from n_own; -1: not here */
    int64_t* send_start;
    int32_t* send_node;    /* own nodes that each rank reads, in their global order */
    int64_t* ghost_start;  /* ghosts of each rank, in the same order there */
    double *values, *sums; /* HALO_WIDTH per own node, then per ghost */
    struct channel forward, reverse;
    double* staging;
    MPI_Request* requests;
    MPI_Win value_window, sum_window;
    double* arrived;    /* put: what others have added for the own nodes; apart from `sums`, which this rank adds to */
    int64_t* put_start; /* where the own values begin among each rank's values */
    int32_t* home;      /* index of each ghost at its owner */
    int64_t immediate;  /* contributions that come one by one; -1: in blocks */
    double communication_s;
};

/* Collective over `parent`. `owner` of each of the n nodes; pairs are computed by the owner of their first node.
 * immediate: contributions are sent one by one by halo_contribute (fine only). */
void halo_open(struct halo* h, const struct halo_options* options, int64_t n, const int32_t* owner,
               const int32_t (*pairs)[2], int64_t n_pairs, int immediate, struct processor* processor, MPI_Comm parent,
               const char* name);

/* Sets all sums to 0, then brings the owners' values to the ghosts. */
void halo_forward(struct halo* h);

/* Sends a contribution to a ghost on its way at once. */
void halo_contribute(struct halo* h, int64_t ghost, const double contribution[HALO_WIDTH]);

/* After a piece of computation between halo_forward and halo_reverse: handles contributions that have come meanwhile,
 * where they interrupt. */
void halo_interrupts(struct halo* h);

/* Brings the ghosts' sums, or the contributions still under way, to their owners. */
void halo_reverse(struct halo* h);

void halo_close(struct halo* h);

#endif
