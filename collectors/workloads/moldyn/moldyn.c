/* MOLDYN: molecular dynamics with a cut-off radius.
 *
 * Paper: Sensitivity of Communication Mechanisms (Chong et al.) section 4.4. Molecules are dealt out by recursive
 * coordinate bisection (RCB). Coordinates go to the processors that compute interactions with them; these collect force
 * deltas, and send them back. Every --rebuild steps all molecules are dealt out anew and the lists of interacting pairs
 * are rebuilt.
 *   fine   messages of --block molecules both ways, in a communication phase that overlaps sending and receiving
 *   bulk   one message per neighbour both ways
 *   put    one-sided: stores of coordinates, atomic additions of force deltas
 *   shared, prefetch  coordinates are loaded where a pair needs them, prefetch: one molecule ahead; force deltas are
 *          added in a second phase, atomically instead of under a lock
 * moldyn_shmem is the same program over OpenSHMEM, without messages.
 * Lennard-Jones liquid in reduced units (density 0.8442, cut-off 2.5), velocity Verlet. Forces are rounded so that
 * their sums are exact (common/halo.h): the checksum is compared with that of a run on one rank. Energy and momentum
 * must be conserved. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../common/app.h"
#include "../common/checksum.h"
#include "../common/geometry.h"
#include "../common/halo.h"
#include "../common/memory.h"
#include "../logpost_compute.h"

/* Lennard-Jones units. The liquid at its triple point, cut off at 2.5 sigma: Verlet, Phys. Rev. 159 (1967), whose lists
 * have pairs beyond the cut-off, too; SENS prints none of MOLDYN's values. */
#define DENSITY 0.8442
#define CUTOFF 2.5 /* sigma */
#define SKIN 0.4   /* twice the farthest that a molecule may move before lists are built again: a run checks it */
/* Additions, multiplications and divisions of compute_forces, counted: a pair's distance (3 differences, 3 images of 3,
 * a sum of 3 squares), and its force and energy within the cut-off (1 + 2 + 4, 3 + 6, 5). */
#define FLOP_PER_PAIR 17
#define FLOP_PER_FORCE 21 /* the second sum */
#define AHEAD 2           /* pairs between a prefetch and its use; SENS 4.4: "one iteration" */

struct settings {
    int check; /* the run to compare with, which costs nothing on the testbed */
    int64_t cells, steps, rebuild, seed;
    double step, cycle_ns;
    struct halo_options halo;
};

struct system {
    const struct settings* settings;
    const struct team* team;
    int rank, ranks;
    int64_t n;
    double box;
    point *at, *velocity, *force; /* of all molecules; own ones are valid between rebuilds */
    point* built_at;              /* where they were when the lists were built */
    int32_t* owner;
    int32_t (*pairs)[2]; /* own ones first */
    int64_t n_own_pairs;
    struct halo halo;
    struct processor processor;
    double potential, communication_s, barrier_s, compute_s, farthest;
};

struct result {
    uint64_t checksum;
    struct halo_times times;
    double energy_drift, momentum, farthest;
    int64_t pairs;
};

static void start_lattice(struct system* y) {
    static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    const int64_t cells = y->settings->cells;
    const double side = y->box / (double)cells;
    for (int64_t i = 0; i < y->n; i++) {
        const int64_t cell = i / 4, place[3] = {cell % cells, cell / cells % cells, cell / cells / cells};
        for (int axis = 0; axis < 3; axis++) {
            /* A quarter of a cell from the wall: no molecule is on the border of a box. */
            y->at[i][axis] = ((double)place[axis] + corner[i % 4][axis] + 0.25) * side;
            /* In pairs of opposite velocity, so that the whole does not move. */
            /* A temperature of 2.4 * 2.4 / 12 = 0.48: the lattice melts without leaving its lists. */
            double speed = 2.4 * (lp_uniform((uint64_t)y->settings->seed, (uint64_t)(i / 2), (uint64_t)axis) - 0.5);
            y->velocity[i][axis] = i % 2 ? -speed : speed;
        }
    }
}

