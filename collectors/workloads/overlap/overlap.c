/* Overlap templates: five ways to interleave the communication and the computation of one loop.
 *
 * Paper: Optimizing Communication Overlap for High-Speed Networks (Iancu & Strohmaier) section 2.2, Fig. 6, section 3.
 * A rank exchanges --volume bytes with each peer in pieces of --size bytes, in bursts of --burst operations, and does
 * the paper's vector-scalar add b[i] = a[i] + s on every piece, --work times over (Fig. 7-9: the ratio of computation
 * to communication).
 *   A  blocking: init, sync, compute, piece by piece; the baseline
 *   B  communication overlaps communication: init a burst, sync it, compute it
 *   C  tight dependencies: init a burst, then for each piece sync and compute
 *   D  loose dependencies: init a burst, compute on data that are there already, sync
 *   E  pipelined C: init the next burst before the current one is computed
 * A piece that is put depends the other way round: it is computed, then put (A to C, E), and a burst is synced as late
 * as the template allows. Peers and their order: peers.h. All results are checked value by value. overlap_shmem is the
 * same program over OpenSHMEM. */
#include <inttypes.h>
#include <stdio.h>

#include "../common/app.h"
#include "../common/memory.h"
#include "../common/random.h"
#include "../logpost_compute.h"
#include "transfer.h"

struct settings {
    int pattern, mechanism, topology, schedule;
    int64_t volume, size, burst, peers, work, repeat;
};

static const double SCALAR = 0.5; /* any multiple of a half: the sums are exact */

static double value_of(int rank, int64_t round, int64_t i) {
    return (double)lp_below(5, (uint64_t)(rank + 1000 * round), (uint64_t)i, 1 << 20);
}

/* b = a + work x s, one addition after the other: exact for these small multiples of a half. */
static void add(const struct settings* s, const double* a, double* b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        b[i] = a[i] + SCALAR;
    for (int64_t pass = 1; pass < s->work; pass++)
        for (int64_t i = 0; i < n; i++)
            b[i] = b[i] + SCALAR;
    logpost_account_flops((double)(n * s->work));
}

struct loop {
    const struct settings* settings;
    struct transfer transfer;
    double* result;  /* get, two-sided: b for every fetched value; D: for the data at hand */
    double* at_hand; /* put: what is put is computed from these; D: the independent data */
};

static void compute(struct loop* l, int64_t i) {
    struct transfer* t = &l->transfer;
    const int64_t at = (t->own.list[i].place * t->pieces + t->own.list[i].piece) * t->piece;
    const int loose = l->settings->pattern == 3;
    if (loose)
        add(l->settings, l->at_hand + at, l->result + at, t->piece);
    else if (transfer_puts(t))
        add(l->settings, l->at_hand + at, t->source + at, t->piece);
    else
        add(l->settings, t->fetched + at, l->result + at, t->piece);
}

static void fetch_bursts(struct loop* l, char pattern, int64_t burst) {
    struct transfer* t = &l->transfer;
    const int64_t n = t->own.n;
    if (pattern == 'E')
        for (int64_t i = 0; i < burst && i < n; i++)
            transfer_init(t, i);
    for (int64_t first = 0; first < n; first += burst) {
        const int64_t end = first + burst < n ? first + burst : n;
        if (pattern == 'E')
            for (int64_t i = end; i < end + burst && i < n; i++)
                transfer_init(t, i);
        else
            for (int64_t i = first; i < end; i++)
                transfer_init(t, i);
        if (pattern == 'C' || pattern == 'E') {
            for (int64_t i = first; i < end; i++) {
                transfer_sync(t, i);
                compute(l, i);
            }
        } else {
            for (int64_t i = first; pattern == 'D' && i < end; i++)
                compute(l, i);
            for (int64_t i = first; i < end; i++)
                transfer_sync(t, i);
            for (int64_t i = first; pattern != 'D' && i < end; i++)
                compute(l, i);
        }
    }
}

