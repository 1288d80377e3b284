#include "transfer.h"

#include <string.h>

#include "../common/memory.h"

/* In a two-sided program the data's owner has a part in every transfer: it starts its sends of step i (the i-th
 * operation of whoever fetches from it) when it starts its own i-th operation. */
static void find_served(struct transfer* t, enum topology topology, enum peer_schedule schedule, int64_t peers) {
    struct operations* all = LP_NEW(struct operations, t->ranks);
    int64_t served = 0;
    for (int rank = 0; rank < t->ranks; rank++) {
        all[rank] = peers_operations(topology, schedule, peers, t->pieces, rank, t->ranks);
        if (all[rank].n > t->n_steps)
            t->n_steps = all[rank].n;
        for (int64_t i = 0; i < all[rank].n; i++)
            served += all[rank].list[i].peer == t->rank;
    }
    t->serve = LP_NEW(struct operation, served);
    t->serving = LP_NEW(MPI_Request, served);
    t->serve_start = LP_NEW(int64_t, t->n_steps + 1);
    for (int64_t i = 0, n = 0; i < t->n_steps; i++) {
        for (int rank = 0; rank < t->ranks; rank++)
            if (i < all[rank].n && all[rank].list[i].peer == t->rank)
                t->serve[n++] = (struct operation){rank, 0, all[rank].list[i].piece};
        t->serve_start[i + 1] = n;
    }
    for (int rank = 0; rank < t->ranks; rank++)
        free(all[rank].list);
    free(all);
}

void transfer_open(struct transfer* t, enum mechanism mechanism, struct operations own, enum topology topology,
                   enum peer_schedule schedule, int64_t peers, int64_t piece, int64_t pieces, MPI_Comm parent) {
    memset(t, 0, sizeof *t);
    MPI_Comm_dup(parent, &t->comm);
    MPI_Comm_set_name(t->comm, "overlap transfers");
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->ranks);
    t->mechanism = mechanism;
    t->own = own;
    t->piece = piece;
    t->pieces = pieces;
    const int64_t volume = piece * pieces;
    t->data = LP_NEW(double, volume);
    t->requests = LP_NEW(MPI_Request, own.n);
    t->window = MPI_WIN_NULL;
    double* exposed = t->data;
    int64_t exposed_values = volume;
    if (mechanism == MECHANISM_PUT) {
        t->source = LP_NEW(double, volume* own.n_peers);
        t->target = LP_NEW(double, volume * t->ranks);
        exposed = t->target;
        exposed_values = volume * t->ranks;
    } else {
        t->fetched = LP_NEW(double, volume* own.n_peers);
    }
    if (mechanism == MECHANISM_TWO_SIDED) {
        find_served(t, topology, schedule, peers);
    } else {
        MPI_Win_create(exposed, (MPI_Aint)exposed_values * (MPI_Aint)sizeof(double), sizeof(double), MPI_INFO_NULL,
                       t->comm, &t->window);
        MPI_Win_set_name(t->window, "overlap data");
        MPI_Win_lock_all(MPI_MODE_NOCHECK, t->window);
    }
}

void transfer_close(struct transfer* t) {
    if (t->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(t->window);
        MPI_Win_free(&t->window);
    }
    MPI_Comm_free(&t->comm);
    free(t->data);
    free(t->fetched);
    free(t->source);
    free(t->target);
    free(t->requests);
    free(t->serve);
    free(t->serve_start);
    free(t->serving);
}

static void serve(struct transfer* t, int64_t step) {
    for (int64_t k = t->serve_start[step]; k < t->serve_start[step + 1]; k++)
        MPI_Isend(t->data + t->serve[k].piece * t->piece, (int)t->piece, MPI_DOUBLE, t->serve[k].peer,
                  (int)t->serve[k].piece, t->comm, &t->serving[k]);
}

void transfer_init(struct transfer* t, int64_t i) {
    const struct operation* o = &t->own.list[i];
    const int count = (int)t->piece;
    const int64_t own_place = (o->place * t->pieces + o->piece) * t->piece;
    MPI_Aint at;
    switch (t->mechanism) {
        case MECHANISM_GET:
            at = (MPI_Aint)(o->piece * t->piece);
            MPI_Rget(t->fetched + own_place, count, MPI_DOUBLE, o->peer, at, count, MPI_DOUBLE, t->window,
                     &t->requests[i]);
            break;
        case MECHANISM_PUT:
            at = (MPI_Aint)((t->rank * t->pieces + o->piece) * t->piece);
            MPI_Rput(t->source + own_place, count, MPI_DOUBLE, o->peer, at, count, MPI_DOUBLE, t->window,
                     &t->requests[i]);
            break;
        case MECHANISM_TWO_SIDED:
            MPI_Irecv(t->fetched + own_place, count, MPI_DOUBLE, o->peer, (int)o->piece, t->comm, &t->requests[i]);
            serve(t, i);
            break;
    }
}

void transfer_sync(struct transfer* t, int64_t i) {
    MPI_Wait(&t->requests[i], MPI_STATUS_IGNORE);
}

void transfer_finish(struct transfer* t) {
    if (t->mechanism == MECHANISM_TWO_SIDED) {
        for (int64_t step = t->own.n; step < t->n_steps; step++)
            serve(t, step);
        MPI_Waitall((int)t->serve_start[t->n_steps], t->serving, MPI_STATUSES_IGNORE);
    } else if (t->mechanism == MECHANISM_PUT) {
        MPI_Win_flush_all(t->window);
    }
}