/* Brings every rank all coordinates and velocities. */
static void gather_all(struct system* y) {
    int* counts = LP_NEW(int, 2 * y->ranks);
    int* starts = counts + y->ranks;
    for (int64_t i = 0; i < y->n; i++)
        counts[y->owner[i]] += 6;
    for (int r = 1; r < y->ranks; r++)
        starts[r] = starts[r - 1] + counts[r - 1];
    double* all = LP_NEW(double, 6 * y->n);
    double* mine = LP_NEW(double, counts[y->rank]);
    int64_t k = 0;
    for (int64_t i = 0; i < y->n; i++)
        if (y->owner[i] == y->rank) {
            memcpy(mine + k, y->at[i], sizeof(point));
            memcpy(mine + k + 3, y->velocity[i], sizeof(point));
            k += 6;
        }
    team_gather(y->team, mine, counts, all);
    for (int64_t i = 0; i < y->n; i++) {
        int* next = &starts[y->owner[i]];
        memcpy(y->at[i], all + *next, sizeof(point));
        memcpy(y->velocity[i], all + *next + 3, sizeof(point));
        *next += 6;
    }
    free(counts);
    free(all);
    free(mine);
}

static void close_lists(struct system* y) {
    if (!y->pairs)
        return;
    y->communication_s += y->halo.communication_s;
    y->barrier_s += y->halo.barrier_s;
    halo_close(&y->halo);
    free(y->pairs);
    y->pairs = NULL;
}

static void rebuild(struct system* y) {
    if (y->pairs) {
        double start = team_seconds();
        gather_all(y);
        y->communication_s += team_seconds() - start;
        close_lists(y);
    }
    for (int64_t i = 0; i < y->n; i++)
        for (int axis = 0; axis < 3; axis++) {
            y->at[i][axis] -= y->box * floor(y->at[i][axis] / y->box);
            y->built_at[i][axis] = y->at[i][axis];
        }
    geometry_bisect((const point*)y->at, y->n, y->ranks, y->owner);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it loses track of the coordinates, which `run` frees
    int64_t n_pairs = geometry_pairs((const point*)y->at, y->n, CUTOFF + SKIN, y->box, &y->pairs);
    halo_open(&y->halo, &y->settings->halo, y->n, y->owner, (const int32_t (*)[2])y->pairs, n_pairs, 0, &y->processor,
              y->team, "moldyn");
    y->n_own_pairs = 0;
    for (int64_t k = 0; k < n_pairs; k++) {
        if (y->owner[y->pairs[k][0]] != y->rank)
            continue;
        int32_t *to = y->pairs[y->n_own_pairs++], *from = y->pairs[k];
        to[0] = from[0];
        to[1] = from[1];
    }
}

static double image(double d, double box) {
    return d - box * rint(d / box);
}

/* Lennard-Jones with a potential that is 0 at the cut-off. */
static void compute_forces(struct system* y) {
    struct halo* h = &y->halo;
    const double at_cutoff = 4 * (pow(CUTOFF, -12) - pow(CUTOFF, -6));
    for (int64_t i = 0; i < y->n; i++)
        if (y->owner[i] == y->rank)
            memcpy(h->values + (int64_t)h->local_of[i] * HALO_WIDTH, y->at[i], sizeof(point));
    halo_forward(h);
    const double start = team_seconds(), communicated = h->communication_s;
    y->potential = 0;
    int64_t forces = 0;
    for (int64_t k = 0; k < y->n_own_pairs; k++) {
        const int64_t i = h->local_of[y->pairs[k][0]], j = h->local_of[y->pairs[k][1]];
        if (k + AHEAD < y->n_own_pairs && h->local_of[y->pairs[k + AHEAD][1]] >= h->n_own)
            halo_soon(h, h->local_of[y->pairs[k + AHEAD][1]] - h->n_own);
        if (j >= h->n_own)
            halo_need(h, j - h->n_own);
        const double *a = h->values + i * HALO_WIDTH, *b = h->values + j * HALO_WIDTH;
        double dx = image(a[0] - b[0], y->box), dy = image(a[1] - b[1], y->box), dz = image(a[2] - b[2], y->box);
        double square = dx * dx + dy * dy + dz * dz;
        if (square >= CUTOFF * CUTOFF)
            continue;
        forces++;
        double inverse = 1 / square, sixth = inverse * inverse * inverse;
        double strength = 48 * sixth * (sixth - 0.5) * inverse;
        const double f[3] = {halo_round(strength * dx), halo_round(strength * dy), halo_round(strength * dz)};
        for (int axis = 0; axis < 3; axis++) {
            h->sums[i * HALO_WIDTH + axis] += f[axis];
            h->sums[j * HALO_WIDTH + axis] -= f[axis];
        }
        y->potential += 4 * sixth * (sixth - 1) - at_cutoff;
    }
    logpost_account_flops(
        y->settings->check ? 0 : FLOP_PER_PAIR * (double)y->n_own_pairs + FLOP_PER_FORCE * (double)forces);
    y->compute_s += team_seconds() - start - (h->communication_s - communicated);
    halo_reverse(h);
    for (int64_t i = 0; i < y->n; i++)
        if (y->owner[i] == y->rank)
            memcpy(y->force[i], h->sums + (int64_t)h->local_of[i] * HALO_WIDTH, sizeof(point));
}

