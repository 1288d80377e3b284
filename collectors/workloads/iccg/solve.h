/* The triangular solve L x = b as a data-flow graph: a row whose incoming edges have all arrived is computed, and its
 * value times the factor's entry is sent along each outgoing edge.
 *
 * What is sent along an edge is rounded to a multiple of EDGE_QUANTUM, as b must be. Sums below 2^17 are exact then,
 * and the solution is the same bit by bit in whatever order the edges arrive. */
#ifndef LOGPOST_ICCG_SOLVE_H
#define LOGPOST_ICCG_SOLVE_H

#include <math.h>

#include "../common/message_options.h"
#include "../common/processor.h"
#include "../common/team.h"
#include "matrix.h"

#define EDGE_QUANTUM 0x1p-36 /* values are multiples of it, so that sums do not depend on their order */

static inline double edge_round(double x) {
    return rint(x * 0x1p36) * EDGE_QUANTUM;
}

enum mechanism { MECHANISM_FINE = 0, MECHANISM_BULK, MECHANISM_PUT, MECHANISM_SHARED, MECHANISM_PREFETCH };

struct solve_options {
    enum mechanism mechanism;
    int64_t chunk;  /* consecutive rows that go to the same rank; chunks are dealt round; 0: one chunk per rank */
    int by_graph;   /* rows go to ranks by partition_graph instead */
    int64_t buffer; /* bulk: edges per message */
    double prefetch_cycles; /* prefetch: of an edge, whether its row is remote or not */
    struct message_options messages;
};

struct solver {
    struct solve_options options;
    const struct lower* factor;
    const struct team* team;
    struct processor* processor;
    int rank, ranks;
    int32_t* owner; /* of each row */
    /* Edges out of the own rows, by column of the factor. */
    int64_t* out_start;
    int32_t* out_row;
    double* out_value;
    int64_t* out_slot; /* number of a remote edge among those into its target's rank, by rows, then columns */
    int64_t edges_in;  /* from other ranks */
    double* x;         /* of all rows; own ones are valid */
    double* sum;       /* b minus what has arrived */
    int32_t *n_in, *missing;
    int32_t* ready;                        /* rows that can be computed, in the order in which they became so */
    int64_t n_ready, n_done, n_own, n_out; /* rows that have become ready; rows computed; own rows; edges to others */
    const struct edge_carrier* carry;      /* NULL: one rank, nothing to carry */
    void* carrier;                         /* its state */
    int64_t messages;                      /* sent so far */
    double stall_s, barrier_s;
};

/* What brings the edges between ranks. */
struct edge_carrier {
    void (*open)(struct solver* s, const char* name);
    void (*close)(struct solver* s);
    void (*begin)(struct solver* s); /* of a solve; with a barrier */
    void (*send)(struct solver* s, int64_t at, double value);
    void (*look)(struct solver* s); /* after a row */
    void (*wait)(struct solver* s); /* nothing can be computed */
    void (*end)(struct solver* s);  /* all own rows are computed; with a barrier */
};

extern const struct edge_carrier edges_remote;          /* put, shared, prefetch */
extern const struct edge_carrier* const edges_messages; /* fine, bulk; NULL where the library has no messages */

/* The mechanisms that there are, for an option's choices, and the first of them. */
extern const char* const edge_mechanisms;
extern const enum mechanism edge_first;

void solver_open(struct solver* s, const struct solve_options* options, const struct lower* factor,
                 struct processor* processor, const struct team* team);

/* Solves for one right-hand side; begins and ends with a barrier. */
void solver_run(struct solver* s, const double* b);

void solver_close(struct solver* s);

int solver_owner(const struct solver* s, int64_t row);

/* For the carriers: waits for all ranks. */
void solver_barrier(struct solver* s);

/* For the carriers: an edge into `row` has arrived (shared: the sum of several, as the last of them arrives). */
void solver_arrive(struct solver* s, int64_t row, double value);

#endif
