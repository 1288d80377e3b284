/* The triangular solve L x = b as a data-flow graph: a row whose incoming edges have all come is computed, and its
 * value times the factor's entry goes along each outgoing edge. */
#ifndef LOGPOST_ICCG_SOLVE_H
#define LOGPOST_ICCG_SOLVE_H

#include <mpi.h>

#include "../common/messages.h"
#include "matrix.h"

enum mechanism { MECHANISM_FINE = 0, MECHANISM_BULK = 1, MECHANISM_PUT = 2 };

struct solve_options {
    enum mechanism mechanism;
    int64_t chunk;  /* consecutive rows that go to the same rank; chunks are dealt round; 0: one chunk per rank */
    int64_t buffer; /* bulk: edges per message */
    struct message_options messages;
};

struct solver {
    struct solve_options options;
    const struct lower* factor;
    int rank, ranks;
    /* Edges out of the own rows, by column of the factor. */
    int64_t* out_start;
    int32_t* out_row;
    double* out_value;
    int64_t* out_slot; /* put: place of a remote edge in its target's window */
    int64_t edges_in;  /* from other ranks */
    double* x;         /* of all rows; own ones are valid */
    double* sum;       /* b minus what has come */
    int32_t *n_in, *missing;
    int32_t* ready;                 /* rows that can be computed, in the order in which they became so */
    int64_t n_ready, n_done, n_own; /* rows that have become ready; rows computed */
    struct channel channel;
    char** buffers; /* bulk: one per rank */
    int64_t* buffered;
    MPI_Win window; /* put */
    double *slots, *outbox;
    int32_t* slot_row;
    int64_t* pending;
    int64_t n_pending, n_out;
};

void solver_open(struct solver* s, const struct solve_options* options, const struct lower* factor,
                 struct processor* processor, MPI_Comm parent);

/* Solves for one right-hand side; begins and ends with a barrier. */
void solver_run(struct solver* s, const double* b);

void solver_close(struct solver* s);

int solver_owner(const struct solver* s, int64_t row);

#endif
