/* What links of the network add to a message: its time by distance, and streams across the middle, one and all at once.
 *
 * Which ranks measure follows from the network's topology, which this program does not know.
 *
 *   --partners LIST   ranks with which rank 0 exchanges messages of --small bytes, one after the other
 *   --from LIST       the senders that stream; --to LIST: their receivers, in the same order
 *   --bytes N         of each streamed message
 *   --small N         of each message by distance
 *   --window-bytes N, --most-messages N   as for pattern */
#include <stdlib.h>

#include "message.h"
#include "stream.h"

struct plan {
    int* partners;
    MPI_Comm* with; /* rank 0 and the partner */
    int count;
    struct cal_message small;
    MPI_Comm one, all; /* the first pair, and all of them */
    const char* locality;
    int pairs;
    struct cal_stream stream;
};

static int* ranks_of(const struct cal* c, struct cal_list list) {
    int* ranks = cal_memory(c, (list.count + 1) * (int64_t)sizeof *ranks);
    for (int i = 0; i < list.count; i++) {
        ranks[i] = (int)list.value[i];
        if (ranks[i] < 0 || ranks[i] >= c->ranks)
            cal_refuse(c, "--partners, --from and --to name ranks below", "the number of ranks");
    }
    return ranks;
}

static void streams(struct cal* c, struct plan* p, MPI_Comm group, int pairs, int round) {
    struct cal_result r;
    char keys[128];
    if (group != MPI_COMM_NULL) {
        p->stream.pairs = pairs;
        cal_measure(c, group, pairs, cal_streams, &p->stream, &r);
        snprintf(keys, sizeof keys, "\"pairs\": %d, \"lowest_s\": %.9g, \"highest_s\": %.9g", pairs, r.lowest_s,
                 r.highest_s);
        cal_emit(c, &r, round, "across", p->locality, p->stream.bytes, keys);
    }
    cal_rest(c);
}

static void visits(struct cal* c, void* what, int round) {
    struct plan* p = what;
    for (int i = 0; i < p->count; i++) {
        if (p->with[i] != MPI_COMM_NULL) {
            struct cal_result r;
            char keys[64];
            const int zero = 0;
            cal_measure(c, p->with[i], 1, cal_one_way, &p->small, &r);
            snprintf(keys, sizeof keys, "\"partner\": %d", p->partners[i]);
            cal_emit(c, &r, round, "distance", cal_farthest(c, &zero, &p->partners[i], 1), p->small.bytes, keys);
        }
        cal_rest(c);
    }
    if (p->pairs > 0)
        streams(c, p, p->one, 1, round);
    if (p->pairs > 1)
        streams(c, p, p->all, p->pairs, round);
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    const struct cal_list partners = cal_list(&c, "partners", ""), from = cal_list(&c, "from", ""),
                          to = cal_list(&c, "to", "");
    if (from.count != to.count)
        cal_refuse(&c, "--from and --to must have as many ranks as", "each other");
    int *senders = ranks_of(&c, from), *receivers = ranks_of(&c, to), zero = 0;
    struct plan p = {.partners = ranks_of(&c, partners), .count = partners.count, .pairs = from.count};
    p.small.bytes = (int)cal_number(&c, "small", 8);
    p.small.buffer = cal_memory(&c, p.small.bytes + 1);
    p.small.into = p.small.buffer;
    p.stream.bytes = (int)cal_number(&c, "bytes", 262144);
    p.stream.window =
        cal_window(p.stream.bytes, cal_number(&c, "window-bytes", 1048576), cal_number(&c, "most-messages", 64));
    p.stream.memory = cal_memory(&c, (int64_t)p.stream.window * p.stream.bytes);
    p.stream.requests = cal_memory(&c, p.stream.window * (int64_t)sizeof *p.stream.requests);
    p.with = cal_memory(&c, (p.count + 1) * (int64_t)sizeof(MPI_Comm));
    for (int i = 0; i < p.count; i++)
        p.with[i] = cal_stream_group(&c, &zero, &p.partners[i], 1);
    p.locality = cal_farthest(&c, senders, receivers, p.pairs);
    p.one = cal_stream_group(&c, senders, receivers, p.pairs > 0 ? 1 : 0);
    p.all = cal_stream_group(&c, senders, receivers, p.pairs);
    cal_rounds(&c, visits, &p);
    free(senders);
    free(receivers);
    free(p.partners);
    free(p.with);
    free(p.small.buffer);
    free(p.stream.memory);
    free(p.stream.requests);
    return cal_close(&c);
}
