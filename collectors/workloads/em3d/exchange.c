#include "exchange.h"

#include <sched.h>
#include <string.h>

#include "../common/memory.h"

void exchange_open(struct exchange* x, const struct exchange_options* options, const struct half_graph* half,
                   double* sources, struct processor* processor, MPI_Comm parent, const char* name) {
    int rank, ranks;
    MPI_Comm_dup(parent, &x->comm);
    MPI_Comm_set_name(x->comm, name);
    MPI_Comm_rank(x->comm, &rank);
    MPI_Comm_size(x->comm, &ranks);
    x->options = *options;
    x->half = half;
    x->sources = sources;
    x->processor = processor;
    x->times = (struct exchange_times){0, 0, 0, 0};
    int64_t values = options->mechanism == MECHANISM_BULK ? 0 : options->block;
    x->out = schedule_build(half->send_start, ranks, values);
    x->in = schedule_build(half->recv_start, ranks, values);
    schedule_order(&x->out, options->order, options->spread, rank, ranks, options->seed);
    x->staging = LP_NEW(double, half->send_start[ranks]);
    x->sends = LP_NEW(MPI_Request, x->out.n);
    /* A bulk receive has its buffer reserved for good, so all are posted; short messages go through a queue. */
    int queued = options->mechanism == MECHANISM_FINE && options->capacity > 0 && options->capacity < x->in.n;
    x->n_slots = queued ? options->capacity : x->in.n;
    x->wait = LP_NEW(MPI_Request, 1 + x->n_slots);
    x->arrivals = LP_NEW(double, queued ? x->n_slots * options->block : 0);
    x->put_offset = NULL;
    x->window = MPI_WIN_NULL;
    if (options->mechanism == MECHANISM_PUT) {
        x->put_offset = LP_NEW(int64_t, ranks);
        MPI_Alltoall(half->recv_start, 1, MPI_INT64_T, x->put_offset, 1, MPI_INT64_T, x->comm);
        MPI_Win_create(sources + half->n_sources, (MPI_Aint)half->n_ghosts * (MPI_Aint)sizeof(double), sizeof(double),
                       MPI_INFO_NULL, x->comm, &x->window);
        MPI_Win_set_name(x->window, name);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, x->window);
    }
}

void exchange_close(struct exchange* x) {
    if (x->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(x->window);
        MPI_Win_free(&x->window);
    }
    MPI_Comm_free(&x->comm);
    free(x->out.blocks);
    free(x->in.blocks);
    free(x->staging);
    free(x->sends);
    free(x->wait);
    free(x->arrivals);
    free(x->put_offset);
}

static double* ghosts(struct exchange* x, int64_t first) {
    return x->sources + x->half->n_sources + first;
}

/* The block that a message from `source` with `tag` carries: the tag is the block's number within the pair. */
static struct block incoming(const struct exchange* x, int source, int tag) {
    int64_t start = x->half->recv_start[source], end = x->half->recv_start[source + 1];
    int64_t size = x->options.mechanism == MECHANISM_BULK ? end - start : x->options.block;
    int64_t first = start + size * tag;
    return (struct block){source, tag, first, (int32_t)(end - first < size ? end - first : size)};
}

/* Copies the block's values into its place in the staging buffer and sends it. For bulk this is the paper's gather; a
 * fine-grained block is what Alewife's processor would write into the network interface as a message's arguments. */
static const double* gather(struct exchange* x, const struct block* block) {
    double* values = x->staging + block->first;
    for (int32_t i = 0; i < block->count; i++)
        values[i] = x->sources[x->half->send_source[block->first + i]];
    processor_busy(x->processor, x->options.send_cycles);
    return values;
}

static void send_block(struct exchange* x, int64_t i) {
    const struct block* b = &x->out.blocks[i];
    const double* values = gather(x, b);
    if (x->options.capacity > 0)
        MPI_Issend(values, b->count, MPI_DOUBLE, b->peer, b->tag, x->comm, &x->sends[i]);
    else
        MPI_Isend(values, b->count, MPI_DOUBLE, b->peer, b->tag, x->comm, &x->sends[i]);
}

/* Posts the k-th receive of the phase into a slot: any block when the slots are a queue, else the k-th. */
static void post(struct exchange* x, int64_t slot, int64_t k) {
    MPI_Request* request = &x->wait[1 + slot];
    if (x->n_slots < x->in.n) {
        MPI_Irecv(x->arrivals + slot * x->options.block, (int)x->options.block, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  x->comm, request);
    } else {
        const struct block* b = &x->in.blocks[k];
        MPI_Irecv(ghosts(x, b->first), b->count, MPI_DOUBLE, b->peer, b->tag, x->comm, request);
    }
}

