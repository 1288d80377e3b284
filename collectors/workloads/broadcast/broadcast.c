/* Broadcast of strided data, built from sends and receives.
 *
 * Paper: log_nP and log_3P (Cameron, Ge & Sun) section 4.3.3, Fig. 9-11.
 *   --algorithm linear    the root sends to all others, one after the other. log3P: P (o_mw/2 + l_mw/2) + o_net.
 *   --algorithm binomial  each process sends on what it received; height log2 P. log3P: h (o_mw + l_mw + o_net).
 *   --algorithm library   MPI_Bcast, for comparison.
 *   --packing datatype    MPI_Type_vector: the middleware gathers and scatters (l_mw).
 *   --packing manual      the program copies to and from a contiguous buffer ("explicit communication", Fig. 8).
 *   --cache refilled      each broadcast is of new data, and is checked; its time is that of the slowest rank.
 *   --cache warm          the same array again and again (log3P 3.2: "preload data sets to warm up the cache"). Rank 0
 *                         starts when the others are in their receives, and its clock stops at the empty reply of the
 *                         rank that receives last, less half of an empty round trip: so no barrier is part of it.
 * Data are doubles, one every --stride bytes (8: contiguous); the paper has strides 8, 128, 512 and 1 to 16 KB. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../common/app.h"
#include "../common/memory.h"
#include "../common/random.h"
#include "../common/team_mpi.h"
#include "../logpost_compute.h"

enum algorithm { LINEAR = 0, BINOMIAL = 1, LIBRARY = 2 };
enum packing { DATATYPE = 0, MANUAL = 1 };
enum cache { REFILLED = 0, WARM = 1 };
enum tag { DATA = 0, READY = 1, REPLY = 2 };

struct settings {
    int algorithm, packing, cache;
    int64_t bytes, stride, repeat, root;
};

struct strided {
    double* data;
    int64_t count, step; /* doubles to send; distance between them in doubles */
    double* packed;
    MPI_Datatype type;
    MPI_Comm comm;
};

static void pack(struct strided* s) {
    for (int64_t i = 0; i < s->count; i++)
        s->packed[i] = s->data[i * s->step];
    logpost_account_flops((double)s->count);
}

static void unpack(struct strided* s) {
    for (int64_t i = 0; i < s->count; i++)
        s->data[i * s->step] = s->packed[i];
    logpost_account_flops((double)s->count);
}

static void send_to(struct strided* s, enum packing packing, int rank) {
    if (packing == DATATYPE)
        MPI_Send(s->data, 1, s->type, rank, DATA, s->comm);
    else
        MPI_Send(s->packed, (int)s->count, MPI_DOUBLE, rank, DATA, s->comm);
}

