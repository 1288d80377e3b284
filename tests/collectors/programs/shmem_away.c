/* PE 0 gets a word of PE 1, which computes for 40 ms without a call during the get. Open MPI's library on one node: the
 * symmetric heap (argument `heap`) is shared memory, which is read at once; static data (`static`) are fetched with the
 * help of their PE, once it is back in a call. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static long word;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double seconds) {
    for (const double from = now(); now() - from < seconds;)
        ;
}

int main(int argc, char** argv) {
    shmem_init();
    const int me = shmem_my_pe();
    long* there = argc > 1 && !strcmp(argv[1], "heap") ? shmem_malloc(sizeof(long)) : &word;
    (void)shmem_long_g(there, 1 - me); /* connections are made with the first access */
    for (int round = 0; round < 5; round++) {
        shmem_barrier_all();
        compute(me == 0 ? 0.004 : 0.04);
        if (me == 0)
            (void)shmem_long_g(there, 1);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