static void put_bursts(struct loop* l, char pattern, int64_t burst) {
    struct transfer* t = &l->transfer;
    const int64_t n = t->own.n;
    for (int64_t first = 0; first < n; first += burst) {
        const int64_t end = first + burst < n ? first + burst : n;
        if (pattern == 'C' || pattern == 'E') {
            for (int64_t i = first; i < end; i++) {
                compute(l, i);
                transfer_init(t, i);
            }
        } else {
            for (int64_t i = first; pattern != 'D' && i < end; i++)
                compute(l, i);
            for (int64_t i = first; i < end; i++)
                transfer_init(t, i);
            for (int64_t i = first; pattern == 'D' && i < end; i++)
                compute(l, i);
        }
        /* Pipelined: the burst before this one, and at the end this one too. */
        for (int64_t i = first - burst; pattern == 'E' && i < first; i++)
            if (i >= 0)
                transfer_sync(t, i);
        for (int64_t i = first; (pattern != 'E' || end == n) && i < end; i++)
            transfer_sync(t, i);
    }
}

/* Fills everything with the round's values. */
static void prepare(struct loop* l, int64_t round) {
    struct transfer* t = &l->transfer;
    const int64_t volume = t->piece * t->pieces, all = volume * t->own.n_peers;
    for (int64_t i = 0; i < volume; i++)
        t->data[i] = value_of(t->team->rank, round, i);
    for (int64_t i = 0; i < all; i++)
        l->at_hand[i] = value_of(t->team->rank, round, i % volume);
    for (int64_t i = 0; i < all; i++)
        l->result[i] = -1;
    if (transfer_puts(t)) {
        for (int64_t i = 0; i < all; i++)
            t->source[i] = value_of(t->team->rank, round, i % volume);
        for (int64_t i = 0; i < volume * t->team->ranks; i++)
            t->target[i] = -1;
    } else {
        for (int64_t i = 0; i < all; i++)
            t->fetched[i] = -1;
    }
}

static int64_t count_wrong(const struct loop* l, int64_t round) {
    const struct settings* s = l->settings;
    const struct transfer* t = &l->transfer;
    const int64_t volume = t->piece * t->pieces;
    const int loose = s->pattern == 3, put = transfer_puts(t);
    const double added = SCALAR * (double)s->work;
    int64_t wrong = 0;
    for (int64_t k = 0; k < t->own.n; k++) {
        const struct operation* o = &t->own.list[k];
        for (int64_t i = 0; i < t->piece; i++) {
            const int64_t within = o->piece * t->piece + i, at = o->place * volume + within;
            if (!put)
                wrong += t->fetched[at] != value_of(o->peer, round, within);
            if (loose || !put)
                wrong += l->result[at] != value_of(loose ? t->team->rank : o->peer, round, within) + added;
        }
    }
    for (int from = 0; put && from < t->team->ranks; from++) {
        struct operations theirs = peers_operations((enum topology)s->topology, (enum peer_schedule)s->schedule,
                                                    s->peers, 1, from, t->team->ranks);
        for (int64_t k = 0; k < theirs.n; k++)
            for (int64_t i = 0; theirs.list[k].peer == t->team->rank && i < volume; i++)
                wrong += t->target[from * volume + i] != value_of(from, round, i) + (loose ? 0 : added);
        free(theirs.list);
    }
    return wrong;
}

