/* o(S, b): the cost of initiating a message in a burst of b nonblocking ones, and the depth at which it blocks.
 *
 * Paper: Optimizing Communication Overlap for High-Speed Networks (Iancu & Strohmaier) 2.1: bursts of increasing length
 * without computation between the calls; beyond the hardware's queue depth HD "the processor will block until one of
 * the previous transfers has finished".
 *   send      MPI_Isend to posted receives
 *   receive   MPI_Irecv before the messages are sent
 * Every message has separate memory, as a program's messages have, up to --most-bytes for all of them.
 *
 *   --bytes, --bursts   the grid, lists
 *   --depth-bytes LIST  sizes at which the depth is looked for, in a burst of --longest
 * The depth: initiations are timed one by one; it is the number of those in front from which on the medians of the next
 * eight positions exceed four times what an initiation costs before, and half of what it costs the message to pass (a
 * depth has to bring the issue down to the rate of the network). None of that kind: depth 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"

enum { DATA = 1, READY = 2, DONE = 3, NEXT = 8 };

struct burst {
    int bytes, messages;
    char* memory;
    MPI_Request* requests;
};

static char* part(const struct burst* b, int i) {
    return b->memory + (int64_t)i * b->bytes;
}

static void notify(MPI_Comm group, int to, int tag) {
    MPI_Send(NULL, 0, MPI_BYTE, to, tag, group);
}

static void wait_for(MPI_Comm group, int from, int tag) {
    MPI_Recv(NULL, 0, MPI_BYTE, from, tag, group, MPI_STATUS_IGNORE);
}

static void post_receives(const struct burst* b, MPI_Comm group, int from) {
    for (int i = 0; i < b->messages; i++)
        MPI_Irecv(part(b, i), b->bytes, MPI_BYTE, from, DATA, group, &b->requests[i]);
}

static void issue_sends(const struct burst* b, MPI_Comm group, int to) {
    for (int i = 0; i < b->messages; i++)
        MPI_Isend(part(b, i), b->bytes, MPI_BYTE, to, DATA, group, &b->requests[i]);
}

static void finish(const struct burst* b) {
    MPI_Waitall(b->messages, b->requests, MPI_STATUSES_IGNORE);
}

static double send(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct burst* b = what;
    double total = 0;
    int rank;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < repeat; r++) {
        if (rank == 0) {
            wait_for(group, 1, READY);
            double start = cal_now();
            issue_sends(b, group, 1);
            total += cal_since(c, start);
        } else {
            post_receives(b, group, 0);
            notify(group, 0, READY);
        }
        finish(b);
    }
    return total / repeat / b->messages;
}

static double receive(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct burst* b = what;
    double total = 0;
    int rank;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < repeat; r++) {
        if (rank == 0) {
            double start = cal_now();
            post_receives(b, group, 1);
            total += cal_since(c, start);
            notify(group, 1, READY);
        } else {
            wait_for(group, 0, READY);
            issue_sends(b, group, 0);
        }
        finish(b);
    }
    return total / repeat / b->messages;
}

/* See above; cost[i] is the median cost of initiation i, passing_s the time a message takes through the network. */
static int find_depth(const double* cost, int n, double passing_s) {
    double before[NEXT], next[NEXT];
    for (int depth = 1; depth + NEXT <= n; depth++) {
        int known = depth < NEXT ? depth : NEXT;
        memcpy(before, cost + depth - known, (size_t)known * sizeof *cost);
        memcpy(next, cost + depth, NEXT * sizeof *cost);
        double usual = cal_median(before, known), blocked = cal_median(next, NEXT);
        if (blocked > 4 * usual && blocked > 0.5 * passing_s)
            return depth;
    }
    return 0;
}

/* `visits` bursts, every initiation timed: cost[i * visits + r]. Returns the time per message of the whole bursts. */
static double time_initiations(struct cal* c, MPI_Comm group, const struct burst* b, int visits, double* cost) {
    int rank;
    double passing = 0;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < visits; r++) {
        if (rank == 1) {
            post_receives(b, group, 0);
            notify(group, 0, READY);
            finish(b);
            notify(group, 0, DONE);
            continue;
        }
        wait_for(group, 1, READY);
        double begin = cal_now();
        for (int i = 0; i < b->messages; i++) {
            double start = cal_now();
            MPI_Isend(part(b, i), b->bytes, MPI_BYTE, 1, DATA, group, &b->requests[i]);
            cost[(size_t)i * (size_t)visits + (size_t)r] = cal_since(c, start);
        }
        finish(b);
        wait_for(group, 1, DONE);
        passing += cal_since(c, begin) / b->messages;
    }
    return passing / visits;
}

