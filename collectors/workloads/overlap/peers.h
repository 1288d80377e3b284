/* Which rank fetches from which, and in which order: Iancu & Strohmaier's communication topologies and peer schedules.
 */
#ifndef LOGPOST_OVERLAP_PEERS_H
#define LOGPOST_OVERLAP_PEERS_H

#include <stdint.h>

enum topology {
    TOPOLOGY_POINT = 0,      /* every even rank with its right neighbour (section 3.1) */
    TOPOLOGY_MULTIPLE = 1,   /* every rank with the next `peers` ones (3.2) */
    TOPOLOGY_CONGESTION = 2, /* all with rank 0 (3.3) */
    TOPOLOGY_ALL = 3         /* everyone with everyone (3.4) */
};

enum peer_schedule {
    SCHEDULE_CONTIGUOUS = 0,  /* P_i+1, P_i+1, … P_i+2, P_i+2, …: all pieces of a peer before the next peer */
    SCHEDULE_INTERLEAVED = 1, /* P_i+1, P_i+2, … P_i+1, P_i+2, …: piece by piece */
    SCHEDULE_SAME = 2         /* P_0, P_0, … P_1, P_1, …: every rank in the same order, a hot spot */
};

/* One operation: piece `piece` of the data exchanged with `peer`. */
struct operation {
    int32_t peer;
    int32_t place; /* of the peer among this rank's peers */
    int64_t piece;
};

struct operations {
    struct operation* list;
    int64_t n;
    int n_peers;
};

struct operations peers_operations(enum topology topology, enum peer_schedule schedule, int64_t peers, int64_t pieces,
                                   int rank, int ranks);

#endif
