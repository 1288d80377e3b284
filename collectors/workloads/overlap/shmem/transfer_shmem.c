/* OpenSHMEM waits for all that has been started in a context, so each operation that may be in flight has its own, as
 * far as there are contexts: then a sync waits for its operation alone, as GASNet's does in the paper. */
#include <shmem.h>
#include <stdio.h>

#include "../../common/memory.h"
#include "../transfer.h"

#define MOST_CONTEXTS 32 /* as many as an Elan NIC has in flight (OVL 2.1) */

struct carrier {
    shmem_ctx_t contexts[MOST_CONTEXTS];
    int n_contexts;
};

const char* const transfer_mechanisms = "get|put|blocking-put";
const enum mechanism transfer_mechanism[] = {MECHANISM_GET, MECHANISM_PUT, MECHANISM_BLOCKING_PUT};

static double* symmetric(int64_t values) {
    double* memory = shmem_malloc((size_t)values * sizeof *memory);
    if (!memory) {
        fprintf(stderr, "overlap_shmem: no symmetric memory for %lld values: raise SHMEM_SYMMETRIC_SIZE\n",
                (long long)values);
        shmem_global_exit(3);
    }
    return memory;
}

void transfer_open(struct transfer* t, enum mechanism mechanism, const struct pattern_of_peers* peers, int64_t piece,
                   int64_t pieces, int64_t in_flight, const struct team* team) {
    struct carrier* c = LP_NEW(struct carrier, 1);
    *t = (struct transfer){.mechanism = mechanism, .team = team, .piece = piece, .pieces = pieces, .carrier = c};
    t->own = peers_operations(peers->topology, peers->schedule, peers->peers, pieces, team->rank, team->ranks);
    const int64_t volume = piece * pieces;
    t->data = symmetric(volume);
    if (transfer_puts(t)) {
        t->source = LP_NEW(double, volume * t->own.n_peers);
        t->target = symmetric(volume * team->ranks);
    } else {
        t->fetched = LP_NEW(double, volume * t->own.n_peers);
    }
    const int wanted = in_flight < MOST_CONTEXTS ? (int)in_flight : MOST_CONTEXTS;
    while (c->n_contexts < wanted && shmem_ctx_create(0, &c->contexts[c->n_contexts]) == 0)
        c->n_contexts++;
    if (c->n_contexts == 0)
        c->contexts[c->n_contexts++] = SHMEM_CTX_DEFAULT;
}

void transfer_close(struct transfer* t) {
    struct carrier* c = t->carrier;
    for (int k = 0; k < c->n_contexts; k++)
        if (c->contexts[k] != SHMEM_CTX_DEFAULT)
            shmem_ctx_destroy(c->contexts[k]);
    shmem_barrier_all();
    shmem_free(t->data);
    if (t->target)
        shmem_free(t->target);
    free(t->own.list);
    free(t->fetched);
    free(t->source);
    free(c);
}

void transfer_init(struct transfer* t, int64_t i) {
    const struct carrier* c = t->carrier;
    const struct operation* o = &t->own.list[i];
    const shmem_ctx_t context = c->contexts[i % c->n_contexts];
    const size_t bytes = (size_t)t->piece * sizeof(double);
    const int64_t own_place = (o->place * t->pieces + o->piece) * t->piece;
    const int64_t put_place = (t->team->rank * t->pieces + o->piece) * t->piece;
    if (t->mechanism == MECHANISM_GET)
        shmem_ctx_getmem_nbi(context, t->fetched + own_place, t->data + o->piece * t->piece, bytes, o->peer);
    else if (t->mechanism == MECHANISM_PUT)
        shmem_ctx_putmem_nbi(context, t->target + put_place, t->source + own_place, bytes, o->peer);
    else
        shmem_ctx_putmem(context, t->target + put_place, t->source + own_place, bytes, o->peer);
}

void transfer_sync(struct transfer* t, int64_t i) {
    const struct carrier* c = t->carrier;
    if (t->mechanism != MECHANISM_BLOCKING_PUT) /* which need not be there before the end */
        shmem_ctx_quiet(c->contexts[i % c->n_contexts]);
}

void transfer_finish(struct transfer* t) {
    const struct carrier* c = t->carrier;
    for (int k = 0; transfer_puts(t) && k < c->n_contexts; k++)
        shmem_ctx_quiet(c->contexts[k]);
}

void transfer_barrier(struct transfer* t) {
    (void)t;
    shmem_barrier_all();
}
