/* The points of a calibration within MPI_Init, and how its time is shared among them.
 *
 * They are some of those that `logpost calibrate` measures, by the same code: one_way and message_overhead for o(n) and
 * T(n), protocol for the eager limit, round_trip and signature for g, layout for log3P, pattern for the ends that
 * several pairs share. All points are visited in
 * passes, one after the other, so that the spread between passes says what changes from moment to moment. */
#include "quick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "late.h"
#include "layout.h"
#include "message.h"
#include "reduction.h"
#include "requests.h"
#include "stream.h"
#include "transfer.h"

enum {
    PASSES = 12,
    BATCH = 6,
    LARGEST = 256 << 10,
    LAYOUT_LARGEST = 128 << 10,
    REACH = 4 << 20, /* layouts that span more are left out */
    SIGNATURE_BYTES = 8,
    WINDOW = 32,
    TRIES = 3,
    MOST_SIZES = 9,
    MOST_LAYOUT_SIZES = 6,
    MOST_SPAN = 64 << 20, /* of a layout that the program used; as --most-bytes of the program `layout` */
    STREAMED = 1 << 20,   /* bytes of a window; in REACH */
    LARGEST_TRANSFER = 1 << 20,
    MOST_STREAMED = 16, /* messages of a window */
    SCRATCH = 64 << 10  /* cal_measure keeps some 130 doubles per sample of a batch, and 4 for each pair */
};
/* Short: where a rank loses its processor, each repetition lasts while others have it. */
static const double SAMPLE_S = 5e-6;
static const double LEAST_DELAY_S = 100e-6, LEAST_SETTLE_S = 5e-6;
static const int SIZES[] = {1, 64, 512, 4096, 16384, 65536, LARGEST};
static const int BURSTS[] = {1, 2, 4, 8, 16, WINDOW};
/* log3P's points besides those at the eager limit; docs/calibration.md says how they were chosen. */
static const int LAYOUT_SIZES[] = {256, 1024, 65536, LAYOUT_LARGEST};
static const int BLOCKS[] = {8, 64, 512};
static const int STRIDES[] = {4, 64}; /* blocks */
static const int STREAM_SIZES[] = {65536, LARGEST};
static const int TRANSFER_SIZES[] = {8, 512, 4096, 16384, 65536, 262144, LARGEST_TRANSFER};
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const struct {
    cal_sample* sample;
    const char *family, *keys;
} KINDS[] = {
    {cal_one_way, "one_way", ""}, /* first: the receiver's computation depends on it */
    {cal_send, "message_overhead", "\"side\": \"send\""},
    {cal_receive, "message_overhead", "\"side\": \"receive\""},
};

struct quick {
    const struct cal_pair* pair;
    struct cal_message message;
    struct cal_requests requests;
    struct cal_layout layout;
    MPI_Comm alone; /* of rank 0; only where log3P is measured */
    bool layouts;
    int layout_sizes[MOST_LAYOUT_SIZES], layout_count;
    int sizes[MOST_SIZES], count;
    const struct lp_layout_use* uses; /* of which there are layout_count */
    double trip_s, longest_s;         /* round trip of few bytes, half of one of many */
};

/* --- memory: cal_measure requests little, and gives it back in the opposite order -------------------------------- */

static char *scratch, *scratch_next;

void* cal_memory(const struct cal* c, int64_t bytes) {
    (void)c;
    const size_t size = ((size_t)bytes + 63) / 64 * 64;
    if (size > (size_t)(scratch + SCRATCH - scratch_next)) {
        lp_call_failed = 1; /* and what was measured is not used */
        scratch_next = scratch;
    }
    char* memory = scratch_next;
    scratch_next += size;
    return memset(memory, 1, size);
}

void cal_release(const struct cal* c, void* memory) {
    (void)c;
    if (memory)
        scratch_next = memory;
}

size_t lp_quick_memory(void) {
    return SCRATCH + 2 * LARGEST + WINDOW * (CAL_REPLY_BYTES + sizeof(MPI_Request)) + 2 * (size_t)REACH;
}

/* --- the duration of messages, and where the protocol changes ----------------------------------------------------- */

static double one_way_s(struct cal* c, struct quick* q, int bytes) {
    struct cal_result r;
    q->message.bytes = bytes;
    c->visits_left = 1e6; /* no more samples than it must have */
    cal_measure(c, q->pair->comm, 1, cal_one_way, &q->message, &r);
    MPI_Bcast(&r.median_s, 1, MPI_DOUBLE, 0, q->pair->comm);
    return r.median_s;
}

