/* EM3D's communication phase: every rank sends the value of each edge that ends elsewhere, before the update starts. */
#ifndef LOGPOST_EM3D_EXCHANGE_H
#define LOGPOST_EM3D_EXCHANGE_H

#include <mpi.h>

#include "../common/processor.h"
#include "graph.h"
#include "schedule.h"

enum mechanism { MECHANISM_FINE = 0, MECHANISM_BULK = 1, MECHANISM_PUT = 2 };
enum receive { RECEIVE_WAIT = 0, RECEIVE_POLL = 1 };

struct exchange_options {
    enum mechanism mechanism;
    enum receive receive;
    enum order order;
    enum spread spread;
    int64_t block;    /* values per message (fine, put) */
    int64_t capacity; /* messages in flight per sender and receives posted per receiver; 0: unbounded */
    double send_cycles, receive_cycles; /* o_s, o_r of the emulated processor */
    uint64_t seed;
};

struct exchange_times {
    double exchange_s; /* whole communication phase, without the barrier behind it */
    double stall_s;    /* of it, waiting because `capacity` messages were in flight, without handling arrivals */
    int64_t messages, bytes;
};

struct exchange {
    struct exchange_options options;
    const struct half_graph* half;
    double* sources; /* own source values, then the ghosts */
    MPI_Comm comm;
    struct schedule out, in;
    double* staging; /* values to send, block after block */
    MPI_Request* sends;
    int64_t n_slots;   /* receives that are posted at a time */
    MPI_Request* wait; /* the oldest send, then the slots */
    double* arrivals;  /* fine: room for one block per slot */
    struct processor* processor;
    MPI_Win window;      /* put: over the ghosts */
    int64_t* put_offset; /* put: where the own values begin among each rank's ghosts */
    struct exchange_times times;
};

/* `sources` must have room for half->n_sources + half->n_ghosts values. Collective over `parent`. */
void exchange_open(struct exchange* x, const struct exchange_options* options, const struct half_graph* half,
                   double* sources, struct processor* processor, MPI_Comm parent, const char* name);

/* One communication phase: afterwards the ghosts hold the other ranks' values (put: after a barrier as well). */
void exchange_run(struct exchange* x);

void exchange_close(struct exchange* x);

#endif
