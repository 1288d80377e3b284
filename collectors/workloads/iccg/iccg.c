/* ICCG: the triangular solve of a conjugate-gradient solver that is preconditioned by incomplete Cholesky.
 *
 * Paper: Sensitivity of Communication Mechanisms (Chong et al.) section 4.3: "Each graph node must wait for all of its
 * incoming edges to be communicated, perform a 2 FLOP computation for each edge, and then communicate data along its
 * outgoing edges." The paper solves with BCSSTK32 (--matrix reads it as a Matrix Market file); the default is a brick
 * of finite elements with the same kind of pattern.
 *   fine      one message per edge that ends elsewhere; --receive poll polls after every row and every message
 *   bulk      edges are collected per destination, and sent when --buffer of them are there or nothing else can be done
 *   put       each edge has a place in its target's memory, which is empty until the value is put there
 *   shared    the producer of an edge adds its value to the row where that lives, and waits until it has
 *   prefetch  the same, waiting once for two rows
 * Each solution is checked against its equation, row by row, and does not depend on mechanism or number of ranks.
 * iccg_shmem is the same program over OpenSHMEM, without messages. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "../common/app.h"
#include "../common/checksum.h"
#include "../common/memory.h"
#include "../common/random.h"
#include "../logpost_compute.h"
#include "solve.h"

struct settings {
    const char* matrix;
    int64_t brick, solves, seed;
    double cycle_ns;
    struct solve_options solve;
};

/* The largest error of an own row beyond what rounding each edge may make, relative to the sizes of its terms. */
static double error_of(const struct solver* s, const double* b, const double* x) {
    const struct lower* f = s->factor;
    double worst = 0;
    for (int64_t i = 0; i < f->n; i++) {
        if (solver_owner(s, i) != s->rank)
            continue;
        double error = b[i], size = fabs(b[i]);
        for (int64_t p = f->start[i]; p < f->start[i + 1]; p++) {
            error -= f->value[p] * x[f->column[p]];
            size += fabs(f->value[p] * x[f->column[p]]);
        }
        const double rounded = (double)(f->start[i + 1] - f->start[i]) * EDGE_QUANTUM / 2;
        double relative = fmax(fabs(error) - rounded, isnan(error) ? NAN : 0) / size;
        if (!(relative <= worst))
            worst = relative; /* also when it is not a number */
    }
    return worst;
}

