/* Values and contributions through remote memory. Each rank's words are, HALO_WIDTH per node: what others have added to
 * the own nodes (apart from `sums`, which this rank adds to), in units of HALO_QUANTUM; the own values; the ghosts. */
#include <string.h>

#include "copies.h"
#include "halo.h"
#include "memory.h"

#define WRITES_AHEAD 2 /* write prefetches in flight at the most (SENS 4.2) */

struct carrier {
    struct remote* memory;
    int64_t* arrived;
    int64_t* own_at;   /* where each rank's own values begin among its words */
    int64_t* ghost_at; /* where the own values begin among each rank's ghosts */
    struct copies ghosts;
    int64_t* outbox; /* contributions, until they are there */
    int64_t n_out, room;
};

static void open_carrier(struct halo* h, const char* name) {
    struct carrier* c = h->carrier = LP_NEW(struct carrier, 1);
    const int n = h->ranks + 2;
    int64_t* mine = LP_NEW(int64_t, n);
    int64_t* all = LP_NEW(int64_t, (int64_t)n * h->ranks);
    mine[0] = h->n_own;
    memcpy(mine + 1, h->ghost_start, (size_t)(h->ranks + 1) * sizeof *mine);
    team_gather_words(h->team, mine, n, all);
    c->own_at = LP_NEW(int64_t, h->ranks);
    c->ghost_at = LP_NEW(int64_t, h->ranks);
    for (int r = 0; r < h->ranks; r++) {
        c->own_at[r] = all[(int64_t)r * n] * HALO_WIDTH;
        c->ghost_at[r] = 2 * c->own_at[r] + all[(int64_t)r * n + 1 + h->rank] * HALO_WIDTH;
    }
    free(mine);
    free(all);
    c->memory = remote_open(h->team, (2 * h->n_own + h->n_ghosts) * HALO_WIDTH, h->processor, name);
    c->arrived = remote_own(c->memory);
    h->values = (double*)remote_own(c->memory) + h->n_own * HALO_WIDTH;
    copies_open(&c->ghosts, c->memory, h->n_ghosts, HALO_WIDTH);
    c->room = h->n_ghosts > 0 ? h->n_ghosts : 1;
    c->outbox = LP_NEW(int64_t, c->room* HALO_WIDTH);
}

static void close_carrier(struct halo* h) {
    struct carrier* c = h->carrier;
    copies_close(&c->ghosts);
    remote_close(c->memory);
    free(c->own_at);
    free(c->ghost_at);
    free(c->outbox);
    free(c);
}

static void barrier(struct halo* h) {
    struct carrier* c = h->carrier;
    const double start = team_seconds();
    remote_barrier(c->memory);
    h->barrier_s += team_seconds() - start;
}

static void put_values(struct halo* h) {
    struct carrier* c = h->carrier;
    for (int step = 1; step < h->ranks; step++) {
        const int to = (h->rank + step) % h->ranks;
        const int64_t first = h->send_start[to], end = h->send_start[to + 1];
        for (int64_t at = first; at < end; at += h->options.block, h->messages++) {
            const int64_t until = at + h->options.block < end ? at + h->options.block : end;
            remote_put(c->memory, to, c->ghost_at[to] + (at - first) * HALO_WIDTH, halo_gather(h, at, until),
                       (until - at) * HALO_WIDTH);
        }
    }
}

/* The owner has written new values, so the copies elsewhere are worth nothing any more. */
static void invalidate(struct halo* h) {
    struct carrier* c = h->carrier;
    copies_forget(&c->ghosts);
    for (int step = 1; step < h->ranks; step++) {
        const int to = (h->rank + step) % h->ranks;
        for (int64_t at = h->send_start[to]; at < h->send_start[to + 1]; at++)
            remote_invalidate(c->memory, to, h->options.mechanism == HALO_SHARED || at % WRITES_AHEAD == 0);
    }
}

static void forward(struct halo* h) {
    if (h->options.mechanism == HALO_PUT)
        put_values(h);
    else
        invalidate(h);
    barrier(h);
}

static struct original original_of(const struct halo* h, int64_t ghost) {
    const struct carrier* c = h->carrier;
    const int owner = halo_owner(h, ghost);
    return (struct original){owner, c->own_at[owner] + (int64_t)h->home[ghost] * HALO_WIDTH,
                             halo_ghost_value(h, ghost)};
}

static void soon(struct halo* h, int64_t ghost) {
    struct carrier* c = h->carrier;
    const struct original from = original_of(h, ghost);
    copies_soon(&c->ghosts, ghost, &from);
}

static void need(struct halo* h, int64_t ghost) {
    struct carrier* c = h->carrier;
    const struct original from = original_of(h, ghost);
    copies_need(&c->ghosts, ghost, &from);
}

static void contribute(struct halo* h, int64_t ghost, const double* contribution) {
    struct carrier* c = h->carrier;
    const int owner = halo_owner(h, ghost);
    if (c->n_out == c->room) {
        remote_quiet(c->memory);
        c->n_out = 0;
    }
    int64_t* words = c->outbox + c->n_out++ * HALO_WIDTH;
    for (int d = 0; d < HALO_WIDTH; d++)
        words[d] = (int64_t)(contribution[d] / HALO_QUANTUM);
    const int64_t at = (int64_t)h->home[ghost] * HALO_WIDTH;
    if (h->options.locks)
        remote_lock(c->memory, owner);
    if (h->options.mechanism == HALO_SHARED)
        remote_update(c->memory, owner, at, words, HALO_WIDTH);
    else
        remote_add(c->memory, owner, at, words, HALO_WIDTH);
    h->messages++;
}

static void reverse(struct halo* h) {
    struct carrier* c = h->carrier;
    for (int step = 1; !h->immediate && step < h->ranks; step++) {
        const int to = (h->rank + step) % h->ranks;
        for (int64_t ghost = h->ghost_start[to]; ghost < h->ghost_start[to + 1]; ghost++)
            contribute(h, ghost, halo_ghost_sum(h, ghost));
    }
    barrier(h);
    h->messages += c->ghosts.loads;
    c->ghosts.loads = c->n_out = 0;
    for (int64_t k = 0; k < h->n_own * HALO_WIDTH; k++)
        h->sums[k] += (double)c->arrived[k] * HALO_QUANTUM;
    /* No rank adds again before the next forward's barrier. */
    memset(c->arrived, 0, (size_t)(h->n_own * HALO_WIDTH) * sizeof *c->arrived);
}

const struct halo_carrier halo_remote = {
    .open = open_carrier,
    .close = close_carrier,
    .forward = forward,
    .soon = soon,
    .need = need,
    .contribute = contribute,
    .reverse = reverse,
};