static void add_size(struct quick* q, int64_t bytes) {
    for (int i = 0; i < q->count; i++)
        if (q->sizes[i] == bytes)
            return;
    q->sizes[q->count++] = (int)bytes;
}

/* The time of strided data jumps with the protocol: at the power of two up to the eager limit, and at the next one. */
static void find_layout_sizes(struct quick* q, int64_t eager) {
    int below = 1;
    memcpy(q->layout_sizes, LAYOUT_SIZES, sizeof LAYOUT_SIZES);
    q->layout_count = COUNT(LAYOUT_SIZES);
    while (2 * below <= eager)
        below *= 2;
    for (int bytes = below; bytes <= 2 * below; bytes *= 2) {
        bool known = bytes < LAYOUT_SIZES[0] || bytes > LAYOUT_LARGEST;
        for (int i = 0; i < COUNT(LAYOUT_SIZES); i++)
            known |= LAYOUT_SIZES[i] == bytes;
        if (!known)
            q->layout_sizes[q->layout_count++] = bytes;
    }
}

static int measured_sizes[MOST_LAYOUT_SIZES], measured_count; /* of layouts; none before a whole pass over them */

static void note_layouts(const struct quick* q) {
    memcpy(measured_sizes, q->layout_sizes, sizeof measured_sizes);
    measured_count = q->layout_count;
}

bool lp_quick_has(const struct lp_layout_use* use) {
    bool size = false, block = false, stride = false;
    for (int i = 0; i < measured_count; i++)
        size |= (uint64_t)measured_sizes[i] == use->bytes;
    for (int i = 0; i < COUNT(BLOCKS); i++)
        block |= (uint64_t)BLOCKS[i] == use->block;
    for (int i = 0; i < COUNT(STRIDES); i++)
        stride |= (uint64_t)STRIDES[i] * use->block == use->stride;
    return size && block && stride && 2 * use->block <= use->bytes &&
           use->bytes / use->block * use->stride <= (uint64_t)REACH;
}

static void find_eager_limit(struct cal* c, struct quick* q) {
    struct cal_late l = {.largest = LARGEST, .buffer = q->message.buffer, .tries = TRIES};
    l.least_delay_s = fmax(LEAST_DELAY_S, 4 * q->trip_s);
    l.longest_delay_s = fmax(l.least_delay_s, 4 * q->longest_s);
    int64_t eager = cal_bisect(c, q->pair, &l, 0);
    if (eager > 0) { /* times jump there, so both sides need a point */
        add_size(q, eager);
        add_size(q, eager + 1);
    }
    find_layout_sizes(q, eager);
}

/* --- visits ------------------------------------------------------------------------------------------------------ */

static void visit_messages(struct cal* c, struct quick* q, int round) {
    struct cal_message* m = &q->message;
    for (int i = 0; i < q->count; i++) {
        m->bytes = q->sizes[i];
        for (int k = 0; k < COUNT(KINDS); k++) {
            struct cal_result r;
            cal_measure(c, q->pair->comm, 1, KINDS[k].sample, m, &r);
            cal_emit(c, &r, round, KINDS[k].family, q->pair->locality, m->bytes, KINDS[k].keys);
            if (k == 0)
                m->settle_s = fmax(4 * r.median_s, LEAST_SETTLE_S);
        }
    }
}

static void visit_requests(struct cal* c, struct quick* q, int round) {
    struct cal_requests* b = &q->requests;
    struct cal_result r;
    cal_measure(c, q->pair->comm, 1, cal_round_trip, b, &r);
    cal_emit(c, &r, round, "round_trip", q->pair->locality, b->bytes, "");
    q->message.bytes = b->bytes;
    cal_measure(c, q->pair->comm, 1, cal_stream, &q->message, &r);
    cal_emit(c, &r, round, "stream", q->pair->locality, b->bytes, "");
    for (int delayed = 0; delayed < 2; delayed++) {
        b->delta_s = delayed ? 2 * q->trip_s : 0; /* enough to make the requester the bottleneck */
        for (int i = 0; i < COUNT(BURSTS); i++) {
            char keys[96];
            b->requests = BURSTS[i];
            snprintf(keys, sizeof keys, "\"burst\": %d, \"delta_s\": %.9g", b->requests, b->delta_s);
            cal_measure(c, q->pair->comm, 1, cal_request_burst, b, &r);
            cal_emit(c, &r, round, "signature", q->pair->locality, b->bytes, keys);
        }
    }
}

