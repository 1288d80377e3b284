/* Everything that the OpenSHMEM collector notes, in known numbers: tests/collectors/test_shmem.py counts them.
 * Each PE accesses its right neighbour, me + 1 modulo the number of PEs. Prints a sum of what arrived. */
#include <shmem.h>
#include <stdio.h>

enum { ELEMENTS = 16, ROUNDS = 5 };

static long word, cell, counter, flags[ELEMENTS], lock;
static double field[64], seen[64];
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], reduce_sync[SHMEM_REDUCE_SYNC_SIZE], max_sync[SHMEM_REDUCE_SYNC_SIZE],
    ones[4], sums[4];
static long bcast_sync[SHMEM_BCAST_SYNC_SIZE], barrier_sync[SHMEM_BARRIER_SYNC_SIZE];
static int token;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        reduce_sync[i] = max_sync[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++)
        bcast_sync[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        barrier_sync[i] = SHMEM_SYNC_VALUE;
    double* heap = shmem_malloc(ELEMENTS * sizeof *heap);
    for (int i = 0; i < ELEMENTS; i++)
        field[i] = me;
    shmem_barrier_all();

    for (int round = 0; round < ROUNDS;
         round++) { /* put of 16 doubles, get of 8: done by each call, or by the barrier */
        shmem_double_put(heap, field, ELEMENTS, right);
        shmem_double_get(seen, heap, ELEMENTS / 2, right);
        shmem_barrier_all();
    }
    shmem_long_p(&word, 7, right); /* 8 bytes each */
    shmem_quiet();
    shmem_barrier_all();
    const long got = shmem_long_g(&word, me);
    shmem_double_iput(field, field + 32, 2, 1, 8, right); /* 8 doubles, every second one there */
    shmem_putmem(flags, ones, 24, right);
    shmem_put32(flags, ones, 3, right);
    shmem_fence();

    shmem_long_put_nbi(flags, ones, 4, right); /* 32 bytes, complete by the quiet */
    shmem_double_get_nbi(seen, heap, 4, right);
    shmem_quiet();

    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx) == 0) { /* its quiet completes its own access only */
        shmem_long_put_nbi(flags, ones, 4, right);
        shmem_ctx_long_put_nbi(ctx, flags + 8, ones, 2, right);
        shmem_ctx_quiet(ctx);
        shmem_quiet();
        shmem_ctx_destroy(ctx);
    }

    shmem_long_atomic_inc(&counter, right);
    const long before = shmem_long_atomic_fetch_add(&counter, 2, right);
    shmem_long_atomic_swap(&cell, 3, right);
    shmem_long_atomic_compare_swap(&cell, 3, 4, right);
    shmem_barrier_all();

    if (me == 0) { /* a token is passed around */
        shmem_int_p(&token, 1, right);
        shmem_int_wait_until(&token, SHMEM_CMP_EQ, 1);
    } else {
        shmem_int_wait_until(&token, SHMEM_CMP_EQ, 1);
        shmem_int_p(&token, 1, right);
    }
    for (int i = 0; i < 4; i++)
        ones[i] = 1;
    shmem_long_sum_to_all(sums, ones, 4, 0, 0, n, work, reduce_sync);
    shmem_broadcast64(field, seen, 2, 1, 0, 0, n, bcast_sync);
    shmem_long_max_to_all(sums + 1, ones, 0, 0, 0, n, work, max_sync); /* of nothing: returns at once */
    if (me % 2 == 0 && n > 2)                                          /* PEs 0, 2, ... */
        shmem_barrier(0, 1, (n + 1) / 2, barrier_sync);
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_sync_all();
    shmem_free(heap);
    if (me == 0)
        printf("%ld %ld %ld %d\n", got, counter, sums[0], (int)(before >= 0));
    shmem_finalize();
    return 0;
}
