/* A message between the two ranks of a pair. */
#include "message.h"

#include <string.h>

enum { DATA = 1, READY = 2 };

static void notify(MPI_Comm group, int to) {
    MPI_Send(NULL, 0, MPI_BYTE, to, READY, group);
}

static void wait_for(MPI_Comm group, int from) {
    MPI_Recv(NULL, 0, MPI_BYTE, from, READY, group, MPI_STATUS_IGNORE);
}

double cal_one_way(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_message* m = what;
    int rank;
    MPI_Comm_rank(group, &rank);
    double total = 0;
    for (int r = 0; r < repeat; r++) {
        memset(m->buffer, r, (size_t)m->bytes);
        double start = cal_now();
        if (rank == 0)
            MPI_Send(m->buffer, m->bytes, MPI_BYTE, 1, DATA, group);
        MPI_Recv(m->into, m->bytes, MPI_BYTE, 1 - rank, DATA, group, MPI_STATUS_IGNORE);
        total += cal_since(c, start);
        if (rank == 1)
            MPI_Send(m->buffer, m->bytes, MPI_BYTE, 0, DATA, group);
    }
    return total / (2.0 * repeat);
}

/* The time of messages one after the other and of one back. */
static double row(const struct cal* c, MPI_Comm group, const struct cal_message* m, int messages) {
    int rank;
    MPI_Comm_rank(group, &rank);
    double start = cal_now();
    for (int i = 0; i < messages; i++)
        if (rank == 0)
            MPI_Send(m->buffer, m->bytes, MPI_BYTE, 1, DATA, group);
        else
            MPI_Recv(m->into, m->bytes, MPI_BYTE, 0, DATA, group, MPI_STATUS_IGNORE);
    if (rank == 0)
        wait_for(group, 1);
    else
        notify(group, 0);
    return cal_since(c, start);
}

double cal_stream(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    double total = 0;
    for (int r = 0; r < repeat; r++)
        total += row(c, group, what, CAL_STREAM) - row(c, group, what, 1);
    return total > 0 ? total / repeat / (CAL_STREAM - 1) : 0;
}

static double send_call(const struct cal* c, MPI_Comm group, const struct cal_message* m, int repeat, bool blocking) {
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
            MPI_Irecv(m->into, m->bytes, MPI_BYTE, 0, DATA, group, &request);
            notify(group, 0);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return total / repeat;
}

double cal_send(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    return send_call(c, group, what, repeat, false);
}

double cal_blocking_send(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    return send_call(c, group, what, repeat, true);
}

double cal_receive(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_message* m = what;
    double total = 0;
    int rank;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < repeat; r++) {
        if (rank == 1) {
            wait_for(group, 0);
            MPI_Send(m->buffer, m->bytes, MPI_BYTE, 0, DATA, group);
            continue;
        }
        notify(group, 1);
        cal_compute(c, m->settle_s);
        double start = cal_now();
        MPI_Recv(m->into, m->bytes, MPI_BYTE, 1, DATA, group, MPI_STATUS_IGNORE);
        total += cal_since(c, start);
    }
    return total / repeat;
}
