/* EM3D's communication phase: every rank sends the value of each edge that ends elsewhere, before the update starts. */
#ifndef LOGPOST_EM3D_EXCHANGE_H
#define LOGPOST_EM3D_EXCHANGE_H

#include <mpi.h>

#include "../common/messages.h"
#include "graph.h"
#include "schedule.h"

enum mechanism { MECHANISM_FINE = 0, MECHANISM_BULK = 1, MECHANISM_PUT = 2 };

struct exchange_options {
    enum mechanism mechanism;
    enum order order;
    enum spread spread;
    int64_t block; /* values per message (fine, put) */
    struct message_options messages;
    uint64_t seed;
};

struct exchange {
    struct exchange_options options;
    const struct half_graph* half;
    double* sources; /* own source values, then the ghosts */
    struct processor* processor;
    struct channel channel; /* fine: messages; bulk and put: only its communicator */
    struct schedule out, in;
    double* staging;               /* values to send, block after block */
    MPI_Request *sends, *receives; /* bulk */
    MPI_Win window;                /* put: over the sources */
    int64_t* put_offset;           /* put: where the own values begin among each rank's sources */
    double exchange_s, stall_s;    /* whole communication phase without the barrier behind it; stalled in it */
    int64_t messages, bytes;       /* sent */
};

/* `sources` must have room for half->n_sources + half->n_ghosts values. Collective over `parent`. */
void exchange_open(struct exchange* x, const struct exchange_options* options, const struct half_graph* half,
                   double* sources, struct processor* processor, MPI_Comm parent, const char* name);

/* One communication phase: afterwards the ghosts hold the other ranks' values (put: after a barrier as well). */
void exchange_run(struct exchange* x);

void exchange_close(struct exchange* x);

#endif
