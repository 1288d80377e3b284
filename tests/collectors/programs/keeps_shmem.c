/* So many rounds: a put to the right neighbour, quiet, an atomic, and a barrier every fourth time. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long from_left, counter;

int main(int argc, char** argv) {
    const long rounds = argc > 1 ? atol(argv[1]) : 1000;
    shmem_init();
    const int me = shmem_my_pe(), right = (me + 1) % shmem_n_pes();
    for (long i = 0; i < rounds; i++) {
        shmem_long_p(&from_left, i, right);
        shmem_quiet();
        shmem_long_atomic_inc(&counter, right);
        if (i % 4 == 3)
            shmem_barrier_all();
    }
    shmem_barrier_all();
    if (me == 0)
        printf("counter %ld\n", counter);
    shmem_finalize();
    return 0;
}
