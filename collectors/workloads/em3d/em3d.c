/* EM3D: propagation of electromagnetic waves on an irregular bipartite graph of E and H nodes.
 *
 * Papers: LoGPC (Moritz & Frank) section 5.3, Fig. 10 and 11; Sensitivity of Communication Mechanisms (Chong et al.)
 * section 4.1, Fig. 4. Each iteration has two phases, E from H and H from E; a phase is a communication phase that
 * brings the value of every edge that ends on another rank, an update, and a barrier.
 *
 * Which property of the papers' machine, the MIT Alewife, an option brings back on today's MPI:
 *   --capacity N   Alewife's network queues hold 256 bytes: two messages of ten doubles with their 8-byte header. When
 *                  they are full, the sender stalls until a receiver takes a message (LogP's finite capacity). MPI
 *                  buffers small messages practically without bound, and then nobody stalls; with N > 0 at most N
 *                  synchronous sends (MPI_Issend, complete when received) are in flight, in order, as in a queue.
 *   --cycle-ns X   Alewife's overheads, o_s = 15 and o_r = 122 cycles per message: the receiver is busy that long with
 *                  each, so one that is hit by everybody at once is the bottleneck. X ns per cycle, slept away
 *                  (common/processor.h); 50 was Alewife's, 1,000 lets the effect stand out from a busy machine's noise.
 *   --block K      values per message: 10 in LoGPC ("values are sent in blocks of 10"), 5 double-words in SENS.
 *   --receive      interrupt: the Alewife's interrupts. poll: its polling (Remote Queues), a message is taken where the
 *                  program asks for it. wait: receives are posted beforehand, and handled only while this rank waits.
 *   --order        original: all ranks walk the destinations from rank 0 up and hit the same receiver at once;
 *                  improved: "more uniform (i.e., random)", schedule.h.
 *   --span         locality, in parts (the papers' processors); Fig. 11 varies it from 1 to 15.
 * The values do not depend on order, mechanism or number of ranks: the checksum must be equal. */
#include <inttypes.h>
#include <math.h>

#include "../common/app.h"
#include "../common/memory.h"
#include "../common/team_mpi.h"
#include "../logpost_compute.h"
#include "exchange.h"
#include "graph.h"

struct settings {
    struct graph_options graph;
    struct exchange_options exchange;
    int64_t iterations;
    double cycle_ns, edge_cycles; /* of the emulated processor */
};

