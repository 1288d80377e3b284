/* Plays the tables in front of it (script.py) by MPI calls; rank 0 prints the seconds between two barriers.
 * -DSLEEP: computation needs no core, for more ranks than cores. */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../logpost.h"
#include "logpost_compute.h"

#define STRIDE 8
#define MOST_REQUESTS 65536

static int rank;
static char *out, *in;
static MPI_Win window;
static struct open {
    MPI_Request requests[MOST_REQUESTS];
    const struct op* ops[MOST_REQUESTS];
    int count;
} sends, receives;

/* +-NOISE around 1, the same for an operation, a rank and an iteration in every variant of a program (splitmix64). */
static double noise(unsigned key, int iteration) {
    uint64_t x = ((uint64_t)SEED << 32) + ((uint64_t)key << 20) + ((uint64_t)rank << 10) + (uint64_t)iteration;
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    x ^= x >> 31;
    return 1 + NOISE * (2 * ((double)(x >> 11) / 9007199254740992.0) - 1);
}

static void compute(double us) {
#ifdef SLEEP
    struct timespec left = {(time_t)(us / 1e6), (long)(us * 1e3) % 1000000000L};
    while (nanosleep(&left, &left) && errno == EINTR) {
    }
#else
    logpost_compute_seconds(us * 1e-6);
#endif
}

static MPI_Request* next(struct open* open, const struct op* op) {
    if (open->count == MOST_REQUESTS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    open->ops[open->count] = op;
    return &open->requests[open->count++];
}

/* The oldest open receive from this rank with this tag, if there is one. */
static void wait_receive(int peer, int tag) {
    int i = 0;
    while (i < receives.count && (receives.ops[i]->peer != peer || receives.ops[i]->tag != tag))
        ++i;
    if (i == receives.count)
        return;
    MPI_Wait(&receives.requests[i], MPI_STATUS_IGNORE);
    for (--receives.count; i < receives.count; ++i) {
        receives.requests[i] = receives.requests[i + 1];
        receives.ops[i] = receives.ops[i + 1];
    }
}

/* One MPI_Waitall for both, as a program has it. */
static void wait_all(void) {
    for (int i = 0; i < sends.count; ++i)
        *next(&receives, sends.ops[i]) = sends.requests[i];
    MPI_Waitall(receives.count, receives.requests, MPI_STATUSES_IGNORE);
    sends.count = receives.count = 0;
}

static void play(const struct list* list, int iteration) {
    for (int i = 0; i < list->count; ++i) {
        const struct op* op = &list->ops[i];
        if (iteration % op->every != op->phase)
            continue;
        switch (op->kind) {
            case COMPUTE:
                compute(op->us * noise(op->key, iteration));
                break;
            case SEND:
                MPI_Send(out, op->size, MPI_CHAR, op->peer, op->tag, MPI_COMM_WORLD);
                break;
            case SSEND:
                MPI_Ssend(out, op->size, MPI_CHAR, op->peer, op->tag, MPI_COMM_WORLD);
                break;
            case RECV:
                MPI_Recv(in, op->size, MPI_CHAR, op->peer, op->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                break;
            case ISEND:
                MPI_Isend(out, op->size, MPI_CHAR, op->peer, op->tag, MPI_COMM_WORLD, next(&sends, op));
                break;
            case ISSEND:
                MPI_Issend(out, op->size, MPI_CHAR, op->peer, op->tag, MPI_COMM_WORLD, next(&sends, op));
                break;
            case IRECV:
                MPI_Irecv(in, op->size, MPI_CHAR, op->peer, op->tag, MPI_COMM_WORLD, next(&receives, op));
                break;
            case STRIDED_SEND: {
                MPI_Datatype elements;
                MPI_Type_vector(op->size / 8, 8, 8 * STRIDE, MPI_CHAR, &elements);
                MPI_Type_commit(&elements);
                MPI_Send(out, 1, elements, op->peer, op->tag, MPI_COMM_WORLD);
                MPI_Type_free(&elements);
                break;
            }
            case WAITALL:
                wait_all();
                break;
            case WAIT_RECEIVE:
                wait_receive(op->peer, op->tag);
                break;
            case BARRIER:
                MPI_Barrier(MPI_COMM_WORLD);
                break;
            case ALLREDUCE:
                MPI_Allreduce(out, in, op->size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                break;
            case BCAST:
                MPI_Bcast(out, op->size, MPI_CHAR, op->peer, MPI_COMM_WORLD);
                break;
            case LOCK:
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, op->peer, 0, window);
                break;
            case UNLOCK:
                MPI_Put(out, op->size, MPI_CHAR, op->peer, 0, op->size, MPI_CHAR, window);
                MPI_Win_unlock(op->peer, window);
                break;
        }
    }
}

/* REGIONS */

int main(int argc, char** argv) {
    static double memory[128];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = calloc(STRIDE, 1 << 20);
    in = calloc(1, 1 << 20);
    if (LOCKS) { /* not recorded, and thereby of start-up: the loss is what the locks cost */
        logpost_pause();
        MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        logpost_resume();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        /* ITERATION */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f\n", MPI_Wtime() - began);
    if (LOCKS) {
        logpost_pause();
        MPI_Win_free(&window);
    }
    MPI_Finalize();
    return 0;
}
