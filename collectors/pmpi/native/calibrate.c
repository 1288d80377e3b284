/* LogGP of the job, measured within MPI_Init: a pair of ranks in each locality class that the job has, one after the
 * other, while all other ranks wait in a barrier. Where a class has several pairs that share a socket's memory, two
 * sockets' or two nodes' adapters, one and all of them stream then.
 *
 * Everything travels on a private communicator whose errors return, and which is freed; no message is left behind.
 * Where the ranks of a host outnumber the processors that they may use, nothing is measured: it would be the scheduler.
 *
 * LOGPOST_CALIBRATE is the time in seconds that all of it may take. Rank 0 leaves
 * $LOGPOST_RAW_DIR/calibration.<process>.jsonl: a line about the measurement (written below), then for each pair what a
 * calibration program writes (machines/calibration/samples.py), its host line first. */
#include "calls.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "quick.h"

int lp_call_failed;

enum { CLASSES = 3, OTHER_NODE = 2, CPU_WORDS = 64, LENGTH = 1, TEXT = 2 };
static const char* const CLASS_NAMES[CLASSES] = {"same_socket", "same_node", "other_node"};
static const double RESERVE = 0.3; /* of the time: for a sample that exceeds its share, and for gathering */
static const double OF_PAIR = 0.8; /* of a class's time, which a pair's some 100 points share; streams have 4 */

struct place {
    uint64_t host;
    int32_t socket;      /* -1: of several, or unknown */
    int32_t cpu;         /* the only one that the rank may use; -1: several */
    int32_t first, cpus; /* the lowest one, and how many follow it without a gap; cpus 0: there is a gap */
};

struct job {
    MPI_Comm comm;
    int rank, size;
    struct place* places; /* of all ranks */
    int* ranks;           /* room for as many */
    uint64_t began_ns;    /* since 1970 */
    double started_s, budget_s;
    double part_s; /* when what is written next began */
    double share;  /* of the time of measuring in which the ranks had their processors: the least of all ranks */
};

struct ends {
    int a, b; /* b 0: the job has no pair of the class */
};

/* The pairs of a class that stream concurrently. */
struct together {
    int count;                    /* one is nothing to measure */
    int ranks[2 * LP_MOST_PAIRS]; /* the senders, then their receivers in the same order */
};

/* --- where the ranks are ----------------------------------------------------------------------------------------- */

static int processors(uint64_t mask[CPU_WORDS]) {
    int count = 0;
    memset(mask, 0, CPU_WORDS * sizeof *mask);
    cpu_set_t* set = CPU_ALLOC(64 * CPU_WORDS);
    const size_t size = CPU_ALLOC_SIZE(64 * CPU_WORDS);
    if (set && !sched_getaffinity(0, size, set))
        for (int cpu = 0; cpu < 64 * CPU_WORDS; cpu++)
            if (CPU_ISSET_S(cpu, size, set)) {
                mask[cpu / 64] |= 1ull << cpu % 64;
                count++;
            }
    if (set)
        CPU_FREE(set);
    return count;
}

static struct place own_place(uint64_t mask[CPU_WORDS]) {
    struct cal_place here;
    struct place mine = {0xcbf29ce484222325ull, -1, -1, 0, 0};
    memset(&here, 0, sizeof here);
    cal_find_place(&here);
    for (const char* c = here.host; *c; c++)
        mine.host = (mine.host ^ (unsigned char)*c) * 0x100000001b3ull;
    mine.socket = here.socket;
    const int count = processors(mask);
    int last = -1;
    for (int cpu = 64 * CPU_WORDS - 1; cpu >= 0; cpu--)
        if (mask[cpu / 64] >> cpu % 64 & 1) {
            mine.first = cpu;
            last = last < 0 ? cpu : last;
        }
    if (count == 1)
        mine.cpu = last;
    mine.cpus = last - mine.first + 1 == count ? count : 0;
    return mine;
}

static uint64_t packed(int ranks, int cpus, int first) {
    return (uint64_t)ranks << 44 | (uint64_t)cpus << 24 | (uint64_t)first;
}

/* What crowd() finds, without a message: of the hosts whose ranks may use the same processors, without a gap. Where
 * ranks wait for a processor each message costs time slices. j->ranks is in the order of places. */
