/* Rounds of a put, a quiet, an atomic, a nonblocking get and sometimes a barrier, while each PE switches recording off
 * and on at its own instants.
 *
 *   switched_shmem ROUNDS */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#include "logpost.h"

static long from_left, counter, got;

int main(int argc, char** argv) {
    const long rounds = argc > 1 ? atol(argv[1]) : 40;
    shmem_init();
    const int me = shmem_my_pe(), right = (me + 1) % shmem_n_pes();
    for (long i = 0; i < rounds; i++) {
        if ((i + me) % 6 == 2)
            logpost_pause();
        shmem_long_p(&from_left, i, right);
        shmem_quiet();
        shmem_long_atomic_inc(&counter, right);
        if ((i + 2 * me) % 6 == 4)
            logpost_resume();
        shmem_long_get_nbi(&got, &counter, 1, right);
        if (i % 4 == 3)
            shmem_barrier_all();
    }
    logpost_resume();
    shmem_barrier_all();
    if (me == 0)
        printf("counter %ld\n", counter);
    shmem_finalize();
    return 0;
}
