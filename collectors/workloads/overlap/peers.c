#include "peers.h"

#include "../common/memory.h"

static int peers_of(enum topology topology, enum peer_schedule schedule, int64_t peers, int rank, int ranks,
                    int32_t* list) {
    int n = 0;
    if (topology == TOPOLOGY_POINT) {
        if (rank % 2 == 0 && rank + 1 < ranks)
            list[n++] = rank + 1;
    } else if (topology == TOPOLOGY_CONGESTION) {
        if (rank > 0)
            list[n++] = 0;
    } else {
        int64_t wanted = topology == TOPOLOGY_ALL || peers > ranks - 1 ? ranks - 1 : peers;
        for (int k = 1; k <= wanted; k++)
            list[n++] = (rank + k) % ranks;
    }
    for (int i = 1; schedule == SCHEDULE_SAME && i < n; i++) { /* insertion sort */
        int32_t peer = list[i];
        int k = i;
        for (; k > 0 && list[k - 1] > peer; k--)
            list[k] = list[k - 1];
        list[k] = peer;
    }
    return n;
}

struct operations peers_operations(enum topology topology, enum peer_schedule schedule, int64_t peers, int64_t pieces,
                                   int rank, int ranks) {
    struct operations all = {NULL, 0, 0};
    int32_t* list = LP_NEW(int32_t, ranks);
    all.n_peers = peers_of(topology, schedule, peers, rank, ranks, list);
    all.list = LP_NEW(struct operation, pieces * all.n_peers);
    if (schedule == SCHEDULE_INTERLEAVED) {
        for (int64_t piece = 0; piece < pieces; piece++)
            for (int place = 0; place < all.n_peers; place++)
                all.list[all.n++] = (struct operation){list[place], place, piece};
    } else {
        for (int place = 0; place < all.n_peers; place++)
            for (int64_t piece = 0; piece < pieces; piece++)
                all.list[all.n++] = (struct operation){list[place], place, piece};
    }
    free(list);
    return all;
}
