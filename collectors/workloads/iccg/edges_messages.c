/* Edges by messages: one each, or collected per destination. */
#include <string.h>

#include "../common/memory.h"
#include "../common/messages.h"
#include "../common/team_mpi.h"
#include "solve.h"

struct carrier {
    struct channel channel;
    char** buffers; /* bulk: one per rank */
    int64_t* buffered;
};

/* The value is first: see the layout of a message in the bulk handler. */
struct edge {
    double value;
    int64_t row;
};

/* Copying an edge into a buffer or out of it: 16 bytes. */
static void copy(struct solver* s) {
    processor_overhead(s->processor, s->options.messages.line_cycles);
}

static void handle(void* context, int source, int tag, const void* data, int bytes) {
    struct solver* s = context;
    (void)source;
    if (s->options.mechanism == MECHANISM_FINE) {
        double value;
        memcpy(&value, data, sizeof value);
        solver_arrive(s, tag, value);
        return;
    }
    for (int k = 0; k < bytes / (int)sizeof(struct edge); k++) {
        struct edge e;
        memcpy(&e, (const char*)data + (size_t)k * sizeof e, sizeof e);
        copy(s);
        solver_arrive(s, e.row, e.value);
    }
}

static void open_carrier(struct solver* s, const char* name) {
    struct carrier* c = s->carrier = LP_NEW(struct carrier, 1);
    const int bulk = s->options.mechanism == MECHANISM_BULK;
    const int largest = bulk ? (int)(s->options.buffer * (int64_t)sizeof(struct edge)) : (int)sizeof(double);
    channel_open(&c->channel, &s->options.messages, largest, handle, s, s->processor, team_comm(s->team), name);
    c->buffers = LP_NEW(char*, s->ranks);
    c->buffered = LP_NEW(int64_t, s->ranks);
    for (int r = 0; bulk && r < s->ranks; r++)
        c->buffers[r] = LP_NEW(char, largest);
}

static void close_carrier(struct solver* s) {
    struct carrier* c = s->carrier;
    channel_close(&c->channel);
    for (int r = 0; r < s->ranks; r++)
        free(c->buffers[r]);
    free(c->buffers);
    free(c->buffered);
    free(c);
}

static void begin(struct solver* s) {
    struct carrier* c = s->carrier;
    /* Bulk messages are fewer than edges: an upper bound. */
    channel_expect(&c->channel, s->edges_in);
    solver_barrier(s);
}

static void flush_buffer(struct solver* s, int rank) {
    struct carrier* c = s->carrier;
    if (c->buffered[rank] == 0)
        return;
    channel_send(&c->channel, rank, 0, c->buffers[rank], (int)(c->buffered[rank] * (int64_t)sizeof(struct edge)));
    c->buffered[rank] = 0;
}

static void flush_buffers(struct solver* s) {
    for (int r = 0; r < s->ranks; r++)
        flush_buffer(s, r);
}

static void send_edge(struct solver* s, int64_t at, double value) {
    struct carrier* c = s->carrier;
    const int to = solver_owner(s, s->out_row[at]);
    if (s->options.mechanism == MECHANISM_FINE) {
        channel_send(&c->channel, to, s->out_row[at], &value, sizeof value);
        return;
    }
    const struct edge e = {value, s->out_row[at]};
    copy(s);
    memcpy(c->buffers[to] + (size_t)c->buffered[to] * sizeof e, &e, sizeof e);
    if (++c->buffered[to] == s->options.buffer)
        flush_buffer(s, to);
}

static void look(struct solver* s) {
    struct carrier* c = s->carrier;
    if (s->options.messages.receive != RECEIVE_WAIT)
        channel_poll(&c->channel);
}

/* Sends what is buffered, and waits for something to arrive. */
static void wait_for_edges(struct solver* s) {
    struct carrier* c = s->carrier;
    flush_buffers(s);
    if (s->n_done == s->n_ready)
        channel_receive(&c->channel);
}

static void end(struct solver* s) {
    struct carrier* c = s->carrier;
    flush_buffers(s);
    if (s->options.mechanism == MECHANISM_BULK) {
        MPI_Request everybody;
        channel_finish_sends(&c->channel);
        MPI_Ibarrier(c->channel.comm, &everybody);
        channel_wait(&c->channel, &everybody);
        channel_cancel(&c->channel);
    } else {
        channel_drain(&c->channel);
        solver_barrier(s);
    }
    s->messages = c->channel.sent;
    s->stall_s = c->channel.stall_s;
}

static const struct edge_carrier messages = {open_carrier, close_carrier, begin, send_edge, look, wait_for_edges, end};

const struct edge_carrier* const edges_messages = &messages;
const char* const edge_mechanisms = "fine|bulk|put|shared|prefetch";
const enum mechanism edge_first = MECHANISM_FINE;
