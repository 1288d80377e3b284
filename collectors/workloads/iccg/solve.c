#include "solve.h"

#include <math.h>
#include <string.h>

#include "../common/memory.h"
#include "../logpost_compute.h"

/* How many unfilled places are looked at before anything else is done. They are in the order of their rows, and the
 * lowest unfinished row of all can always go on, so a bounded look is enough. */
#define LOOK_AT 256

/* The value is first: see the layout of a message in the bulk handler. */
struct edge {
    double value;
    int64_t row;
};

int solver_owner(const struct solver* s, int64_t row) {
    return (int)(row / s->options.chunk % s->ranks);
}

static void arrive(struct solver* s, int64_t row, double value) {
    s->sum[row] -= value;
    if (--s->missing[row] == 0)
        s->ready[s->n_ready++] = (int32_t)row;
}

static void handle(void* context, int source, int tag, const void* data, int bytes) {
    struct solver* s = context;
    (void)source;
    if (s->options.mechanism == MECHANISM_FINE) {
        double value;
        memcpy(&value, data, sizeof value);
        arrive(s, tag, value);
        return;
    }
    for (int k = 0; k < bytes / (int)sizeof(struct edge); k++) {
        struct edge e;
        memcpy(&e, (const char*)data + (size_t)k * sizeof e, sizeof e);
        arrive(s, e.row, e.value);
    }
}

/* Edges by their source, and the places of remote ones in their target's window: rows in order, then columns. */
static void find_edges(struct solver* s) {
    const struct lower* f = s->factor;
    int64_t* slot_of_rank = LP_NEW(int64_t, s->ranks);
    int64_t* next = LP_NEW(int64_t, f->n + 1);
    s->out_start = LP_NEW(int64_t, f->n + 1);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t p = f->start[i]; p < f->start[i + 1] - 1; p++)
            s->out_start[f->column[p] + 1] += solver_owner(s, f->column[p]) == s->rank;
    for (int64_t j = 0; j < f->n; j++)
        s->out_start[j + 1] += s->out_start[j];
    memcpy(next, s->out_start, (size_t)(f->n + 1) * sizeof *next);
    s->out_row = LP_NEW(int32_t, s->out_start[f->n]);
    s->out_value = LP_NEW(double, s->out_start[f->n]);
    s->out_slot = LP_NEW(int64_t, s->out_start[f->n]);
    for (int64_t i = 0; i < f->n; i++) {
        const int target = solver_owner(s, i);
        s->n_own += target == s->rank;
        s->n_in[i] = (int32_t)(f->start[i + 1] - f->start[i] - 1);
        for (int64_t p = f->start[i]; p < f->start[i + 1] - 1; p++) {
            const int source = solver_owner(s, f->column[p]);
            const int64_t slot = source == target ? -1 : slot_of_rank[target]++;
            if (source != s->rank)
                continue;
            const int64_t at = next[f->column[p]]++;
            s->out_row[at] = (int32_t)i;
            s->out_value[at] = f->value[p];
            s->out_slot[at] = slot;
            s->n_out += slot >= 0;
        }
    }
    s->edges_in = slot_of_rank[s->rank];
    free(slot_of_rank);
    free(next);
}

static void open_window(struct solver* s) {
    const struct lower* f = s->factor;
    int64_t at = 0;
    s->slots = LP_NEW(double, s->edges_in);
    s->slot_row = LP_NEW(int32_t, s->edges_in);
    s->pending = LP_NEW(int64_t, s->edges_in);
    s->outbox = LP_NEW(double, s->n_out);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t p = f->start[i]; solver_owner(s, i) == s->rank && p < f->start[i + 1] - 1; p++)
            if (solver_owner(s, f->column[p]) != s->rank)
                s->slot_row[at++] = (int32_t)i;
    if (s->ranks == 1)
        return; /* no remote edges, and Open MPI 4.1 has no windows of one process */
    MPI_Win_create(s->slots, (MPI_Aint)s->edges_in * (MPI_Aint)sizeof(double), sizeof(double), MPI_INFO_NULL,
                   s->channel.comm, &s->window);
    MPI_Win_set_name(s->window, "iccg edges");
    MPI_Win_lock_all(0, s->window);
}

void solver_open(struct solver* s, const struct solve_options* options, const struct lower* factor,
                 struct processor* processor, MPI_Comm parent) {
    memset(s, 0, sizeof *s);
    s->options = *options;
    s->factor = factor;
    MPI_Comm_rank(parent, &s->rank);
    MPI_Comm_size(parent, &s->ranks);
    if (options->chunk == 0)
        s->options.chunk = (factor->n + s->ranks - 1) / s->ranks;
    const int64_t n = factor->n;
    s->x = LP_NEW(double, n);
    s->sum = LP_NEW(double, n);
    s->n_in = LP_NEW(int32_t, n);
    s->missing = LP_NEW(int32_t, n);
    s->ready = LP_NEW(int32_t, n);
    s->window = MPI_WIN_NULL;
    find_edges(s);
    const int bulk = options->mechanism == MECHANISM_BULK;
    const int largest = bulk ? (int)(options->buffer * (int64_t)sizeof(struct edge)) : (int)sizeof(double);
    channel_open(&s->channel, &options->messages, largest, handle, s, processor, parent, "iccg edges");
    s->buffers = LP_NEW(char*, s->ranks);
    s->buffered = LP_NEW(int64_t, s->ranks);
    for (int r = 0; bulk && r < s->ranks; r++)
        s->buffers[r] = LP_NEW(char, largest);
    if (options->mechanism == MECHANISM_PUT)
        open_window(s);
}

