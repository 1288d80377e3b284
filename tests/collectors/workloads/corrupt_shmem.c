/* A preload that damages one-sided accesses: the third of each element has a bit of its first word flipped. With it
 * every program must say that its result is wrong. Gets are left alone, since the results themselves travel by them. */
#include <pshmem.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static int is_third(void) {
    static int calls;
    return ++calls == 3;
}

static const void* damaged(const void* data, size_t bytes) {
    if (bytes < 8 || !is_third())
        return data;
    char* copy = malloc(bytes); /* never freed: the put may last */
    memcpy(copy, data, bytes);
    copy[6] ^= 2; /* the middle of a double's mantissa, counted from its top */
    return copy;
}

void shmem_putmem_nbi(void* to, const void* from, size_t bytes, int pe) {
    pshmem_putmem_nbi(to, damaged(from, bytes), bytes, pe);
}

void shmem_ctx_putmem_nbi(shmem_ctx_t context, void* to, const void* from, size_t bytes, int pe) {
    pshmem_ctx_putmem_nbi(context, to, damaged(from, bytes), bytes, pe);
}

void shmem_long_atomic_set(long* to, long value, int pe) {
    pshmem_long_atomic_set(to, is_third() ? value ^ (1L << 49) : value, pe);
}

void shmem_long_atomic_add(long* to, long value, int pe) {
    pshmem_long_atomic_add(to, is_third() ? value ^ (1L << 20) : value, pe);
}
