/* What recording adds to a call of OpenSHMEM: a word put to oneself and got back, alternately through the wrappers and
 * past them (the library's functions by dlsym, which does not see the wrappers), in alternating short blocks; the
 * minimum of many. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "past.h"

enum { CALLS = 2000, BLOCKS = 400, CALLERS = 14 };

struct functions {
    void (*put)(long*, long, int);
    long (*get)(const long*, int);
};

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Both figures, ns per call, measured so many functions further down. */
__attribute__((noinline)) static void below(int functions, const struct functions* f, long* word, double figures[2]) {
    if (functions) {
        below(functions - 1, f, word, figures);
    } else {
        const int me = shmem_my_pe();
        double start = now_ns();
        for (int i = 0; i < CALLS; i++)
            f->put(word, i, me);
        figures[0] = (now_ns() - start) / CALLS;
        shmem_quiet();
        start = now_ns();
        long sum = 0;
        for (int i = 0; i < CALLS; i++)
            sum += f->get(word, me);
        figures[1] = (now_ns() - start) / CALLS;
        if (sum < 0)
            puts("impossible");
    }
    __asm__ volatile("" ::: "memory"); /* no call in tail position: each function has its frame */
}

int main(void) {
    double best[2][2] = {{1e9, 1e9}, {1e9, 1e9}};
    shmem_init();
    long* word = shmem_malloc(sizeof *word);
    *word = 0;
    const struct functions ways[2] = {
        {shmem_long_p, shmem_long_g},
        {past("pshmem_long_p"), past("pshmem_long_g")},
    };
    for (int block = 0; block < BLOCKS; block++)
        for (int way = 0; way < 2; way++) {
            double figures[2];
            below(CALLERS - 1, &ways[way], word, figures);
            for (int i = 0; i < 2; i++)
                best[way][i] = figures[i] < best[way][i] ? figures[i] : best[way][i];
        }
    if (shmem_my_pe() == 0)
        printf("{\"put_traced_ns\": %.1f, \"put_ns\": %.1f, \"get_traced_ns\": %.1f, \"get_ns\": %.1f}\n", best[0][0],
               best[1][0], best[0][1], best[1][1]);
    shmem_finalize();
    return 0;
}
