#include "halo.h"

#include <string.h>

#include "memory.h"

#define NODE_BYTES ((int)(HALO_WIDTH * sizeof(double)))

static double* own_value(struct halo* h, int64_t node) {
    return h->values + node * HALO_WIDTH;
}
static double* ghost_value(struct halo* h, int64_t ghost) {
    return h->values + (h->n_own + ghost) * HALO_WIDTH;
}
static double* ghost_sum(struct halo* h, int64_t ghost) {
    return h->sums + (h->n_own + ghost) * HALO_WIDTH;
}

static void add(double* sum, const double* contribution) {
    for (int k = 0; k < HALO_WIDTH; k++)
        sum[k] += contribution[k];
}

/* The tag of a message is the place of its first node in the pair's list. */
static void store_values(void* context, int source, int tag, const void* data, int bytes) {
    struct halo* h = context;
    memcpy(ghost_value(h, h->ghost_start[source] + tag), data, (size_t)bytes);
}

static void add_contributions(void* context, int source, int tag, const void* data, int bytes) {
    struct halo* h = context;
    const double* contribution = data;
    for (int k = 0; k < bytes / NODE_BYTES; k++, contribution += HALO_WIDTH)
        add(h->sums + (int64_t)h->send_node[h->send_start[source] + tag + k] * HALO_WIDTH, contribution);
}

/* Finds out who reads what. Every rank knows all pairs, so nobody needs to ask. */
static void find_neighbours(struct halo* h, int64_t n, const int32_t* owner, const int32_t (*pairs)[2],
                            int64_t n_pairs) {
    char* reads = LP_NEW(char, n * h->ranks); /* [rank][node]; only the rows and nodes that concern this rank */
    int64_t contributions = 0;
    for (int64_t k = 0; k < n_pairs; k++) {
        int32_t reader = owner[pairs[k][0]], holder = owner[pairs[k][1]];
        if (reader == holder || (reader != h->rank && holder != h->rank))
            continue;
        reads[(int64_t)reader * n + pairs[k][1]] = 1;
        contributions += holder == h->rank;
    }
    if (h->immediate >= 0)
        h->immediate = contributions;
    h->local_of = LP_NEW(int32_t, n);
    h->send_start = LP_NEW(int64_t, h->ranks + 1);
    h->ghost_start = LP_NEW(int64_t, h->ranks + 1);
    for (int64_t i = 0; i < n; i++)
        h->local_of[i] = owner[i] == h->rank ? (int32_t)h->n_own++ : -1;
    const char* mine = reads + (int64_t)h->rank * n;
    for (int rank = 0; rank < h->ranks; rank++) {
        for (int64_t i = 0; i < n; i++) {
            if (mine[i] && owner[i] == rank)
                h->local_of[i] = (int32_t)(h->n_own + h->n_ghosts++);
            h->send_start[rank + 1] += reads[(int64_t)rank * n + i] && owner[i] == h->rank;
        }
        h->ghost_start[rank + 1] = h->n_ghosts;
        h->send_start[rank + 1] += h->send_start[rank];
    }
    h->send_node = LP_NEW(int32_t, h->send_start[h->ranks]);
    for (int64_t rank = 0, at = 0; rank < h->ranks; rank++)
        for (int64_t i = 0; i < n; i++)
            if (reads[rank * n + i] && owner[i] == h->rank)
                h->send_node[at++] = h->local_of[i];
    free(reads);
}

static void open_windows(struct halo* h, const char* name) {
    int* send_count = LP_NEW(int, h->ranks);
    int* send_at = LP_NEW(int, h->ranks);
    int* count = LP_NEW(int, h->ranks);
    int* at = LP_NEW(int, h->ranks);
    h->put_start = LP_NEW(int64_t, h->ranks);
    h->home = LP_NEW(int32_t, h->n_ghosts);
    h->arrived = LP_NEW(double, h->n_own* HALO_WIDTH);
    /* The window is the whole array, not the ghosts alone: MPICH 4.0.2 with UCX puts 8 bytes too low when a window does
     * not begin on a multiple of 16 bytes. */
    int64_t* starts = LP_NEW(int64_t, h->ranks);
    for (int r = 0; r < h->ranks; r++)
        starts[r] = h->n_own + h->ghost_start[r];
    MPI_Alltoall(starts, 1, MPI_INT64_T, h->put_start, 1, MPI_INT64_T, h->comm);
    free(starts);
    for (int r = 0; r < h->ranks; r++) {
        send_count[r] = (int)(h->send_start[r + 1] - h->send_start[r]);
        send_at[r] = (int)h->send_start[r];
        count[r] = (int)(h->ghost_start[r + 1] - h->ghost_start[r]);
        at[r] = (int)h->ghost_start[r];
    }
    MPI_Alltoallv(h->send_node, send_count, send_at, MPI_INT32_T, h->home, count, at, MPI_INT32_T, h->comm);
    free(send_count);
    free(send_at);
    free(count);
    free(at);
    MPI_Win_create(h->values, (MPI_Aint)(h->n_own + h->n_ghosts) * NODE_BYTES, NODE_BYTES, MPI_INFO_NULL, h->comm,
                   &h->value_window);
    MPI_Win_create(h->arrived, (MPI_Aint)h->n_own * NODE_BYTES, NODE_BYTES, MPI_INFO_NULL, h->comm, &h->sum_window);
    MPI_Win_set_name(h->value_window, name);
    MPI_Win_set_name(h->sum_window, name);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, h->value_window);
    MPI_Win_lock_all(0, h->sum_window);
}

