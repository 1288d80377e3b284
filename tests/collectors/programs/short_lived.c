/* Threads that begin and end all the time, each with separate calls. Two kinds take turns on stacks of two sizes.
 *
 *   short_lived ROUNDS LIVING     so many of each kind live concurrently */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "logpost.h"

enum { MOST = 16 };
static int rank, size;
static pthread_barrier_t alive;

static void* talks(void* arg) {
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
    pthread_barrier_wait(&alive);
    return arg;
}

static int deep(int levels) {
    int from = -1;
    if (levels)
        return deep(levels - 1) + 0 * levels;
    MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return from;
}

static void* listens(void* arg) {
    logpost_region_begin("listens"); /* and ends with the thread */
    deep(4);
    pthread_barrier_wait(&alive);
    return arg;
}

static void live(void* (*what)(void*), int living, size_t stack) {
    pthread_t threads[MOST];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack);
    for (int i = 0; i < living; i++)
        pthread_create(&threads[i], &attributes, what, NULL);
    for (int i = 0; i < living; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE || argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rounds = atoi(argv[1]), living = atoi(argv[2]);
    pthread_barrier_init(&alive, NULL, (unsigned)living);
    for (int i = 0; i < rounds; i++) {
        live(talks, living, 256 << 10);
        live(listens, living, 8 << 20);
    }
    puts("all have ended");
    MPI_Finalize();
    return 0;
}
