/* o(n) and T(n) by message size (timed/message.h). Before a receive the receiver computes for four times T(n).
 *
 *   --bytes LIST   sizes
 *   --settle-s S   computed at least before a receive */
#include <stdlib.h>

#include "message.h"

struct grid {
    struct cal_list bytes;
    double settle_s;
    struct cal_message* message;
};

static const struct {
    cal_sample* sample;
    const char *family, *keys;
} KINDS[] = {
    {cal_one_way, "one_way", ""}, /* first: the receiver's computation depends on it */
    {cal_send, "message_overhead", "\"side\": \"send\""},
    {cal_blocking_send, "message_overhead", "\"side\": \"blocking_send\""},
    {cal_receive, "message_overhead", "\"side\": \"receive\""},
};

static void visit_pair(struct cal* c, void* what, int round, const struct cal_pair* pair) {
    const struct grid* g = what;
    struct cal_message* m = g->message;
    for (int i = 0; i < g->bytes.count; i++) {
        struct cal_result r;
        m->bytes = (int)g->bytes.value[i];
        for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
            cal_measure(c, pair->comm, 1, KINDS[k].sample, m, &r);
            cal_emit(c, &r, round, KINDS[k].family, pair->locality, m->bytes, KINDS[k].keys);
            if (KINDS[k].sample == cal_one_way)
                m->settle_s = 4 * r.median_s > g->settle_s ? 4 * r.median_s : g->settle_s;
        }
    }
}

static void visits(struct cal* c, void* what, int round) {
    cal_each_pair(c, visit_pair, what, round);
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    struct cal_message m = {0};
    struct grid g = {
        .bytes = cal_list(&c, "bytes", "1,8,64,512,4096,32768,262144"),
        .settle_s = cal_number(&c, "settle-s", 5e-6),
        .message = &m,
    };
    m.buffer = cal_memory(&c, (int64_t)cal_largest(g.bytes));
    m.into = cal_memory(&c, (int64_t)cal_largest(g.bytes));
    cal_rounds(&c, visits, &g);
    free(m.into);
    free(m.buffer);
    return cal_close(&c);
}
