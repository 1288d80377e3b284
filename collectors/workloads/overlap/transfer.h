/* init/sync of one piece by each mechanism: MPI_Rget, MPI_Rput, or a matching pair of MPI_Irecv and MPI_Isend. */
#ifndef LOGPOST_OVERLAP_TRANSFER_H
#define LOGPOST_OVERLAP_TRANSFER_H

#include <mpi.h>

#include "peers.h"

enum mechanism { MECHANISM_GET = 0, MECHANISM_PUT = 1, MECHANISM_TWO_SIDED = 2 };

struct transfer {
    enum mechanism mechanism;
    MPI_Comm comm;
    int rank, ranks;
    struct operations own;
    int64_t piece;   /* doubles */
    int64_t pieces;  /* per peer */
    double* data;    /* what others get (get, two-sided): pieces x piece values, the same for every peer */
    double* fetched; /* what this rank gets, peer after peer */
    double* source;  /* put: what it puts, peer after peer */
    double* target;  /* put: where others put, rank after rank */
    MPI_Win window;
    MPI_Request* requests; /* of the own operations */
    /* two-sided: other ranks' operations that this one serves; those of step i are serve[serve_start[i]…] */
    struct operation* serve;
    int64_t *serve_start, n_steps;
    MPI_Request* serving;
};

void transfer_open(struct transfer* t, enum mechanism mechanism, struct operations own, enum topology topology,
                   enum peer_schedule schedule, int64_t peers, int64_t piece, int64_t pieces, MPI_Comm parent);
void transfer_init(struct transfer* t, int64_t i);
void transfer_sync(struct transfer* t, int64_t i);

/* After the last own operation: serves the rest (two-sided), flushes (put). */
void transfer_finish(struct transfer* t);
void transfer_close(struct transfer* t);

#endif
