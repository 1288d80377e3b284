/* EM3D's communication: every rank needs the value at the other end of each edge that comes from elsewhere. By messages
 * and puts the owner sends them all before the update starts; with shared memory the update loads them. */
#ifndef LOGPOST_EM3D_EXCHANGE_H
#define LOGPOST_EM3D_EXCHANGE_H

#include "../common/message_options.h"
#include "../common/processor.h"
#include "../common/team.h"
#include "graph.h"
#include "schedule.h"

enum mechanism { MECHANISM_FINE = 0, MECHANISM_BULK, MECHANISM_PUT, MECHANISM_SHARED, MECHANISM_PREFETCH };

struct exchange_options {
    enum mechanism mechanism;
    enum order order;
    enum spread spread;
    int64_t block; /* values per message (fine, put) */
    struct message_options messages;
    double edge_cycles; /* the emulated processor's work per edge */
    uint64_t seed;
};

struct exchange {
    struct exchange_options options;
    const struct half_graph* half;
    const struct team* team;
    double* sources; /* own source values, then the ghosts */
    struct processor* processor;
    struct schedule out, in;
    double* staging;                       /* values to send, block after block */
    const struct exchange_carrier* carry;  /* NULL: one rank, nothing to carry */
    void* carrier;                         /* its state */
    double exchange_s, stall_s, barrier_s; /* communication without barriers; of it stalled; barriers */
    double compute_s;
    int64_t messages, bytes; /* sent, or loaded */
};

/* What brings the values. `load` is NULL where they are there before the update. */
struct exchange_carrier {
    void (*open)(struct exchange* x, const char* name);
    void (*close)(struct exchange* x);
    void (*run)(struct exchange* x);
    void (*barrier)(struct exchange* x);
    void (*load)(struct exchange* x, int64_t in_edge); /* sees to the value of this edge into the own targets */
};

extern const struct exchange_carrier exchange_remote;          /* put */
extern const struct exchange_carrier exchange_shared;          /* shared, prefetch */
extern const struct exchange_carrier* const exchange_messages; /* fine, bulk; NULL where the library has no messages */

/* The mechanisms that there are, for an option's choices, and the first of them. */
extern const char* const exchange_mechanisms;
extern const enum mechanism exchange_first;

/* Makes `sources`. Collective. */
void exchange_open(struct exchange* x, const struct exchange_options* options, const struct half_graph* half,
                   struct processor* processor, const struct team* team, const char* name);

/* One communication phase: afterwards the ghosts hold the other ranks' values, or can be loaded. */
void exchange_run(struct exchange* x);

/* The update of the own targets, with loads where they are needed. */
void exchange_update(struct exchange* x, double* targets);

/* A barrier after which all see the sources that everybody has written. */
void exchange_barrier(struct exchange* x);

void exchange_close(struct exchange* x);

/* For the carriers: copies a block's values into its place in the staging buffer. For bulk this is the paper's gather;
 * for a short message it is what the Alewife's processor writes into the network interface as arguments. */
const double* exchange_gather(struct exchange* x, const struct block* block);

#endif
