/* G(P, S): time per message of a pair while several pairs stream at the same time.
 *
 * Paper: Optimizing Communication Overlap for High-Speed Networks (Iancu & Strohmaier) 2.1: bandwidth of neighbours and
 * across the bisection, lowest and highest of any pair.
 *   neighbour      2i -> 2i + 1                cross_section  i -> i + P/2
 * With two ranks both patterns are the one pair, which is reported as neighbour.
 *
 *   --bytes LIST   sizes
 *   --peers LIST   numbers of ranks P that take part; those above the number of ranks are left out, odd ones lose one
 *   --window-bytes N    a window has as many messages as give N bytes, but at least 4
 *   --most-messages N   and at most N */
#include <math.h>
#include <stdlib.h>

#include "stream.h"

struct pattern {
    MPI_Comm group;
    int peers;
    const char *name, *locality;
};

static struct pattern make_pattern(const struct cal* c, int peers, bool cross) {
    const int pairs = peers / 2;
    int* from = cal_memory(c, pairs * (int64_t)sizeof *from);
    int* to = cal_memory(c, pairs * (int64_t)sizeof *to);
    struct pattern p = {MPI_COMM_NULL, peers, cross ? "cross_section" : "neighbour", NULL};
    for (int i = 0; i < pairs; i++) {
        from[i] = cross ? i : 2 * i;
        to[i] = cross ? i + pairs : 2 * i + 1;
    }
    p.locality = cal_farthest(c, from, to, pairs);
    p.group = cal_stream_group(c, from, to, pairs);
    free(from);
    free(to);
    return p;
}

struct grid {
    struct cal_list bytes;
    double window_bytes, most_messages;
    struct pattern* patterns;
    int count;
    struct cal_stream* stream;
};

static void visit_pattern(struct cal* c, const struct grid* g, int round, const struct pattern* now) {
    struct cal_stream* s = g->stream;
    for (int i = 0; i < g->bytes.count; i++) {
        struct cal_result r;
        char keys[192];
        s->bytes = (int)g->bytes.value[i];
        s->pairs = now->peers / 2;
        s->window = cal_window(s->bytes, g->window_bytes, g->most_messages);
        cal_measure(c, now->group, s->pairs, cal_streams, s, &r);
        snprintf(keys, sizeof keys,
                 "\"peers\": %d, \"pairs\": %d, \"pattern\": \"%s\", \"lowest_s\": %.9g, \"highest_s\": %.9g",
                 now->peers, s->pairs, now->name, r.lowest_s, r.highest_s);
        cal_emit(c, &r, round, "pattern_gap", now->locality, s->bytes, keys);
    }
}

static void visits(struct cal* c, void* what, int round) {
    const struct grid* g = what;
    for (int p = 0; p < g->count; p++) {
        if (g->patterns[p].group != MPI_COMM_NULL)
            visit_pattern(c, g, round, &g->patterns[p]);
        cal_rest(c);
    }
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    struct cal_stream s = {0};
    struct grid g = {
        .bytes = cal_list(&c, "bytes", "1024,8192,65536,524288"),
        .window_bytes = cal_number(&c, "window-bytes", 262144),
        .most_messages = cal_number(&c, "most-messages", 64),
        .stream = &s,
    };
    double memory = 0;
    for (int i = 0; i < g.bytes.count; i++)
        memory = fmax(memory, cal_window(g.bytes.value[i], g.window_bytes, g.most_messages) * g.bytes.value[i]);
    s.memory = cal_memory(&c, (int64_t)memory);
    s.requests = cal_memory(&c, (int64_t)fmax(CAL_FEWEST_IN_WINDOW, g.most_messages) * (int64_t)sizeof *s.requests);

    const struct cal_list peers = cal_list(&c, "peers", "2");
    g.patterns = cal_memory(&c, 2 * peers.count * (int64_t)sizeof *g.patterns);
    for (int i = 0; i < peers.count; i++) {
        const int taking_part = (int)peers.value[i] / 2 * 2;
        if (taking_part < 2 || taking_part > c.ranks)
            continue;
        g.patterns[g.count++] = make_pattern(&c, taking_part, false);
        if (taking_part > 2)
            g.patterns[g.count++] = make_pattern(&c, taking_part, true);
    }
    cal_rounds(&c, visits, &g);
    free(s.memory);
    free(s.requests);
    free(g.patterns);
    return cal_close(&c);
}
