/* LOGP's signature: cost(M, Delta) of a burst of requests, whose replies are handled while it is issued.
 *
 * Paper: LogP Performance Assessment of Fast Network Interfaces (Culler, Liu, Martin & Yoshikawa) 3.1-3.2, 3.5, 4.2.
 *   start; M times { issue a request; compute for Delta }; stop; handle the remaining replies
 * Issuing looks for replies first and handles those that have come, as an Active Message request does. A request has
 * --bytes bytes, a reply 8. At most --window requests are outstanding: the capacity of LogP's network, which a message
 * passing library with its unlimited buffers lacks; beyond it a reply is waited for before the next request.
 *
 *   --bytes, --bursts, --deltas-s   the grid, lists
 *   --window N                      capacity, requests
 *   --most-bytes N                  bursts of more than N bytes in all are left out
 *   --longest-delayed N             longest burst with computation between the requests
 *   --replies LIST                  how many replies wait (receive_overhead); at most --window
 *   --reply-delay-s S               computed before they are handled; more than a round trip
 *   --peers LIST                    1-to-many and K-to-1 with so many ranks beside rank 0, where there are that many */
#include <stdlib.h>

#include "calibration.h"

enum { REQUEST = 1, REPLY = 2, REPLY_BYTES = 8 };

struct burst {
    int bytes, requests, window, peers; /* peers: servers, or requesters of one server */
    double delta_s;
    char *buffer, *replies;
    MPI_Request* ring; /* of window */
};

/* Receives of replies are posted in a ring of `window`, in front of the requests; replies complete in that order. */
struct issue {
    MPI_Comm group;
    MPI_Request* ring;
    char* replies;
    int requests, window, posted, sent, handled;
};

static void post_reply(struct issue* s) {
    const int slot = s->posted++ % s->window;
    MPI_Irecv(s->replies + (int64_t)slot * REPLY_BYTES, REPLY_BYTES, MPI_BYTE, MPI_ANY_SOURCE, REPLY, s->group,
              &s->ring[slot]);
}