static uint64_t crowd_of_alike(const struct job* j) {
    uint64_t most = 0;
    for (int i = 0, end; i < j->size; i = end) {
        const struct place* one = &j->places[j->ranks[i]];
        bool alike = one->cpus > 0;
        int first = j->ranks[i];
        for (end = i; end < j->size && j->places[j->ranks[end]].host == one->host; end++) {
            const struct place* other = &j->places[j->ranks[end]];
            alike = alike && other->first == one->first && other->cpus == one->cpus;
            first = j->ranks[end] < first ? j->ranks[end] : first;
        }
        const uint64_t found = alike && end - i > one->cpus ? packed(end - i, one->cpus, first) : 0;
        most = found > most ? found : most;
    }
    return most;
}

/* Of the host with most ranks among those that have more ranks than processors: ranks, processors and its first rank,
 * packed so that the largest can be agreed on; 0 where there are enough. */
static uint64_t crowd(const struct job* j, const uint64_t mask[CPU_WORDS]) {
    const uint64_t host = j->places[j->rank].host;
    uint64_t all[CPU_WORDS], ranks = 0, cpus = 0;
    MPI_Group everybody, here;
    MPI_Comm comm = MPI_COMM_NULL;
    for (int i = 0; i < j->size; i++)
        if (j->places[i].host == host)
            j->ranks[ranks++] = i;
    const uint64_t first = (uint64_t)j->ranks[0];
    MPI_Comm_group(j->comm, &everybody);
    MPI_Group_incl(everybody, (int)ranks, j->ranks, &here);
    MPI_Comm_create_group(j->comm, here, 0, &comm);
    memcpy(all, mask, sizeof all);
    if (comm != MPI_COMM_NULL) {
        MPI_Allreduce(mask, all, CPU_WORDS, lp_k.uint64, lp_k.bor, comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&here);
    MPI_Group_free(&everybody);
    for (int i = 0; i < CPU_WORDS; i++)
        cpus += (uint64_t)__builtin_popcountll(all[i]);
    return ranks > cpus && cpus > 0 ? packed((int)ranks, (int)cpus, (int)first) : 0;
}

/* --- the pairs --------------------------------------------------------------------------------------------------- */

static const struct place* sorted_by;

static int by_place(const void* x, const void* y) {
    const int i = *(const int*)x, k = *(const int*)y;
    const struct place *a = &sorted_by[i], *b = &sorted_by[k];
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->socket != b->socket)
        return a->socket < b->socket ? -1 : 1;
    if (a->cpu != b->cpu)
        return a->cpu < b->cpu ? -1 : 1;
    return (i > k) - (i < k);
}

/* Ranks in the order of places. */
static void sort_ranks(const struct job* j) {
    for (int i = 0; i < j->size; i++)
        j->ranks[i] = i;
    sorted_by = j->places;
    qsort(j->ranks, (size_t)j->size, sizeof *j->ranks, by_place);
}

static int class_of(const struct place* a, const struct place* b) {
    if (a->host != b->host)
        return 2;
    return a->socket >= 0 && a->socket == b->socket ? 0 : 1;
}

/* j->ranks is in the order of places, in which a class that the job has is one of neighbours. Of several pairs the one
 * of the lowest rank; never two ranks that share one processor. */
static void choose_pairs(const struct job* j, struct ends pairs[CLASSES]) {
    const int* const order = j->ranks;
    memset(pairs, 0, CLASSES * sizeof *pairs);
    for (int i = 0; i + 1 < j->size; i++) {
        const int a = order[i] < order[i + 1] ? order[i] : order[i + 1];
        const int b = order[i] + order[i + 1] - a;
        const struct place *one = &j->places[a], *other = &j->places[b];
        struct ends* pair = &pairs[class_of(one, other)];
        if (one->host == other->host && one->cpu >= 0 && one->cpu == other->cpu)
            continue;
        if (pair->b == 0 || a < pair->a)
            *pair = (struct ends){a, b};
    }
}

/* What pairs of the class share at an end: a node's adapters, or a socket's memory. */
static bool shares_end(const struct place* a, const struct place* b, int class) {
    return a->host == b->host && (class == 2 || a->socket == b->socket);
}

