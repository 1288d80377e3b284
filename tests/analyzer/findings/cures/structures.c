/* Small programs with and without one loss of structure, for the virtual testbed: structures NAME 0|1.
 *
 * With 1 the loss is cured. A program is 20 steps, in each of which all ranks work about as long.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "logpost_compute.h"

enum { STEPS = 20, MOST_RANKS = 16, LARGE = 1 << 16, MOST_REQUESTS = 2 * MOST_RANKS };

static int rank, ranks, before, behind;
static char out[MOST_RANKS][LARGE], in[MOST_RANKS][LARGE];
static MPI_Comm all;
static MPI_Win memory;

static void work(double microseconds) {
    logpost_compute_seconds(microseconds * 1e-6);
}

/* All send 64 KiB to 0, 1, 2, ..., or each to the ranks behind itself. */
static void destination_order(int cured) {
    MPI_Request receives[MOST_REQUESTS];
    int n = 0;
    work(300);
    for (int k = 1; k < ranks; k++) {
        int from = (rank + ranks - k) % ranks;
        MPI_Irecv(in[from], LARGE, MPI_BYTE, from, 1, all, &receives[n++]);
    }
    for (int k = 1; k < ranks; k++) {
        int to = cured ? (rank + k) % ranks : k <= rank ? k - 1 : k;
        MPI_Send(out[to], LARGE, MPI_BYTE, to, 1, all);
    }
    MPI_Waitall(n, receives, MPI_STATUSES_IGNORE);
}

/* Odd ranks receive late what even ones send synchronously, or not. */
static void synchronous_sends(int cured) {
    if (rank % 2 == 0) {
        work(100);
        (cured ? MPI_Send : MPI_Ssend)(out[0], 1024, MPI_BYTE, behind, 1, all);
        work(100);
    } else {
        work(180);
        MPI_Recv(in[0], 1024, MPI_BYTE, before, 1, all, MPI_STATUS_IGNORE);
        work(20);
    }
}

/* Rank 0 works on what the others send, in their order or as it arrives. */
static void receive_order(int cured) {
    if (rank != 0) {
        work(100 + 100 * (ranks - rank));
        MPI_Send(out[0], 4096, MPI_BYTE, 0, 1, all);
    } else {
        MPI_Request receives[MOST_RANKS];
        for (int from = 1; from < ranks; from++)
            MPI_Irecv(in[from], 4096, MPI_BYTE, from, 1, all, &receives[from - 1]);
        for (int k = 0; k < ranks - 1; k++) {
            int which = k;
            if (cured)
                MPI_Waitany(ranks - 1, receives, &which, MPI_STATUS_IGNORE);
            else
                MPI_Wait(&receives[k], MPI_STATUS_IGNORE);
            work(60);
        }
    }
    MPI_Barrier(all);
}