void halo_open(struct halo* h, const struct halo_options* options, int64_t n, const int32_t* owner,
               const int32_t (*pairs)[2], int64_t n_pairs, int immediate, struct processor* processor, MPI_Comm parent,
               const char* name) {
    char label[MPI_MAX_OBJECT_NAME];
    memset(h, 0, sizeof *h);
    h->options = *options;
    MPI_Comm_dup(parent, &h->comm);
    MPI_Comm_set_name(h->comm, name);
    MPI_Comm_rank(h->comm, &h->rank);
    MPI_Comm_size(h->comm, &h->ranks);
    h->immediate = immediate && options->mechanism == HALO_FINE ? 0 : -1;
    find_neighbours(h, n, owner, pairs, n_pairs);
    const int64_t sent = h->send_start[h->ranks];
    h->values = LP_NEW(double, (h->n_own + h->n_ghosts) * HALO_WIDTH);
    h->sums = LP_NEW(double, (h->n_own + h->n_ghosts) * HALO_WIDTH);
    h->staging = LP_NEW(double, sent* HALO_WIDTH);
    h->requests = LP_NEW(MPI_Request, 2 * h->ranks);
    h->value_window = h->sum_window = MPI_WIN_NULL;
    const int largest = (int)(options->block * NODE_BYTES);
    snprintf(label, sizeof label, "%s values", name);
    channel_open(&h->forward, &options->messages, largest, store_values, h, processor, h->comm, label);
    snprintf(label, sizeof label, "%s contributions", name);
    channel_open(&h->reverse, &options->messages, largest, add_contributions, h, processor, h->comm, label);
    if (options->mechanism == HALO_PUT)
        open_windows(h, name);
}

void halo_close(struct halo* h) {
    if (h->value_window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(h->value_window);
        MPI_Win_unlock_all(h->sum_window);
        MPI_Win_free(&h->value_window);
        MPI_Win_free(&h->sum_window);
    }
    channel_close(&h->forward);
    channel_close(&h->reverse);
    MPI_Comm_free(&h->comm);
    free(h->local_of);
    free(h->send_start);
    free(h->send_node);
    free(h->ghost_start);
    free(h->values);
    free(h->sums);
    free(h->staging);
    free(h->requests);
    free(h->put_start);
    free(h->home);
    free(h->arrived);
}

/* Number of blocks of nodes in the lists with these prefix sums. */
static int64_t blocks(const struct halo* h, const int64_t* start) {
    int64_t n = 0;
    for (int r = 0; r < h->ranks; r++)
        n += (start[r + 1] - start[r] + h->options.block - 1) / h->options.block;
    return n;
}

/* Copies the values that a rank reads into their place in the staging buffer. */
static double* gather(struct halo* h, int64_t first, int64_t end) {
    for (int64_t k = first; k < end; k++)
        memcpy(h->staging + k * HALO_WIDTH, own_value(h, h->send_node[k]), NODE_BYTES);
    return h->staging + first * HALO_WIDTH;
}

/* Destinations in a staggered order, starting behind the own rank. */
static int peer(const struct halo* h, int step) {
    return (h->rank + step) % h->ranks;
}

static void barrier_and_sync(struct halo* h, MPI_Win window) {
    MPI_Win_flush_all(window);
    MPI_Barrier(h->comm);
    MPI_Win_sync(window);
}

