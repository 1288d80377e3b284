/* LOGP's signature: cost(M, Delta) of a burst of requests (timed/requests.h). A request has --bytes bytes, a reply 8.
 *
 *   --bytes, --bursts, --deltas-s   the grid, lists
 *   --window N                      capacity, requests
 *   --most-bytes N                  bursts of more than N bytes in all are left out
 *   --longest-delayed N             longest burst with computation between the requests
 *   --replies LIST                  how many replies wait (receive_overhead); at most --window
 *   --reply-delay-s S               computed before they are handled; more than a round trip
 *   --peers LIST                    1-to-many and K-to-1 with so many ranks in addition to rank 0, where there are that
 * many */
#include <stdlib.h>

#include "message.h"
#include "requests.h"

struct grid {
    struct cal_list bytes, bursts, deltas, replies, peers;
    double reply_delay_s, most_bytes, longest_delayed;
    MPI_Comm* groups; /* for each of peers */
    struct cal_requests* burst;
};

static bool left_out(const struct grid* g, double bytes, double requests, double delta_s) {
    return bytes * requests > g->most_bytes || (delta_s > 0 && requests > g->longest_delayed);
}

static void visit_pair(struct cal* c, void* what, int round, const struct cal_pair* pair) {
    const struct grid* g = what;
    struct cal_requests* b = g->burst;
    struct cal_result r;
    char keys[96];
    b->peers = 1;
    for (int s = 0; s < g->bytes.count; s++) {
        b->bytes = (int)g->bytes.value[s];
        struct cal_message m = {.bytes = b->bytes, .buffer = b->buffer, .into = b->buffer};
        cal_measure(c, pair->comm, 1, cal_round_trip, b, &r);
        cal_emit(c, &r, round, "round_trip", pair->locality, b->bytes, "");
        cal_measure(c, pair->comm, 1, cal_stream, &m, &r);
        cal_emit(c, &r, round, "stream", pair->locality, b->bytes, "");
        for (int d = 0; d < g->deltas.count; d++) {
            for (int m = 0; m < g->bursts.count; m++) {
                b->requests = (int)g->bursts.value[m];
                b->delta_s = g->deltas.value[d];
                if (left_out(g, b->bytes, b->requests, b->delta_s))
                    continue;
                cal_measure(c, pair->comm, 1, cal_request_burst, b, &r);
                snprintf(keys, sizeof keys, "\"burst\": %d, \"delta_s\": %.9g", b->requests, b->delta_s);
                cal_emit(c, &r, round, "signature", pair->locality, b->bytes, keys);
            }
        }
    }
    b->bytes = CAL_REPLY_BYTES;
    b->delta_s = g->reply_delay_s;
    for (int m = 0; m < g->replies.count; m++) {
        b->requests = (int)g->replies.value[m] < b->window ? (int)g->replies.value[m] : b->window;
        cal_measure(c, pair->comm, 1, cal_waiting_replies, b, &r);
        snprintf(keys, sizeof keys, "\"burst\": %d, \"delta_s\": %.9g", b->requests, b->delta_s);
        cal_emit(c, &r, round, "receive_overhead", pair->locality, CAL_REPLY_BYTES, keys);
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
    struct cal_requests* b = g->burst;
    struct cal_result r;
    char keys[96];
    const char* locality = farthest_of(c, peers);
    b->peers = peers;
    b->bytes = CAL_REPLY_BYTES;
    b->delta_s = 0;
    for (int m = 0; m < g->bursts.count; m++) {
        b->requests = (int)g->bursts.value[m];
        if (b->requests < peers)
            continue; /* not even one request for each */
        snprintf(keys, sizeof keys, "\"burst\": %d, \"peers\": %d", b->requests, peers);
        cal_measure(c, group, 1, cal_request_burst, b, &r);
        cal_emit(c, &r, round, "one_to_many", locality, CAL_REPLY_BYTES, keys);
        cal_measure(c, group, peers, cal_many_to_one, b, &r);
        cal_emit(c, &r, round, "many_to_one", locality, CAL_REPLY_BYTES, keys);
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
    struct cal_requests b = {.window = (int)cal_number(&c, "window", 32)};
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
    b.buffer = cal_memory(&c, largest > CAL_REPLY_BYTES ? largest : CAL_REPLY_BYTES);
    b.replies = cal_memory(&c, (int64_t)b.window * CAL_REPLY_BYTES);
    b.ring = cal_memory(&c, b.window * (int64_t)sizeof *b.ring);
    g.groups = cal_memory(&c, g.peers.count * (int64_t)sizeof *g.groups);
    for (int p = 0; p < g.peers.count; p++)
        MPI_Comm_split(MPI_COMM_WORLD, c.rank <= g.peers.value[p] ? 0 : MPI_UNDEFINED, c.rank, &g.groups[p]);
    cal_rounds(&c, visits, &g);
    return cal_close(&c);
}
