/* UNSTRUC: a loop over the edges of an unstructured three-dimensional mesh, as in a simulation of fluid flow.
 *
 * Paper: Sensitivity of Communication Mechanisms (Chong et al.) section 4.2. Each edge takes about 75 floating-point
 * operations on the values of its two nodes and gives 3 results for each. The paper's MESH2K (2,000 nodes) came with
 * its code and is replaced by a generated mesh: random points, connected when closer than a radius that gives --degree
 * neighbours on average, as in a mesh of tetrahedra, and dealt out by recursive coordinate bisection.
 *   fine   values of remote nodes are brought before the computation; results are sent as soon as produced, one message
 *          per edge that ends elsewhere
 *   bulk   gathered values in one message per neighbour; results are summed up, sent back at once, and scattered
 *   put    the same by one-sided communication
 *   shared, prefetch  values are loaded where an edge needs them, prefetch: two edges ahead; results are added to
 * remote nodes as soon as produced, atomically instead of under a lock unstruc_shmem is the same program over
 * OpenSHMEM, without messages. All additions are exact (common/halo.h): the checksum is the same for any number of
 * ranks, and is compared with that of a run on one rank. */
#include <inttypes.h>
#include <stdio.h>

#include "../common/app.h"
#include "../common/checksum.h"
#include "../common/geometry.h"
#include "../common/halo.h"
#include "../common/memory.h"
#include "../logpost_compute.h"

#define FLOP_PER_EDGE 75         /* SENS 4.2 */
#define FLOP_PER_NODE HALO_WIDTH /* each value has its sum added to it */
#define AHEAD 2                  /* edges: SENS 4.2 */

struct settings {
    int check; /* the run to compare with, which costs nothing on the testbed */
    int64_t nodes, iterations, seed;
    double degree, cycle_ns;
    struct halo_options halo;
};

struct result {
    uint64_t checksum;
    double drift; /* of the conserved sum of all values */
    struct halo_times times;
    int64_t edges, messages;
};

/* Results for the first node, and with the opposite sign for the second: what one loses, the other one gains. The
 * polynomial stands for the equation of state. */
static void edge(const double* a, const double* b, const double* from, const double* to, double result[HALO_WIDTH]) {
    /* Any coefficients that keep the values bounded: times do not depend on them. */
    static const double c[8] = {0.31, 0.17, -0.11, 0.07, -0.05, 0.03, -0.02, 0.01};
    double dx = to[0] - from[0], dy = to[1] - from[1], dz = to[2] - from[2];
    double weight = 0.02 / (1 + dx * dx + dy * dy + dz * dz);
    for (int k = 0; k < HALO_WIDTH; k++) {
        double mean = 0.5 * (a[k] + b[k]), p = c[7];
        for (int power = 6; power >= 0; power--)
            p = p * mean + c[power];
        result[k] = halo_round((b[k] - a[k]) * p * weight);
    }
}

static void update(struct halo* h, double flop_per_edge, const point* at, const int32_t (*edges)[2],
                   const int64_t* own_edges, int64_t n_own_edges, double* compute_s) {
    const int immediate = h->immediate;
    const double communicated = h->communication_s;
    const double start = team_seconds();
    for (int64_t k = 0; k < n_own_edges; k++) {
        const int32_t *ends = edges[own_edges[k]], i = h->local_of[ends[0]], j = h->local_of[ends[1]];
        const int32_t soon = k + AHEAD < n_own_edges ? h->local_of[edges[own_edges[k + AHEAD]][1]] : 0;
        if (soon >= h->n_own)
            halo_soon(h, soon - h->n_own);
        if (j >= h->n_own)
            halo_need(h, j - h->n_own);
        double result[HALO_WIDTH];
        edge(h->values + (int64_t)i * HALO_WIDTH, h->values + (int64_t)j * HALO_WIDTH, at[ends[0]], at[ends[1]],
             result);
        for (int d = 0; d < HALO_WIDTH; d++)
            h->sums[(int64_t)i * HALO_WIDTH + d] += result[d];
        for (int d = 0; d < HALO_WIDTH; d++)
            result[d] = -result[d];
        if (j >= h->n_own && immediate) {
            logpost_account_flops(flop_per_edge);
            halo_contribute(h, j - h->n_own, result);
        } else {
            for (int d = 0; d < HALO_WIDTH; d++)
                h->sums[(int64_t)j * HALO_WIDTH + d] += result[d];
            if (immediate)
                logpost_account_flops(flop_per_edge);
        }
        halo_interrupts(h);
    }
    if (!immediate)
        logpost_account_flops(flop_per_edge * (double)n_own_edges);
    *compute_s += team_seconds() - start - (h->communication_s - communicated);
}

static struct result run(const struct settings* s, const struct team* team) {
    struct result r = {0};
    struct processor processor;
    struct halo halo;
    const int rank = team->rank;
    processor_open(&processor, s->cycle_ns);

    point* at = lp_allocate(s->nodes, sizeof *at);
    int32_t* owner = LP_NEW(int32_t, s->nodes);
    int32_t (*edges)[2];
    for (int64_t i = 0; i < s->nodes; i++)
        for (int axis = 0; axis < 3; axis++)
            at[i][axis] = lp_uniform((uint64_t)s->seed, (uint64_t)i, (uint64_t)axis);
    /* A ball with this radius holds `degree` points on average, away from the surface. */
    const double radius = cbrt(s->degree * 3 / (4 * 3.14159265358979 * (double)s->nodes));
    r.edges = geometry_pairs((const point*)at, s->nodes, radius, 0, &edges);
    geometry_bisect((const point*)at, s->nodes, team->ranks, owner);
    halo_open(&halo, &s->halo, s->nodes, owner, (const int32_t (*)[2])edges, r.edges, 1, &processor, team, "unstruc");

