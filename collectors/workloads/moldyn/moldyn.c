/* MOLDYN: molecular dynamics with a cut-off radius.
 *
 * Paper: Sensitivity of Communication Mechanisms (Chong et al.) section 4.4. Molecules are dealt out by recursive
 * coordinate bisection (RCB). Coordinates go to the processors that compute interactions with them; these collect force
 * deltas, and send them back. Every --rebuild steps all molecules are dealt out anew and the lists of interacting pairs
 * are rebuilt.
 *   fine   messages of --block molecules both ways, in a communication phase that overlaps sending and receiving
 *   bulk   one message per neighbour both ways
 *   put    MPI_Put of coordinates, MPI_Accumulate of force deltas
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

#define DENSITY 0.8442
#define CUTOFF 2.5
#define SKIN 0.4
#define FLOP_PER_PAIR 40

struct settings {
    int64_t cells, steps, rebuild, seed;
    double step, cycle_ns;
    struct halo_options halo;
};

struct system {
    const struct settings* settings;
    MPI_Comm comm;
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
    double potential, communication_s, farthest;
};

struct result {
    uint64_t checksum;
    double total_s, communication_s, energy_drift, momentum, farthest;
    int64_t pairs;
};

static void start_lattice(struct system* y) {
    static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    const int64_t cells = y->settings->cells;
    const double side = y->box / (double)cells;
    for (int64_t i = 0; i < y->n; i++) {
        const int64_t cell = i / 4, place[3] = {cell % cells, cell / cells % cells, cell / cells / cells};
        for (int axis = 0; axis < 3; axis++) {
            y->at[i][axis] = ((double)place[axis] + corner[i % 4][axis] + 0.25) * side;
            /* In pairs of opposite velocity, so that the whole stands still. */
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
    MPI_Allgatherv(mine, counts[y->rank], MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, y->comm);
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
    halo_close(&y->halo);
    free(y->pairs);
    y->pairs = NULL;
}

static void rebuild(struct system* y) {
    if (y->pairs) {
        double start = MPI_Wtime();
        gather_all(y);
        y->communication_s += MPI_Wtime() - start;
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
              y->comm, "moldyn");
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
    y->potential = 0;
    for (int64_t k = 0; k < y->n_own_pairs; k++) {
        const int64_t i = h->local_of[y->pairs[k][0]], j = h->local_of[y->pairs[k][1]];
        const double *a = h->values + i * HALO_WIDTH, *b = h->values + j * HALO_WIDTH;
        double dx = image(a[0] - b[0], y->box), dy = image(a[1] - b[1], y->box), dz = image(a[2] - b[2], y->box);
        double square = dx * dx + dy * dy + dz * dz;
        if (square >= CUTOFF * CUTOFF)
            continue;
        double inverse = 1 / square, sixth = inverse * inverse * inverse;
        double strength = 48 * sixth * (sixth - 0.5) * inverse;
        const double f[3] = {halo_round(strength * dx), halo_round(strength * dy), halo_round(strength * dz)};
        for (int axis = 0; axis < 3; axis++) {
            h->sums[i * HALO_WIDTH + axis] += f[axis];
            h->sums[j * HALO_WIDTH + axis] -= f[axis];
        }
        y->potential += 4 * sixth * (sixth - 1) - at_cutoff;
    }
    logpost_account_flops(FLOP_PER_PAIR * (double)y->n_own_pairs);
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
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, y->comm);
    return sum;
}

static struct result run(const struct settings* s, MPI_Comm comm) {
    struct result r = {0};
    struct system y = {.settings = s, .comm = comm, .n = 4 * s->cells * s->cells * s->cells};
    y.box = cbrt((double)y.n / DENSITY);
    MPI_Comm_rank(comm, &y.rank);
    MPI_Comm_size(comm, &y.ranks);
    processor_open(&y.processor, s->cycle_ns);
    y.at = lp_allocate(y.n, sizeof(point));
    y.velocity = lp_allocate(y.n, sizeof(point));
    y.force = lp_allocate(y.n, sizeof(point));
    y.built_at = lp_allocate(y.n, sizeof(point));
    y.owner = LP_NEW(int32_t, y.n);
    start_lattice(&y);