/* All pairs between the ends of a class's pair, or at its one end. j->ranks is in the order of places; of ranks that
 * share a processor one takes part. */
static void choose_together(const struct job* j, struct ends pair, int class, struct together* all) {
    int near[2 * LP_MOST_PAIRS], far[LP_MOST_PAIRS], near_count = 0, far_count = 0;
    const struct place *a = &j->places[pair.a], *b = &j->places[pair.b], *before = NULL;
    const bool one_end = shares_end(a, b, class);
    all->count = 0;
    if (pair.b == 0)
        return;
    for (int i = 0; i < j->size; i++) {
        const int rank = j->ranks[i];
        const struct place* here = &j->places[rank];
        const bool alone = !before || before->host != here->host || here->cpu < 0 || before->cpu != here->cpu;
        before = here;
        if (alone && shares_end(here, a, class) && near_count < 2 * LP_MOST_PAIRS)
            near[near_count++] = rank;
        else if (alone && shares_end(here, b, class) && far_count < LP_MOST_PAIRS)
            far[far_count++] = rank;
    }
    all->count = one_end ? near_count / 2 : near_count < far_count ? near_count : far_count;
    for (int i = 0; i < all->count; i++) {
        all->ranks[i] = near[one_end ? 2 * i : i];
        all->ranks[all->count + i] = one_end ? near[2 * i + 1] : far[i];
    }
}

static bool streams_in(const struct together* all, int rank) {
    for (int i = 0; all->count > 1 && i < 2 * all->count; i++)
        if (all->ranks[i] == rank)
            return true;
    return false;
}

/* --- measuring --------------------------------------------------------------------------------------------------- */

static double elapsed_s(const struct job* j) {
    return lp_mpi.Wtime() - j->started_s;
}

/* What each measuring rank has: memory, and the samples of its pairs as text. */
struct own {
    char *memory, *text;
    size_t length;
    FILE* out;
    double share;
    bool has_samples; /* not only where it was measured */
};

static double processor_s(void) {
    return 1e-9 * (double)lp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* What is measured of a pair. */
struct points {
    bool log3p;
    const struct lp_layout_use* uses; /* NULL: those of MPI_Init */
    int count;
    bool transfers; /* one-sided ones alone */
    bool created;   /* through memory that the window is given */
};

static MPI_Comm among(const struct job* j, const int* ranks, int count, int tag) {
    MPI_Group everybody, some;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_group(j->comm, &everybody);
    MPI_Group_incl(everybody, count, ranks, &some);
    MPI_Comm_create_group(j->comm, some, tag, &comm);
    MPI_Group_free(&some);
    MPI_Group_free(&everybody);
    return comm;
}

/* By both ranks; the lower one has the samples then. */
static void measure(const struct job* j, struct cal* c, struct ends ends, const char* locality, double time_s,
                    struct points points, struct own* own) {
    const int both[2] = {ends.a, ends.b};
    struct cal_place places[2], mine;
    struct cal_pair pair = {among(j, both, 2, 1), locality};
    if (pair.comm == MPI_COMM_NULL)
        return;
    memset(&mine, 0, sizeof mine);
    cal_find_place(&mine);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, pair.comm);
    c->rank = j->rank == ends.b;
    c->ranks = 2;
    c->places = places;
    c->over = false;
    c->until_s = lp_mpi.Wtime() + time_s;
    c->out = own->out;
    if (c->rank == 0)
        cal_put_host(c);
    fflush(own->out); /* which makes own->text what was written */
    const size_t before = own->length;
    const double begin_s = lp_mpi.Wtime(), ran_s = processor_s();
    if (points.transfers)
        lp_quick_transfers(c, &pair, points.created, own->memory);
    else if (points.uses)
        lp_quick_layouts(c, &pair, points.uses, points.count, own->memory);
    else
        lp_quick_pair(c, &pair, points.log3p, own->memory);
    const double share = (processor_s() - ran_s) / (lp_mpi.Wtime() - begin_s);
    if (share < own->share)
        own->share = share;
    MPI_Comm_free(&pair.comm);
    fflush(own->out);
    own->has_samples |= own->length > before;
}