void halo_forward(struct halo* h) {
    const double start = MPI_Wtime();
    const int64_t block = h->options.block;
    memset(h->sums, 0, (size_t)((h->n_own + h->n_ghosts) * NODE_BYTES));
    if (h->options.mechanism == HALO_FINE) {
        channel_expect(&h->reverse, h->immediate >= 0 ? h->immediate : blocks(h, h->send_start));
        channel_expect(&h->forward, blocks(h, h->ghost_start));
    }
    int n = 0;
    for (int r = 0; h->options.mechanism == HALO_BULK && r < h->ranks; r++)
        if (h->ghost_start[r + 1] > h->ghost_start[r])
            MPI_Irecv(ghost_value(h, h->ghost_start[r]), (int)(h->ghost_start[r + 1] - h->ghost_start[r]) * HALO_WIDTH,
                      MPI_DOUBLE, r, 0, h->forward.comm, &h->requests[n++]);
    for (int step = 1; step < h->ranks; step++) {
        const int r = peer(h, step);
        const int64_t first = h->send_start[r], end = h->send_start[r + 1];
        if (first == end)
            continue;
        if (h->options.mechanism == HALO_BULK) {
            MPI_Isend(gather(h, first, end), (int)(end - first) * HALO_WIDTH, MPI_DOUBLE, r, 0, h->forward.comm,
                      &h->requests[n++]);
            continue;
        }
        for (int64_t at = first; at < end; at += block) {
            const int64_t until = at + block < end ? at + block : end;
            const double* values = gather(h, at, until);
            const int count = (int)(until - at) * HALO_WIDTH;
            if (h->options.mechanism == HALO_FINE)
                channel_send(&h->forward, r, (int)(at - first), values, count * (int)sizeof(double));
            else
                MPI_Put(values, count, MPI_DOUBLE, r, (MPI_Aint)(h->put_start[r] + at - first), count, MPI_DOUBLE,
                        h->value_window);
        }
    }
    if (h->options.mechanism == HALO_FINE)
        channel_drain(&h->forward);
    else if (h->options.mechanism == HALO_BULK)
        MPI_Waitall(n, h->requests, MPI_STATUSES_IGNORE);
    else
        barrier_and_sync(h, h->value_window);
    h->communication_s += MPI_Wtime() - start;
}

static int owner_of_ghost(const struct halo* h, int64_t ghost) {
    int low = 0, high = h->ranks - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (h->ghost_start[middle + 1] > ghost)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void halo_contribute(struct halo* h, int64_t ghost, const double contribution[HALO_WIDTH]) {
    const double start = MPI_Wtime();
    const int r = owner_of_ghost(h, ghost);
    channel_send(&h->reverse, r, (int)(ghost - h->ghost_start[r]), contribution, NODE_BYTES);
    h->communication_s += MPI_Wtime() - start;
}

void halo_interrupts(struct halo* h) {
    if (h->options.mechanism != HALO_FINE || h->options.messages.receive != RECEIVE_INTERRUPT)
        return;
    const double start = MPI_Wtime();
    channel_interrupts(&h->reverse);
    h->communication_s += MPI_Wtime() - start;
}

void halo_reverse(struct halo* h) {
    const double start = MPI_Wtime();
    const int64_t block = h->options.block;
    int n = 0;
    for (int r = 0; h->options.mechanism == HALO_BULK && r < h->ranks; r++)
        if (h->send_start[r + 1] > h->send_start[r])
            MPI_Irecv(h->staging + h->send_start[r] * HALO_WIDTH,
                      (int)(h->send_start[r + 1] - h->send_start[r]) * HALO_WIDTH, MPI_DOUBLE, r, 0, h->reverse.comm,
                      &h->requests[n++]);
    for (int step = 1; h->immediate < 0 && step < h->ranks; step++) {
        const int r = peer(h, step);
        const int64_t first = h->ghost_start[r], end = h->ghost_start[r + 1];
        if (first == end)
            continue;
        if (h->options.mechanism == HALO_BULK) {
            MPI_Isend(ghost_sum(h, first), (int)(end - first) * HALO_WIDTH, MPI_DOUBLE, r, 0, h->reverse.comm,
                      &h->requests[n++]);
        } else if (h->options.mechanism == HALO_FINE) {
            for (int64_t at = first; at < end; at += block)
                channel_send(&h->reverse, r, (int)(at - first), ghost_sum(h, at),
                             (int)(at + block < end ? block : end - at) * NODE_BYTES);
        } else {
            for (int64_t at = first; at < end; at++)
                MPI_Accumulate(ghost_sum(h, at), HALO_WIDTH, MPI_DOUBLE, r, h->home[at], HALO_WIDTH, MPI_DOUBLE,
                               MPI_SUM, h->sum_window);
        }
    }
    if (h->options.mechanism == HALO_FINE) {
        channel_drain(&h->reverse);
    } else if (h->options.mechanism == HALO_PUT) {
        barrier_and_sync(h, h->sum_window);
        for (int64_t i = 0; i < h->n_own; i++)
            add(h->sums + i * HALO_WIDTH, h->arrived + i * HALO_WIDTH);
        /* Nobody adds again before the next halo_forward's barrier. */
        memset(h->arrived, 0, (size_t)(h->n_own * NODE_BYTES));
    } else {
        MPI_Waitall(n, h->requests, MPI_STATUSES_IGNORE);
        for (int64_t k = 0; k < h->send_start[h->ranks]; k++)
            add(h->sums + (int64_t)h->send_node[k] * HALO_WIDTH, h->staging + k * HALO_WIDTH);
    }
    h->communication_s += MPI_Wtime() - start;
}