/* A ring in which each rank receives before it sends, but the first; or all at once. */
static void serial_exchange(int cured) {
    work(200);
    if (cured) {
        MPI_Sendrecv(out[0], LARGE, MPI_BYTE, behind, 1, in[0], LARGE, MPI_BYTE, before, 1, all, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Send(out[0], LARGE, MPI_BYTE, behind, 1, all);
        MPI_Recv(in[0], LARGE, MPI_BYTE, before, 1, all, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in[0], LARGE, MPI_BYTE, before, 1, all, MPI_STATUS_IGNORE);
        MPI_Send(out[0], LARGE, MPI_BYTE, behind, 1, all);
    }
}

/* Rank 0 sends the same to each of the others, or broadcasts it. */
static void serial_distribution(int cured) {
    work(150);
    if (cured)
        MPI_Bcast(out[0], LARGE / 2, MPI_BYTE, 0, all);
    else if (rank == 0)
        for (int to = 1; to < ranks; to++)
            MPI_Send(out[0], LARGE / 2, MPI_BYTE, to, 1, all);
    else
        MPI_Recv(in[0], LARGE / 2, MPI_BYTE, 0, 1, all, MPI_STATUS_IGNORE);
}

/* Each rank sends 40 synchronous messages of 8 bytes to rank 0, or takes part in one gather. */
static void funnel(int cured) {
    enum { MESSAGES = 40 };
    work(200);
    if (cured)
        MPI_Gather(out[0], 8 * MESSAGES, MPI_BYTE, in[0], 8 * MESSAGES, MPI_BYTE, 0, all);
    else if (rank != 0)
        for (int k = 0; k < MESSAGES; k++)
            MPI_Ssend(out[0], 8, MPI_BYTE, 0, 1, all);
    else
        for (int k = 0; k < MESSAGES * (ranks - 1); k++)
            MPI_Recv(in[0], 8, MPI_BYTE, MPI_ANY_SOURCE, 1, all, MPI_STATUS_IGNORE);
    MPI_Barrier(all);
}

/* Each rank sends the one before it 10 questions, one question after the other, or all at once. */
static void questions(int cured) {
    enum { QUESTIONS = 10 };
    int batch = cured ? QUESTIONS : 1;
    MPI_Request replies[QUESTIONS];
    work(50);
    for (int k = 0; k < QUESTIONS; k += batch) {
        for (int j = 0; j < batch; j++)
            MPI_Irecv(in[j], 64, MPI_BYTE, before, 2, all, &replies[j]);
        for (int j = 0; j < batch; j++)
            MPI_Send(out[0], 16, MPI_BYTE, before, 1, all);
        for (int j = 0; j < batch; j++) {
            MPI_Recv(in[MOST_RANKS - 1], 16, MPI_BYTE, behind, 1, all, MPI_STATUS_IGNORE);
            MPI_Send(out[1], 64, MPI_BYTE, behind, 2, all);
        }
        MPI_Waitall(batch, replies, MPI_STATUSES_IGNORE);
    }
}

/* The wait for neighbours precedes work that needs none of their data, or follows it. */
static void missed_overlap(int cured) {
    MPI_Request exchange[2];
    MPI_Irecv(in[0], LARGE / 2, MPI_BYTE, before, 1, all, &exchange[0]);
    MPI_Isend(out[0], LARGE / 2, MPI_BYTE, behind, 1, all, &exchange[1]);
    if (cured)
        work(60);
    MPI_Waitall(2, exchange, MPI_STATUSES_IGNORE);
    work(cured ? 10 : 70);
}

/* Ranks broadcast a value one after another, or all gather them. */
static void every_root(int cured) {
    work(100);
    if (cured)
        MPI_Allgather(out[0], 8, MPI_BYTE, in[0], 8, MPI_BYTE, all);
    else
        for (int root = 0; root < ranks; root++)
            MPI_Bcast(in[root], 8, MPI_BYTE, root, all);
}

/* 20 puts to a neighbour's memory, each in an epoch, or all in one. */
static void lock_epochs(int cured) {
    enum { PUTS = 20 };
    work(100);
    for (int k = 0; k < PUTS; k++) {
        if (!cured || k == 0)
            MPI_Win_lock(MPI_LOCK_SHARED, behind, 0, memory);
        MPI_Put(out[0], 8, MPI_BYTE, behind, 8 * k, 8, MPI_BYTE, memory);
        if (!cured || k == PUTS - 1)
            MPI_Win_unlock(behind, memory);
    }
    MPI_Barrier(all);
}

/* A pipeline passes on 64 blocks, each in a message that costs as much as the work on it, or four in one. */
static void small_blocks(int cured) {
    enum { BLOCKS = 64 };
    const int together = cured ? 4 : 1;
    for (int k = 0; k < BLOCKS; k += together) {
        if (rank > 0)
            MPI_Recv(in[0], 8 * together, MPI_BYTE, before, 1, all, MPI_STATUS_IGNORE);
        work(4 * together);
        if (rank < ranks - 1)
            MPI_Send(out[0], 8 * together, MPI_BYTE, behind, 1, all);
    }
}

/* The same by puts, each in another epoch, or four in one. */
static void small_epochs(int cured) {
    enum { BLOCKS = 64 };
    const int together = cured ? 4 : 1;
    MPI_Group every, one_before, one_behind;
    MPI_Comm_group(all, &every);
    MPI_Group_incl(every, 1, &before, &one_before);
    MPI_Group_incl(every, 1, &behind, &one_behind);
    for (int k = 0; k < BLOCKS; k += together) {
        if (rank > 0) {
            MPI_Win_post(one_before, 0, memory);
            MPI_Win_wait(memory);
        }
        work(4 * together);
        if (rank < ranks - 1) {
            MPI_Win_start(one_behind, 0, memory);
            MPI_Put(out[0], 8 * together, MPI_BYTE, behind, 0, 8 * together, MPI_BYTE, memory);
            MPI_Win_complete(memory);
        }
    }
    MPI_Group_free(&one_before);
    MPI_Group_free(&one_behind);
    MPI_Group_free(&every);
}

/* One rank with less work than the others computes ten times as long in one of 20 steps. */
static void long_visits(int cured) {
    static int step;
    double length = rank == 5 ? 150 : 200;
    work(step++ == 7 && rank == 5 && !cured ? 10 * length : length);
    MPI_Sendrecv(out[0], 64, MPI_BYTE, behind, 1, in[0], 64, MPI_BYTE, before, 1, all, MPI_STATUS_IGNORE);
}

/* One rank computes half as long again as the others do. */
static void uneven(int cured) {
    work(rank == 5 && !cured ? 300 : 200);
    MPI_Sendrecv(out[0], 64, MPI_BYTE, behind, 1, in[0], 64, MPI_BYTE, before, 1, all, MPI_STATUS_IGNORE);
}

/* Neighbours exchange a little, and have more to compute. */
static void halo(int cured) {
    (void)cured;
    work(300);
    MPI_Sendrecv(out[0], 64, MPI_BYTE, behind, 1, in[0], 64, MPI_BYTE, before, 1, all, MPI_STATUS_IGNORE);
}

static const struct {
    const char* name;
    void (*step)(int cured);
} programs[] = {
    {"destination_order", destination_order},
    {"synchronous_sends", synchronous_sends},
    {"receive_order", receive_order},
    {"serial_exchange", serial_exchange},
    {"serial_distribution", serial_distribution},
    {"funnel", funnel},
    {"questions", questions},
    {"missed_overlap", missed_overlap},
    {"every_root", every_root},
    {"lock_epochs", lock_epochs},
    {"small_blocks", small_blocks},
    {"small_epochs", small_epochs},
    {"long_visits", long_visits},
    {"uneven", uneven},
    {"halo", halo},
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    all = MPI_COMM_WORLD;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &ranks);
    before = (rank + ranks - 1) % ranks;
    behind = (rank + 1) % ranks;
    const int has_memory = argc == 3 && strstr(argv[1], "_epochs") != NULL;
    if (has_memory)
        MPI_Win_create(in[0], LARGE, 1, MPI_INFO_NULL, all, &memory);
    for (size_t i = 0; argc == 3 && i < sizeof programs / sizeof *programs; i++)
        for (int step = 0; strcmp(argv[1], programs[i].name) == 0 && step < STEPS; step++)
            programs[i].step(atoi(argv[2]));
    if (has_memory)
        MPI_Win_free(&memory);
    MPI_Finalize();
    return 0;
}