/* By the ranks of all pairs; the first one has the samples then. */
static void measure_together(const struct job* j, struct cal* c, const struct together* all, int class, double time_s,
                             struct own* own) {
    const int first[2] = {all->ranks[0], all->ranks[all->count]};
    const bool same_end = shares_end(&j->places[first[0]], &j->places[first[1]], class);
    struct lp_together t = {MPI_COMM_NULL, among(j, all->ranks, 2 * all->count, 3), all->count, CLASS_NAMES[class],
                            same_end ? "neighbour" : "cross_section"};
    if (t.all == MPI_COMM_NULL)
        return;
    if (j->rank == first[0] || j->rank == first[1])
        t.one = among(j, first, 2, 4);
    MPI_Comm_rank(t.all, &c->rank);
    c->over = false;
    c->until_s = lp_mpi.Wtime() + time_s;
    c->out = own->out;
    lp_quick_together(c, &t, own->memory);
    if (t.one != MPI_COMM_NULL)
        MPI_Comm_free(&t.one);
    MPI_Comm_free(&t.all);
    fflush(own->out);
}

/* The samples of all pairs are gathered at rank 0, which appends them to `all`. */
static void gather(const struct job* j, struct ends ends, char* text, uint64_t length, FILE* all) {
    char *received = NULL, none;
    if (j->rank == ends.a && j->rank != 0) {
        MPI_Send(&length, 1, lp_k.uint64, 0, LENGTH, j->comm);
        MPI_Send(text, (int)length, MPI_BYTE, 0, TEXT, j->comm);
    }
    if (j->rank == 0 && ends.a != 0) {
        MPI_Recv(&length, 1, lp_k.uint64, ends.a, LENGTH, j->comm, MPI_STATUS_IGNORE);
        text = received = malloc((size_t)length + 1);
        /* Without memory it is received, too, as an error: nothing is left behind. */
        MPI_Recv(text ? text : &none, text ? (int)length : 1, MPI_BYTE, ends.a, TEXT, j->comm, MPI_STATUS_IGNORE);
    }
    if (j->rank == 0 && text)
        fwrite(text, 1, (size_t)length, all);
    free(received);
}

/* log3P is of the farthest class. */
static void measure_pairs(const struct job* j, const struct ends pairs[CLASSES],
                          const struct together together[CLASSES], struct own* own, FILE* all) {
    struct cal c;
    int left = 0;
    memset(&c, 0, sizeof c);
    for (int k = 0; k < CLASSES; k++)
        left += pairs[k].b != 0;
    if (own->out)
        cal_measure_clock(&c);
    for (int k = 0; k < CLASSES; k++) {
        const size_t before = own->length;
        if (pairs[k].b == 0)
            continue;
        const bool several = together[k].count > 1;
        const double time_s = ((1 - RESERVE) * j->budget_s - elapsed_s(j)) / left--, until_s = elapsed_s(j) + time_s;
        if (j->rank == pairs[k].a || j->rank == pairs[k].b)
            measure(j, &c, pairs[k], CLASS_NAMES[k], several ? OF_PAIR * time_s : time_s,
                    (struct points){.log3p = left == 0}, own);
        MPI_Barrier(j->comm);
        gather(j, pairs[k], own->text ? own->text + before : NULL, own->length - before, all);
        if (!several)
            continue;
        const size_t then = own->length;
        if (streams_in(&together[k], j->rank))
            measure_together(j, &c, &together[k], k, until_s - elapsed_s(j), own);
        MPI_Barrier(j->comm);
        gather(j, (struct ends){together[k].ranks[0], together[k].ranks[together[k].count]},
               own->text ? own->text + then : NULL, own->length - then, all);
    }
}

/* --- what rank 0 leaves ------------------------------------------------------------------------------------------ */

