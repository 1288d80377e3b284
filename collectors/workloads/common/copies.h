/* Copies of remote values, each loaded where it is first needed and kept until the owner has written a new one: what a
 * cache does for SENS's shared memory, without its size. */
#ifndef LOGPOST_WORKLOADS_COPIES_H
#define LOGPOST_WORKLOADS_COPIES_H

#include "remote.h"

struct copies {
    struct remote* memory;
    int64_t n, words; /* copies; words of each */
    int32_t* state;
    int64_t loading[REMOTE_AHEAD]; /* the copy that each load in flight brings, or -1 */
    int64_t loads;                 /* so far */
};

/* Where a copy comes from, and its target. */
struct original {
    int rank;
    int64_t at;
    void* copy;
};

void copies_open(struct copies* c, struct remote* memory, int64_t n, int64_t words);
void copies_close(struct copies* c);

/* All copies are worth nothing any more. */
void copies_forget(struct copies* c);

/* Whether copy `k` is here, and whether a load that brings it has been started. */
int copies_here(const struct copies* c, int64_t k);
int copies_requested(const struct copies* c, int64_t k);

/* Starts to load a copy that will be needed, unless its load has been started. */
void copies_soon(struct copies* c, int64_t k, const struct original* from);

/* Waits until a copy is here. */
void copies_need(struct copies* c, int64_t k, const struct original* from);

#endif