/* Half a step of velocity; with `move`, a whole step of position as well. */
static void kick(struct system* y, int move) {
    const double dt = y->settings->step;
    for (int64_t i = 0; i < y->n; i++) {
        if (y->owner[i] != y->rank)
            continue;
        double square = 0;
        for (int axis = 0; axis < 3; axis++) {
            y->velocity[i][axis] += 0.5 * dt * y->force[i][axis];
            if (move)
                y->at[i][axis] += dt * y->velocity[i][axis];
            double moved = y->at[i][axis] - y->built_at[i][axis];
            square += moved * moved;
        }
        y->farthest = fmax(y->farthest, sqrt(square));
    }
}

static double energy(const struct system* y) {
    double sum = y->potential;
    for (int64_t i = 0; i < y->n; i++)
        for (int axis = 0; y->owner[i] == y->rank && axis < 3; axis++)
            sum += 0.5 * y->velocity[i][axis] * y->velocity[i][axis];
    team_sum(y->team, &sum, 1);
    return sum;
}

static struct result run(const struct settings* s, const struct team* team) {
    struct result r = {0};
    struct system y = {.settings = s, .team = team, .rank = team->rank, .ranks = team->ranks};
    y.n = 4 * s->cells * s->cells * s->cells;
    y.box = cbrt((double)y.n / DENSITY);
    processor_open(&y.processor, s->cycle_ns);
    y.at = lp_allocate(y.n, sizeof(point));
    y.velocity = lp_allocate(y.n, sizeof(point));
    y.force = lp_allocate(y.n, sizeof(point));
    y.built_at = lp_allocate(y.n, sizeof(point));
    y.owner = LP_NEW(int32_t, y.n);
    start_lattice(&y);