static void write_file(const struct job* j, const char* kind, const struct ends pairs[CLASSES], const char* reason,
                       const char* samples, size_t length) {
    const char* directory = getenv("LOGPOST_RAW_DIR");
    char path[1200], begin[512];
    int n =
        snprintf(begin, sizeof begin,
                 "{\"budget_s\": %.6g, \"began_ns\": %llu, \"took_s\": %.6f, \"processor_share\": %.4f, \"ranks\": "
                 "%d, \"reason\": \"%s\", "
                 "\"pairs\": {",
                 j->budget_s, (unsigned long long)j->began_ns, lp_mpi.Wtime() - j->part_s, j->share, j->size, reason);
    int shown = 0;
    for (int k = 0; k < CLASSES && !*reason; k++)
        if (pairs[k].b)
            n += snprintf(begin + n, sizeof begin - (size_t)n, "%s\"%s\": [%d, %d]", shown++ ? ", " : "",
                          CLASS_NAMES[k], pairs[k].a, pairs[k].b);
    n += snprintf(begin + n, sizeof begin - (size_t)n, "}}\n");
    snprintf(path, sizeof path, "%s/%s.%016llx.jsonl", directory, kind, (unsigned long long)lp_process_id);
    struct rlimit limit; /* growing beyond it would be a SIGXFSZ in the program */
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && length + (size_t)n > limit.rlim_cur)
        return;
    FILE* file = fopen(path, "we");
    if (!file)
        return;
    fwrite(begin, 1, (size_t)n, file);
    if (!*reason)
        fwrite(samples, 1, length, file);
    if (fclose(file))
        unlink(path); /* a full disk */
}

static int can_measure(void) {
#define X(name) &&lp_mpi.name != NULL
    return 1 LP_CALIBRATION_API(X);
#undef X
}

static int can_transfer(void) {
#define X(name) &&lp_mpi.name != NULL
    return 1 LP_TRANSFER_API(X);
#undef X
}

/* The pair that log3P is measured between; its `b` is 0 where MPI_Init had no time for any message. */
static struct ends farthest;
static int farthest_class;
/* The farthest pair of one host, likewise. */
static struct ends of_host;
static int of_host_class;

static const char* crowded(uint64_t found, char reason[160]) {
    snprintf(reason, 160, "%d ranks share %d processor%s on the host of rank %d", (int)(found >> 44),
             (int)(found >> 24 & 0xfffff), (found >> 24 & 0xfffff) == 1 ? "" : "s", (int)(found & 0xffffff));
    return reason;
}

static void run(struct job* j, const uint64_t mask[CPU_WORDS]) {
    struct ends pairs[CLASSES];
    struct together together[CLASSES];
    struct own own = {.share = 1};
    char *samples = NULL, reason[160] = "";
    size_t length = 0;
    int take_part = 0;
    choose_pairs(j, pairs);
    for (int k = 0; k < CLASSES; k++) {
        choose_together(j, pairs[k], k, &together[k]);
        take_part |= pairs[k].b != 0 && (j->rank == pairs[k].a || j->rank == pairs[k].b);
        take_part |= streams_in(&together[k], j->rank);
    }
    if (take_part) {
        own.memory = malloc(lp_quick_memory());
        own.out = open_memstream(&own.text, &own.length);
    }
    FILE* all = j->rank == 0 ? open_memstream(&samples, &length) : NULL;
    uint64_t here[2] = {crowd(j, mask), (take_part && !(own.memory && own.out)) || (j->rank == 0 && !all)},
             found[2] = {0, 0};
    MPI_Allreduce(here, found, 2, lp_k.uint64, lp_k.max, j->comm);
    if (found[0])
        crowded(found[0], reason);
    else if (found[1])
        snprintf(reason, sizeof reason, "out of memory");
    else
        measure_pairs(j, pairs, together, &own, all);
    uint64_t mine_most[3] = {(uint64_t)lp_call_failed, (uint64_t)(1e6 * (1 - own.share)), own.has_samples},
             most[3] = {0, 0, 0};
    MPI_Allreduce(mine_most, most, 3, lp_k.uint64, lp_k.max, j->comm);
    j->share = 1 - 1e-6 * (double)most[1];
    if (most[0])
        snprintf(reason, sizeof reason, "a call of the MPI library failed during the measurement");
    if (all)
        fclose(all);
    for (int k = 0; k < CLASSES && !*reason && most[2]; k++)
        if (pairs[k].b) {
            farthest = pairs[k];
            farthest_class = k;
            if (k != OTHER_NODE) {
                of_host = pairs[k];
                of_host_class = k;
            }
        }
    if (j->rank == 0)
        write_file(j, "calibration", pairs, reason, samples, length);
    if (own.out)
        fclose(own.out);
    free(own.text);
    free(own.memory);
    free(samples);
}

