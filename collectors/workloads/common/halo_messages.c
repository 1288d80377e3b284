/* Values and contributions by messages: fine-grained, or bulk. */
#include <string.h>

#include "halo.h"
#include "memory.h"
#include "messages.h"
#include "team_mpi.h"

#define NODE_BYTES ((int)(HALO_WIDTH * sizeof(double)))

struct carrier {
    MPI_Comm comm;
    struct channel forward, reverse;
    MPI_Request* requests;
    int n_requests, n_receives;
};

/* The tag of a message is the place of its first node in the pair's list. */
static void store_values(void* context, int source, int tag, const void* data, int bytes) {
    struct halo* h = context;
    memcpy(halo_ghost_value(h, h->ghost_start[source] + tag), data, (size_t)bytes);
}

static void add_contributions(void* context, int source, int tag, const void* data, int bytes) {
    struct halo* h = context;
    const double* contribution = data;
    for (int64_t k = h->send_start[source] + tag; bytes > 0; k++, bytes -= NODE_BYTES)
        for (int d = 0; d < HALO_WIDTH; d++)
            h->sums[(int64_t)h->send_node[k] * HALO_WIDTH + d] += *contribution++;
}

static void open_carrier(struct halo* h, const char* name) {
    char label[MPI_MAX_OBJECT_NAME];
    struct carrier* c = h->carrier = LP_NEW(struct carrier, 1);
    MPI_Comm_dup(team_comm(h->team), &c->comm);
    MPI_Comm_set_name(c->comm, name);
    h->values = LP_NEW(double, (h->n_own + h->n_ghosts) * HALO_WIDTH);
    c->requests = LP_NEW(MPI_Request, 2 * h->ranks);
    const int largest = (int)(h->options.block * NODE_BYTES);
    snprintf(label, sizeof label, "%s values", name);
    channel_open(&c->forward, &h->options.messages, largest, store_values, h, h->processor, c->comm, label);
    snprintf(label, sizeof label, "%s contributions", name);
    channel_open(&c->reverse, &h->options.messages, largest, add_contributions, h, h->processor, c->comm, label);
}

static void close_carrier(struct halo* h) {
    struct carrier* c = h->carrier;
    channel_close(&c->forward);
    channel_close(&c->reverse);
    MPI_Comm_free(&c->comm);
    free(c->requests);
    free(c);
    free(h->values);
}

/* Number of blocks of nodes in the lists with these prefix sums. */
static int64_t blocks(const struct halo* h, const int64_t* start) {
    int64_t n = 0;
    for (int r = 0; r < h->ranks; r++)
        n += (start[r + 1] - start[r] + h->options.block - 1) / h->options.block;
    return n;
}

/* Destinations in a staggered order, starting behind the own rank. */
static int peer(const struct halo* h, int step) {
    return (h->rank + step) % h->ranks;
}

/* Bulk: one message from each rank that has a part in the list with these prefix sums, into its place in `to`. */
static void post_receives(struct halo* h, const int64_t* start, double* to, MPI_Comm comm) {
    struct carrier* c = h->carrier;
    c->n_requests = 0;
    for (int r = 0; r < h->ranks; r++)
        if (start[r + 1] > start[r])
            MPI_Irecv(to + start[r] * HALO_WIDTH, (int)(start[r + 1] - start[r]) * HALO_WIDTH, MPI_DOUBLE, r, 0, comm,
                      &c->requests[c->n_requests++]);
    c->n_receives = c->n_requests;
}

static void send_bulk(struct halo* h, int64_t first, int64_t end, const double* data, int copied, int to,
                      MPI_Comm comm) {
    struct carrier* c = h->carrier;
    message_start(&h->options.messages, h->processor, data, (end - first) * HALO_WIDTH, copied, to, 0, comm,
                  &c->requests[c->n_requests++]);
    h->messages++;
}

static void finish_bulk(struct halo* h, int copied) {
    struct carrier* c = h->carrier;
    for (int k = 0; k < c->n_receives; k++) {
        MPI_Status status;
        int index, count;
        MPI_Waitany(c->n_receives, c->requests, &index, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        message_taken(&h->options.messages, h->processor, count, copied);
    }
    MPI_Waitall(c->n_requests - c->n_receives, c->requests + c->n_receives, MPI_STATUSES_IGNORE);
}

static void send_blocks(struct halo* h, struct channel* channel, int to, int64_t count, const double* data) {
    const int64_t block = h->options.block;
    for (int64_t at = 0; at < count; at += block)
        channel_send(channel, to, (int)at, data + at * HALO_WIDTH,
                     (int)(at + block < count ? block : count - at) * NODE_BYTES);
}

static void forward(struct halo* h) {
    struct carrier* c = h->carrier;
    const int bulk = h->options.mechanism == HALO_BULK;
    if (bulk) {
        post_receives(h, h->ghost_start, halo_ghost_value(h, 0), c->forward.comm);
    } else {
        channel_expect(&c->reverse, h->immediate ? h->contributions : blocks(h, h->send_start));
        channel_expect(&c->forward, blocks(h, h->ghost_start));
    }
    for (int step = 1; step < h->ranks; step++) {
        const int to = peer(h, step);
        const int64_t first = h->send_start[to], end = h->send_start[to + 1];
        if (first == end)
            continue;
        const double* values = halo_gather(h, first, end);
        if (bulk)
            send_bulk(h, first, end, values, 1, to, c->forward.comm);
        else
            send_blocks(h, &c->forward, to, end - first, values);
    }
    if (bulk)
        finish_bulk(h, 0); /* "The values are used in-place once the data arrives" (SENS 4.2) */
    else
        channel_drain(&c->forward);
    h->messages = bulk ? h->messages : c->forward.sent + c->reverse.sent;
}

static void contribute(struct halo* h, int64_t ghost, const double* contribution) {
    struct carrier* c = h->carrier;
    const int to = halo_owner(h, ghost);
    channel_send(&c->reverse, to, (int)(ghost - h->ghost_start[to]), contribution, NODE_BYTES);
}

static void interrupts(struct halo* h) {
    struct carrier* c = h->carrier;
    channel_interrupts(&c->reverse);
}

static void reverse(struct halo* h) {
    struct carrier* c = h->carrier;
    const int bulk = h->options.mechanism == HALO_BULK;
    if (bulk)
        post_receives(h, h->send_start, h->staging, c->reverse.comm);
    for (int step = 1; !h->immediate && step < h->ranks; step++) {
        const int to = peer(h, step);
        const int64_t first = h->ghost_start[to], end = h->ghost_start[to + 1];
        if (first == end)
            continue;
        if (bulk)
            send_bulk(h, first, end, halo_ghost_sum(h, first), 0, to, c->reverse.comm);
        else
            send_blocks(h, &c->reverse, to, end - first, halo_ghost_sum(h, first));
    }
    if (bulk) {
        finish_bulk(h, 1);
        for (int r = 0; r < h->ranks; r++)
            add_contributions(h, r, 0, h->staging + h->send_start[r] * HALO_WIDTH,
                              (int)(h->send_start[r + 1] - h->send_start[r]) * NODE_BYTES);
    } else {
        channel_drain(&c->reverse);
        h->messages = c->forward.sent + c->reverse.sent;
    }
}

static const struct halo_carrier messages = {
    .open = open_carrier,
    .close = close_carrier,
    .forward = forward,
    .contribute = contribute,
    .interrupts = interrupts,
    .reverse = reverse,
};

const struct halo_carrier* const halo_messages = &messages;
const char* const halo_mechanisms = "fine|bulk|put|shared|prefetch";
const enum halo_mechanism halo_first = HALO_FINE;