    team_barrier(team);
    const double start = team_seconds();
    rebuild(&y);
    compute_forces(&y);
    const double energy_before = energy(&y);
    for (int64_t step = 1; step <= s->steps; step++) {
        kick(&y, 1);
        if (step % s->rebuild == 0)
            rebuild(&y);
        compute_forces(&y);
        kick(&y, 0);
    }
    r.times.total_s = team_seconds() - start;
    r.energy_drift = fabs(energy(&y) / energy_before - 1);
    r.times.communication_s = y.communication_s + y.halo.communication_s;
    r.times.barrier_s = y.barrier_s + y.halo.barrier_s;
    r.times.overhead_s = y.processor.overhead_s;
    r.times.compute_s = y.compute_s;
    r.pairs = y.n_own_pairs;
    r.farthest = y.farthest;
    double momentum[3] = {0, 0, 0};
    for (int64_t i = 0; i < y.n; i++)
        for (int axis = 0; y.owner[i] == y.rank && axis < 3; axis++) {
            momentum[axis] += y.velocity[i][axis];
            r.checksum += lp_checksum_term((uint64_t)(6 * i + axis), y.at[i][axis]);
            r.checksum += lp_checksum_term((uint64_t)(6 * i + 3 + axis), y.velocity[i][axis]);
        }
    uint64_t words[2] = {r.checksum, (uint64_t)r.pairs};
    team_sum(team, momentum, 3);
    team_sum_words(team, words, 2);
    r.checksum = words[0];
    r.pairs = (int64_t)words[1];
    r.farthest = team_largest(team, r.farthest);
    r.momentum = fabs(momentum[0]) + fabs(momentum[1]) + fabs(momentum[2]);
    close_lists(&y);
    free(y.at);
    free(y.velocity);
    free(y.force);
    free(y.built_at);
    free(y.owner);
    return r;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {
        .cells = 8,
        .steps = 40,
        .rebuild = 10,
        .seed = 1,
        .step = 0.004,
        .cycle_ns = LOGPOST_COMPUTE_IS_SIMULATED ? 50 : 0,
        .halo = {.block = 2, /* as many of 24 bytes as fit into the 14 words of a short message (SENS 3.2) */
                 .messages = {.capacity = 4, /* of 48 bytes and a header in 256 (LoGPC 2) */
                              .send_cycles = -1,
                              .receive_cycles = -1,
                              .line_cycles = -1,
                              .poll_cycles = POLL_CYCLES}},
    };
    int mechanism = halo_messages ? HALO_BULK : 0, receive = RECEIVE_WAIT;
    const struct lp_option options[] = {
        {"mechanism", LP_CHOICE, &mechanism, halo_mechanisms, 0, 0, "of communication"},
        {"cells", LP_INTEGER, &s.cells, NULL, 6, 200, "of the lattice along a side; 4 molecules each (8: 2,048)"},
        {"steps", LP_INTEGER, &s.steps, NULL, 1, 1e9, "of time"},
        {"rebuild", LP_INTEGER, &s.rebuild, NULL, 1, 1000, "steps between two dealings of the molecules"},
        /* Beyond a hundredth, energy drifts. */
        {"step", LP_REAL, &s.step, NULL, 1e-6, 0.01, "of time, in reduced units"},
        {"block", LP_INTEGER, &s.halo.block, NULL, 1, 1e6, "molecules per message or put (three doubles each)"},
        {"locks", LP_SWITCH, &s.halo.locks, NULL, 0, 0,
         "testbed, shared memory: an addition to another rank's node takes its lock (SENS)"},
        {"seed", LP_INTEGER, &s.seed, NULL, 0, 1e15, "of the velocities"},
        MESSAGE_OPTIONS(s.halo.messages, receive, s.cycle_ns, "4: Alewife's 256 bytes"),
    };
    const int n_options = (int)(sizeof options / sizeof *options);
    enum lp_parse_result parsed = app_open(&app, argc, argv, halo_messages ? "moldyn" : "moldyn_shmem",
                                           "molecular dynamics with a cut-off (SENS 4.4)", options,
                                           n_options - (halo_messages ? 0 : N_MESSAGE_OPTIONS));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    halo_choose(&s.halo, mechanism, receive);

    struct result r = run(&s, &app.team);
    struct result serial = r;
    if (app.rank == 0) {
        const struct team alone = team_alone();
        printf("%s: %d ranks, %" PRId64 " molecules, %" PRId64 " pairs, checksum %016" PRIx64 "\n", app.name, app.ranks,
               4 * s.cells * s.cells * s.cells, r.pairs, r.checksum);
        s.cycle_ns = 0;
        s.check = 1;
        serial = run(&s, &alone);
    }
    halo_print_times(&app, &r.times);
    if (r.farthest > SKIN / 2)
        return app_close(&app, app_refuse(&app,
                                          "a molecule moved %.2g between rebuilds, more than %.2g: use a smaller "
                                          "--rebuild or --step",
                                          r.farthest, SKIN / 2));
    /* The energy of truncated forces drifts by a part of a per cent in 40 steps; momenta cancel but for rounding. */
    int right = r.checksum == serial.checksum && r.energy_drift < 0.01 && r.momentum < 1e-9 * (double)r.pairs;
    return app_close(
        &app, app_verdict(&app, right,
                          "checksum %016" PRIx64 ", on one rank %016" PRIx64 "; energy off by %.2g, momentum %.2g",
                          r.checksum, serial.checksum, r.energy_drift, r.momentum));
}
