/* What recording adds to a call: an 8-byte ping-pong between two ranks and a message to oneself, alternately through
 * the wrappers (as the program calls MPI) and past them (the library's functions by dlsym, which does not see the
 * wrappers). Both in one process and one run, in alternating short blocks; the minimum of many blocks stands for a
 * quiet machine. The calls are below as many functions as `record --stack` keeps by default. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "past.h"

enum { CALLS = 2000, BLOCKS = 400, CALLERS = 14 };

struct functions {
    int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
    int (*recv)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
    int (*isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    int (*wait)(MPI_Request*, MPI_Status*);
};

static char out[8], in[8];

static double ping_pong(const struct functions* f, int rank) {
    const double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++) {
        if (rank == 0) {
            f->send(out, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            f->recv(in, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            f->recv(in, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            f->send(out, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - start) / CALLS / 2 * 1e9; /* of half a round trip: one send and one receive */
}

static double to_self(const struct functions* f) {
    MPI_Request request;
    const double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++) {
        f->isend(out, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
        f->recv(in, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        f->wait(&request, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - start) / CALLS * 1e9;
}

/* Both figures, measured so many functions further down. */
__attribute__((noinline)) static void below(int functions, const struct functions* f, int rank, double figures[2]) {
    if (functions) {
        below(functions - 1, f, rank, figures);
    } else {
        figures[0] = ping_pong(f, rank);
        figures[1] = to_self(f);
    }
    __asm__ volatile("" ::: "memory"); /* no call in tail position: each function has its frame */
}

/* One reading of the clock of which recording needs two per call, alone; the sum keeps the compiler from leaving it
 * out. */
static double reading(void) {
    volatile unsigned long long sum = 0;
    const double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++) {
#if defined(__x86_64__)
        sum += __rdtsc();
#else
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        sum += (unsigned long long)now.tv_nsec;
#endif
    }
    return (MPI_Wtime() - start) / CALLS * 1e9;
}

static double less(double a, double b) {
    return a < b ? a : b;
}

int main(int argc, char** argv) {
    int rank;
    double half[2] = {1e9, 1e9}, self[2] = {1e9, 1e9}, clock = 1e9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const struct functions ways[2] = {
        {MPI_Send, MPI_Recv, MPI_Isend, MPI_Wait},
        {past("PMPI_Send"), past("PMPI_Recv"), past("PMPI_Isend"), past("PMPI_Wait")},
    };
    for (int block = 0; block < BLOCKS; block++) {
        clock = less(clock, reading());
        for (int way = 0; way < 2; way++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double figures[2];
            below(CALLERS - 1, &ways[way], rank, figures);
            half[way] = less(half[way], figures[0]);
            self[way] = less(self[way], figures[1]);
        }
    }
    if (rank == 0) {
        printf(
            "{\"half_traced_ns\": %.1f, \"half_ns\": %.1f, \"self_traced_ns\": %.1f, \"self_ns\": %.1f, "
            "\"clock_ns\": %.1f}\n",
            half[0], half[1], self[0], self[1], clock);
    }
    MPI_Finalize();
    return 0;
}