static void receive_from(struct strided* s, enum packing packing, int rank) {
    if (packing == DATATYPE) {
        MPI_Recv(s->data, 1, s->type, rank, DATA, s->comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(s->packed, (int)s->count, MPI_DOUBLE, rank, DATA, s->comm, MPI_STATUS_IGNORE);
        unpack(s);
    }
}

static void broadcast(struct strided* s, const struct settings* o, int rank, int ranks) {
    const enum packing packing = (enum packing)o->packing;
    const int root = (int)o->root, relative = (rank - root + ranks) % ranks;
    if (packing == MANUAL && relative == 0)
        pack(s);
    if (o->algorithm == LIBRARY) {
        if (packing == DATATYPE) {
            MPI_Bcast(s->data, 1, s->type, root, s->comm);
        } else {
            MPI_Bcast(s->packed, (int)s->count, MPI_DOUBLE, root, s->comm);
            if (relative != 0)
                unpack(s);
        }
    } else if (o->algorithm == LINEAR) {
        if (relative != 0)
            receive_from(s, packing, root);
        for (int to = 1; relative == 0 && to < ranks; to++)
            send_to(s, packing, (root + to) % ranks);
    } else {
        int bit = 1;
        while (bit < ranks && !(relative & bit))
            bit <<= 1;
        if (relative != 0)
            receive_from(s, packing, (relative - bit + root) % ranks);
        for (bit >>= 1; bit > 0; bit >>= 1)
            if (relative + bit < ranks)
                send_to(s, packing, (relative + bit + root) % ranks);
    }
}

static double value_of(int64_t round, int64_t i) {
    return lp_uniform(7, (uint64_t)round, (uint64_t)i);
}

/* The rank that receives last: of a tree the deepest, whose relative number has most bits set. */
static int last_of(const struct settings* o, int ranks) {
    int last = ranks - 1;
    for (int relative = 0; o->algorithm == BINOMIAL && relative < ranks; relative++)
        if (__builtin_popcount((unsigned)relative) > __builtin_popcount((unsigned)last))
            last = relative;
    return (last + (int)o->root) % ranks;
}

static void fill(struct strided* s, int64_t round, int is_root) {
    for (int64_t i = 0; i < s->count * s->step; i++)
        s->data[i] = -1;
    for (int64_t i = 0; is_root && i < s->count; i++)
        s->data[i * s->step] = value_of(round, i);
}

/* Counts wrong values, and those between them that were written. */
static void check(const struct strided* s, int64_t round, int64_t wrong[2]) {
    for (int64_t i = 0; i < s->count * s->step; i++)
        wrong[i % s->step != 0] += s->data[i] != (i % s->step == 0 ? value_of(round, i / s->step) : -1);
}

/* From when the others are in their receives to the reply of the one that receives last, by the root's clock; without
 * data a round trip of empty messages. 0 on other ranks. */
static double time_by_reply(struct strided* s, const struct settings* o, int rank, int ranks, int with_data) {
    const int root = (int)o->root, last = last_of(o, ranks);
    if (rank != root) {
        MPI_Send(NULL, 0, MPI_BYTE, root, READY, s->comm);
        if (with_data)
            broadcast(s, o, rank, ranks);
        else if (rank == last)
            MPI_Recv(NULL, 0, MPI_BYTE, root, DATA, s->comm, MPI_STATUS_IGNORE);
        if (rank == last)
            MPI_Send(NULL, 0, MPI_BYTE, root, REPLY, s->comm);
        return 0;
    }
    for (int i = 1; i < ranks; i++)
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, READY, s->comm, MPI_STATUS_IGNORE);
    const double start = MPI_Wtime();
    if (with_data)
        broadcast(s, o, rank, ranks);
    else
        MPI_Send(NULL, 0, MPI_BYTE, last, DATA, s->comm);
    MPI_Recv(NULL, 0, MPI_BYTE, last, REPLY, s->comm, MPI_STATUS_IGNORE);
    return MPI_Wtime() - start;
}

/* Seconds of all broadcasts of one array, and of the longest. */
static double run_warm(struct strided* s, const struct settings* o, const struct app* app, double* largest_s) {
    double total_s = 0, empty_s = INFINITY; /* the shortest (log3P 3.2), as a disturbed one would shorten the others */
    time_by_reply(s, o, app->rank, app->ranks, 1); /* warms up */
    for (int64_t round = 0; round < o->repeat; round++) {
        empty_s = fmin(empty_s, time_by_reply(s, o, app->rank, app->ranks, 0));
        const double round_s = time_by_reply(s, o, app->rank, app->ranks, 1);
        total_s += round_s;
        *largest_s = fmax(*largest_s, round_s);
    }
    *largest_s -= empty_s / 2;
    return total_s - (double)o->repeat * empty_s / 2;
}