    MPI_Barrier(comm);
    const double start = MPI_Wtime();
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
    r.total_s = MPI_Wtime() - start;
    r.energy_drift = fabs(energy(&y) / energy_before - 1);
    r.communication_s = y.communication_s + y.halo.communication_s;
    r.pairs = y.n_own_pairs;
    r.farthest = y.farthest;
    double momentum[3] = {0, 0, 0};
    for (int64_t i = 0; i < y.n; i++)
        for (int axis = 0; y.owner[i] == y.rank && axis < 3; axis++) {
            momentum[axis] += y.velocity[i][axis];
            r.checksum += lp_checksum_term((uint64_t)(6 * i + axis), y.at[i][axis]);
            r.checksum += lp_checksum_term((uint64_t)(6 * i + 3 + axis), y.velocity[i][axis]);
        }
    MPI_Allreduce(MPI_IN_PLACE, momentum, 3, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &r.checksum, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &r.pairs, 1, MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &r.farthest, 1, MPI_DOUBLE, MPI_MAX, comm);
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
        .halo = {.block = 3, .messages = {.capacity = 2, .send_cycles = -1, .receive_cycles = -1}},
    };
    int mechanism = HALO_BULK, receive = RECEIVE_WAIT;
    const struct lp_option options[] = {
        {"mechanism", LP_CHOICE, &mechanism, "fine|bulk|put", 0, 0, "of communication"},
        {"receive", LP_CHOICE, &receive, RECEIVE_CHOICES, 0, 0, RECEIVE_HELP},
        {"cells", LP_INTEGER, &s.cells, NULL, 6, 200, "of the lattice along a side; 4 molecules each (8: 2,048)"},
        {"steps", LP_INTEGER, &s.steps, NULL, 1, 1e9, "of time"},
        {"rebuild", LP_INTEGER, &s.rebuild, NULL, 1, 1000, "steps between two dealings of the molecules"},
        {"step", LP_REAL, &s.step, NULL, 1e-6, 0.01, "of time, in reduced units"},
        {"block", LP_INTEGER, &s.halo.block, NULL, 1, 1e6, "molecules per message or put (three doubles each)"},
        {"capacity", LP_INTEGER, &s.halo.messages.capacity, NULL, 0, 1e6,
         "messages in flight per sender; 0: unbounded"},
        {"cycle-ns", LP_REAL, &s.cycle_ns, NULL, 0, 1e9, "cycle of the emulated processor (Alewife 50 ns); 0: none"},
        {"send-cycles", LP_REAL, &s.halo.messages.send_cycles, NULL, -1, 1e9, "its o_s per message; -1: Alewife's"},
        {"receive-cycles", LP_REAL, &s.halo.messages.receive_cycles, NULL, -1, 1e9,
         "its o_r per message; -1: Alewife's"},
        {"seed", LP_INTEGER, &s.seed, NULL, 0, 1e15, "of the velocities"},
    };
    enum lp_parse_result parsed = app_open(&app, argc, argv, "moldyn", "molecular dynamics with a cut-off (SENS 4.4)",
                                           options, (int)(sizeof options / sizeof *options));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    s.halo.mechanism = (enum halo_mechanism)mechanism;
    s.halo.messages.receive = (enum receive)receive;
    message_overheads(&s.halo.messages, 15, 122);

    struct result r = run(&s, app.comm);
    struct spread_of communication = app_spread(&app, r.communication_s);
    struct result serial = r;
    if (app.rank == 0) {
        printf("moldyn: %d ranks, %" PRId64 " molecules, %" PRId64 " pairs, checksum %016" PRIx64
               "\nmoldyn: total_s %.6f, mean of ranks: communication_s %.6f\n",
               app.ranks, 4 * s.cells * s.cells * s.cells, r.pairs, r.checksum, r.total_s, communication.mean);
        s.cycle_ns = 0;
        s.halo.mechanism = HALO_BULK; /* nothing to communicate, and Open MPI 4.1 has no windows of one process */
        serial = run(&s, MPI_COMM_SELF);
    }
    if (r.farthest > SKIN / 2)
        return app_close(&app, app_refuse(&app,
                                          "a molecule moved %.2g between rebuilds, more than %.2g: use a smaller "
                                          "--rebuild or --step",
                                          r.farthest, SKIN / 2));
    int right = r.checksum == serial.checksum && r.energy_drift < 0.01 && r.momentum < 1e-9 * (double)r.pairs;
    return app_close(
        &app, app_verdict(&app, right,
                          "checksum %016" PRIx64 ", on one rank %016" PRIx64 "; energy off by %.2g, momentum %.2g",
                          r.checksum, serial.checksum, r.energy_drift, r.momentum));
}
