/* What a calibration has to predict: messages and broadcasts of strided data, at sizes and strides that it did not
 * measure.
 *
 *   ping      half of a ping-pong of one array
 *   linear    rank 0 sends to all others, one after the other
 *   tree      each rank sends on what it received (binomial)
 *   reference the ping-pong again, of --reference-bytes and --reference-strides (pairs), before and after all others:
 *             what the calibration has measured as well, so that one sees whether the machine is as fast as then
 *   answer    half of a ping-pong of rank 0 and the last rank, empty, made in the way of a broadcast
 * Data are doubles, one every --strides bytes (8: contiguous), by MPI_Type_vector. A broadcast begins at rank 0, which
 * has just written its data (as an application has, and as a ping-pong's receive does), --settle-s after a barrier, so
 * that all others wait for it. The last rank receives it last, and sends an empty message back. Linear and
 * tree include that reply, and their reader subtracts it. So one clock times all, and ranks may be on several hosts.
 * Batches, medians and output are the calibration's. */
#include <stdlib.h>

#include "calibration.h"

#define KINDS_WANTED "ping,linear,tree"

enum { DATA = 1, ANSWER = 2 };

struct message {
    double* data;
    MPI_Datatype type;
    int count, blocks, step; /* `blocks` doubles, one every `step`, are one of `type` */
    double settle_s;
};

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

/* Out of a pause: from the beginning of the broadcast until the last rank has answered, in seconds (rank 0's). */
static double time_broadcast(const struct cal* c, MPI_Comm group, const struct message* m, int repeat,
                             void (*broadcast)(const struct message*, MPI_Comm, int, int)) {
    int rank, ranks;
    double total = 0;
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &ranks);
    for (int r = 0; r < repeat; r++) {
        MPI_Barrier(group);
        if (rank == 0) {
            for (int i = 0; i < m->blocks; i++)
                m->data[(size_t)i * (size_t)m->step] += 1;
            cal_compute(c, m->settle_s);
        }
        double start = cal_now();
        broadcast(m, group, rank, ranks);
        if (rank == ranks - 1)
            MPI_Send(NULL, 0, MPI_BYTE, 0, ANSWER, group);
        if (rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, ANSWER, group, MPI_STATUS_IGNORE);
        total += cal_since(c, start);
    }
    return total / repeat;
}

static void empty_message(const struct message* m, MPI_Comm group, int rank, int ranks) {
    (void)m;
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_BYTE, ranks - 1, DATA, group);
    if (rank == ranks - 1)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, DATA, group, MPI_STATUS_IGNORE);
}

static double answer(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    return time_broadcast(c, group, what, repeat, empty_message) / 2;
}

static double linear(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    return time_broadcast(c, group, what, repeat, linear_broadcast);
}

static double tree(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    return time_broadcast(c, group, what, repeat, tree_broadcast);
}

static void visit(struct cal* c, const char* kind, cal_sample* sample, int round, int64_t bytes, int64_t stride) {
    MPI_Comm group = sample == ping ? c->pairs[0].comm : MPI_COMM_WORLD;
    if (group == MPI_COMM_NULL)
        return;
    struct cal_result r;
    char keys[96];
    struct message m = {
        .count = 1,
        .blocks = (int)bytes / 8,
        .step = (int)stride / 8,
        .settle_s = cal_number(c, "settle-s", 3e-6),
    };
    m.data = cal_memory(c, (int64_t)m.blocks * m.step * 8);
    if (m.step > 1)
        MPI_Type_vector(m.blocks, 1, m.step, MPI_DOUBLE, &m.type);
    else
        MPI_Type_contiguous(m.blocks, MPI_DOUBLE, &m.type);
    MPI_Type_commit(&m.type);
    cal_measure(c, group, 1, sample, &m, &r);
    MPI_Type_free(&m.type);
    free(m.data);
    snprintf(keys, sizeof keys, "\"stride_bytes\": %d, \"ranks\": %d", m.step * 8, c->ranks);
    cal_emit(c, &r, round, kind, c->pairs[0].locality, m.blocks * 8, keys);
}

struct grid {
    struct cal_list bytes, strides, reference_bytes, reference_strides;
};

static void visit_references(struct cal* c, const struct grid* g, int round) {
    for (int i = 0; i < g->reference_bytes.count && i < g->reference_strides.count; i++)
        visit(c, "reference", ping, round, (int64_t)g->reference_bytes.value[i],
              (int64_t)g->reference_strides.value[i]);
    cal_rest(c);
}

static void visit_all(struct cal* c, void* what, int round) {
    const struct grid* g = what;
    static const struct {
        const char* name;
        cal_sample* sample;
    } kinds[] = {{"ping", ping}, {"linear", linear}, {"tree", tree}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    visit_references(c, g, round);
    if (cal_wants(c, "kinds", "linear", KINDS_WANTED) || cal_wants(c, "kinds", "tree", KINDS_WANTED))
        visit(c, "answer", answer, round, 0, 8);
    cal_rest(c);
    for (int k = 0; k < KINDS; k++) {
        if (!cal_wants(c, "kinds", kinds[k].name, KINDS_WANTED))
            continue;
        for (int s = 0; s < g->bytes.count; s++)
            for (int d = 0; d < g->strides.count; d++)
                visit(c, kinds[k].name, kinds[k].sample, round, (int64_t)g->bytes.value[s],
                      (int64_t)g->strides.value[d]);
        cal_rest(c);
    }
    visit_references(c, g, round);
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    struct grid g = {
        cal_list(&c, "bytes", "3000"),
        cal_list(&c, "strides", "8,24"),
        cal_list(&c, "reference-bytes", ""),
        cal_list(&c, "reference-strides", ""),
    };
    cal_rounds(&c, visit_all, &g);
    return cal_close(&c);
}
