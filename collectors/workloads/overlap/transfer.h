/* init/sync of one piece by each mechanism: get, put, or a matching pair of receive and send. transfer_mpi.c: MPI_Rget,
 * MPI_Rput, MPI_Irecv and MPI_Isend; shmem/: shmem_getmem_nbi, shmem_putmem_nbi, shmem_putmem. */
#ifndef LOGPOST_OVERLAP_TRANSFER_H
#define LOGPOST_OVERLAP_TRANSFER_H

#include "../common/team.h"
#include "peers.h"

enum mechanism {
    MECHANISM_GET = 0,
    MECHANISM_PUT,
    MECHANISM_TWO_SIDED,   /* MPI alone */
    MECHANISM_BLOCKING_PUT /* OpenSHMEM alone: init waits until the source can be used again */
};

/* The mechanisms of the library, for an option's choices and in its order. */
extern const char* const transfer_mechanisms;
extern const enum mechanism transfer_mechanism[];

struct transfer {
    enum mechanism mechanism;
    const struct team* team;
    struct operations own;
    int64_t piece;   /* doubles */
    int64_t pieces;  /* per peer */
    double* data;    /* what others get (get, two-sided): pieces x piece values, the same for every peer */
    double* fetched; /* what this rank gets, peer after peer */
    double* source;  /* put: what it puts, peer after peer */
    double* target;  /* put: where others put, rank after rank */
    void* carrier;   /* of the library's own */
};

struct pattern_of_peers {
    enum topology topology;
    enum peer_schedule schedule;
    int64_t peers;
};

static inline int transfer_puts(const struct transfer* t) {
    return t->mechanism == MECHANISM_PUT || t->mechanism == MECHANISM_BLOCKING_PUT;
}

/* `in_flight` operations of this rank at the most. Collective. */
void transfer_open(struct transfer* t, enum mechanism mechanism, const struct pattern_of_peers* peers, int64_t piece,
                   int64_t pieces, int64_t in_flight, const struct team* team);
void transfer_init(struct transfer* t, int64_t i);
void transfer_sync(struct transfer* t, int64_t i);

/* After the last own operation: serves the rest (two-sided), flushes (put). */
void transfer_finish(struct transfer* t);

/* A barrier after which all see what everybody has written here or there. */
void transfer_barrier(struct transfer* t);

void transfer_close(struct transfer* t);

#endif
