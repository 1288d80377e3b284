/* o(n) and T(n): the time within a send or receive call, and half of a round trip, by message size.
 *
 * Paper: LogP Performance Assessment of Fast Network Interfaces, 4.1-4.2 (o and T as functions of the length).
 *   send           MPI_Isend to a posted receive. Only the call is timed: the processor's part before it can go on.
 *   blocking_send  MPI_Send to a posted receive.
 *   receive        MPI_Recv of a message that came meanwhile: after it said that it is ready the receiver computes
 *                  for four times T(n) without calling MPI. What the library leaves to the receiver's call is in it.
 *
 *   --bytes LIST   sizes
 *   --settle-s S   computed at least before a receive */
#include <stdlib.h>

#include "calibration.h"

enum { DATA = 1, READY = 2 };

struct message {
    int bytes;
    double settle_s;
    char* buffer;
};

static void tell(MPI_Comm group, int to) {
    MPI_Send(NULL, 0, MPI_BYTE, to, READY, group);
}

static void wait_for(MPI_Comm group, int from) {
    MPI_Recv(NULL, 0, MPI_BYTE, from, READY, group, MPI_STATUS_IGNORE);
}

static double one_way(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct message* m = what;
    int rank;
    MPI_Comm_rank(group, &rank);
    double start = cal_now();
    for (int r = 0; r < repeat; r++) {
        if (rank == 0)
            MPI_Send(m->buffer, m->bytes, MPI_BYTE, 1, DATA, group);
        MPI_Recv(m->buffer, m->bytes, MPI_BYTE, 1 - rank, DATA, group, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(m->buffer, m->bytes, MPI_BYTE, 0, DATA, group);
    }
    return cal_since(c, start) / (2.0 * repeat);
}

static double send_call(const struct cal* c, MPI_Comm group, const struct message* m, int repeat, bool blocking) {
    double total = 0;
    int rank;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < repeat; r++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank == 0) {
            wait_for(group, 1);
            double start = cal_now();
            if (blocking)
                MPI_Send(m->buffer, m->bytes, MPI_BYTE, 1, DATA, group);
            else
                MPI_Isend(m->buffer, m->bytes, MPI_BYTE, 1, DATA, group, &request);
            total += cal_since(c, start);
        } else {
            MPI_Irecv(m->buffer, m->bytes, MPI_BYTE, 0, DATA, group, &request);
            tell(group, 0);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return total / repeat;
}

static double send(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    return send_call(c, group, what, repeat, false);
}

static double blocking_send(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    return send_call(c, group, what, repeat, true);
}

static double receive(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct message* m = what;
    double total = 0;
    int rank;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < repeat; r++) {
        if (rank == 1) {
            wait_for(group, 0);
            MPI_Send(m->buffer, m->bytes, MPI_BYTE, 0, DATA, group);
            continue;
        }
        tell(group, 1);
        cal_compute(c, m->settle_s);
        double start = cal_now();
        MPI_Recv(m->buffer, m->bytes, MPI_BYTE, 1, DATA, group, MPI_STATUS_IGNORE);
        total += cal_since(c, start);
    }
    return total / repeat;
}

struct grid {
    struct cal_list bytes;
    double settle_s;
    struct message* message;
};

static const struct {
    cal_sample* sample;
    const char *family, *keys;
} KINDS[] = {
    {one_way, "one_way", ""}, /* first: the receiver's computation depends on it */
    {send, "message_overhead", "\"side\": \"send\""},
    {blocking_send, "message_overhead", "\"side\": \"blocking_send\""},
    {receive, "message_overhead", "\"side\": \"receive\""},
};

static void visit_pair(struct cal* c, void* what, int round, const struct cal_pair* pair) {
    const struct grid* g = what;
    struct message* m = g->message;
    for (int i = 0; i < g->bytes.count; i++) {
        struct cal_result r;
        m->bytes = (int)g->bytes.value[i];
        for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
            cal_measure(c, pair->comm, 1, KINDS[k].sample, m, &r);
            cal_emit(c, &r, round, KINDS[k].family, pair->locality, m->bytes, KINDS[k].keys);
            if (KINDS[k].sample == one_way)
                m->settle_s = 4 * r.median_s > g->settle_s ? 4 * r.median_s : g->settle_s;
        }
    }
}

static void visits(struct cal* c, void* what, int round) {
    cal_each_pair(c, visit_pair, what, round);
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    struct message m = {0};
    struct grid g = {
        .bytes = cal_list(&c, "bytes", "1,8,64,512,4096,32768,262144"),
        .settle_s = cal_number(&c, "settle-s", 5e-6),
        .message = &m,
    };
    m.buffer = cal_memory(&c, (int64_t)cal_largest(g.bytes));
    cal_rounds(&c, visits, &g);
    free(m.buffer);
    return cal_close(&c);
}
