/* Rounds in which every message says its number, and recording is switched off and on in between, by each rank at its
 * own instant. Each round: a receive from any rank that was posted a round before, a send, a persistent pair, a
 * reduction every other round, and a duplicate of the world every fifth.
 *
 *   switched HOW ROUNDS     HOW: pcontrol, header, or never */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logpost.h"

static int by_level, by_header;

static void off(void) {
    if (by_level)
        MPI_Pcontrol(0);
    if (by_header)
        logpost_pause();
}

static void on(void) {
    if (by_level)
        MPI_Pcontrol(1);
    if (by_header)
        logpost_resume();
}

/* The sizes of a round's messages distinguish it from others. */
static int size_of(int round) {
    return 8 * (1 + round % 97);
}

int main(int argc, char** argv) {
    static char in[2][1024], out[1024], kept[1024], given[1024];
    int rank, size;
    const int rounds = argc > 2 ? atoi(argv[2]) : 40;
    by_level = argc > 1 && !strcmp(argv[1], "pcontrol");
    by_header = argc > 1 && !strcmp(argv[1], "header");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request ahead[2], pair[2];
    MPI_Irecv(in[0], 1024, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &ahead[0]);
    MPI_Recv_init(kept, 64, MPI_BYTE, left, 2, MPI_COMM_WORLD, &pair[0]);
    MPI_Send_init(given, 64, MPI_BYTE, right, 2, MPI_COMM_WORLD, &pair[1]);
    for (int i = 0; i < rounds; i++) {
        /* A third of the time off, at another place of another round on each rank. */
        if ((i + rank) % 6 == 2)
            off();
        MPI_Irecv(in[(i + 1) % 2], 1024, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &ahead[(i + 1) % 2]);
        MPI_Startall(2, pair);
        if ((i + 2 * rank) % 6 == 4)
            on();
        MPI_Send(out, size_of(i), MPI_BYTE, right, 1, MPI_COMM_WORLD);
        MPI_Status status;
        int bytes;
        MPI_Wait(&ahead[i % 2], &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        if (bytes != size_of(i) || status.MPI_SOURCE != left)
            MPI_Abort(MPI_COMM_WORLD, 9);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        if (i % 2) {
            int mine = i, sum = 0;
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            if (sum != i * size)
                MPI_Abort(MPI_COMM_WORLD, 8);
        }
        if (i % 5 == 4) {
            MPI_Comm twin;
            MPI_Comm_dup(MPI_COMM_WORLD, &twin);
            MPI_Sendrecv(out, 16, MPI_BYTE, right, 3, kept + 512, 16, MPI_BYTE, left, 3, twin, MPI_STATUS_IGNORE);
            MPI_Comm_free(&twin);
        }
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
    MPI_Send(out, size_of(rounds), MPI_BYTE, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&ahead[rounds % 2], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("rounds %d\n", rounds);
    MPI_Finalize();
    return 0;
}
