/* Values by messages: blocks of a few as soon as the destination has room, or one gathered message each. */
#include <string.h>

#include "../common/memory.h"
#include "../common/messages.h"
#include "../common/team_mpi.h"
#include "exchange.h"

struct carrier {
    struct channel channel; /* bulk: only its communicator */
    MPI_Request *sends, *receives;
};

static double* ghosts(struct exchange* x, int64_t first) {
    return x->sources + x->half->n_sources + first;
}

/* The tag of a message is the number of its block within the pair. */
static void store(void* context, int source, int tag, const void* data, int bytes) {
    struct exchange* x = context;
    memcpy(ghosts(x, x->half->recv_start[source] + tag * x->options.block), data, (size_t)bytes);
}

static void open_carrier(struct exchange* x, const char* name) {
    struct carrier* c = x->carrier = LP_NEW(struct carrier, 1);
    const int fine = x->options.mechanism == MECHANISM_FINE;
    x->sources = LP_NEW(double, x->half->n_sources + x->half->n_ghosts);
    channel_open(&c->channel, &x->options.messages, fine ? (int)(x->options.block * (int64_t)sizeof(double)) : 0, store,
                 x, x->processor, team_comm(x->team), name);
    c->sends = LP_NEW(MPI_Request, x->out.n);
    c->receives = LP_NEW(MPI_Request, x->in.n);
}

static void close_carrier(struct exchange* x) {
    struct carrier* c = x->carrier;
    channel_close(&c->channel);
    free(c->sends);
    free(c->receives);
    free(c);
    free(x->sources);
}

static void run_fine(struct exchange* x) {
    struct carrier* c = x->carrier;
    channel_expect(&c->channel, x->in.n);
    for (int64_t i = 0; i < x->out.n; i++) {
        const struct block* b = &x->out.blocks[i];
        channel_send(&c->channel, b->peer, b->tag, exchange_gather(x, b), b->count * (int)sizeof(double));
    }
    channel_drain(&c->channel);
    x->stall_s = c->channel.stall_s;
}

/* One message per destination, received in place: the graph's indices already point into the receive buffer, as SENS
 * describes ("preprocessing of the data structures allows it to be used in-place"). */
static void run_bulk(struct exchange* x) {
    struct carrier* c = x->carrier;
    const struct message_options* options = &x->options.messages;
    for (int64_t i = 0; i < x->in.n; i++) {
        const struct block* b = &x->in.blocks[i];
        MPI_Irecv(ghosts(x, b->first), b->count, MPI_DOUBLE, b->peer, b->tag, c->channel.comm, &c->receives[i]);
    }
    for (int64_t i = 0; i < x->out.n; i++) {
        const struct block* b = &x->out.blocks[i];
        const double* values = exchange_gather(x, b);
        if (options->capacity > 0 && i >= options->capacity) {
            double start = team_seconds();
            MPI_Wait(&c->sends[i - options->capacity], MPI_STATUS_IGNORE);
            x->stall_s += team_seconds() - start;
        }
        message_start(options, x->processor, values, b->count, 1, b->peer, b->tag, c->channel.comm, &c->sends[i]);
    }
    for (int64_t i = 0; i < x->in.n; i++) {
        int index;
        MPI_Waitany((int)x->in.n, c->receives, &index, MPI_STATUS_IGNORE);
        message_taken(options, x->processor, x->in.blocks[index].count, 0);
    }
    MPI_Waitall((int)x->out.n, c->sends, MPI_STATUSES_IGNORE);
}

static void run(struct exchange* x) {
    if (x->options.mechanism == MECHANISM_FINE)
        run_fine(x);
    else
        run_bulk(x);
    x->messages += x->out.n;
    x->bytes += x->half->send_start[x->team->ranks] * (int64_t)sizeof(double);
}

static void barrier(struct exchange* x) {
    team_barrier(x->team);
}

static const struct exchange_carrier messages = {open_carrier, close_carrier, run, barrier, NULL};

const struct exchange_carrier* const exchange_messages = &messages;
const char* const exchange_mechanisms = "fine|bulk|put|shared|prefetch";
const enum mechanism exchange_first = MECHANISM_FINE;