static int run(const struct settings* s, struct lower* factor, const struct app* app) {
    struct solver solver;
    struct processor processor;
    processor_open(&processor, s->cycle_ns);
    const double shift = matrix_factor(factor);
    solver_open(&solver, &s->solve, factor, &processor, &app->team);
    double* b = LP_NEW(double, factor->n);
    double* x = LP_NEW(double, factor->n);
    double total_s = 0, worst = 0;
    for (int64_t k = 0; k < s->solves; k++) {
        for (int64_t i = 0; i < factor->n; i++)
            b[i] = edge_round(lp_uniform((uint64_t)s->seed, (uint64_t)k, (uint64_t)i) - 0.5);
        double start = team_seconds();
        solver_run(&solver, b);
        total_s += team_seconds() - start;
        for (int64_t i = 0; i < factor->n; i++)
            x[i] = solver_owner(&solver, i) == app->rank ? solver.x[i] : 0;
        team_sum(&app->team, x, (int)factor->n);
        double error = error_of(&solver, b, x);
        if (!(error <= worst))
            worst = error;
    }
    uint64_t words[3] = {(uint64_t)solver.n_out, (uint64_t)solver.messages, 0};
    for (int64_t i = 0; i < factor->n; i++)
        words[2] += solver_owner(&solver, i) == app->rank ? lp_checksum_term((uint64_t)i, solver.x[i]) : 0;
    team_sum_words(&app->team, words, 3);
    struct spread_of stall = app_spread(app, solver.stall_s), total = app_spread(app, total_s);
    struct spread_of overhead = app_spread(app, processor.overhead_s), barrier = app_spread(app, solver.barrier_s);
    if (app->rank == 0) {
        printf("%s: %d ranks, %" PRId64 " rows, %" PRId64 " edges, %" PRIu64 " between ranks, shift %g\n", app->name,
               app->ranks, factor->n, factor->start[factor->n] - factor->n, words[0], shift);
        printf("%s: total_s %.6f, messages %" PRIu64
               ", mean of ranks: stall_s %.6f, overhead_s %.6f, barrier_s %.6f, checksum %016" PRIx64 "\n",
               app->name, total.largest, words[1], stall.mean, overhead.mean, barrier.mean, words[2]);
    }
    /* Sums of a few hundred terms, in any order, are good to 1e-13. */
    int status = app_verdict(app, worst < 1e-12, "relative error of a row %.2g", worst);
    solver_close(&solver);
    free(b);
    free(x);
    return status;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {.brick = 8,
                         .solves = 10,
                         .seed = 1,
                         .cycle_ns = LOGPOST_COMPUTE_IS_SIMULATED ? 50 : 0,
                         .solve = {.chunk = 0,
                                   .buffer = 64,                /* a band to 8: "multiple non-local edges" (SENS 4.3) */
                                   .messages = {.capacity = 16, /* of 8 bytes and a header in 256 (LoGPC 2) */
                                                .send_cycles = -1,
                                                .receive_cycles = -1,
                                                .line_cycles = -1,
                                                .poll_cycles = POLL_CYCLES}}};
    int mechanism = 0, receive = RECEIVE_POLL;
    const struct lp_option options[] = {
        {"mechanism", LP_CHOICE, &mechanism, edge_mechanisms, 0, 0, "of communication"},
        {"matrix", LP_TEXT, &s.matrix, NULL, 0, 0, "Matrix Market file, symmetric (SENS: BCSSTK32)"},
        {"brick", LP_INTEGER, &s.brick, NULL, 1, 200, "nodes along a side of the generated brick, 3 rows each"},
        {"solves", LP_INTEGER, &s.solves, NULL, 1, 1e6, "right-hand sides, one after the other"},
        {"chunk", LP_INTEGER, &s.solve.chunk, NULL, 0, 1e9,
         "consecutive rows on a rank, dealt round; 0: one chunk per rank"},
        {"partition", LP_CHOICE, &s.solve.by_graph, "rows|graph", 0, 0,
         "rows: chunks of consecutive ones; graph: recursive bisection, with few edges between ranks"},
        {"seed", LP_INTEGER, &s.seed, NULL, 0, 1e15, "of the brick and the right-hand sides"},
        {"prefetch-cycles", LP_REAL, &s.solve.prefetch_cycles, NULL, 0, 1e9,
         "of the two write prefetches of an edge (SENS 4.3), remote or not: 2, instructions, to 22, local misses"},
        {"buffer", LP_INTEGER, &s.solve.buffer, NULL, 1, 1e6, "edges per bulk message"},
        MESSAGE_OPTIONS(s.solve.messages, receive, s.cycle_ns, "16: Alewife's 256 bytes"),
    };
    const int n_options = (int)(sizeof options / sizeof *options);
    enum lp_parse_result parsed = app_open(&app, argc, argv, edges_messages ? "iccg" : "iccg_shmem",
                                           "sparse triangular solve as data flow (SENS 4.3)", options,
                                           n_options - (edges_messages ? 0 : 1 + N_MESSAGE_OPTIONS));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    s.solve.mechanism = edge_first + (enum mechanism)mechanism;
    s.solve.messages.receive = (enum receive)receive;
    message_overheads(&s.solve.messages, 15, 122);
    char problem[300];
    struct lower matrix =
        s.matrix ? matrix_read(s.matrix, problem, sizeof problem) : matrix_brick(s.brick, (uint64_t)s.seed);
    if (matrix.n == 0)
        return app_close(&app, app_refuse(&app, "%s", problem));
    int status = run(&s, &matrix, &app);
    matrix_free(&matrix);
    return app_close(&app, status);
}
