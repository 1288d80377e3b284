/* What a calibration has to predict: messages and broadcasts of strided data, at sizes and strides that it did not
 * measure.
 *
 *   ping      half of a ping-pong of one array
 *   linear    rank 0 sends to all others, one after the other
 *   tree      each rank sends on what it received (binomial)
 * Data are doubles, one every --strides bytes (8: contiguous), by MPI_Type_vector. A broadcast begins at rank 0,
 * --settle-s after a barrier so that all others wait for it, and ends with the last rank's receive, by a clock that all
 * ranks share: they have to be on one host, or simulated. Batches, medians and output are the calibration's. */
#define _GNU_SOURCE

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "calibration.h"

enum { DATA = 1 };

struct message {
    double* data;
    MPI_Datatype type;
    int count;
    double settle_s;
};

/* MPI_Wtime may count from the start of each process. */
static double shared_now(void) {
#if defined(SMPI_HELPERS_H) || defined(SMPI_H)
    return MPI_Wtime();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
#endif
}

static double ping(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct message* m = what;
    int rank;
    MPI_Comm_rank(group, &rank);
    double start = cal_now();
    for (int r = 0; r < repeat; r++) {
        if (rank == 0)
            MPI_Send(m->data, m->count, m->type, 1, DATA, group);
        MPI_Recv(m->data, m->count, m->type, 1 - rank, DATA, group, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(m->data, m->count, m->type, 0, DATA, group);
    }
    return cal_since(c, start) / (2.0 * repeat);
}

static void linear_broadcast(const struct message* m, MPI_Comm group, int rank, int ranks) {
    if (rank != 0)
        MPI_Recv(m->data, m->count, m->type, 0, DATA, group, MPI_STATUS_IGNORE);
    for (int to = 1; rank == 0 && to < ranks; to++)
        MPI_Send(m->data, m->count, m->type, to, DATA, group);
}

static void tree_broadcast(const struct message* m, MPI_Comm group, int rank, int ranks) {
    int bit = 1;
    while (bit < ranks && !(rank & bit))
        bit <<= 1;
    if (rank != 0)
        MPI_Recv(m->data, m->count, m->type, rank - bit, DATA, group, MPI_STATUS_IGNORE);
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (rank + bit < ranks)
            MPI_Send(m->data, m->count, m->type, rank + bit, DATA, group);
}

static double time_broadcast(const struct cal* c, MPI_Comm group, const struct message* m, int repeat, bool tree) {
    double total = 0;
    int rank, ranks;
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &ranks);
    for (int r = 0; r < repeat; r++) {
        double ends[2], last[2];
        MPI_Barrier(group);
        if (rank == 0)
            cal_compute(c, m->settle_s);
        ends[0] = rank == 0 ? -shared_now() : -INFINITY;
        if (tree)
            tree_broadcast(m, group, rank, ranks);
        else
            linear_broadcast(m, group, rank, ranks);
        ends[1] = shared_now();
        MPI_Allreduce(ends, last, 2, MPI_DOUBLE, MPI_MAX, group);
        total += last[0] + last[1] - c->clock_cost_s;
    }
    return total / repeat;
}

static double linear(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    return time_broadcast(c, group, what, repeat, false);
}

static double tree(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    return time_broadcast(c, group, what, repeat, true);
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    const struct cal_list bytes = cal_list(&c, "bytes", "3000");
    const struct cal_list strides = cal_list(&c, "strides", "8,24");
    static const struct {
        const char* name;
        cal_sample* sample;
    } kinds[] = {{"ping", ping}, {"linear", linear}, {"tree", tree}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    c.visits_left = (double)bytes.count * strides.count * KINDS;
    for (int k = 0; k < KINDS; k++) {
        if (!cal_wants(&c, "kinds", kinds[k].name, "ping,linear,tree"))
            continue;
        MPI_Comm group = kinds[k].sample == ping ? c.pairs[0].comm : MPI_COMM_WORLD;
        for (int s = 0; s < bytes.count && group != MPI_COMM_NULL; s++) {
            for (int d = 0; d < strides.count; d++) {
                struct cal_result r;
                char keys[96];
                struct message m = {.count = 1, .settle_s = cal_number(&c, "settle-s", 3e-6)};
                const int blocks = (int)bytes.value[s] / 8, step = (int)strides.value[d] / 8;
                m.data = cal_memory(&c, (int64_t)blocks * step * 8);
                if (step > 1)
                    MPI_Type_vector(blocks, 1, step, MPI_DOUBLE, &m.type);
                else
                    MPI_Type_contiguous(blocks, MPI_DOUBLE, &m.type);
                MPI_Type_commit(&m.type);
                cal_measure(&c, group, 1, kinds[k].sample, &m, &r);
                MPI_Type_free(&m.type);
                free(m.data);
                snprintf(keys, sizeof keys, "\"stride_bytes\": %d, \"ranks\": %d", step * 8, c.ranks);
                cal_emit(&c, &r, 0, kinds[k].name, c.pairs[0].locality, blocks * 8, keys);
            }
        }
        cal_rest(&c);
    }
    return cal_close(&c);
}