static int run(const struct settings* s, const struct app* app) {
    struct loop l = {.settings = s};
    struct transfer* t = &l.transfer;
    const int64_t piece = s->size / 8, pieces = s->volume / s->size;
    const char pattern = "ABCDE"[s->pattern];
    const int64_t burst = pattern == 'A' ? 1 : s->burst;
    const struct pattern_of_peers peers = {(enum topology)s->topology, (enum peer_schedule)s->schedule, s->peers};
    transfer_open(t, transfer_mechanism[s->mechanism], &peers, piece, pieces, pattern == 'E' ? 2 * burst : burst,
                  &app->team);
    l.result = LP_NEW(double, piece * pieces * t->own.n_peers);
    l.at_hand = LP_NEW(double, piece * pieces * t->own.n_peers);

    double total_s = 0, fastest_s = 0;
    int64_t wrong = 0;
    for (int64_t round = 0; round < s->repeat; round++) {
        prepare(&l, round);
        transfer_barrier(t);
        double start = team_seconds();
        if (transfer_puts(t))
            put_bursts(&l, pattern, burst);
        else
            fetch_bursts(&l, pattern, burst);
        transfer_finish(t);
        double round_s = team_largest(&app->team, team_seconds() - start);
        total_s += round_s;
        if (round == 0 || round_s < fastest_s)
            fastest_s = round_s;
        transfer_barrier(t);
        wrong += count_wrong(&l, round);
        team_barrier(&app->team); /* no rank overwrites what another one still checks */
    }
    if (app->rank == 0)
        printf("%s: %d ranks, pattern %c, volume %" PRId64 ", size %" PRId64 ", burst %" PRId64
               ", mean_us %.3f, fastest_us %.3f\n",
               app->name, app->ranks, pattern, s->volume, s->size, burst, total_s / (double)s->repeat * 1e6,
               fastest_s * 1e6);
    int status = app_verdict(app, wrong == 0, "%" PRId64 " wrong values", wrong);
    transfer_close(t);
    free(l.result);
    free(l.at_hand);
    return status;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {
        .pattern = 2, .volume = 1 << 20, .size = 1 << 14, .burst = 8, .peers = 2, .work = 1, .repeat = 20};
    const struct lp_option options[] = {
        {"pattern", LP_CHOICE, &s.pattern, "A|B|C|D|E", 0, 0, "template of Fig. 6"},
        {"mechanism", LP_CHOICE, &s.mechanism, transfer_mechanisms, 0, 0, "of communication"},
        {"topology", LP_CHOICE, &s.topology, "point|multiple|congestion|all-to-all", 0, 0, "which ranks exchange"},
        {"schedule", LP_CHOICE, &s.schedule, "contiguous|interleaved|same", 0, 0, "order of the peers"},
        {"volume", LP_INTEGER, &s.volume, NULL, 8, 1e9, "V: bytes with each peer (paper: 8 B to 8 MB)"},
        {"size", LP_INTEGER, &s.size, NULL, 8, 1e9, "S: bytes of an operation; multiple of 8, divides the volume"},
        {"burst", LP_INTEGER, &s.burst, NULL, 1, 1e6, "b: operations of a burst (paper: 1 to 64)"},
        {"peers", LP_INTEGER, &s.peers, NULL, 1, 1e6, "of each rank, for --topology multiple"},
        {"work", LP_INTEGER, &s.work, NULL, 1, 1e6,
         "vector-scalar additions per value (paper: up to five times the base)"},
        {"repeat", LP_INTEGER, &s.repeat, NULL, 1, 1e6, "rounds, all ranks starting together"},
    };
    const int shmem = transfer_mechanism[2] == MECHANISM_BLOCKING_PUT;
    enum lp_parse_result parsed = app_open(&app, argc, argv, shmem ? "overlap_shmem" : "overlap",
                                           "communication overlap, templates A to E (Iancu & Strohmaier, Fig. 6)",
                                           options, (int)(sizeof options / sizeof *options));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    if (s.size % 8 != 0 || s.volume % s.size != 0)
        return app_close(
            &app, app_refuse(&app, "--size %" PRId64 ": must be a multiple of 8 and divide --volume %" PRId64, s.size,
                             s.volume));
    if (app.ranks < 2)
        return app_close(&app, app_refuse(&app, "needs at least 2 ranks"));
    return app_close(&app, run(&s, &app));
}
