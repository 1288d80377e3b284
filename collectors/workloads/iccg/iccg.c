/* ICCG: the triangular solve of a conjugate-gradient solver that is preconditioned by incomplete Cholesky.
 *
 * Paper: Sensitivity of Communication Mechanisms (Chong et al.) section 4.3: "Each graph node must wait for all of its
 * incoming edges to be communicated, perform a 2 FLOP computation for each edge, and then communicate data along its
 * outgoing edges." The paper solves with BCSSTK32 (--matrix reads it as a Matrix Market file); the default is a brick
 * of finite elements with the same kind of pattern. fine   one message per edge that ends elsewhere; --receive poll
 * polls after every row and every message bulk   edges are collected per destination, and sent when --buffer of them
 * are there or nothing else can be done put    each edge has a place in its target's window, which is empty (NaN) until
 * the value is put there Each solution is checked against its equation, row by row. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "../common/app.h"
#include "../common/memory.h"
#include "../common/random.h"
#include "../common/team_mpi.h"
#include "../logpost_compute.h"
#include "solve.h"

struct settings {
    const char* matrix;
    int64_t brick, solves, seed;
    double cycle_ns;
    struct solve_options solve;
};

/* The largest error of an own row, relative to the sizes of its terms. */
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
        double relative = fabs(error) / size;
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
    solver_open(&solver, &s->solve, factor, &processor, team_comm(&app->team));
    double* b = LP_NEW(double, factor->n);
    double* x = LP_NEW(double, factor->n);
    double total_s = 0, worst = 0;
    for (int64_t k = 0; k < s->solves; k++) {
        for (int64_t i = 0; i < factor->n; i++)
            b[i] = lp_uniform((uint64_t)s->seed, (uint64_t)k, (uint64_t)i) - 0.5;
        double start = MPI_Wtime();
        solver_run(&solver, b);
        total_s += MPI_Wtime() - start;
        for (int64_t i = 0; i < factor->n; i++)
            x[i] = solver_owner(&solver, i) == app->rank ? solver.x[i] : 0;
        MPI_Allreduce(MPI_IN_PLACE, x, (int)factor->n, MPI_DOUBLE, MPI_SUM, team_comm(&app->team));
        double error = error_of(&solver, b, x);
        if (!(error <= worst))
            worst = error;
    }
    int64_t counts[2] = {solver.n_out, solver.channel.sent}, sums[2];
    MPI_Reduce(counts, sums, 2, MPI_INT64_T, MPI_SUM, 0, team_comm(&app->team));
    struct spread_of stall = app_spread(app, solver.channel.stall_s), total = app_spread(app, total_s);
    if (app->rank == 0)
        printf("iccg: %d ranks, %" PRId64 " rows, %" PRId64 " edges, %" PRId64
               " between ranks, shift %g\niccg: total_s %.6f, messages %" PRId64 ", mean of ranks: stall_s %.6f\n",
               app->ranks, factor->n, factor->start[factor->n] - factor->n, sums[0], shift, total.largest, sums[1],
               stall.mean);
    /* Sums of a few hundred terms, in any order, are good to 1e-13. */
    int status = app_verdict(app, worst < 1e-12, "relative error of a row %.2g", worst);
    solver_close(&solver);
    free(b);
    free(x);
    return status;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {
        .brick = 8,
        .solves = 10,
        .seed = 1,
        .cycle_ns = LOGPOST_COMPUTE_IS_SIMULATED ? 50 : 0,
        .solve = {.chunk = 0,
                  .buffer = 64,
                  .messages = {.capacity = 16, .send_cycles = -1, .receive_cycles = -1, .receive = RECEIVE_POLL}}};
    int mechanism = MECHANISM_FINE, receive = RECEIVE_POLL;
    const struct lp_option options[] = {
        {"mechanism", LP_CHOICE, &mechanism, "fine|bulk|put", 0, 0, "of communication"},
        {"receive", LP_CHOICE, &receive, RECEIVE_CHOICES, 0, 0, RECEIVE_HELP},
        {"matrix", LP_TEXT, &s.matrix, NULL, 0, 0, "Matrix Market file, symmetric (SENS: BCSSTK32)"},
        {"brick", LP_INTEGER, &s.brick, NULL, 1, 200, "nodes along a side of the generated brick, 3 rows each"},
        {"solves", LP_INTEGER, &s.solves, NULL, 1, 1e6, "right-hand sides, one after the other"},
        {"chunk", LP_INTEGER, &s.solve.chunk, NULL, 0, 1e9,
         "consecutive rows on a rank, dealt round; 0: one chunk per rank"},
        {"buffer", LP_INTEGER, &s.solve.buffer, NULL, 1, 1e6, "edges per bulk message"},
        {"capacity", LP_INTEGER, &s.solve.messages.capacity, NULL, 0, 1e6,
         "messages in flight per sender (16: Alewife's 256 bytes); 0: unbounded"},
        {"cycle-ns", LP_REAL, &s.cycle_ns, NULL, 0, 1e9, "cycle of the emulated processor (Alewife 50 ns); 0: none"},
        {"send-cycles", LP_REAL, &s.solve.messages.send_cycles, NULL, -1, 1e9, "its o_s per message; -1: Alewife's"},
        {"receive-cycles", LP_REAL, &s.solve.messages.receive_cycles, NULL, -1, 1e9,
         "its o_r per message; -1: Alewife's"},
        {"seed", LP_INTEGER, &s.seed, NULL, 0, 1e15, "of the brick and the right-hand sides"},
    };
    enum lp_parse_result parsed = app_open(&app, argc, argv, "iccg", "sparse triangular solve as data flow (SENS 4.3)",
                                           options, (int)(sizeof options / sizeof *options));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    s.solve.mechanism = (enum mechanism)mechanism;
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
