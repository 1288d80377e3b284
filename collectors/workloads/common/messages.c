#include "messages.h"

#include <sched.h>
#include <string.h>

#include "../logpost_compute.h"
#include "memory.h"

/* Unbounded capacity still needs an end to the memory for sends that MPI has not buffered. */
#define MANY_IN_FLIGHT 4096 /* messages */
#define MANY_POSTED 16      /* receives: as many messages of 16 bytes as the Alewife's queue of 256 holds */

enum { WAIT_SEND = 0, WAIT_CALLER = 1, WAIT_SLOTS = 2 };

static int posts_receives(const struct channel* c) {
    return LOGPOST_COMPUTE_IS_SIMULATED || c->options.receive != RECEIVE_POLL;
}

void channel_open(struct channel* c, const struct message_options* options, int largest, message_handler handler,
                  void* context, struct processor* processor, MPI_Comm parent, const char* name) {
    memset(c, 0, sizeof *c);
    MPI_Comm_dup(parent, &c->comm);
    MPI_Comm_set_name(c->comm, name);
    c->options = *options;
    c->processor = processor;
    c->handler = handler;
    c->context = context;
    c->largest = largest > 0 ? largest : 1;
    c->window = options->capacity > 0 ? options->capacity : MANY_IN_FLIGHT;
    c->n_slots = !posts_receives(c) ? 1 : options->capacity > 0 ? options->capacity : MANY_POSTED;
    c->sends = LP_NEW(MPI_Request, c->window);
    c->outgoing = LP_NEW(char, c->window * c->largest);
    c->wait = LP_NEW(MPI_Request, WAIT_SLOTS + c->n_slots);
    c->arrivals = LP_NEW(char, c->n_slots * c->largest);
    for (int64_t i = 0; i < WAIT_SLOTS + c->n_slots; i++)
        c->wait[i] = MPI_REQUEST_NULL;
    processor_tests_for_free();
}

void channel_close(struct channel* c) {
    MPI_Comm_free(&c->comm);
    free(c->sends);
    free(c->outgoing);
    free(c->wait);
    free(c->arrivals);
}

static void post(struct channel* c, int64_t slot) {
    MPI_Irecv(c->arrivals + slot * c->largest, c->largest, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm,
              &c->wait[WAIT_SLOTS + slot]);
    c->posted++;
}

void channel_expect(struct channel* c, int64_t more) {
    c->expected += more;
    if (!posts_receives(c))
        return;
    for (int64_t slot = 0; slot < c->n_slots && c->posted < c->expected; slot++)
        if (c->wait[WAIT_SLOTS + slot] == MPI_REQUEST_NULL)
            post(c, slot);
}

static void handle(struct channel* c, int64_t slot, const MPI_Status* status) {
    int bytes;
    double start = MPI_Wtime();
    MPI_Get_count(status, MPI_BYTE, &bytes);
    processor_overhead(c->processor, c->options.receive_cycles);
    c->handler(c->context, status->MPI_SOURCE, status->MPI_TAG, c->arrivals + slot * c->largest, bytes);
    c->received++;
    c->handling_s += MPI_Wtime() - start;
}

static void handle_and_post(struct channel* c, int index, const MPI_Status* status) {
    handle(c, index - WAIT_SLOTS, status);
    if (c->posted < c->expected)
        post(c, index - WAIT_SLOTS);
}

/* Waits for the oldest send, the caller's request or a message, whichever is first. */
static void wait_for_any(struct channel* c) {
    MPI_Status status;
    int index;
    c->wait[WAIT_SEND] = c->oldest < c->sent ? c->sends[c->oldest % c->window] : MPI_REQUEST_NULL;
    MPI_Waitany((int)(WAIT_SLOTS + c->n_slots), c->wait, &index, &status);
    if (index == WAIT_SEND)
        c->oldest++;
    else if (index >= WAIT_SLOTS)
        handle_and_post(c, index, &status);
}

static int64_t poll_arrivals(struct channel* c) {
    for (int64_t taken = 0;; taken++) {
        MPI_Status status;
        int arrived = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &arrived, &status);
        if (!arrived)
            return taken;
        MPI_Recv(c->arrivals, c->largest, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, c->comm, &status);
        handle(c, 0, &status);
    }
}

