/* Requests that are answered. */
#include "requests.h"

enum { REQUEST = 1, REPLY = 2 };

/* Receives of replies are posted in a ring of `window`, in front of the requests; replies complete in that order. */
struct issue {
    MPI_Comm group;
    MPI_Request* ring;
    char* replies;
    int requests, window, posted, sent, handled;
};

static void post_reply(struct issue* s) {
    const int slot = s->posted++ % s->window;
    MPI_Irecv(s->replies + (int64_t)slot * CAL_REPLY_BYTES, CAL_REPLY_BYTES, MPI_BYTE, MPI_ANY_SOURCE, REPLY, s->group,
              &s->ring[slot]);
}

static struct issue begin(const struct cal_requests* b, MPI_Comm group) {
    struct issue s = {group, b->ring, b->replies, b->requests, b->window, 0, 0, 0};
    while (s.posted < s.requests && s.posted < s.window)
        post_reply(&s);
    return s;
}

static void count_reply(struct issue* s) {
    s->handled++;
    if (s->posted < s->requests)
        post_reply(s);
}

static void handle_one(struct issue* s) {
    MPI_Wait(&s->ring[s->handled % s->window], MPI_STATUS_IGNORE);
    count_reply(s);
}

/* Not MPI_Iprobe: a simulator may find messages that are still in flight. */
static void handle_arrived(struct issue* s) {
    while (s->handled < s->sent) {
        int here = 0;
        MPI_Test(&s->ring[s->handled % s->window], &here, MPI_STATUS_IGNORE);
        if (!here)
            return;
        count_reply(s);
    }
}

/* Requests go to the ranks first, first + 1, ... one after another. */
static double issue_burst(const struct cal* c, const struct cal_requests* b, MPI_Comm group, int first, int servers) {
    struct issue s = begin(b, group);
    double start = cal_now();
    for (int i = 0; i < b->requests; i++) {
        handle_arrived(&s);
        while (s.sent - s.handled >= b->window)
            handle_one(&s);
        MPI_Send(b->buffer, b->bytes, MPI_BYTE, first + i % servers, REQUEST, group);
        s.sent++;
        if (b->delta_s > 0)
            cal_compute(c, b->delta_s);
    }
    double took = cal_since(c, start);
    while (s.handled < s.sent)
        handle_one(&s);
    return took;
}

static void serve(const struct cal_requests* b, MPI_Comm group, int requests) {
    char reply[CAL_REPLY_BYTES] = {0};
    MPI_Status status;
    for (int i = 0; i < requests; i++) {
        MPI_Recv(b->buffer, b->bytes, MPI_BYTE, MPI_ANY_SOURCE, REQUEST, group, &status);
        MPI_Send(reply, CAL_REPLY_BYTES, MPI_BYTE, status.MPI_SOURCE, REPLY, group);
    }
}

/* The actual duration of Delta, on this core and now: the same computation alone. */
static double computation(const struct cal* c, const struct cal_requests* b) {
    double start = cal_now();
    for (int i = 0; i < b->requests; i++)
        cal_compute(c, b->delta_s);
    return cal_since(c, start);
}

/* Ranks of the group: 0 the requester, the others serve. */
double cal_request_burst(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_requests* b = what;
    double total = 0;
    int rank;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < repeat; r++) {
        if (rank != 0) {
            serve(b, group, b->requests / b->peers + (rank - 1 < b->requests % b->peers));
            continue;
        }
        double took = issue_burst(c, b, group, 1, b->peers);
        if (b->delta_s > 0)
            took += b->requests * b->delta_s - computation(c, b);
        total += took / b->requests;
    }
    return total > 0 ? total / repeat : 0;
}

/* Ranks of the group: the last one serves, all others send requests to it, starting together. */
double cal_many_to_one(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_requests* b = what;
    double total = 0;
    int rank;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < repeat; r++) {
        MPI_Barrier(group);
        if (rank == b->peers) {
            serve(b, group, b->requests * b->peers);
        } else {
            total += issue_burst(c, b, group, b->peers, 1) / b->requests;
        }
    }
    return total / repeat;
}

double cal_round_trip(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_requests* b = what;
    char reply[CAL_REPLY_BYTES];
    int rank;
    MPI_Comm_rank(group, &rank);
    if (rank != 0) {
        serve(b, group, repeat);
        return 0;
    }
    double start = cal_now();
    for (int r = 0; r < repeat; r++) {
        MPI_Send(b->buffer, b->bytes, MPI_BYTE, 1, REQUEST, group);
        MPI_Recv(reply, CAL_REPLY_BYTES, MPI_BYTE, 1, REPLY, group, MPI_STATUS_IGNORE);
    }
    return cal_since(c, start) / repeat;
}

/* delta_s is computed once, after all requests: then every reply waits. */
double cal_waiting_replies(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_requests* b = what;
    double total = 0;
    int rank;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < repeat; r++) {
        if (rank != 0) {
            serve(b, group, b->requests);
            continue;
        }
        struct issue s = begin(b, group);
        for (; s.sent < b->requests; s.sent++)
            MPI_Send(b->buffer, b->bytes, MPI_BYTE, 1, REQUEST, group);
        cal_compute(c, b->delta_s);
        double start = cal_now();
        while (s.handled < s.sent)
            handle_one(&s);
        total += cal_since(c, start) / b->requests;
    }
    return total / repeat;
}
