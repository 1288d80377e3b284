#include "halo.h"

#include <string.h>

#include "memory.h"

/* Finds out which rank reads what. Every rank knows all pairs, so no message is needed. */
static void find_neighbours(struct halo* h, int64_t n, const int32_t* owner, const int32_t (*pairs)[2],
                            int64_t n_pairs) {
    char* reads = LP_NEW(char, n * h->ranks); /* [rank][node]; only the rows and nodes that concern this rank */
    for (int64_t k = 0; k < n_pairs; k++) {
        int32_t reader = owner[pairs[k][0]], holder = owner[pairs[k][1]];
        if (reader == holder || (reader != h->rank && holder != h->rank))
            continue;
        reads[(int64_t)reader * n + pairs[k][1]] = 1;
        h->contributions += holder == h->rank;
    }
    int32_t* index = LP_NEW(int32_t, n); /* of each node at its owner */
    int32_t* owned = LP_NEW(int32_t, h->ranks);
    for (int64_t i = 0; i < n; i++)
        index[i] = owned[owner[i]]++;
    h->n_own = owned[h->rank];
    h->local_of = LP_NEW(int32_t, n);
    h->send_start = LP_NEW(int64_t, h->ranks + 1);
    h->ghost_start = LP_NEW(int64_t, h->ranks + 1);
    for (int64_t i = 0; i < n; i++)
        h->local_of[i] = owner[i] == h->rank ? index[i] : -1;
    const char* mine = reads + (int64_t)h->rank * n;
    h->home = LP_NEW(int32_t, n);
    for (int rank = 0; rank < h->ranks; rank++) {
        for (int64_t i = 0; i < n; i++) {
            if (mine[i] && owner[i] == rank) {
                h->home[h->n_ghosts] = index[i];
                h->local_of[i] = (int32_t)(h->n_own + h->n_ghosts++);
            }
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
    free(index);
    free(owned);
}

void halo_choose(struct halo_options* o, int mechanism, int receive) {
    o->mechanism = halo_first + (enum halo_mechanism)mechanism;
    o->messages.receive = (enum receive)receive;
    message_overheads(&o->messages, 15, 122);
}

void halo_print_times(const struct app* app, const struct halo_times* t) {
    const double communication = app_spread(app, t->communication_s).mean, compute = app_spread(app, t->compute_s).mean;
    const double overhead = app_spread(app, t->overhead_s).mean, barrier = app_spread(app, t->barrier_s).mean;
    if (app->rank == 0)
        printf(
            "%s: total_s %.6f, mean of ranks: communication_s %.6f, compute_s %.6f, overhead_s %.6f, barrier_s "
            "%.6f\n",
            app->name, t->total_s, communication, compute, overhead, barrier);
}

void halo_open(struct halo* h, const struct halo_options* options, int64_t n, const int32_t* owner,
               const int32_t (*pairs)[2], int64_t n_pairs, int immediate, struct processor* processor,
               const struct team* team, const char* name) {
    const enum halo_mechanism m = options->mechanism;
    memset(h, 0, sizeof *h);
    h->options = *options;
    h->team = team;
    h->processor = processor;
    h->rank = team->rank;
    h->ranks = team->ranks;
    h->immediate = immediate && m != HALO_BULK && m != HALO_PUT;
    find_neighbours(h, n, owner, pairs, n_pairs);
    h->staging = LP_NEW(double, h->send_start[h->ranks] * HALO_WIDTH);
    h->sums = LP_NEW(double, (h->n_own + h->n_ghosts) * HALO_WIDTH);
    if (h->ranks > 1)
        h->carry = m == HALO_FINE || m == HALO_BULK ? halo_messages : &halo_remote;
    if (h->carry)
        h->carry->open(h, name);
    else
        h->values = LP_NEW(double, h->n_own* HALO_WIDTH);
}

void halo_close(struct halo* h) {
    if (h->carry)
        h->carry->close(h);
    else
        free(h->values);
    free(h->local_of);
    free(h->send_start);
    free(h->send_node);
    free(h->ghost_start);
    free(h->home);
    free(h->sums);
    free(h->staging);
}

int halo_owner(const struct halo* h, int64_t ghost) {
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

const double* halo_gather(struct halo* h, int64_t first, int64_t end) {
    for (int64_t k = first; k < end; k++)
        memcpy(h->staging + k * HALO_WIDTH, h->values + (int64_t)h->send_node[k] * HALO_WIDTH,
               HALO_WIDTH * sizeof(double));
    return h->staging + first * HALO_WIDTH;
}

void halo_forward(struct halo* h) {
    memset(h->sums, 0, (size_t)(h->n_own + h->n_ghosts) * HALO_WIDTH * sizeof(double));
    if (!h->carry)
        return;
    const double start = team_seconds();
    h->carry->forward(h);
    h->communication_s += team_seconds() - start;
}

void halo_soon(struct halo* h, int64_t ghost) {
    if (h->options.mechanism != HALO_PREFETCH)
        return;
    const double start = team_seconds();
    h->carry->soon(h, ghost);
    h->communication_s += team_seconds() - start;
}

void halo_need(struct halo* h, int64_t ghost) {
    if (h->options.mechanism != HALO_SHARED && h->options.mechanism != HALO_PREFETCH)
        return;
    const double start = team_seconds();
    h->carry->need(h, ghost);
    h->communication_s += team_seconds() - start;
}

void halo_contribute(struct halo* h, int64_t ghost, const double contribution[HALO_WIDTH]) {
    const double start = team_seconds();
    h->carry->contribute(h, ghost, contribution);
    h->communication_s += team_seconds() - start;
}

void halo_interrupts(struct halo* h) {
    if (h->options.mechanism != HALO_FINE || h->options.messages.receive != RECEIVE_INTERRUPT || !h->carry)
        return;
    const double start = team_seconds();
    h->carry->interrupts(h);
    h->communication_s += team_seconds() - start;
}

void halo_reverse(struct halo* h) {
    if (!h->carry)
        return;
    const double start = team_seconds();
    h->carry->reverse(h);
    h->communication_s += team_seconds() - start;
}
