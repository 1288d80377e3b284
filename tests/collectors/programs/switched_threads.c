/* Messages of threads under MPI_THREAD_MULTIPLE, while the first thread of each rank switches recording for all of them
 * at its own instants. Each message's size shows its round.
 *
 *   switched_threads HOW ROUNDS     own: three threads, each with a duplicate of the world;
 *                                   handed: one thread starts receives, another one waits for them;
 *                                   short: a thread a round, which ends with it */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logpost.h"

enum { THREADS = 3, MOST = 1024 };
static MPI_Comm comm[THREADS];
static MPI_Request request;
static sem_t given, taken;
static int rank, size, rounds;

static int size_of(int round) {
    return 8 * (1 + round % 97);
}

static void switch_before(int round) {
    if ((round + rank) % 6 == 2)
        logpost_pause();
}

static void switch_behind(int round) {
    if ((round + 2 * rank) % 6 == 4)
        logpost_resume();
}

static void wait_for(MPI_Request* one, int round) {
    MPI_Status status;
    int bytes;
    MPI_Wait(one, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes != size_of(round))
        MPI_Abort(MPI_COMM_WORLD, 9);
}

static void start(MPI_Request* one, char* in, int round, MPI_Comm on) {
    static const char out[MOST];
    MPI_Irecv(in, MOST, MPI_BYTE, (rank + size - 1) % size, 1, on, one);
    MPI_Send(out, size_of(round), MPI_BYTE, (rank + 1) % size, 1, on);
}

static void* own(void* arg) {
    const long me = (long)arg;
    char in[MOST];
    for (int i = 0; i < rounds; i++) {
        MPI_Request one;
        if (me == 0)
            switch_before(i);
        start(&one, in, i, comm[me]);
        if (me == 0)
            switch_behind(i);
        wait_for(&one, i);
        if (i % 4 == 3)
            MPI_Barrier(comm[me]);
    }
    return NULL;
}

static void* waits(void* arg) {
    for (int i = 0; i < rounds; i++) {
        sem_wait(&given);
        wait_for(&request, i);
        sem_post(&taken);
    }
    return arg;
}

static void starts(void) {
    char in[MOST];
    for (int i = 0; i < rounds; i++) {
        switch_before(i);
        start(&request, in, i, MPI_COMM_WORLD);
        switch_behind(i);
        sem_post(&given);
        sem_wait(&taken);
    }
}

static void* one_round(void* arg) {
    char in[MOST];
    MPI_Request one;
    start(&one, in, (int)(long)arg, MPI_COMM_WORLD);
    wait_for(&one, (int)(long)arg);
    return NULL;
}

int main(int argc, char** argv) {
    int provided;
    pthread_t thread[THREADS];
    const char* how = argc > 1 ? argv[1] : "own";
    rounds = argc > 2 ? atoi(argv[2]) : 40;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sem_init(&given, 0, 0);
    sem_init(&taken, 0, 0);
    if (!strcmp(how, "own")) {
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        for (long i = 1; i < THREADS; i++)
            pthread_create(&thread[i], NULL, own, (void*)i);
        own((void*)0);
        for (int i = 1; i < THREADS; i++)
            pthread_join(thread[i], NULL);
    } else if (!strcmp(how, "handed")) {
        pthread_create(&thread[1], NULL, waits, NULL);
        starts();
        pthread_join(thread[1], NULL);
    } else {
        for (long i = 0; i < rounds; i++) {
            switch_before((int)i);
            pthread_create(&thread[1], NULL, one_round, (void*)i);
            pthread_join(thread[1], NULL);
            switch_behind((int)i);
        }
    }
    logpost_resume();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("rounds %d\n", rounds);
    MPI_Finalize();
    return 0;
}
