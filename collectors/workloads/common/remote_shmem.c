#include <shmem.h>
#include <stdio.h>

#include "memory.h"
#include "remote.h"

_Static_assert(sizeof(long) == 8, "words are added to as long");

struct remote {
    const struct processor* processor;
    int64_t* own; /* symmetric: as long as the longest */
    /* A context for each load that may be in flight, made when first needed: waiting for one does not wait for the
     * others. Where the library has no more contexts, the default one. */
    shmem_ctx_t loads[REMOTE_AHEAD];
    int n_contexts, started;
};

struct remote* remote_open(const struct team* team, int64_t words, const struct processor* processor,
                           const char* name) {
    struct remote* r = LP_NEW(struct remote, 1);
    const size_t largest = (size_t)team_largest(team, (double)words);
    r->processor = processor;
    r->own = shmem_calloc(largest > 0 ? largest : 1, 8);
    if (!r->own) {
        fprintf(stderr, "%s: no symmetric memory for %zu words: raise SHMEM_SYMMETRIC_SIZE\n", name, largest);
        shmem_global_exit(3);
    }
    shmem_barrier_all();
    return r;
}

void remote_close(struct remote* r) {
    if (!r)
        return;
    for (int k = 0; k < r->n_contexts; k++)
        if (r->loads[k] != SHMEM_CTX_DEFAULT)
            shmem_ctx_destroy(r->loads[k]);
    shmem_barrier_all();
    shmem_free(r->own);
    free(r);
}

void* remote_own(struct remote* r) {
    return r->own;
}

void remote_read(struct remote* r, int rank, int64_t at, void* to, int64_t words) {
    shmem_getmem(to, r->own + at, (size_t)words * 8, rank);
}

int remote_next(const struct remote* r) {
    return r->started % REMOTE_AHEAD;
}

void remote_prefetch(struct remote* r, int rank, int64_t at, void* to, int64_t words) {
    const int number = r->started++ % REMOTE_AHEAD;
    if (number == r->n_contexts && shmem_ctx_create(0, &r->loads[r->n_contexts++]) != 0)
        r->loads[number] = SHMEM_CTX_DEFAULT;
    shmem_ctx_getmem_nbi(r->loads[number], to, r->own + at, (size_t)words * 8, rank);
}

void remote_arrive(struct remote* r, int load) {
    shmem_ctx_quiet(r->loads[load]);
}

void remote_add(struct remote* r, int rank, int64_t at, const int64_t* what, int64_t words) {
    for (int64_t k = 0; k < words; k++)
        if (what[k] != 0)
            shmem_long_atomic_add(r->own + at + k, what[k], rank);
}

void remote_update(struct remote* r, int rank, int64_t at, const int64_t* what, int64_t words) {
    remote_add(r, rank, at, what, words);
    shmem_quiet();
}

void remote_put(struct remote* r, int rank, int64_t at, const void* from, int64_t words) {
    shmem_putmem_nbi(r->own + at, from, (size_t)words * 8, rank);
}

void remote_set(struct remote* r, int rank, int64_t at, const void* from) {
    shmem_long_atomic_set(r->own + at, *(const int64_t*)from, rank);
}

void remote_invalidate(struct remote* r, int rank, int wait) {
    (void)r;
    (void)rank;
    (void)wait;
}

void remote_lock(struct remote* r, int rank) {
    remote_invalidate(r, rank, 1);
}

void remote_quiet(struct remote* r) {
    (void)r;
    shmem_quiet();
}

void remote_barrier(struct remote* r) {
    (void)r;
    shmem_barrier_all();
}

void remote_look(struct remote* r) {
    shmem_int64_test(r->own, SHMEM_CMP_EQ, 0); /* lets the library work, and memory be read anew */
    processor_look(r->processor);
}