static void visit_depth(struct cal* c, struct burst* b, int longest, int round, const struct cal_pair* pair) {
    const int visits = c->batch;
    if (c->counting) {
        c->visits_left += 1;
        return;
    }
    double* cost = cal_memory(c, (int64_t)longest * visits * (int64_t)sizeof *cost);
    double* medians = cal_memory(c, longest * (int64_t)sizeof *medians);
    char keys[96];
    b->messages = longest;
    time_initiations(c, pair->comm, b, 1, cost);
    double passing = time_initiations(c, pair->comm, b, visits, cost);
    c->visits_left -= 1;
    if (c->rank == 0) {
        struct cal_result r;
        memset(&r, 0, sizeof r);
        for (int i = 0; i < longest; i++) {
            double* row = cost + (size_t)i * (size_t)visits;
            medians[i] = cal_median(row, visits);
        }
        int depth = find_depth(medians, longest, passing), free_ones = depth > 0 ? depth : longest;
        cal_statistics(cost, free_ones * visits, c->accuracy, &r);
        r.batches = free_ones;
        r.repeat = 1;
        snprintf(keys, sizeof keys, "\"depth\": %d, \"longest\": %d", depth, longest);
        cal_emit(c, &r, round, "blocking_depth", pair->locality, b->bytes, keys);
    }
    free(cost);
    free(medians);
}

struct grid {
    struct cal_list bytes, bursts, depth_bytes;
    int longest;
    double most_bytes;
    struct burst* burst;
};

/* How long a burst in which the depth is looked for may be. */
static int longest_of(const struct grid* g, double bytes) {
    return (int)fmin(g->longest, g->most_bytes / fmax(bytes, 1));
}

static void visit_pair(struct cal* c, void* what, int round, const struct cal_pair* pair) {
    const struct grid* g = what;
    struct burst* b = g->burst;
    for (int s = 0; s < g->bytes.count; s++) {
        for (int m = 0; m < g->bursts.count; m++) {
            struct cal_result r;
            char keys[64];
            b->bytes = (int)g->bytes.value[s];
            b->messages = (int)g->bursts.value[m];
            if ((double)b->bytes * b->messages > g->most_bytes)
                continue;
            for (int side = 0; side < 2; side++) {
                cal_measure(c, pair->comm, 1, side ? receive : send, b, &r);
                snprintf(keys, sizeof keys, "\"burst\": %d, \"side\": \"%s\"", b->messages, side ? "receive" : "send");
                cal_emit(c, &r, round, "burst_overhead", pair->locality, b->bytes, keys);
            }
        }
    }
    for (int s = 0; s < g->depth_bytes.count; s++) {
        b->bytes = (int)g->depth_bytes.value[s];
        const int longest = longest_of(g, b->bytes);
        if (longest > NEXT)
            visit_depth(c, b, longest, round, pair);
    }
}

static void visits(struct cal* c, void* what, int round) {
    cal_each_pair(c, visit_pair, what, round);
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    struct burst b = {0};
    struct grid g = {
        .bytes = cal_list(&c, "bytes", "8,1024,16384"),
        .bursts = cal_list(&c, "bursts", "1,2,4,8,16,32,64"),
        .depth_bytes = cal_list(&c, "depth-bytes", "8,16384"),
        .longest = (int)cal_number(&c, "longest", 256),
        .most_bytes = cal_number(&c, "most-bytes", 32 << 20),
        .burst = &b,
    };
    /* No burst is longer or has more data than these. */
    const double most = fmax(cal_largest(g.bursts), g.longest);
    const double largest = fmax(cal_largest(g.bytes), cal_largest(g.depth_bytes));
    b.memory = cal_memory(&c, (int64_t)fmin(largest * most, g.most_bytes));
    b.requests = cal_memory(&c, (int64_t)most * (int64_t)sizeof *b.requests);
    cal_rounds(&c, visits, &g);
    free(b.memory);
    free(b.requests);
    return cal_close(&c);
}
