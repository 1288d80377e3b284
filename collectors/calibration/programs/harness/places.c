/* Where all ranks are, bound to separate processors, and how far apart. */

/* For sched_getaffinity. */
#define _GNU_SOURCE

#include "parts.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#if SIMULATED
static bool bind(const struct cal* c) {
    (void)c;
    return false;
}

static int processors_here(void) {
    return INT_MAX;
}
#else
#include <sched.h>
#include <unistd.h>

/* Ranks that may run on several processors are moved by the scheduler, also onto each other's: where there are enough,
 * each takes one of those that it shares with others. Returns whether this rank is bound now and wasn't before. */
static bool bind(const struct cal* c) {
    cpu_set_t set, one;
    int before = 0, sharing = 0;
    const struct cal_place* mine = &c->places[c->rank];
    for (int i = 0; i < c->ranks; i++) {
        const bool same = strcmp(c->places[i].host, mine->host) == 0 && strcmp(c->places[i].cpus, mine->cpus) == 0;
        sharing += same;
        before += same && i < c->rank;
    }
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2 || CPU_COUNT(&set) < sharing)
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set) && before-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof one, &one) == 0;
        }
    }
    return false;
}

static int processors_here(void) {
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}
#endif

static void share_places(struct cal* c) {
    struct cal_place mine;
    memset(&mine, 0, sizeof mine);
    cal_find_place(&mine);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, c->places, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
}

static void find_crowding(struct cal* c) {
    int neighbours = 0;
    for (int i = 0; i < c->ranks; i++)
        neighbours += strcmp(c->places[i].host, c->places[c->rank].host) == 0;
    c->crowded = neighbours > processors_here();
    MPI_Allreduce(MPI_IN_PLACE, &c->crowded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

/* 0 same socket, 1 same node, 2 other node. */
static int distance(const struct cal_place* a, const struct cal_place* b) {
    if (strcmp(a->host, b->host) != 0)
        return 2;
    return a->socket >= 0 && a->socket == b->socket ? 0 : 1;
}

static const char* const CLASSES[] = {"same_socket", "same_node", "other_node"};

const char* cal_farthest(const struct cal* c, const int* a, const int* b, int pairs) {
    int farthest = 0;
    for (int i = 0; i < pairs; i++) {
        int d = distance(&c->places[a[i]], &c->places[b[i]]);
        farthest = d > farthest ? d : farthest;
    }
    return CLASSES[farthest];
}

MPI_Comm cal_stream_group(const struct cal* c, const int* from, const int* to, int pairs) {
    MPI_Comm group;
    int place = -1;
    for (int i = 0; i < pairs; i++)
        place = c->rank == from[i] ? i : c->rank == to[i] ? pairs + i : place;
    MPI_Comm_split(MPI_COMM_WORLD, place < 0 ? MPI_UNDEFINED : 0, place < 0 ? 0 : place, &group);
    return group;
}

static void find_pairs(struct cal* c) {
    for (int near = 0; near < 3; near++) {
        int partner = 1;
        while (partner < c->ranks && distance(&c->places[0], &c->places[partner]) != near)
            partner++;
        if (partner == c->ranks)
            continue;
        struct cal_pair* pair = &c->pairs[c->pair_count++];
        pair->locality = CLASSES[near];
        MPI_Comm_split(MPI_COMM_WORLD, c->rank == 0 || c->rank == partner ? 0 : MPI_UNDEFINED, c->rank, &pair->comm);
    }
}

void cal_find_places(struct cal* c, bool binding) {
    c->places = cal_memory(c, c->ranks * (int64_t)sizeof *c->places);
    share_places(c);
    int bound = binding && bind(c);
    MPI_Allreduce(MPI_IN_PLACE, &bound, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (bound)
        share_places(c);
    find_crowding(c);
    find_pairs(c);
}
