/* All-to-all remap: every process repeatedly sends a message to another one.
 *
 * Paper: LoGPC (Moritz & Frank) section 5.1, Table 4 and Fig. 6, after the all-to-all patterns of LoPC.
 *   --style sync    5.1.1: a request to a destination, then wait for its reply, handling others' requests at the same
 * time. Cost per iteration 2 (o_s + L + C_n + o_r) + C_r.
 *   --style async   5.1.2: one-way short messages, no rank waits for a reply. Cost o_s + o_r.
 *   --style long    5.1.3: one-way messages of --bytes. Cost o_s + (B-1) G + (B-1-a) G, about 2 B G.
 *   --destination   random, or staggered: "destinations (i + p) mod P while increasing i".
 *   --hot           of random destinations, the share that is sent to process 0.
 * The emulated processor has LoGPC's Table 1 (short: o_s 15, o_r 122 cycles) or Table 2 (long: 25, 129, and 0.5 cycles
 * per byte); on the testbed, which has its own overheads, only what it does not charge (see em3d.c). --capacity: see
 * common/messages.h. With --receive interrupt a rank also handles what has arrived before it sends its next message.
 * Every message is checked by its receiver, every reply by its requester. */
#include <inttypes.h>
#include <stdio.h>

#include "../common/app.h"
#include "../common/memory.h"
#include "../common/messages.h"
#include "../common/random.h"
#include "../common/team_mpi.h"
#include "../logpost_compute.h"

enum style { STYLE_SYNC = 0, STYLE_ASYNC = 1, STYLE_LONG = 2 };
enum destination { DESTINATION_RANDOM = 0, DESTINATION_STAGGERED = 1 };

/* Alewife's header, in front of the data; o_rl counts the bytes behind it (a in LoGPC's equation 2). */
#define HEADER_BYTES 8

struct settings {
    int style, destination, self;
    int64_t messages, bytes, seed;
    double cycle_ns, gap_cycles, hot;
    struct message_options channel;
};

struct state {
    const struct settings* settings;
    const struct app* app;
    struct processor processor;
    MPI_Comm replies;
    uint64_t checksum; /* over all received messages */
    int64_t damaged;
};

static int destination_of(const struct settings* s, int rank, int ranks, int64_t i) {
    const int others = ranks - !s->self;
    if (s->destination == DESTINATION_STAGGERED)
        return (int)((rank + !s->self + i % others) % ranks);
    if (rank != 0 && lp_uniform((uint64_t)s->seed ^ 0x686f74u, (uint64_t)rank, (uint64_t)i) < s->hot)
        return 0;
    int to = (int)lp_below((uint64_t)s->seed, (uint64_t)rank, (uint64_t)i, others);
    return to + (!s->self && to >= rank);
}

/* The first word of message i of a rank; word k of its data is this + k. */
static uint64_t content(const struct settings* s, int rank, int64_t i) {
    return lp_random((uint64_t)s->seed ^ 0x646174u, (uint64_t)rank, (uint64_t)i);
}

static uint64_t answer(uint64_t request, int responder) {
    return lp_mix(request ^ (uint64_t)responder);
}

static void handle(void* context, int source, int tag, const void* data, int bytes) {
    struct state* state = context;
    const uint64_t* words = data;
    (void)tag;
    for (int k = 1; k < bytes / 8; k++)
        state->damaged += words[k] != words[0] + (uint64_t)k;
    state->checksum += lp_mix(words[0]);
    if (state->settings->style != STYLE_SYNC)
        return;
    uint64_t reply = answer(words[0], state->app->rank);
    processor_busy(&state->processor, state->settings->channel.send_cycles);
    /* Its receive is posted before the request is sent, so this never waits. */
    MPI_Send(&reply, 1, MPI_UINT64_T, source, 0, state->replies);
}