int64_t channel_poll(struct channel* c) {
    if (!posts_receives(c))
        return poll_arrivals(c);
    if (c->options.receive == RECEIVE_POLL)
        processor_overhead(c->processor, c->options.poll_cycles);
    for (int64_t taken = 0;; taken++) {
        MPI_Status status;
        int index, arrived;
        MPI_Testany((int)c->n_slots, c->wait + WAIT_SLOTS, &index, &arrived, &status);
        if (!arrived || index == MPI_UNDEFINED)
            return taken;
        handle_and_post(c, WAIT_SLOTS + index, &status);
    }
}

void channel_interrupts(struct channel* c) {
    if (c->options.receive == RECEIVE_INTERRUPT)
        channel_poll(c);
}

/* Polls once round: the oldest send, the caller's request, and arrivals. Yields when nothing happened. */
static void poll_all(struct channel* c) {
    int done = 0, progress = 0;
    if (c->oldest < c->sent) {
        MPI_Test(&c->sends[c->oldest % c->window], &done, MPI_STATUS_IGNORE);
        c->oldest += done;
        progress = done;
    }
    if (c->wait[WAIT_CALLER] != MPI_REQUEST_NULL) {
        MPI_Test(&c->wait[WAIT_CALLER], &done, MPI_STATUS_IGNORE);
        progress |= done;
    }
    if (poll_arrivals(c) == 0 && !progress)
        sched_yield();
}

static void progress(struct channel* c) {
    if (posts_receives(c))
        wait_for_any(c);
    else
        poll_all(c);
}

static void start(const struct message_options* options, const void* data, int count, MPI_Datatype type,
                  int destination, int tag, MPI_Comm comm, MPI_Request* request) {
    if (options->capacity > 0)
        MPI_Issend(data, count, type, destination, tag, comm, request);
    else
        MPI_Isend(data, count, type, destination, tag, comm, request);
}

void channel_send(struct channel* c, int destination, int tag, const void* data, int bytes) {
    while (c->sent - c->oldest >= c->window) {
        double stalled = MPI_Wtime(), handling = c->handling_s;
        progress(c);
        c->stall_s += MPI_Wtime() - stalled - (c->handling_s - handling);
    }
    int64_t place = c->sent % c->window;
    char* own = c->outgoing + place * c->largest;
    memcpy(own, data, (size_t)bytes);
    processor_overhead(c->processor, c->options.send_cycles);
    start(&c->options, own, bytes, MPI_BYTE, destination, tag, c->comm, &c->sends[place]);
    c->sent++;
    c->bytes += bytes;
    if (c->options.receive != RECEIVE_WAIT)
        channel_poll(c);
}

void channel_receive(struct channel* c) {
    for (int64_t before = c->received; c->received == before && c->received < c->expected;)
        progress(c);
}

void channel_drain(struct channel* c) {
    while (c->received < c->expected || c->oldest < c->sent)
        progress(c);
}

void channel_finish_sends(struct channel* c) {
    while (c->oldest < c->sent)
        progress(c);
}

void channel_cancel(struct channel* c) {
    for (int64_t slot = 0; slot < c->n_slots; slot++) {
        MPI_Request* request = &c->wait[WAIT_SLOTS + slot];
        if (*request == MPI_REQUEST_NULL)
            continue;
        MPI_Cancel(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    c->expected = c->posted = c->received;
}

void channel_wait(struct channel* c, MPI_Request* request) {
    c->wait[WAIT_CALLER] = *request;
    while (c->wait[WAIT_CALLER] != MPI_REQUEST_NULL)
        progress(c);
    *request = MPI_REQUEST_NULL;
}

#define LINE_DOUBLES 2 /* a cache line of the Alewife's: 16 bytes */

void message_start(const struct message_options* options, struct processor* processor, const double* data,
                   int64_t count, int copied, int destination, int tag, MPI_Comm comm, MPI_Request* request) {
    processor_overhead(processor, options->send_cycles + copied * options->line_cycles * (double)count / LINE_DOUBLES);
    start(options, data, (int)count, MPI_DOUBLE, destination, tag, comm, request);
}

void message_taken(const struct message_options* options, struct processor* processor, int64_t count, int copied) {
    processor_overhead(processor,
                       options->receive_cycles + copied * options->line_cycles * (double)count / LINE_DOUBLES);
}