    int64_t n_own_edges = 0;
    int64_t* own_edges = LP_NEW(int64_t, r.edges);
    for (int64_t k = 0; k < r.edges; k++)
        if (owner[edges[k][0]] == rank)
            own_edges[n_own_edges++] = k;
    for (int64_t i = 0; i < s->nodes; i++)
        for (int d = 0; owner[i] == rank && d < HALO_WIDTH; d++)
            halo.values[(int64_t)halo.local_of[i] * HALO_WIDTH + d] =
                halo_round(lp_uniform((uint64_t)s->seed, (uint64_t)i, 8 + (uint64_t)d));

    double before = 0, after = 0;
    for (int64_t k = 0; k < halo.n_own * HALO_WIDTH; k++)
        before += halo.values[k];
    team_barrier(team);
    const double start = team_seconds();
    for (int64_t iteration = 0; iteration < s->iterations; iteration++) {
        halo_forward(&halo);
        update(&halo, s->check ? 0 : FLOP_PER_EDGE, (const point*)at, (const int32_t (*)[2])edges, own_edges,
               n_own_edges, &r.times.compute_s);
        halo_reverse(&halo);
        for (int64_t k = 0; k < halo.n_own * HALO_WIDTH; k++)
            halo.values[k] += halo.sums[k];
        logpost_account_flops(s->check ? 0 : FLOP_PER_NODE * (double)halo.n_own);
    }
    r.times.total_s = team_seconds() - start;
    r.times.communication_s = halo.communication_s;
    r.times.barrier_s = halo.barrier_s;
    r.times.overhead_s = processor.overhead_s;
    r.messages = halo.messages;
    for (int64_t i = 0; i < s->nodes; i++)
        for (int d = 0; owner[i] == rank && d < HALO_WIDTH; d++) {
            double value = halo.values[(int64_t)halo.local_of[i] * HALO_WIDTH + d];
            r.checksum += lp_checksum_term((uint64_t)(i * HALO_WIDTH + d), value);
            after += value;
        }
    r.drift = after - before;
    team_sum(team, &r.drift, 1);
    team_sum_words(team, &r.checksum, 1);
    halo_close(&halo);
    free(at);
    free(owner);
    free(edges);
    free(own_edges);
    return r;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {.nodes = 2000,
                         .iterations = 50,
                         .seed = 1,
                         .degree = 15.54, /* 2 + 48 pi^2 / 35: a Delaunay mesh of random points
                                             (tests/collectors/workloads/test_mesh_degree.py); from 12 on, a band */
                         .cycle_ns = LOGPOST_COMPUTE_IS_SIMULATED ? 50 : 0,
                         .halo = {.block = 1,
                                  .messages = {.capacity = 8, /* of 24 bytes and a header in 256 (LoGPC 2) */
                                               .send_cycles = -1,
                                               .receive_cycles = -1,
                                               .line_cycles = -1,
                                               .poll_cycles = POLL_CYCLES}}};
    int mechanism = 0, receive = RECEIVE_WAIT;
    const struct lp_option options[] = {
        {"mechanism", LP_CHOICE, &mechanism, halo_mechanisms, 0, 0, "of communication"},
        {"nodes", LP_INTEGER, &s.nodes, NULL, 2, 1e7, "of the mesh (SENS: 2,000)"},
        {"degree", LP_REAL, &s.degree, NULL, 0, 100, "mean number of neighbours inside the mesh"},
        {"iterations", LP_INTEGER, &s.iterations, NULL, 1, 1e9, "edge loops"},
        {"block", LP_INTEGER, &s.halo.block, NULL, 1, 1e6, "nodes per message or put of values (three doubles each)"},
        {"locks", LP_SWITCH, &s.halo.locks, NULL, 0, 0,
         "testbed, shared memory: an addition to another rank's node takes its lock (SENS)"},
        {"seed", LP_INTEGER, &s.seed, NULL, 0, 1e15, "of the mesh"},
        MESSAGE_OPTIONS(s.halo.messages, receive, s.cycle_ns, "8: Alewife's 256 bytes"),
    };
    const int n_options = (int)(sizeof options / sizeof *options);
    enum lp_parse_result parsed = app_open(&app, argc, argv, halo_messages ? "unstruc" : "unstruc_shmem",
                                           "edge loop over an unstructured mesh (SENS 4.2)", options,
                                           n_options - (halo_messages ? 0 : N_MESSAGE_OPTIONS));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    halo_choose(&s.halo, mechanism, receive);
    if (s.nodes < app.ranks)
        return app_close(&app, app_refuse(&app, "--nodes: must be at least the number of ranks"));

    struct result r = run(&s, &app.team);
    struct result serial = r;
    if (app.rank == 0) {
        const struct team alone = team_alone();
        printf("%s: %d ranks, %" PRId64 " nodes, %" PRId64 " edges, checksum %016" PRIx64 "\n", app.name, app.ranks,
               s.nodes, r.edges, r.checksum);
        s.cycle_ns = 0;
        s.check = 1;
        serial = run(&s, &alone);
    }
    halo_print_times(&app, &r.times);
    /* The sum is conserved exactly; adding the rounded values up leaves this much. */
    int right = r.checksum == serial.checksum && fabs(r.drift) < 1e-9 * (double)s.nodes;
    return app_close(
        &app, app_verdict(&app, right, "checksum %016" PRIx64 ", on one rank %016" PRIx64 "; the sum drifts by %.2g",
                          r.checksum, serial.checksum, r.drift));
}