void lp_calibrate(MPI_Comm own, int rank, int size) {
    const char* text = getenv("LOGPOST_CALIBRATE");
    struct job j = {.comm = own, .rank = rank, .size = size, .budget_s = text ? atof(text) : 0, .share = 1};
    if (!(j.budget_s > 0) || !can_measure())
        return;
    j.began_ns = lp_clock_ns(CLOCK_REALTIME);
    j.part_s = j.started_s = lp_mpi.Wtime();
    if (size < 2) {
        write_file(&j, "calibration", NULL, "one rank sends no messages", NULL, 0);
        return;
    }
    j.places = malloc(sizeof *j.places * (size_t)size);
    j.ranks = malloc(sizeof *j.ranks * (size_t)size);
    if (!j.places || !j.ranks)
        return; /* out of memory within MPI_Init: the program is lost without us */
    uint64_t mask[CPU_WORDS];
    char reason[160];
    const struct place mine = own_place(mask);
    MPI_Comm_set_errhandler(own, lp_k.errors_return);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, j.places, sizeof mine, MPI_BYTE, own);
    sort_ranks(&j);
    const uint64_t crowd = crowd_of_alike(&j);
    if (crowd && rank == 0)
        write_file(&j, "calibration", NULL, crowded(crowd, reason), NULL, 0);
    if (!crowd && MPI_Comm_dup(own, &j.comm) == MPI_SUCCESS) {
        run(&j, mask);
        MPI_Comm_free(&j.comm);
    }
    free(j.ranks);
    free(j.places);
}

/* --- what the program used, within MPI_Finalize --------------------------------------------------------------------
 */

enum { MOST_USES = 16 };

/* How much a layout's price matters: it is one per block. Of the same weight the lowest rank's counts. */
static uint64_t weight_of(const struct lp_layout_use* use, int rank) {
    const double blocks = (double)(use->messages - 1) * (double)(use->bytes / use->block);
    const uint64_t most = (uint64_t)1 << 39;
    return (blocks < (double)most ? (uint64_t)blocks : most) << 24 | (0xffffffu - (uint32_t)rank);
}

static bool is_same(const struct lp_layout_use* a, const struct lp_layout_use* b) {
    return a->bytes == b->bytes && a->block == b->block && a->stride == b->stride;
}

/* The uses that have most blocks on some rank, the same on all ranks: each round agrees on one of them. */
static int agree_on_uses(const struct job* j, struct lp_layout_use agreed[MOST_USES]) {
    int count = 0;
    bool done[LP_LAYOUT_USES];
    for (unsigned i = 0; i < LP_LAYOUT_USES; i++) /* ranks of the pair know what they have measured */
        done[i] = lp_layout_uses[i].messages < 2 || !lp_quick_span(&lp_layout_uses[i]);
    while (count < MOST_USES) {
        uint64_t mine = 0, most = 0;
        struct lp_layout_use next = {0, 0, 0, 0};
        for (unsigned i = 0; i < LP_LAYOUT_USES; i++)
            if (!done[i] && weight_of(&lp_layout_uses[i], j->rank) > mine) {
                mine = weight_of(&lp_layout_uses[i], j->rank);
                next = lp_layout_uses[i];
            }
        MPI_Allreduce(&mine, &most, 1, lp_k.uint64, lp_k.max, j->comm);
        if (lp_call_failed || !most)
            break;
        MPI_Bcast(&next, sizeof next, MPI_BYTE, (int)(0xffffffu - (most & 0xffffffu)), j->comm);
        for (unsigned i = 0; i < LP_LAYOUT_USES; i++)
            done[i] |= is_same(&lp_layout_uses[i], &next);
        int known = j->rank == farthest.a && lp_quick_has(&next);
        MPI_Bcast(&known, 1, MPI_INT, farthest.a, j->comm);
        if (!known)
            agreed[count++] = next;
    }
    return count;
}

