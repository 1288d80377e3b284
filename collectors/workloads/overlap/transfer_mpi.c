#include <string.h>

#include "../common/memory.h"
#include "../common/team_mpi.h"
#include "../logpost_compute.h"
#include "transfer.h"

struct carrier {
    MPI_Comm comm;
    MPI_Win window;
    MPI_Request* requests; /* of the own operations */
    /* two-sided: other ranks' operations that this one serves; those of step i are serve[serve_start[i]…] */
    struct operation* serve;
    int64_t *serve_start, n_steps;
    MPI_Request* serving;
};

const char* const transfer_mechanisms = "get|put|two-sided";
const enum mechanism transfer_mechanism[] = {MECHANISM_GET, MECHANISM_PUT, MECHANISM_TWO_SIDED};

/* In a two-sided program the data's owner has a part in every transfer: it starts its sends of step i (the i-th
 * operation of the rank that fetches from it) when it starts its own i-th operation. */
static void find_served(struct transfer* t, const struct pattern_of_peers* peers) {
    struct carrier* c = t->carrier;
    const int own = t->team->rank, ranks = t->team->ranks;
    struct operations* all = LP_NEW(struct operations, ranks);
    int64_t served = 0;
    for (int rank = 0; rank < ranks; rank++) {
        all[rank] = peers_operations(peers->topology, peers->schedule, peers->peers, t->pieces, rank, ranks);
        if (all[rank].n > c->n_steps)
            c->n_steps = all[rank].n;
        for (int64_t i = 0; i < all[rank].n; i++)
            served += all[rank].list[i].peer == own;
    }
    c->serve = LP_NEW(struct operation, served);
    c->serving = LP_NEW(MPI_Request, served);
    c->serve_start = LP_NEW(int64_t, c->n_steps + 1);
    for (int64_t i = 0, n = 0; i < c->n_steps; i++) {
        for (int rank = 0; rank < ranks; rank++)
            if (i < all[rank].n && all[rank].list[i].peer == own)
                c->serve[n++] = (struct operation){rank, 0, all[rank].list[i].piece};
        c->serve_start[i + 1] = n;
    }
    for (int rank = 0; rank < ranks; rank++)
        free(all[rank].list);
    free(all);
}

void transfer_open(struct transfer* t, enum mechanism mechanism, const struct pattern_of_peers* peers, int64_t piece,
                   int64_t pieces, int64_t in_flight, const struct team* team) {
    struct carrier* c = LP_NEW(struct carrier, 1);
    (void)in_flight; /* every operation has a request */
    *t = (struct transfer){.mechanism = mechanism, .team = team, .piece = piece, .pieces = pieces, .carrier = c};
    MPI_Comm_dup(team_comm(team), &c->comm);
    MPI_Comm_set_name(c->comm, "overlap transfers");
    t->own = peers_operations(peers->topology, peers->schedule, peers->peers, pieces, team->rank, team->ranks);
    const int64_t volume = piece * pieces;
    t->data = LP_NEW(double, volume);
    c->requests = LP_NEW(MPI_Request, t->own.n);
    c->window = MPI_WIN_NULL;
    double* exposed = t->data;
    int64_t exposed_values = volume;
    if (mechanism == MECHANISM_PUT) {
        t->source = LP_NEW(double, volume * t->own.n_peers);
        t->target = LP_NEW(double, volume * team->ranks);
        exposed = t->target;
        exposed_values = volume * team->ranks;
    } else {
        t->fetched = LP_NEW(double, volume * t->own.n_peers);
    }
    if (mechanism == MECHANISM_TWO_SIDED) {
        find_served(t, peers);
    } else {
        MPI_Win_create(exposed, (MPI_Aint)exposed_values * (MPI_Aint)sizeof(double), sizeof(double), MPI_INFO_NULL,
                       c->comm, &c->window);
        MPI_Win_set_name(c->window, "overlap data");
        MPI_Win_lock_all(MPI_MODE_NOCHECK, c->window);
    }
}

void transfer_close(struct transfer* t) {
    struct carrier* c = t->carrier;
    if (c->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(c->window);
        MPI_Win_free(&c->window);
    }
    MPI_Comm_free(&c->comm);
    free(t->own.list);
    free(t->data);
    free(t->fetched);
    free(t->source);
    free(t->target);
    free(c->requests);
    free(c->serve);
    free(c->serve_start);
    free(c->serving);
    free(c);
}

static void serve(struct transfer* t, int64_t step) {
    struct carrier* c = t->carrier;
    for (int64_t k = c->serve_start[step]; k < c->serve_start[step + 1]; k++)
        MPI_Isend(t->data + c->serve[k].piece * t->piece, (int)t->piece, MPI_DOUBLE, c->serve[k].peer,
                  (int)c->serve[k].piece, c->comm, &c->serving[k]);
}

void transfer_init(struct transfer* t, int64_t i) {
    struct carrier* c = t->carrier;
    const struct operation* o = &t->own.list[i];
    const int count = (int)t->piece;
    const int64_t own_place = (o->place * t->pieces + o->piece) * t->piece;
    MPI_Aint at;
    switch (t->mechanism) {
        case MECHANISM_GET:
            at = (MPI_Aint)(o->piece * t->piece);
            MPI_Rget(t->fetched + own_place, count, MPI_DOUBLE, o->peer, at, count, MPI_DOUBLE, c->window,
                     &c->requests[i]);
            break;
        case MECHANISM_PUT:
            at = (MPI_Aint)((t->team->rank * t->pieces + o->piece) * t->piece);
            MPI_Rput(t->source + own_place, count, MPI_DOUBLE, o->peer, at, count, MPI_DOUBLE, c->window,
                     &c->requests[i]);
            break;
        default:
            MPI_Irecv(t->fetched + own_place, count, MPI_DOUBLE, o->peer, (int)o->piece, c->comm, &c->requests[i]);
            serve(t, i);
            break;
    }
}

void transfer_sync(struct transfer* t, int64_t i) {
    struct carrier* c = t->carrier;
    MPI_Wait(&c->requests[i], MPI_STATUS_IGNORE);
}

void transfer_finish(struct transfer* t) {
    struct carrier* c = t->carrier;
    if (t->mechanism == MECHANISM_TWO_SIDED) {
        for (int64_t step = t->own.n; step < c->n_steps; step++)
            serve(t, step);
        MPI_Waitall((int)c->serve_start[c->n_steps], c->serving, MPI_STATUSES_IGNORE);
    } else if (t->mechanism == MECHANISM_PUT) {
        MPI_Win_flush_all(c->window);
    }
}

void transfer_barrier(struct transfer* t) {
    struct carrier* c = t->carrier;
    const int sync = c->window != MPI_WIN_NULL && !LOGPOST_COMPUTE_IS_SIMULATED; /* SMPI has no MPI_Win_sync */
    if (sync)
        MPI_Win_sync(c->window);
    MPI_Barrier(c->comm);
    if (sync)
        MPI_Win_sync(c->window);
}