static struct issue begin(const struct burst* b, MPI_Comm group) {
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

/* Not MPI_Iprobe: a simulator may find messages that are still under way. */
static void handle_arrived(struct issue* s) {
    while (s->handled < s->sent) {
        int here = 0;
        MPI_Test(&s->ring[s->handled % s->window], &here, MPI_STATUS_IGNORE);
        if (!here)
            return;
        count_reply(s);
    }
}

/* Requests go to the ranks first, first + 1, ... in turn. */
static double issue_burst(const struct cal* c, const struct burst* b, MPI_Comm group, int first, int servers) {
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

static void serve(const struct burst* b, MPI_Comm group, int requests) {
    char reply[REPLY_BYTES] = {0};
    MPI_Status status;
    for (int i = 0; i < requests; i++) {
        MPI_Recv(b->buffer, b->bytes, MPI_BYTE, MPI_ANY_SOURCE, REQUEST, group, &status);
        MPI_Send(reply, REPLY_BYTES, MPI_BYTE, status.MPI_SOURCE, REPLY, group);
    }
}

/* What Delta really took, on this core and now: the same computation alone. */
static double computation(const struct cal* c, const struct burst* b) {
    double start = cal_now();
    for (int i = 0; i < b->requests; i++)
        cal_compute(c, b->delta_s);
    return cal_since(c, start);
}

/* Ranks of the group: 0 the requester, the others serve. */
static double request_burst(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct burst* b = what;
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
static double many_to_one(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct burst* b = what;
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

static double round_trip(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct burst* b = what;
    char reply[REPLY_BYTES];
    int rank;
    MPI_Comm_rank(group, &rank);
    if (rank != 0) {
        serve(b, group, repeat);
        return 0;
    }
    double start = cal_now();
    for (int r = 0; r < repeat; r++) {
        MPI_Send(b->buffer, b->bytes, MPI_BYTE, 1, REQUEST, group);
        MPI_Recv(reply, REPLY_BYTES, MPI_BYTE, 1, REPLY, group, MPI_STATUS_IGNORE);
    }
    return cal_since(c, start) / repeat;
}

/* delta_s is computed once, after all requests: then every reply waits. */
static double waiting_replies(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct burst* b = what;
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

struct grid {
    struct cal_list bytes, bursts, deltas, replies, peers;
    double reply_delay_s, most_bytes, longest_delayed;
    MPI_Comm* groups; /* for each of peers */
    struct burst* burst;
};

static bool left_out(const struct grid* g, double bytes, double requests, double delta_s) {
    return bytes * requests > g->most_bytes || (delta_s > 0 && requests > g->longest_delayed);
}

static void visit_pair(struct cal* c, void* what, int round, const struct cal_pair* pair) {
    const struct grid* g = what;
    struct burst* b = g->burst;
    struct cal_result r;
    char keys[96];
    b->peers = 1;
    for (int s = 0; s < g->bytes.count; s++) {
        b->bytes = (int)g->bytes.value[s];
        cal_measure(c, pair->comm, 1, round_trip, b, &r);
        cal_emit(c, &r, round, "round_trip", pair->locality, b->bytes, "");
        for (int d = 0; d < g->deltas.count; d++) {
            for (int m = 0; m < g->bursts.count; m++) {
                b->requests = (int)g->bursts.value[m];
                b->delta_s = g->deltas.value[d];
                if (left_out(g, b->bytes, b->requests, b->delta_s))
                    continue;
                cal_measure(c, pair->comm, 1, request_burst, b, &r);
                snprintf(keys, sizeof keys, "\"burst\": %d, \"delta_s\": %.9g", b->requests, b->delta_s);
                cal_emit(c, &r, round, "signature", pair->locality, b->bytes, keys);
            }
        }
    }
    b->bytes = REPLY_BYTES;
    b->delta_s = g->reply_delay_s;
    for (int m = 0; m < g->replies.count; m++) {
        b->requests = (int)g->replies.value[m] < b->window ? (int)g->replies.value[m] : b->window;
        cal_measure(c, pair->comm, 1, waiting_replies, b, &r);
        snprintf(keys, sizeof keys, "\"burst\": %d, \"delta_s\": %.9g", b->requests, b->delta_s);
        cal_emit(c, &r, round, "receive_overhead", pair->locality, REPLY_BYTES, keys);
    }
}

/* Locality class of the farthest of the ranks 1 to peers from rank 0. */
static const char* farthest_of(const struct cal* c, int peers) {
    int* zero = cal_memory(c, peers * (int64_t)sizeof *zero);
    int* others = cal_memory(c, peers * (int64_t)sizeof *others);
    for (int i = 0; i < peers; i++) {
        zero[i] = 0;
        others[i] = i + 1;
    }
    const char* locality = cal_farthest(c, zero, others, peers);
    free(zero);
    free(others);
    return locality;
}

static void visit_many(struct cal* c, const struct grid* g, int round, int peers, MPI_Comm group) {
    struct burst* b = g->burst;
    struct cal_result r;
    char keys[96];
    const char* locality = farthest_of(c, peers);
    b->peers = peers;
    b->bytes = REPLY_BYTES;
    b->delta_s = 0;
    for (int m = 0; m < g->bursts.count; m++) {
        b->requests = (int)g->bursts.value[m];
        if (b->requests < peers)
            continue; /* not even one request for each */
        snprintf(keys, sizeof keys, "\"burst\": %d, \"peers\": %d", b->requests, peers);
        cal_measure(c, group, 1, request_burst, b, &r);
        cal_emit(c, &r, round, "one_to_many", locality, REPLY_BYTES, keys);
        cal_measure(c, group, peers, many_to_one, b, &r);
        cal_emit(c, &r, round, "many_to_one", locality, REPLY_BYTES, keys);
    }
}

static void visits(struct cal* c, void* what, int round) {
    const struct grid* g = what;
    cal_each_pair(c, visit_pair, what, round);
    for (int p = 0; p < g->peers.count; p++) {
        if (g->groups[p] != MPI_COMM_NULL && (int)g->peers.value[p] < c->ranks)
            visit_many(c, g, round, (int)g->peers.value[p], g->groups[p]);
        cal_rest(c);
    }
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    struct burst b = {.window = (int)cal_number(&c, "window", 32)};
    struct grid g = {
        .bytes = cal_list(&c, "bytes", "8"),
        .bursts = cal_list(&c, "bursts", "1,2,4,8,16,32,64,128,256,512"),
        .deltas = cal_list(&c, "deltas-s", "0"),
        .replies = cal_list(&c, "replies", "1,8"),
        .peers = cal_list(&c, "peers", ""),
        .reply_delay_s = cal_number(&c, "reply-delay-s", 100e-6),
        .most_bytes = cal_number(&c, "most-bytes", 8 << 20),
        .longest_delayed = cal_number(&c, "longest-delayed", 128),
        .burst = &b,
    };
    if (b.window < 1)
        cal_refuse(&c, "--window must be at least", "1");
    const int largest = (int)cal_largest(g.bytes);
    b.buffer = cal_memory(&c, largest > REPLY_BYTES ? largest : REPLY_BYTES);
    b.replies = cal_memory(&c, (int64_t)b.window * REPLY_BYTES);
    b.ring = cal_memory(&c, b.window * (int64_t)sizeof *b.ring);
    g.groups = cal_memory(&c, g.peers.count * (int64_t)sizeof *g.groups);
    for (int p = 0; p < g.peers.count; p++)
        MPI_Comm_split(MPI_COMM_WORLD, c.rank <= g.peers.value[p] ? 0 : MPI_UNDEFINED, c.rank, &g.groups[p]);
    cal_rounds(&c, visits, &g);
    return cal_close(&c);
}