/* Rank 1 has not heard whether the time was over in what rank 0 did alone. */
static void share_end(struct cal* c, MPI_Comm comm) {
    int over = c->over;
    MPI_Bcast(&over, 1, MPI_INT, 0, comm);
    c->over = over;
}

static void visit_contiguous(struct cal* c, struct quick* q, int bytes, int round) {
    struct cal_layout* l = &q->layout;
    if (c->rank == 0) {
        cal_visit_layout(c, q->alone, cal_layout_copy, l, CAL_CONTIGUOUS, bytes, 8, 8, round, "memory_copy", "self");
        cal_visit_layout(c, q->alone, cal_layout_to_self, l, CAL_CONTIGUOUS, bytes, 8, 8, round, "self", "self");
    }
    share_end(c, q->pair->comm);
    cal_visit_layout(c, q->pair->comm, cal_layout_to_other, l, CAL_CONTIGUOUS, bytes, 8, 8, round, "remote",
                     q->pair->locality);
}

static void visit_layouts(struct cal* c, struct quick* q, int round) {
    if (c->rank == 0)
        cal_visit_reductions(c, q->alone, q->layout.here, q->layout.there, round);
    share_end(c, q->pair->comm);
    for (int i = 0; i < q->layout_count; i++) {
        const int bytes = q->layout_sizes[i];
        visit_contiguous(c, q, bytes, round);
        for (int b = 0; b < COUNT(BLOCKS) && 2 * BLOCKS[b] <= bytes; b++)
            for (int s = 0; s < COUNT(STRIDES) && (int64_t)bytes * STRIDES[s] <= REACH; s++) {
                const int64_t stride = (int64_t)BLOCKS[b] * STRIDES[s];
                if (c->rank == 0)
                    cal_visit_layout(c, q->alone, cal_layout_to_self, &q->layout, CAL_DATATYPE, bytes, BLOCKS[b],
                                     stride, round, "self", "self");
                share_end(c, q->pair->comm);
                cal_visit_layout(c, q->pair->comm, cal_layout_to_other, &q->layout, CAL_DATATYPE, bytes, BLOCKS[b],
                                 stride, round, "remote", q->pair->locality);
            }
    }
}

/* A pass that the time cuts off is kept only when it is the first: a point more or less in the last round would make
 * rounds of different points look like one. */
static void whole(struct cal* c, void* what, int round, cal_visits* visits) {
    char* text = NULL;
    size_t length = 0;
    FILE* const out = c->out;
    if (c->rank == 0 && !c->counting)
        c->out = open_memstream(&text, &length);
    if (c->out == NULL)
        c->out = out;
    visits(c, what, round);
    if (c->out == out)
        return;
    fclose(c->out);
    c->out = out;
    if (!c->over || round == 0)
        fwrite(text, 1, length, out);
    free(text);
}

static void visit_pair(struct cal* c, void* what, int round) {
    struct quick* q = what;
    visit_messages(c, q, round);
    visit_requests(c, q, round);
    if (q->layouts && c->counting)
        c->visits_left += CAL_REDUCTIONS + MOST_LAYOUT_SIZES * (3 + 2 * COUNT(BLOCKS) * COUNT(STRIDES));
    else if (q->layouts && round > 0) { /* from when the eager limit is known */
        visit_layouts(c, q, round);
        if (!c->over)
            note_layouts(q);
    }
}

static void pass(struct cal* c, void* what, int round) {
    if (c->over)
        return;
    /* After the first pass, which gives a machine however short the time is. Cut off, it still bounds the limit. */
    if (round == 1)
        find_eager_limit(c, what);
    whole(c, what, round, visit_pair);
}

/* The communicator of rank 0 for messages to itself. */
static MPI_Comm alone(const struct cal* c, const struct cal_pair* pair) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group both, one;
    const int first = 0;
    if (c->rank != 0)
        return comm;
    MPI_Comm_group(pair->comm, &both);
    MPI_Group_incl(both, 1, &first, &one);
    MPI_Comm_create_group(pair->comm, one, 2, &comm);
    MPI_Group_free(&one);
    MPI_Group_free(&both);
    return comm;
}

static void set_pace(struct cal* c) {
    c->rounds = PASSES;
    c->batch = BATCH;
    c->accuracy = 0.05;
    c->sample_s = SAMPLE_S;
    c->most_batches = 1;
    c->started_s = cal_now();
    c->budget_s = c->until_s - c->started_s;
}

