#include "copies.h"

#include "memory.h"

enum { ABSENT = -1, HERE = -2 }; /* else the number of the load that brings it */

void copies_open(struct copies* c, struct remote* memory, int64_t n, int64_t words) {
    *c = (struct copies){.memory = memory, .n = n, .words = words, .state = LP_NEW(int32_t, n)};
    for (int k = 0; k < REMOTE_AHEAD; k++)
        c->loading[k] = -1;
    copies_forget(c);
}

void copies_close(struct copies* c) {
    free(c->state);
}

void copies_forget(struct copies* c) {
    for (int64_t k = 0; k < c->n; k++)
        c->state[k] = ABSENT;
}

int copies_here(const struct copies* c, int64_t k) {
    return c->state[k] == HERE;
}

int copies_requested(const struct copies* c, int64_t k) {
    return c->state[k] != ABSENT;
}

static void arrive(struct copies* c, int load) {
    remote_arrive(c->memory, load);
    c->state[c->loading[load]] = HERE;
    c->loading[load] = -1;
}

void copies_soon(struct copies* c, int64_t k, const struct original* from) {
    if (copies_requested(c, k))
        return;
    const int next = remote_next(c->memory);
    if (c->loading[next] >= 0)
        arrive(c, next);
    remote_prefetch(c->memory, from->rank, from->at, from->copy, c->words);
    c->state[k] = next;
    c->loading[next] = k;
    c->loads++;
}

void copies_need(struct copies* c, int64_t k, const struct original* from) {
    if (c->state[k] >= 0)
        arrive(c, c->state[k]);
    if (copies_here(c, k))
        return;
    remote_read(c->memory, from->rank, from->at, from->copy, c->words);
    c->state[k] = HERE;
    c->loads++;
}