static int run(const struct settings* o, const struct app* app) {
    struct strided s = {.count = o->bytes / 8, .step = o->stride / 8};
    MPI_Comm_dup(team_comm(&app->team), &s.comm);
    MPI_Comm_set_name(s.comm, "broadcast");
    s.data = LP_NEW(double, s.count* s.step);
    s.packed = LP_NEW(double, s.count);
    MPI_Type_vector((int)s.count, 1, (int)s.step, MPI_DOUBLE, &s.type);
    MPI_Type_commit(&s.type);

    const int is_root = app->rank == o->root;
    int64_t wrong[2] = {0, 0};
    double total_s = 0, largest_s = 0;
    if (o->cache == WARM) {
        fill(&s, 0, is_root);
        total_s = run_warm(&s, o, app, &largest_s);
        check(&s, 0, wrong);
        total_s = app_spread(app, total_s).largest; /* the root's */
        largest_s = app_spread(app, largest_s).largest;
    }
    for (int64_t round = 0; o->cache == REFILLED && round < o->repeat; round++) {
        fill(&s, round, is_root);
        MPI_Barrier(s.comm);
        double start = MPI_Wtime();
        broadcast(&s, o, app->rank, app->ranks);
        double mine_s = MPI_Wtime() - start, round_s;
        /* The time of a broadcast is that of the last receiver. */
        MPI_Allreduce(&mine_s, &round_s, 1, MPI_DOUBLE, MPI_MAX, team_comm(&app->team));
        total_s += round_s;
        if (round_s > largest_s)
            largest_s = round_s;
        check(&s, round, wrong);
    }
    if (app->rank == 0)
        printf("broadcast: %d ranks, %" PRId64 " bytes, stride %" PRId64 ", mean_us %.3f, largest_us %.3f\n",
               app->ranks, o->bytes, o->stride, total_s / (double)o->repeat * 1e6, largest_s * 1e6);
    int status = app_verdict(app, wrong[0] == 0 && wrong[1] == 0,
                             "%" PRId64 " values wrong, %" PRId64 " written between them", wrong[0], wrong[1]);
    MPI_Type_free(&s.type);
    MPI_Comm_free(&s.comm);
    free(s.data);
    free(s.packed);
    return status;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {.bytes = 16384, .stride = 512, .repeat = 200};
    const struct lp_option options[] = {
        {"algorithm", LP_CHOICE, &s.algorithm, "linear|binomial|library", 0, 0, "how the data reach everyone"},
        {"packing", LP_CHOICE, &s.packing, "datatype|manual", 0, 0, "what gathers strided data: MPI or the program"},
        {"cache", LP_CHOICE, &s.cache, "refilled|warm", 0, 0,
         "new data in each broadcast, or always the same (log3P 3.2)"},
        {"bytes", LP_INTEGER, &s.bytes, NULL, 8, 1e9, "of data, a multiple of 8 (paper: 1 to 16 KB)"},
        {"stride", LP_INTEGER, &s.stride, NULL, 8, 1e6,
         "from double to double in bytes, a multiple of 8 (paper: 8, 128, 512)"},
        {"repeat", LP_INTEGER, &s.repeat, NULL, 1, 1e9, "broadcasts"},
        {"root", LP_INTEGER, &s.root, NULL, 0, 1e9, "rank that has the data"},
    };
    enum lp_parse_result parsed = app_open(&app, argc, argv, "broadcast", "linear and binomial broadcast (log3P 4.3.3)",
                                           options, (int)(sizeof options / sizeof *options));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    if (s.bytes % 8 != 0 || s.stride % 8 != 0)
        return app_close(&app, app_refuse(&app, "--bytes and --stride must be multiples of 8"));
    if (s.root >= app.ranks)
        return app_close(&app, app_refuse(&app, "--root %" PRId64 ": there are %d ranks", s.root, app.ranks));
    if (s.cache == WARM && (s.algorithm == LIBRARY || app.ranks < 2))
        return app_close(&app, app_refuse(&app,
                                          "--cache warm needs to know the rank that receives last: use --algorithm "
                                          "linear or binomial on two ranks or more"));
    return app_close(&app, run(&s, &app));
}
