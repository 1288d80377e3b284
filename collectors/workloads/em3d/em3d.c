/* EM3D: propagation of electromagnetic waves on an irregular bipartite graph of E and H nodes.
 *
 * Papers: LoGPC (Moritz & Frank) section 5.3, Fig. 10 and 11; Sensitivity of Communication Mechanisms (Chong et al.)
 * section 4.1, Fig. 4. Each iteration has two phases, E from H and H from E; a phase is a communication phase that
 * brings the value of every edge that ends on another rank, an update, and a barrier.
 *
 * Which property of the papers' machine, the MIT Alewife, an option brings back on today's MPI:
 *   --capacity N   Alewife's network queues hold 256 bytes: two messages of ten doubles with their 8-byte header. When
 *                  they are full, the sender stalls until a receiver takes a message (LogP's finite capacity). MPI
 *                  buffers small messages practically without bound, and then no rank stalls; with N > 0 at most N
 *                  synchronous sends (MPI_Issend, complete when received) are in flight, in order, as in a queue.
 *   --cycle-ns X   Alewife's overheads, o_s = 15 and o_r = 122 cycles per message: the receiver is busy that long with
 *                  each, so one that is hit by everybody at once is the bottleneck. X ns per cycle, slept away
 *                  (common/processor.h); 50 was Alewife's, 1,000 lets the effect stand out from a busy machine's noise.
 *   --block K      values per message: 10 in LoGPC ("values are sent in blocks of 10"), 5 double-words in SENS.
 *   --receive      interrupt: the Alewife's interrupts. poll: its polling (Remote Queues), a message is taken where the
 * program polls. wait: receives are posted beforehand, and handled only while this rank waits.
 *   --order        original: all ranks walk the destinations from rank 0 up and hit the same receiver at once;
 *                  improved: "more uniform (i.e., random)", schedule.h.
 *   --span         locality, in parts (the papers' processors); Fig. 11 varies it from 1 to 15.
 *   --mechanism    shared, prefetch: SENS's shared memory; each value is loaded where the update first needs it.
 * The values do not depend on order, mechanism or number of ranks: the checksum must be equal. em3d_shmem is the same
 * program over OpenSHMEM, without messages. */
#include <inttypes.h>
#include <math.h>

#include "../common/app.h"
#include "../common/memory.h"
#include "../logpost_compute.h"
#include "exchange.h"
#include "graph.h"

#define ONLY_MESSAGES 4 /* options at the end of the table */

struct settings {
    struct graph_options graph;
    struct exchange_options exchange;
    int64_t iterations;
    double cycle_ns; /* of the emulated processor */
};