/* Until `until` of the budget, by one pair, which uses memory for two of `span` bytes. */
static void measure_used(struct job* j, const char* kind, struct ends ends, int class, struct points points,
                         size_t span, double until) {
    struct own own = {.share = 1};
    struct cal c;
    char *samples = NULL, *reason = "";
    size_t length = 0;
    const int take_part = j->rank == ends.a || j->rank == ends.b;
    FILE* const all = j->rank == 0 ? open_memstream(&samples, &length) : NULL;
    j->part_s = lp_mpi.Wtime();
    memset(&c, 0, sizeof c);
    if (take_part) {
        own.memory = malloc(lp_quick_scratch() + 2 * span);
        own.out = open_memstream(&own.text, &own.length);
        if (own.memory)
            memset(own.memory, 1, lp_quick_scratch() + 2 * span);
    }
    uint64_t lacks = (take_part && !(own.memory && own.out)) || (j->rank == 0 && !all), any = 0;
    MPI_Allreduce(&lacks, &any, 1, lp_k.uint64, lp_k.max, j->comm);
    if (any)
        reason = "out of memory";
    else {
        if (take_part) {
            cal_measure_clock(&c);
            measure(j, &c, ends, CLASS_NAMES[class], (1 - RESERVE) * until * j->budget_s - elapsed_s(j), points, &own);
        }
        MPI_Barrier(j->comm);
        gather(j, ends, own.text, own.length, all);
    }
    uint64_t own_worst[2] = {(uint64_t)lp_call_failed, (uint64_t)(1e6 * (1 - own.share))}, worst[2] = {0, 0};
    MPI_Allreduce(own_worst, worst, 2, lp_k.uint64, lp_k.max, j->comm);
    j->share = 1 - 1e-6 * (double)worst[1];
    lp_call_failed = worst[0] != 0; /* on all ranks: what follows is collective */
    if (lp_call_failed)
        reason = "a call of the MPI library failed";
    if (all)
        fclose(all);
    if (j->rank == 0) {
        struct ends pairs[CLASSES];
        memset(pairs, 0, sizeof pairs);
        pairs[class] = ends;
        write_file(j, kind, pairs, reason, samples, length);
    }
    if (own.out)
        fclose(own.out);
    free(own.text);
    free(own.memory);
    free(samples);
}

/* Whether windows were made of memory that the program or that MPI had allocated, on any rank; of both, archives do not
 * say which a transfer is through, and none is measured. */
static bool agree_on_windows(const struct job* j, bool* created) {
    const uint64_t given = 1u << LP_RMA_CREATED, allocated = 1u << LP_RMA_ALLOCATED | 1u << LP_RMA_SHARED;
    uint64_t mine[2] = {(lp_rma_kinds & given) != 0, (lp_rma_kinds & allocated) != 0}, any[2] = {0, 0};
    MPI_Allreduce(mine, any, 2, lp_k.uint64, lp_k.max, j->comm);
    *created = any[0] != 0;
    return any[0] != any[1];
}

void lp_calibrate_used(MPI_Comm own, int rank) {
    const char* text = getenv("LOGPOST_CALIBRATE_LAYOUTS");
    struct job j = {.comm = own, .rank = rank, .budget_s = text ? atof(text) : 0, .share = 1};
    struct lp_layout_use uses[MOST_USES];
    if (!(j.budget_s > 0) || !farthest.b)
        return;
    lp_call_failed = 0;
    MPI_Comm_size(own, &j.size);
    /* All ranks that are alive wait for each other in MPI_Finalize anyway; with one that is not, a library that lets
     * the others continue (ULFM) has this fail on all of them. Waiting for the program's last rank is no time of ours.
     */
    if (MPI_Barrier(own) != MPI_SUCCESS)
        return;
    j.began_ns = lp_clock_ns(CLOCK_REALTIME);
    j.part_s = j.started_s = lp_mpi.Wtime();
    const int count = agree_on_uses(&j, uses);
    struct points transfers = {.transfers = true};
    const bool transfer = of_host.b && can_transfer() && agree_on_windows(&j, &transfers.created);
    size_t span = 0;
    for (int i = 0; i < count; i++)
        span = lp_quick_span(&uses[i]) > span ? lp_quick_span(&uses[i]) : span;
    if (count && !lp_call_failed)
        measure_used(&j, "layouts", farthest, farthest_class, (struct points){.uses = uses, .count = count}, span,
                     transfer ? 0.5 : 1);
    if (transfer && !lp_call_failed)
        measure_used(&j, "transfers", of_host, of_host_class, transfers, lp_quick_transfer(), 1);
}
