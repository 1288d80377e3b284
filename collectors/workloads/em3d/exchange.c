#include "exchange.h"

#include <string.h>

#include "../common/memory.h"

static double* ghosts(struct exchange* x, int64_t first) {
    return x->sources + x->half->n_sources + first;
}

/* The tag of a message is the number of its block within the pair. */
static void store(void* context, int source, int tag, const void* data, int bytes) {
    struct exchange* x = context;
    memcpy(ghosts(x, x->half->recv_start[source] + tag * x->options.block), data, (size_t)bytes);
}

void exchange_open(struct exchange* x, const struct exchange_options* options, const struct half_graph* half,
                   double* sources, struct processor* processor, MPI_Comm parent, const char* name) {
    int rank, ranks;
    memset(x, 0, sizeof *x);
    MPI_Comm_rank(parent, &rank);
    MPI_Comm_size(parent, &ranks);
    x->options = *options;
    x->half = half;
    x->sources = sources;
    x->processor = processor;
    int fine = options->mechanism == MECHANISM_FINE;
    channel_open(&x->channel, &options->messages, fine ? (int)(options->block * (int64_t)sizeof(double)) : 0, store, x,
                 processor, parent, name);
    int64_t values = options->mechanism == MECHANISM_BULK ? 0 : options->block;
    x->out = schedule_build(half->send_start, ranks, values);
    x->in = schedule_build(half->recv_start, ranks, values);
    schedule_order(&x->out, options->order, options->spread, rank, ranks, options->seed);
    x->staging = LP_NEW(double, half->send_start[ranks]);
    x->sends = LP_NEW(MPI_Request, x->out.n);
    x->receives = LP_NEW(MPI_Request, x->in.n);
    x->window = MPI_WIN_NULL;
    if (options->mechanism == MECHANISM_PUT) {
        /* The window is the whole array, not the ghosts alone: MPICH 4.0.2 with UCX puts 8 bytes too low when a window
         * does not begin on a multiple of 16 bytes. */
        int64_t* starts = LP_NEW(int64_t, ranks);
        for (int r = 0; r < ranks; r++)
            starts[r] = half->n_sources + half->recv_start[r];
        x->put_offset = LP_NEW(int64_t, ranks);
        MPI_Alltoall(starts, 1, MPI_INT64_T, x->put_offset, 1, MPI_INT64_T, x->channel.comm);
        free(starts);
        MPI_Win_create(sources, (MPI_Aint)(half->n_sources + half->n_ghosts) * (MPI_Aint)sizeof(double), sizeof(double),
                       MPI_INFO_NULL, x->channel.comm, &x->window);
        MPI_Win_set_name(x->window, name);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, x->window);
    }
}

void exchange_close(struct exchange* x) {
    if (x->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(x->window);
        MPI_Win_free(&x->window);
    }
    channel_close(&x->channel);
    free(x->out.blocks);
    free(x->in.blocks);
    free(x->staging);
    free(x->sends);
    free(x->receives);
    free(x->put_offset);
}

/* Copies a block's values into its place in the staging buffer: for bulk this is the paper's gather; for a short
 * message it is what the Alewife's processor writes into the network interface as arguments. */
static const double* gather(struct exchange* x, const struct block* block) {
    double* values = x->staging + block->first;
    for (int32_t i = 0; i < block->count; i++)
        values[i] = x->sources[x->half->send_source[block->first + i]];
    return values;
}

static void run_fine(struct exchange* x) {
    double stalled_before = x->channel.stall_s;
    channel_expect(&x->channel, x->in.n);
    for (int64_t i = 0; i < x->out.n; i++) {
        const struct block* b = &x->out.blocks[i];
        channel_send(&x->channel, b->peer, b->tag, gather(x, b), b->count * (int)sizeof(double));
    }
    channel_drain(&x->channel);
    x->stall_s += x->channel.stall_s - stalled_before;
}

/* One message per destination, received in place: the graph's indices already point into the receive buffer, as SENS
 * describes ("preprocessing of the data structures allows it to be used in-place"). */
static void run_bulk(struct exchange* x) {
    const int64_t capacity = x->options.messages.capacity;
    for (int64_t i = 0; i < x->in.n; i++) {
        const struct block* b = &x->in.blocks[i];
        MPI_Irecv(ghosts(x, b->first), b->count, MPI_DOUBLE, b->peer, b->tag, x->channel.comm, &x->receives[i]);
    }
    for (int64_t i = 0; i < x->out.n; i++) {
        const struct block* b = &x->out.blocks[i];
        const double* values = gather(x, b);
        if (capacity > 0 && i >= capacity) {
            double start = MPI_Wtime();
            MPI_Wait(&x->sends[i - capacity], MPI_STATUS_IGNORE);
            x->stall_s += MPI_Wtime() - start;
        }
        processor_busy(x->processor, x->options.messages.send_cycles);
        if (capacity > 0)
            MPI_Issend(values, b->count, MPI_DOUBLE, b->peer, b->tag, x->channel.comm, &x->sends[i]);
        else
            MPI_Isend(values, b->count, MPI_DOUBLE, b->peer, b->tag, x->channel.comm, &x->sends[i]);
    }
    for (int64_t i = 0; i < x->in.n; i++) {
        int index;
        MPI_Waitany((int)x->in.n, x->receives, &index, MPI_STATUS_IGNORE);
        processor_busy(x->processor, x->options.messages.receive_cycles);
    }
    MPI_Waitall((int)x->out.n, x->sends, MPI_STATUSES_IGNORE);
}

static void run_put(struct exchange* x) {
    const int64_t capacity = x->options.messages.capacity;
    for (int64_t i = 0; i < x->out.n; i++) {
        const struct block* b = &x->out.blocks[i];
        const double* values = gather(x, b);
        if (capacity > 0 && i >= capacity) {
            double start = MPI_Wtime();
            MPI_Win_flush(x->out.blocks[i - capacity].peer, x->window);
            x->stall_s += MPI_Wtime() - start;
        }
        processor_busy(x->processor, x->options.messages.send_cycles);
        MPI_Aint at = (MPI_Aint)(x->put_offset[b->peer] + b->tag * x->options.block);
        MPI_Put(values, b->count, MPI_DOUBLE, b->peer, at, b->count, MPI_DOUBLE, x->window);
    }
    MPI_Win_flush_all(x->window);
}

void exchange_run(struct exchange* x) {
    double start = MPI_Wtime();
    if (x->options.mechanism == MECHANISM_FINE)
        run_fine(x);
    else if (x->options.mechanism == MECHANISM_BULK)
        run_bulk(x);
    else
        run_put(x);
    x->exchange_s += MPI_Wtime() - start;
    x->messages += x->out.n;
    for (int64_t i = 0; i < x->out.n; i++)
        x->bytes += x->out.blocks[i].count * (int64_t)sizeof(double);
}