static int run(const struct settings* s, const struct app* app) {
    const int rank = app->rank, ranks = app->ranks;
    static const char* const names[2] = {"em3d exchange H to E", "em3d exchange E to H"};
    struct half_graph half[2];
    struct exchange exchange[2];
    double* values[2]; /* by field: own values, then the ghosts that the other field's update reads */
    struct processor processor;
    struct team phases = team_again(&app->team, "em3d phases");
    processor_open(&processor, s->cycle_ns);

    for (int f = 0; f < 2; f++)
        graph_build(&half[f], &s->graph, (enum field)f, rank, ranks);
    for (int f = 0; f < 2; f++) {
        exchange_open(&exchange[f], &s->exchange, &half[f], &processor, &phases, names[f]);
        values[1 - f] = exchange[f].sources;
    }
    for (int f = 0; f < 2; f++)
        for (int64_t i = 0; i < half[f].n_targets; i++)
            values[f][i] = graph_initial(&s->graph, (enum field)f, half[f].first_target + i);

    for (int f = 0; f < 2; f++)
        exchange_barrier(&exchange[f]);
    exchange[0].barrier_s = exchange[1].barrier_s = 0;
    double start = team_seconds();
    for (int64_t iteration = 0; iteration < s->iterations; iteration++) {
        for (int f = 0; f < 2; f++) {
            exchange_run(&exchange[f]);
            exchange_update(&exchange[f], values[f]);
            exchange_barrier(&exchange[1 - f]); /* which reads what has just been written */
        }
    }
    double total_s = team_seconds() - start;

    uint64_t words[3] = {0, 0, 0}; /* checksum, messages, bytes */
    double sums[4] = {0, 0, 0, 0};
    int finite = 1;
    for (int f = 0; f < 2; f++) {
        words[0] += graph_checksum((enum field)f, half[f].first_target, half[f].n_targets, values[f]);
        words[1] += (uint64_t)exchange[f].messages;
        words[2] += (uint64_t)exchange[f].bytes;
        sums[0] += exchange[f].exchange_s / ranks;
        sums[1] += exchange[f].stall_s / ranks;
        sums[2] += exchange[f].compute_s / ranks;
        sums[3] += exchange[f].barrier_s / ranks;
        for (int64_t i = 0; i < half[f].n_targets; i++)
            finite = finite && isfinite(values[f][i]);
    }
    team_sum_words(&app->team, words, 3);
    team_sum(&app->team, sums, 4);
    const double overhead_s = app_spread(app, processor.overhead_s).mean;
    uint64_t expected = words[0];
    if (rank == 0) {
        expected = graph_serial_checksum(&s->graph, s->iterations);
        printf("%s: %d ranks, %" PRIu64 " messages, %" PRIu64 " bytes, checksum %016" PRIx64 "\n", app->name, ranks,
               words[1], words[2], words[0]);
        printf(
            "%s: total_s %.6f, mean of ranks: exchange_s %.6f, stall_s %.6f, compute_s %.6f, barrier_s %.6f, "
            "overhead_s %.6f\n",
            app->name, total_s, sums[0], sums[1], sums[2], sums[3], overhead_s);
    }
    int status = app_verdict(app, finite && (rank > 0 || words[0] == expected),
                             "checksum %016" PRIx64 ", serially %016" PRIx64 "%s", words[0], expected,
                             finite ? "" : ", and values are not finite");
    for (int f = 0; f < 2; f++) {
        exchange_close(&exchange[f]);
        graph_free(&half[f]);
    }
    team_drop(&phases);
    return status;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {
        .graph = {.nodes = 0, .degree = 32, .nonlocal = 1, .span = 15, .parts = 0, .seed = 1},
        .exchange = {.block = 10,
                     .messages = {.capacity = 2,
                                  .send_cycles = -1,
                                  .receive_cycles = -1,
                                  .line_cycles = -1,
                                  .poll_cycles = POLL_CYCLES},
                     .edge_cycles = 10 /* the least of the band of work that the experiments show */},
        .iterations = 20,
        .cycle_ns = LOGPOST_COMPUTE_IS_SIMULATED ? 50 : 1000,
    };
    int mechanism = 0, receive = RECEIVE_WAIT, order = ORDER_ORIGINAL, spread = SPREAD_RANDOM;
    const struct lp_option options[] = {
        {"order", LP_CHOICE, &order, "original|improved", 0, 0, "order of communication: with or without the hot spot"},
        {"spread", LP_CHOICE, &spread, "random|staggered", 0, 0, "what the improved order is (random: LoGPC 5.3.1)"},
        {"mechanism", LP_CHOICE, &mechanism, exchange_mechanisms, 0, 0,
         "fine and put: --block values each; bulk: one gathered message per destination; shared: loaded by the reader"},
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
        {"edge-cycles", LP_REAL, &s.exchange.edge_cycles, NULL, 0, 1e9,
         "work per edge of the emulated processor (67: two flop at LoGPC 5.2's 100 cycles for three)"},
        {"cycle-ns", LP_REAL, &s.cycle_ns, NULL, 0, 1e9, "its cycle (Alewife 50 ns); 0: none"},
        {"send-cycles", LP_REAL, &s.exchange.messages.send_cycles, NULL, -1, 1e9,
         "its o_s per message or put; -1: 15 (LoGPC Table 1), on the testbed 0"},
        {"seed", LP_INTEGER, &s.graph.seed, NULL, 0, 1e15, "of the graph and the random order"},
        {"capacity", LP_INTEGER, &s.exchange.messages.capacity, NULL, 0, 1e9,
         "messages in flight per sender before it stalls (2: Alewife's 256-byte queue); 0: unbounded"},
        {"receive", LP_CHOICE, &receive, RECEIVE_CHOICES, 0, 0, RECEIVE_HELP},
        {"receive-cycles", LP_REAL, &s.exchange.messages.receive_cycles, NULL, -1, 1e9,
         "o_r per message; -1: 122 (LoGPC Table 1), on the testbed only with a finite capacity"},
        {"poll-cycles", LP_REAL, &s.exchange.messages.poll_cycles, NULL, 0, 1e9, POLL_CYCLES_HELP},
        {"line-cycles", LP_REAL, &s.exchange.messages.line_cycles, NULL, -1, 1e9, LINE_CYCLES_HELP},
    };
    const int n_options = (int)(sizeof options / sizeof *options);
    enum lp_parse_result parsed =
        app_open(&app, argc, argv, exchange_messages ? "em3d" : "em3d_shmem",
                 "electromagnetic waves on an irregular bipartite graph (LoGPC 5.3, SENS 4.1)", options,
                 n_options - (exchange_messages ? 0 : ONLY_MESSAGES));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    if (s.graph.parts == 0)
        s.graph.parts = app.ranks;
    if (s.graph.nodes == 0)
        s.graph.nodes = 100 * s.graph.parts;
    s.exchange.mechanism = exchange_first + (enum mechanism)mechanism;
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