void lp_quick_pair(struct cal* c, const struct cal_pair* pair, bool layouts, char* memory) {
    struct quick q = {.pair = pair, .count = COUNT(SIZES), .layouts = layouts, .alone = MPI_COMM_NULL};
    memcpy(q.sizes, SIZES, sizeof SIZES);
    scratch = scratch_next = memory;
    q.message.buffer = memory + SCRATCH;
    q.message.into = q.message.buffer + LARGEST;
    q.requests = (struct cal_requests){.bytes = SIGNATURE_BYTES,
                                       .window = WINDOW,
                                       .peers = 1,
                                       .buffer = q.message.buffer,
                                       .ring = (MPI_Request*)(memory + SCRATCH + 2 * LARGEST),
                                       .replies = memory + SCRATCH + 2 * LARGEST + WINDOW * sizeof(MPI_Request)};
    memset(q.message.buffer, 1, 2 * (size_t)LARGEST);
    if (layouts) {
        char* const arrays = memory + lp_quick_memory() - 2 * (size_t)REACH;
        memset(arrays, 1, 2 * (size_t)REACH);
        q.layout.here = (double*)arrays;
        q.layout.there = (double*)(arrays + REACH);
        q.alone = alone(c, pair);
    }
    set_pace(c);
    q.trip_s = 2 * one_way_s(c, &q, SIGNATURE_BYTES);
    q.longest_s = one_way_s(c, &q, LARGEST);
    c->visits_left = 0;
    cal_rounds(c, pass, &q);
    if (q.alone != MPI_COMM_NULL)
        MPI_Comm_free(&q.alone);
}

/* --- pairs that share ends of the memory or the network ----------------------------------------------------------- */

struct streams {
    const struct lp_together* of;
    struct cal_stream stream;
};

static void visit_stream(struct cal* c, struct streams* s, MPI_Comm group, int pairs, int round) {
    struct cal_result r;
    char keys[192];
    s->stream.pairs = pairs;
    cal_measure(c, group, pairs, cal_streams, &s->stream, &r);
    snprintf(keys, sizeof keys,
             "\"peers\": %d, \"pairs\": %d, \"pattern\": \"%s\", \"lowest_s\": %.9g, \"highest_s\": %.9g", 2 * pairs,
             pairs, s->of->pattern, r.lowest_s, r.highest_s);
    cal_emit(c, &r, round, "pattern_gap", s->of->locality, s->stream.bytes, keys);
}

static void visit_streams(struct cal* c, void* what, int round) {
    struct streams* s = what;
    for (int i = 0; i < COUNT(STREAM_SIZES); i++) {
        s->stream.bytes = STREAM_SIZES[i];
        s->stream.window = cal_window(STREAM_SIZES[i], STREAMED, MOST_STREAMED);
        if (s->of->one != MPI_COMM_NULL)
            visit_stream(c, s, s->of->one, 1, round);
        share_end(c, s->of->all);
        visit_stream(c, s, s->of->all, s->of->pairs, round);
    }
}

static void pass_of_streams(struct cal* c, void* what, int round) {
    if (!c->over)
        whole(c, what, round, visit_streams);
}

void lp_quick_together(struct cal* c, const struct lp_together* together, char* memory) {
    struct streams s = {.of = together};
    scratch = scratch_next = memory;
    s.stream.requests = (MPI_Request*)(memory + SCRATCH);
    s.stream.memory = memory + lp_quick_memory() - 2 * (size_t)REACH;
    memset(s.stream.memory, 1, STREAMED);
    set_pace(c);
    c->visits_left = 0;
    cal_rounds(c, pass_of_streams, &s);
}

/* --- layouts that the program used ------------------------------------------------------------------------------- */

size_t lp_quick_scratch(void) {
    return SCRATCH;
}

size_t lp_quick_span(const struct lp_layout_use* use) {
    const uint64_t blocks = use->block ? use->bytes / use->block : 0;
    if (!blocks || use->bytes % use->block || use->bytes > INT32_MAX || use->stride > MOST_SPAN / blocks)
        return 0;
    return (size_t)(blocks * use->stride);
}

/* The largest of the units that blocks and strides are whole numbers of. */
static MPI_Datatype unit_of(const struct lp_layout_use* use, int* bytes) {
    *bytes = (use->block | use->stride) % 8 == 0 ? 8 : (use->block | use->stride) % 4 == 0 ? 4 : 1;
    return *bytes == 8 ? MPI_DOUBLE : *bytes == 4 ? MPI_INT : MPI_BYTE;
}

