/* Values through remote memory: each rank's words are its sources, the own ones and then the ghosts.
 *   put               the owner stores each value into the others' ghosts (EM3D has one ghost per edge)
 *   shared, prefetch  SENS's shared memory: the update loads each value where it first needs it, prefetch: two edges
 *                     ahead; a value that several edges need is loaded once. Before the next update its owner has
 *                     written a new one, so that the copies are invalid. */
#include <string.h>

#include "../common/copies.h"
#include "../common/memory.h"
#include "exchange.h"

#define AHEAD 2 /* edges between the start of a load and its use, and writes that are not waited for (SENS 4.1) */

struct carrier {
    struct remote* memory;
    int64_t* put_at;   /* where the own values begin among each rank's ghosts */
    int32_t* owner;    /* of each ghost */
    int64_t* original; /* the first ghost with the same value */
    struct copies ghosts;
    double computed; /* cycles of work since the last load */
};

static void open_carrier(struct exchange* x, const char* name) {
    struct carrier* c = x->carrier = LP_NEW(struct carrier, 1);
    const struct half_graph* half = x->half;
    const int ranks = x->team->ranks;
    int64_t* mine = LP_NEW(int64_t, ranks);
    int64_t* all = LP_NEW(int64_t, (int64_t)ranks* ranks);
    for (int r = 0; r < ranks; r++)
        mine[r] = half->n_sources + half->recv_start[r];
    team_gather_words(x->team, mine, ranks, all);
    c->put_at = LP_NEW(int64_t, ranks);
    for (int r = 0; r < ranks; r++)
        c->put_at[r] = all[(int64_t)r * ranks + x->team->rank];
    free(mine);
    free(all);
    c->memory = remote_open(x->team, half->n_sources + half->n_ghosts, x->processor, name);
    x->sources = remote_own(c->memory);
    c->owner = LP_NEW(int32_t, half->n_ghosts);
    c->original = LP_NEW(int64_t, half->n_ghosts);
    for (int r = 0; r < ranks; r++)
        for (int64_t g = half->recv_start[r]; g < half->recv_start[r + 1]; g++) {
            const int again = g > half->recv_start[r] && half->recv_source[g] == half->recv_source[g - 1];
            c->owner[g] = r;
            c->original[g] = again ? c->original[g - 1] : g;
        }
    copies_open(&c->ghosts, c->memory, half->n_ghosts, 1);
}

static void close_carrier(struct exchange* x) {
    struct carrier* c = x->carrier;
    copies_close(&c->ghosts);
    remote_close(c->memory);
    free(c->put_at);
    free(c->owner);
    free(c->original);
    free(c);
}

static void barrier(struct exchange* x) {
    struct carrier* c = x->carrier;
    remote_barrier(c->memory);
}

static void put_values(struct exchange* x) {
    struct carrier* c = x->carrier;
    const int64_t capacity = x->options.messages.capacity;
    for (int64_t i = 0; i < x->out.n; i++) {
        const struct block* b = &x->out.blocks[i];
        const double* values = exchange_gather(x, b);
        if (capacity > 0 && i > 0 && i % capacity == 0) {
            double start = team_seconds();
            remote_quiet(c->memory);
            x->stall_s += team_seconds() - start;
        }
        processor_overhead(x->processor, x->options.messages.send_cycles);
        remote_put(c->memory, b->peer, c->put_at[b->peer] + b->tag * x->options.block, values, b->count);
    }
    remote_quiet(c->memory);
    x->messages += x->out.n;
    x->bytes += x->half->send_start[x->team->ranks] * (int64_t)sizeof(double);
}

/* The own values are new, so the copies elsewhere are worth nothing any more. */
static void invalidate(struct exchange* x) {
    struct carrier* c = x->carrier;
    const struct half_graph* half = x->half;
    copies_forget(&c->ghosts);
    for (int step = 1; step < x->team->ranks; step++) {
        const int to = (x->team->rank + step) % x->team->ranks;
        for (int64_t at = half->send_start[to]; at < half->send_start[to + 1]; at++)
            if (at == half->send_start[to] || half->send_source[at] != half->send_source[at - 1])
                remote_invalidate(c->memory, to, x->options.mechanism == MECHANISM_SHARED || at % AHEAD == 0);
    }
}

static double* ghost(struct exchange* x, int64_t g) {
    return x->sources + x->half->n_sources + g;
}

/* Work that has been done while a load was in flight. */
static void compute(struct exchange* x) {
    struct carrier* c = x->carrier;
    processor_busy(x->processor, c->computed);
    c->computed = 0;
}

static struct original original_of(struct exchange* x, int64_t g) {
    const struct carrier* c = x->carrier;
    return (struct original){c->owner[g], x->half->recv_source[g], ghost(x, g)};
}

static void start_load(struct exchange* x, int64_t g) {
    struct carrier* c = x->carrier;
    if (copies_requested(&c->ghosts, g))
        return;
    compute(x);
    const double start = team_seconds();
    const struct original from = original_of(x, g);
    copies_soon(&c->ghosts, g, &from);
    x->exchange_s += team_seconds() - start;
}

static void finish_load(struct exchange* x, int64_t g) {
    struct carrier* c = x->carrier;
    if (copies_here(&c->ghosts, g))
        return;
    compute(x);
    const double start = team_seconds();
    const struct original from = original_of(x, g);
    copies_need(&c->ghosts, g, &from);
    x->exchange_s += team_seconds() - start;
}

static void load(struct exchange* x, int64_t edge) {
    struct carrier* c = x->carrier;
    const struct half_graph* half = x->half;
    const int64_t n_edges = half->in_start[half->n_targets];
    const int64_t g = half->in_source[edge] - half->n_sources;
    if (x->options.mechanism == MECHANISM_PREFETCH && edge + AHEAD < n_edges &&
        half->in_source[edge + AHEAD] >= half->n_sources)
        start_load(x, c->original[half->in_source[edge + AHEAD] - half->n_sources]);
    if (g >= 0) {
        finish_load(x, c->original[g]);
        *ghost(x, g) = *ghost(x, c->original[g]);
    }
    c->computed += x->options.edge_cycles;
    if (edge + 1 == n_edges) {
        compute(x);
        x->messages += c->ghosts.loads;
        x->bytes += c->ghosts.loads * (int64_t)sizeof(double);
        c->ghosts.loads = 0;
    }
}

const struct exchange_carrier exchange_remote = {open_carrier, close_carrier, put_values, barrier, NULL};
const struct exchange_carrier exchange_shared = {open_carrier, close_carrier, invalidate, barrier, load};