/* Receives are posted beforehand, so that messages are accepted while this rank is in any MPI call, and handled when it
 * waits for whatever comes first: the nearest that MPI has to Alewife's interrupts. With a finite capacity, only as
 * many receives are posted as the queue has places, and a message that finds none stays with its sender. */
static void run_wait(struct exchange* x) {
    const int64_t capacity = x->options.capacity;
    const int queued = x->n_slots < x->in.n;
    int64_t posted = 0, received = 0, sent = 0, oldest = 0;
    for (; posted < x->n_slots; posted++)
        post(x, posted, posted);

    while (received < x->in.n || sent < x->out.n || (capacity > 0 && oldest < sent)) {
        if (sent < x->out.n && (capacity == 0 || sent - oldest < capacity)) {
            send_block(x, sent++);
            continue;
        }
        if (capacity == 0) { /* everything is sent and posted: nothing depends on the order of handling */
            MPI_Waitall((int)x->in.n, x->wait + 1, MPI_STATUSES_IGNORE);
            processor_busy(x->processor, x->options.receive_cycles * (double)x->in.n);
            received = x->in.n;
            continue;
        }
        MPI_Status status;
        int index;
        double start = MPI_Wtime();
        x->wait[0] = oldest < sent ? x->sends[oldest] : MPI_REQUEST_NULL;
        MPI_Waitany((int)(1 + x->n_slots), x->wait, &index, &status);
        if (sent < x->out.n)
            x->times.stall_s += MPI_Wtime() - start;
        if (index == 0) {
            oldest++;
            continue;
        }
        int64_t slot = index - 1;
        if (queued) {
            struct block b = incoming(x, status.MPI_SOURCE, status.MPI_TAG);
            memcpy(ghosts(x, b.first), x->arrivals + slot * x->options.block, (size_t)b.count * sizeof(double));
        }
        processor_busy(x->processor, x->options.receive_cycles);
        received++;
        if (posted < x->in.n)
            post(x, slot, posted++);
    }
    if (capacity == 0)
        MPI_Waitall((int)x->out.n, x->sends, MPI_STATUSES_IGNORE);
}

/* Takes the messages that have come; returns how many. */
static int64_t poll(struct exchange* x) {
    for (int64_t taken = 0;; taken++) {
        MPI_Status status;
        int arrived = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, x->comm, &arrived, &status);
        if (!arrived)
            return taken;
        struct block b = incoming(x, status.MPI_SOURCE, status.MPI_TAG);
        MPI_Recv(ghosts(x, b.first), b.count, MPI_DOUBLE, b.peer, b.tag, x->comm, MPI_STATUS_IGNORE);
        processor_busy(x->processor, x->options.receive_cycles);
    }
}

/* Remote Queues' polling: a message is taken when the program asks for it, here after every send and while stalled. */
static void run_poll(struct exchange* x) {
    const int64_t capacity = x->options.capacity;
    int64_t received = 0;
    for (int64_t i = 0; i < x->out.n; i++) {
        int done = capacity == 0 || i < capacity;
        while (!done) {
            double start = MPI_Wtime();
            MPI_Test(&x->sends[i - capacity], &done, MPI_STATUS_IGNORE);
            if (!done)
                sched_yield();
            x->times.stall_s += MPI_Wtime() - start;
            received += poll(x);
        }
        send_block(x, i);
        received += poll(x);
    }
    while (received < x->in.n) {
        int64_t taken = poll(x);
        received += taken;
        if (taken == 0)
            sched_yield();
    }
    MPI_Waitall((int)x->out.n, x->sends, MPI_STATUSES_IGNORE);
}

static void run_put(struct exchange* x) {
    const int64_t capacity = x->options.capacity;
    for (int64_t i = 0; i < x->out.n; i++) {
        const struct block* b = &x->out.blocks[i];
        if (capacity > 0 && i >= capacity) {
            double start = MPI_Wtime();
            MPI_Win_flush(x->out.blocks[i - capacity].peer, x->window);
            x->times.stall_s += MPI_Wtime() - start;
        }
        MPI_Aint at = (MPI_Aint)(x->put_offset[b->peer] + (int64_t)b->tag * x->options.block);
        MPI_Put(gather(x, b), b->count, MPI_DOUBLE, b->peer, at, b->count, MPI_DOUBLE, x->window);
    }
    MPI_Win_flush_all(x->window);
}

void exchange_run(struct exchange* x) {
    double start = MPI_Wtime();
    if (x->options.mechanism == MECHANISM_PUT)
        run_put(x);
    else if (x->options.receive == RECEIVE_POLL)
        run_poll(x);
    else
        run_wait(x);
    x->times.exchange_s += MPI_Wtime() - start;
    x->times.messages += x->out.n;
    for (int64_t i = 0; i < x->out.n; i++)
        x->times.bytes += x->out.blocks[i].count * (int64_t)sizeof(double);
}