static int run(const struct settings* s, const struct app* app) {
    struct state state = {.settings = s, .app = app};
    struct channel channel;
    struct message_options options = s->channel;
    options.send_cycles = s->channel.send_cycles + s->gap_cycles * (double)(s->bytes - 1);
    options.receive_cycles = s->channel.receive_cycles +
                             (s->style == STYLE_LONG ? s->gap_cycles * (double)(s->bytes - 1 - HEADER_BYTES) : 0);
    processor_open(&state.processor, s->cycle_ns);
    channel_open(&channel, &options, (int)s->bytes, handle, &state, &state.processor, team_comm(&app->team),
                 "remap messages");
    MPI_Comm_dup(team_comm(&app->team), &state.replies);
    MPI_Comm_set_name(state.replies, "remap replies");

    int64_t incoming = 0;
    uint64_t expected = 0;
    for (int rank = 0; rank < app->ranks; rank++)
        for (int64_t i = 0; i < s->messages; i++)
            if (destination_of(s, rank, app->ranks, i) == app->rank) {
                incoming++;
                expected += lp_mix(content(s, rank, i));
            }

    uint64_t* data = LP_NEW(uint64_t, s->bytes / 8);
    int64_t wrong_replies = 0;
    channel_expect(&channel, incoming);
    MPI_Barrier(team_comm(&app->team));
    double start = MPI_Wtime();
    for (int64_t i = 0; i < s->messages; i++) {
        const int to = destination_of(s, app->rank, app->ranks, i);
        const uint64_t first = content(s, app->rank, i);
        for (int64_t k = 0; k < s->bytes / 8; k++)
            data[k] = first + (uint64_t)k;
        MPI_Request request = MPI_REQUEST_NULL;
        uint64_t reply = 0;
        channel_interrupts(&channel);
        if (s->style == STYLE_SYNC)
            MPI_Irecv(&reply, 1, MPI_UINT64_T, to, 0, state.replies, &request);
        channel_send(&channel, to, 0, data, (int)s->bytes);
        if (s->style == STYLE_SYNC) {
            channel_wait(&channel, &request);
            // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): channel_wait has waited for the request
            if (!LOGPOST_COMPUTE_IS_SIMULATED) /* the testbed charges o_r itself: a reply is sent with MPI_Send */
                processor_busy(&state.processor, s->channel.receive_cycles);
            wrong_replies += reply != answer(first, to);
            // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
        }
    }
    channel_drain(&channel);
    double mine_s = MPI_Wtime() - start;
    MPI_Barrier(team_comm(&app->team));
    struct spread_of total_s = app_spread(app, mine_s);
    struct spread_of stall_s = app_spread(app, channel.stall_s);
    if (app->rank == 0) {
        printf("remap: %d ranks, %" PRId64 " messages each of %" PRId64 " bytes\n", app->ranks, s->messages, s->bytes);
        printf("remap: total_s %.6f, iteration_us %.3f, mean of ranks: stall_s %.6f\n", total_s.largest,
               total_s.mean / (double)s->messages * 1e6, stall_s.mean);
    }
    int right = channel.received == incoming && state.checksum == expected && !state.damaged && !wrong_replies;
    int status = app_verdict(app, right,
                             "%" PRId64 " of %" PRId64 " messages, %" PRId64 " damaged words, %" PRId64
                             " wrong replies, checksum %016" PRIx64 " instead of %016" PRIx64,
                             channel.received, incoming, state.damaged, wrong_replies, state.checksum, expected);
    free(data);
    channel_close(&channel);
    MPI_Comm_free(&state.replies);
    return status;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {
        .messages = 1000,
        .bytes = 0,
        .seed = 1,
        .cycle_ns = LOGPOST_COMPUTE_IS_SIMULATED ? 50 : 1000,
        .gap_cycles = -1,
        .channel = {.capacity = 2, .send_cycles = -1, .receive_cycles = -1, .poll_cycles = POLL_CYCLES},
    };
    int receive = RECEIVE_WAIT;
    const struct lp_option options[] = {
        {"style", LP_CHOICE, &s.style, "sync|async|long", 0, 0, "request and reply, one-way short, one-way long"},
        {"destination", LP_CHOICE, &s.destination, "random|staggered", 0, 0, "of the i-th message of process p"},
        {"self", LP_SWITCH, &s.self, NULL, 0, 0, "a process may send to itself (the paper's mean distance has it)"},
        {"messages", LP_INTEGER, &s.messages, NULL, 1, 1e9, "per process"},
        {"bytes", LP_INTEGER, &s.bytes, NULL, 0, 1e8, "of a message, a multiple of 8; 0: 16, and 16,000 for long"},
        {"receive", LP_CHOICE, &receive, RECEIVE_CHOICES, 0, 0, RECEIVE_HELP},
        {"capacity", LP_INTEGER, &s.channel.capacity, NULL, 0, 1e6, "messages in flight per sender; 0: unbounded"},
        {"cycle-ns", LP_REAL, &s.cycle_ns, NULL, 0, 1e9, "cycle of the emulated processor (Alewife 50 ns); 0: none"},
        {"send-cycles", LP_REAL, &s.channel.send_cycles, NULL, -1, 1e9, "its o_s; -1: LoGPC's"},
        {"receive-cycles", LP_REAL, &s.channel.receive_cycles, NULL, -1, 1e9, "its o_r; -1: LoGPC's"},
        {"poll-cycles", LP_REAL, &s.channel.poll_cycles, NULL, 0, 1e9, POLL_CYCLES_HELP},
        {"gap-cycles", LP_REAL, &s.gap_cycles, NULL, -1, 1e9, "its G per byte of a long message; -1: LoGPC's"},
        {"hot", LP_REAL, &s.hot, NULL, 0, 1,
         "of random destinations: the share of the other processes' messages that is sent to process 0"},
        {"seed", LP_INTEGER, &s.seed, NULL, 0, 1e15, "of destinations and contents"},
    };
    enum lp_parse_result parsed = app_open(&app, argc, argv, "remap", "all-to-all remap (LoGPC 5.1, Table 4)", options,
                                           (int)(sizeof options / sizeof *options));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    const int is_long = s.style == STYLE_LONG;
    s.channel.receive = (enum receive)receive;
    if (s.bytes == 0)
        s.bytes = is_long ? 16000 : 16;
    if (is_long)
        message_overheads(&s.channel, 25, 129);
    else
        message_overheads(&s.channel, 15, 122);
    if (s.gap_cycles < 0)
        s.gap_cycles = LOGPOST_COMPUTE_IS_SIMULATED || !is_long ? 0 : 0.5;
    if (s.bytes % 8 != 0 || s.bytes < 8)
        return app_close(&app, app_refuse(&app, "--bytes %" PRId64 ": must be a multiple of 8, at least 8", s.bytes));
    if (app.ranks < 2 && !s.self)
        return app_close(&app, app_refuse(&app, "needs at least 2 ranks, or --self to send to itself"));
    return app_close(&app, run(&s, &app));
}