static void visit_use(struct cal* c, struct quick* q, MPI_Comm comm, const struct lp_layout_use* use, bool strided,
                      int round) {
    const bool to_self = comm == q->alone;
    struct cal_result r;
    char keys[160];
    int bytes;
    const MPI_Datatype unit = unit_of(use, &bytes);
    if (strided)
        MPI_Type_vector((int)(use->bytes / use->block), (int)use->block / bytes, (int)use->stride / bytes, unit,
                        &q->layout.type);
    else
        MPI_Type_contiguous((int)use->bytes / bytes, unit, &q->layout.type);
    MPI_Type_commit(&q->layout.type);
    cal_measure(c, comm, 1, to_self ? cal_layout_to_self : cal_layout_to_other, &q->layout, &r);
    MPI_Type_free(&q->layout.type);
    snprintf(keys, sizeof keys, "\"transfer\": \"%s\", \"form\": \"%s\", \"stride_bytes\": %llu, \"block_bytes\": %llu",
             to_self ? "self" : "remote", strided ? "datatype" : "contiguous", (unsigned long long)use->stride,
             (unsigned long long)use->block);
    cal_emit(c, &r, round, "used_layout", to_self ? "self" : q->pair->locality, (int64_t)use->bytes, keys);
}

static void pass_of_uses(struct cal* c, void* what, int round) {
    struct quick* q = what;
    for (int i = 0; i < q->layout_count && !c->over; i++) {
        for (int strided = 0; strided < 2; strided++) {
            if (c->rank == 0)
                visit_use(c, q, q->alone, &q->uses[i], strided != 0, round);
            share_end(c, q->pair->comm);
            visit_use(c, q, q->pair->comm, &q->uses[i], strided != 0, round);
        }
    }
}

void lp_quick_layouts(struct cal* c, const struct cal_pair* pair, const struct lp_layout_use* uses, int count,
                      char* memory) {
    struct quick q = {.pair = pair, .uses = uses, .layout_count = count, .alone = alone(c, pair)};
    size_t span = 0;
    for (int i = 0; i < count; i++)
        span = lp_quick_span(&uses[i]) > span ? lp_quick_span(&uses[i]) : span;
    scratch = scratch_next = memory;
    q.layout.here = (double*)(memory + SCRATCH);
    q.layout.there = (double*)(memory + SCRATCH + span);
    set_pace(c);
    c->visits_left = 0;
    cal_rounds(c, pass_of_uses, &q);
    if (q.alone != MPI_COMM_NULL)
        MPI_Comm_free(&q.alone);
}

/* --- one-sided transfers ----------------------------------------------------------------------------------------- */

size_t lp_quick_transfer(void) {
    return LARGEST_TRANSFER;
}

struct transfers {
    const struct cal_pair* pair;
    struct cal_transfer transfer;
};

static void pass_of_transfers(struct cal* c, void* what, int round) {
    struct transfers* t = what;
    for (int i = 0; i < COUNT(TRANSFER_SIZES) && !c->over; i++)
        for (int get = 0; get < 2; get++) {
            struct cal_result r;
            t->transfer.get = get != 0;
            t->transfer.bytes = TRANSFER_SIZES[i];
            cal_measure(c, t->pair->comm, 1, cal_one_transfer, &t->transfer, &r);
            cal_emit(c, &r, round, "one_sided", t->pair->locality, TRANSFER_SIZES[i],
                     get ? "\"operation\": \"get\"" : "\"operation\": \"put\"");
        }
}

void lp_quick_transfers(struct cal* c, const struct cal_pair* pair, bool created, char* memory) {
    struct transfers t = {.pair = pair};
    int rank, failed = 0;
    scratch = scratch_next = memory;
    t.transfer.buffer = memory + SCRATCH;
    t.transfer.memory = memory + SCRATCH + LARGEST_TRANSFER;
    MPI_Comm_set_errhandler(pair->comm, lp_k.errors_return);
    MPI_Comm_rank(pair->comm, &rank);
    if (created)
        failed = MPI_Win_create(t.transfer.memory, LARGEST_TRANSFER, 1, MPI_INFO_NULL, pair->comm, &t.transfer.window);
    else
        failed =
            MPI_Win_allocate(LARGEST_TRANSFER, 1, MPI_INFO_NULL, pair->comm, &t.transfer.memory, &t.transfer.window);
    if (failed)
        return; /* on both ranks: making a window is collective */
    MPI_Win_set_errhandler(t.transfer.window, lp_k.errors_return);
    memset(t.transfer.memory, 1, LARGEST_TRANSFER);
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, t.transfer.window);
    set_pace(c);
    c->visits_left = 0;
    cal_rounds(c, pass_of_transfers, &t);
    if (rank == 0)
        MPI_Win_unlock(1, t.transfer.window);
    MPI_Win_free(&t.transfer.window);
}