static int run(const struct settings* s, const struct app* app) {
    const int rank = app->rank, ranks = app->ranks;
    static const char* const names[2] = {"em3d exchange H to E", "em3d exchange E to H"};
    struct half_graph half[2];
    struct exchange exchange[2];
    double* values[2]; /* by field: own values, then the ghosts that the other field's update reads */
    struct processor processor;
    MPI_Comm phases;
    processor_open(&processor, s->cycle_ns);
    MPI_Comm_dup(team_comm(&app->team), &phases);
    MPI_Comm_set_name(phases, "em3d phases");

    for (int f = 0; f < 2; f++)
        graph_build(&half[f], &s->graph, (enum field)f, rank, ranks);
    for (int f = 0; f < 2; f++) {
        const struct half_graph* reader = &half[1 - f];
        values[f] = LP_NEW(double, half[f].n_targets + reader->n_ghosts);
        for (int64_t i = 0; i < half[f].n_targets; i++)
            values[f][i] = graph_initial(&s->graph, (enum field)f, half[f].first_target + i);
    }
    for (int f = 0; f < 2; f++)
        exchange_open(&exchange[f], &s->exchange, &half[f], values[1 - f], &processor, phases, names[f]);

    double compute_s = 0, barrier_s = 0;
    MPI_Barrier(phases);
    double start = MPI_Wtime();
    for (int64_t iteration = 0; iteration < s->iterations; iteration++) {
        for (int f = 0; f < 2; f++) {
            exchange_run(&exchange[f]);
            double exchanged = MPI_Wtime();
            if (s->exchange.mechanism == MECHANISM_PUT) {
                MPI_Barrier(phases); /* a put says nothing to its target: all must have flushed before anyone reads */
                MPI_Win_sync(exchange[f].window);
            }
            double synchronized = MPI_Wtime();
            graph_update(&half[f], values[1 - f], values[f]);
            processor_busy(&processor, s->edge_cycles * (double)half[f].in_start[half[f].n_targets]);
            double updated = MPI_Wtime();
            MPI_Barrier(phases);
            barrier_s += MPI_Wtime() - updated + synchronized - exchanged;
            compute_s += updated - synchronized;
        }
    }
    double total_s = MPI_Wtime() - start;

    uint64_t mine = 0, sum = 0;
    int finite = 1;
    for (int f = 0; f < 2; f++) {
        mine += graph_checksum((enum field)f, half[f].first_target, half[f].n_targets, values[f]);
        for (int64_t i = 0; i < half[f].n_targets; i++)
            finite = finite && isfinite(values[f][i]);
    }
    int64_t volume[2] = {exchange[0].messages + exchange[1].messages, exchange[0].bytes + exchange[1].bytes};
    int64_t volumes[2];
    MPI_Reduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, team_comm(&app->team));
    MPI_Reduce(volume, volumes, 2, MPI_INT64_T, MPI_SUM, 0, team_comm(&app->team));
    double exchange_s = app_spread(app, exchange[0].exchange_s + exchange[1].exchange_s).mean;
    double stall_s = app_spread(app, exchange[0].stall_s + exchange[1].stall_s).mean;
    compute_s = app_spread(app, compute_s).mean;
    barrier_s = app_spread(app, barrier_s).mean;
    uint64_t expected = sum;
    if (rank == 0) {
        expected = graph_serial_checksum(&s->graph, s->iterations);
        printf("em3d: %d ranks, %" PRId64 " messages, %" PRId64 " bytes, checksum %016" PRIx64 "\n", ranks, volumes[0],
               volumes[1], sum);
        printf("em3d: total_s %.6f, mean of ranks: exchange_s %.6f, stall_s %.6f, compute_s %.6f, barrier_s %.6f\n",
               total_s, exchange_s, stall_s, compute_s, barrier_s);
    }
    int status =
        app_verdict(app, finite && (rank > 0 || sum == expected), "checksum %016" PRIx64 ", serially %016" PRIx64 "%s",
                    sum, expected, finite ? "" : ", and values are not finite");
    for (int f = 0; f < 2; f++) {
        exchange_close(&exchange[f]);
        graph_free(&half[f]);
        free(values[f]);
    }
    MPI_Comm_free(&phases);
    return status;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {
        .graph = {.nodes = 0, .degree = 32, .nonlocal = 1, .span = 15, .parts = 0, .seed = 1},
        .exchange = {.block = 10, .messages = {.capacity = 2, .send_cycles = -1, .receive_cycles = -1}},
        .iterations = 20,
        .cycle_ns = LOGPOST_COMPUTE_IS_SIMULATED ? 50 : 1000,
        .edge_cycles = 10,
    };
    int mechanism = MECHANISM_FINE, receive = RECEIVE_WAIT, order = ORDER_ORIGINAL, spread = SPREAD_RANDOM;
    const struct lp_option options[] = {
        {"order", LP_CHOICE, &order, "original|improved", 0, 0, "order of communication: with or without the hot spot"},
        {"spread", LP_CHOICE, &spread, "random|staggered", 0, 0, "what the improved order is (random: LoGPC 5.3.1)"},
        {"mechanism", LP_CHOICE, &mechanism, "fine|bulk|put", 0, 0,
         "messages of --block values; one gathered message per destination; MPI_Put of --block values"},
        {"receive", LP_CHOICE, &receive, RECEIVE_CHOICES, 0, 0, RECEIVE_HELP},
        {"nodes", LP_INTEGER, &s.graph.nodes, NULL, 0, 2e9,
         "E and H nodes together; 0: 100 per part, LoGPC's 3,200 on 32 processors"},
        {"degree", LP_INTEGER, &s.graph.degree, NULL, 1, 1e6, "edges out of each node (LoGPC 32, SENS 10)"},
        {"nonlocal", LP_REAL, &s.graph.nonlocal, NULL, 0, 1,
         "share of edges that leave their part (LoGPC 1, SENS 0.2)"},
        {"span", LP_INTEGER, &s.graph.span, NULL, 1, 1e9,
         "how many parts away such an edge may end (LoGPC 1-15, SENS 3)"},
        {"parts", LP_INTEGER, &s.graph.parts, NULL, 0, 1e6, "parts that the nodes are split into; 0: one per rank"},
        {"iterations", LP_INTEGER, &s.iterations, NULL, 1, 1e9,
         "updates of E and H (LoGPC 100, SENS 50; 20 for a short run)"},
        {"block", LP_INTEGER, &s.exchange.block, NULL, 1, 1e8, "values per message (LoGPC 10, SENS 5)"},
        {"capacity", LP_INTEGER, &s.exchange.messages.capacity, NULL, 0, 1e9,
         "messages in flight per sender before it stalls (2: Alewife's 256-byte queue); 0: unbounded"},
        {"cycle-ns", LP_REAL, &s.cycle_ns, NULL, 0, 1e9, "cycle of the emulated processor (Alewife 50 ns); 0: none"},
        {"send-cycles", LP_REAL, &s.exchange.messages.send_cycles, NULL, 0, 1e9,
         "its o_s per message (LoGPC Table 1: 15)"},
        {"receive-cycles", LP_REAL, &s.exchange.messages.receive_cycles, NULL, -1, 1e9,
         "its o_r per message; -1: 122 (LoGPC Table 1), on the testbed only with a finite capacity"},
        {"edge-cycles", LP_REAL, &s.edge_cycles, NULL, 0, 1e9, "its work per edge; the papers print none, so assumed"},
        {"seed", LP_INTEGER, &s.graph.seed, NULL, 0, 1e15, "of the graph and the random order"},
    };
    enum lp_parse_result parsed = app_open(
        &app, argc, argv, "em3d", "electromagnetic waves on an irregular bipartite graph (LoGPC 5.3, SENS 4.1)",
        options, (int)(sizeof options / sizeof *options));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    if (s.graph.parts == 0)
        s.graph.parts = app.ranks;
    if (s.graph.nodes == 0)
        s.graph.nodes = 100 * s.graph.parts;
    s.exchange.mechanism = (enum mechanism)mechanism;
    s.exchange.messages.receive = (enum receive)receive;
    s.exchange.order = (enum order)order;
    s.exchange.spread = (enum spread)spread;
    s.exchange.seed = (uint64_t)s.graph.seed;
    message_overheads(&s.exchange.messages, 15, 122);
    if (s.graph.nodes % 2 != 0 || s.graph.nodes / 2 < s.graph.parts || s.graph.parts < app.ranks)
        return app_close(&app,
                         app_refuse(&app,
                                    "%" PRId64 " nodes in %" PRId64 " parts on %d ranks: --nodes must be even, at "
                                    "least 2 per part, and --parts at least the number of ranks",
                                    s.graph.nodes, s.graph.parts, app.ranks));
    return app_close(&app, run(&s, &app));
}