void solver_close(struct solver* s) {
    if (s->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(s->window);
        MPI_Win_free(&s->window);
    }
    channel_close(&s->channel);
    for (int r = 0; r < s->ranks; r++)
        free(s->buffers[r]);
    free(s->buffers);
    free(s->buffered);
    free(s->out_start);
    free(s->out_row);
    free(s->out_value);
    free(s->out_slot);
    free(s->x);
    free(s->sum);
    free(s->n_in);
    free(s->missing);
    free(s->ready);
    free(s->slots);
    free(s->slot_row);
    free(s->pending);
    free(s->outbox);
}

static void flush_buffer(struct solver* s, int rank) {
    if (s->buffered[rank] == 0)
        return;
    channel_send(&s->channel, rank, 0, s->buffers[rank], (int)(s->buffered[rank] * (int64_t)sizeof(struct edge)));
    s->buffered[rank] = 0;
}

static void send_edge(struct solver* s, int64_t at, double value, int64_t* n_put) {
    const int to = solver_owner(s, s->out_row[at]);
    if (s->options.mechanism == MECHANISM_FINE) {
        channel_send(&s->channel, to, s->out_row[at], &value, sizeof value);
    } else if (s->options.mechanism == MECHANISM_BULK) {
        const struct edge e = {value, s->out_row[at]};
        memcpy(s->buffers[to] + (size_t)s->buffered[to] * sizeof e, &e, sizeof e);
        if (++s->buffered[to] == s->options.buffer)
            flush_buffer(s, to);
    } else {
        /* Replacing accumulates are atomic per element; plain puts are not. */
        double* own = &s->outbox[(*n_put)++];
        *own = value;
        MPI_Accumulate(own, 1, MPI_DOUBLE, to, (MPI_Aint)s->out_slot[at], 1, MPI_DOUBLE, MPI_REPLACE, s->window);
    }
}

static void compute_row(struct solver* s, int64_t row, int64_t* n_put) {
    const struct lower* f = s->factor;
    s->x[row] = s->sum[row] / f->value[f->start[row + 1] - 1];
    s->n_done++;
    logpost_account_flops(2.0 * (double)(s->out_start[row + 1] - s->out_start[row]));
    for (int64_t at = s->out_start[row]; at < s->out_start[row + 1]; at++) {
        const double value = s->out_value[at] * s->x[row];
        if (s->out_slot[at] < 0)
            arrive(s, s->out_row[at], value);
        else
            send_edge(s, at, value, n_put);
    }
}

/* Takes the values that have been put since the last look. */
static void look_at_slots(struct solver* s) {
    int64_t kept = 0, look = s->n_pending < LOOK_AT ? s->n_pending : LOOK_AT, arrived;
    int flag;
    if (!LOGPOST_COMPUTE_IS_SIMULATED) /* lets MPI work */
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->channel.comm, &flag, MPI_STATUS_IGNORE);
    processor_look(s->channel.processor);
    MPI_Win_sync(s->window);
    for (int64_t k = 0; k < look; k++) {
        const double value = *(volatile double*)&s->slots[s->pending[k]];
        if (isnan(value))
            s->pending[kept++] = s->pending[k];
        else
            arrive(s, s->slot_row[s->pending[k]], value);
    }
    arrived = look - kept;
    if (arrived == 0)
        return;
    memmove(s->pending + kept, s->pending + look, (size_t)(s->n_pending - look) * sizeof *s->pending);
    s->n_pending -= arrived;
}

/* Nothing can be computed: lets what is buffered go, and waits for something to come. */
static void wait_for_edges(struct solver* s) {
    if (s->options.mechanism == MECHANISM_PUT) {
        MPI_Win_flush_all(s->window);
        look_at_slots(s);
        return;
    }
    for (int r = 0; r < s->ranks; r++)
        flush_buffer(s, r);
    if (s->n_done == s->n_ready)
        channel_receive(&s->channel);
}

void solver_run(struct solver* s, const double* b) {
    int64_t n_put = 0;
    s->n_ready = s->n_done = 0;
    memcpy(s->sum, b, (size_t)s->factor->n * sizeof(double));
    memcpy(s->missing, s->n_in, (size_t)s->factor->n * sizeof *s->missing);
    for (int64_t i = 0; i < s->factor->n; i++)
        if (s->n_in[i] == 0 && solver_owner(s, i) == s->rank)
            s->ready[s->n_ready++] = (int32_t)i;
    if (s->window != MPI_WIN_NULL) {
        for (int64_t k = 0; k < s->edges_in; k++)
            s->slots[k] = NAN;
        for (int64_t k = 0; k < s->edges_in; k++)
            s->pending[k] = k;
        s->n_pending = s->edges_in;
        MPI_Win_sync(s->window);
    } else {
        /* Bulk messages are fewer than edges: an upper bound. */
        channel_expect(&s->channel, s->edges_in);
    }
    MPI_Barrier(s->channel.comm);
    while (s->n_done < s->n_own) {
        if (s->n_done < s->n_ready)
            compute_row(s, s->ready[s->n_done], &n_put);
        else
            wait_for_edges(s);
        if (s->options.messages.receive != RECEIVE_WAIT && s->options.mechanism != MECHANISM_PUT)
            channel_poll(&s->channel);
    }
    for (int r = 0; r < s->ranks; r++)
        flush_buffer(s, r);
    if (s->window != MPI_WIN_NULL)
        MPI_Win_flush_all(s->window);
    if (s->options.mechanism == MECHANISM_BULK) {
        MPI_Request barrier;
        channel_finish_sends(&s->channel);
        MPI_Ibarrier(s->channel.comm, &barrier);
        channel_wait(&s->channel, &barrier);
        channel_cancel(&s->channel);
        return;
    }
    channel_drain(&s->channel);
    MPI_Barrier(s->channel.comm);
}
