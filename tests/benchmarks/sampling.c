/* The processor time of the same work, with samples and with the signals that take them blocked, in turns. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PAIRS = 100, DEPTH = 20, WORK = 10000000 };

static volatile double sum;

static double cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* So deep that a sample has as many callers as are kept. */
__attribute__((noinline)) static double below(int depth) {
    if (depth > 0)
        return below(depth - 1) + 1;
    for (int i = 1; i < WORK; i++)
        sum += 1.0 / i;
    return sum;
}

static double block(int how, const sigset_t* signals) {
    pthread_sigmask(how, signals, NULL);
    const double begin = cpu();
    sum += below(DEPTH);
    return cpu() - begin;
}

int main(int argc, char** argv) {
    sigset_t signals;
    sigemptyset(&signals);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigaddset(&signals, number);
    MPI_Init(&argc, &argv);
    printf("[");
    for (int i = 0; i < PAIRS; i++) {
        const double without = block(SIG_BLOCK, &signals), with = block(SIG_UNBLOCK, &signals);
        printf("%s[%.9f, %.9f]", i ? ", " : "", without, with);
    }
    printf("]\n");
    MPI_Finalize();
    return 0;
}
