/* Edges through remote memory.
 *   put               each edge has a separate word at its target, which is empty (NaN) until the value is there
 *   shared, prefetch  each row has a word that the producers of its edges add to (SENS 4.3: "the producer of the edge
 *                     value also makes the corresponding updates to the node value"). Instead of a lock around value
 * and count, both are in one word: the number of edges that have not arrived is above the sum. shared waits for every
 * addition; prefetch for those of two rows together. */
#include <string.h>

#include "../common/memory.h"
#include "../common/remote.h"
#include "solve.h"

/* How many words are looked at before anything else is done. They are in the order of their rows, and the lowest
 * unfinished row of all can always proceed, so a bounded look is enough. */
#define LOOK_AT 256  /* words */
#define ROWS_AHEAD 2 /* SENS 4.3: "two write prefetches were inserted two nodes ahead" */

struct carrier {
    struct remote* memory;
    int64_t* words;
    int64_t n_words;
    int32_t* row_of;    /* of each own word */
    int32_t* word_of;   /* shared: of each row at its owner */
    int32_t* remote_in; /* shared: edges into each row from other ranks */
    int shift;          /* shared: where the count begins */
    double most;        /* shared: largest value whose sums cannot run over */
    int64_t* pending;   /* own words that are not complete */
    int64_t n_pending;
    int64_t* outbox;               /* what is sent, until it is there */
    int64_t n_sent, n_quiet, rows; /* sent so far, and of these known to be there */
};

static int updates(const struct solver* s) {
    return s->options.mechanism != MECHANISM_PUT;
}

/* Words of put are numbered like out_slot: by rows, then columns. */
static void find_words(struct solver* s) {
    struct carrier* c = s->carrier;
    const struct lower* f = s->factor;
    int32_t* next = LP_NEW(int32_t, s->ranks);
    int64_t largest = 1;
    c->word_of = LP_NEW(int32_t, f->n);
    c->remote_in = LP_NEW(int32_t, f->n);
    c->row_of = LP_NEW(int32_t, s->edges_in);
    for (int64_t i = 0; i < f->n; i++) {
        const int owner = solver_owner(s, i);
        for (int64_t p = f->start[i]; p < f->start[i + 1] - 1; p++)
            c->remote_in[i] += solver_owner(s, f->column[p]) != owner;
        largest = c->remote_in[i] > largest ? c->remote_in[i] : largest;
        const int words = updates(s) ? c->remote_in[i] > 0 : c->remote_in[i];
        c->word_of[i] = next[owner];
        for (int k = 0; owner == s->rank && k < words; k++)
            c->row_of[c->n_words++] = (int32_t)i;
        next[owner] += words;
    }
    /* A sign, the count, and below it a sum with a separate sign. */
    for (c->shift = 62; largest > 0; largest >>= 1)
        c->shift--;
    c->most = ldexp(EDGE_QUANTUM, c->shift - 1 - (62 - c->shift));
    free(next);
}

static void open_carrier(struct solver* s, const char* name) {
    struct carrier* c = s->carrier = LP_NEW(struct carrier, 1);
    find_words(s);
    c->memory = remote_open(s->team, c->n_words, s->processor, name);
    c->words = remote_own(c->memory);
    c->pending = LP_NEW(int64_t, c->n_words);
    c->outbox = LP_NEW(int64_t, s->n_out);
}

static void close_carrier(struct solver* s) {
    struct carrier* c = s->carrier;
    remote_close(c->memory);
    free(c->row_of);
    free(c->word_of);
    free(c->remote_in);
    free(c->pending);
    free(c->outbox);
    free(c);
}

static void barrier(struct solver* s) {
    struct carrier* c = s->carrier;
    const double start = team_seconds();
    remote_barrier(c->memory);
    s->barrier_s += team_seconds() - start;
}

static void begin(struct solver* s) {
    struct carrier* c = s->carrier;
    const double empty = NAN;
    c->n_pending = c->n_words;
    c->n_sent = c->n_quiet = 0;
    for (int64_t k = 0; k < c->n_words; k++) {
        const int32_t row = c->row_of[k];
        c->pending[k] = k;
        if (updates(s)) {
            c->words[k] = (int64_t)c->remote_in[row] << c->shift;
            s->missing[row] -= c->remote_in[row] - 1; /* they arrive together */
        } else {
            memcpy(&c->words[k], &empty, sizeof empty);
        }
    }
    barrier(s);
}

static void send_edge(struct solver* s, int64_t at, double value) {
    struct carrier* c = s->carrier;
    const int32_t row = s->out_row[at];
    const int to = solver_owner(s, row);
    int64_t* own = &c->outbox[c->n_sent++];
    s->messages++;
    if (!updates(s)) {
        memcpy(own, &value, sizeof value);
        remote_set(c->memory, to, s->out_slot[at], own);
        return;
    }
    /* A value that is too large makes the result wrong, which is checked, instead of the count. */
    value = fmax(-c->most, fmin(c->most, value));
    *own = (int64_t)(value / EDGE_QUANTUM) - ((int64_t)1 << c->shift);
    if (s->options.mechanism == MECHANISM_SHARED)
        remote_update(c->memory, to, c->word_of[row], own, 1);
    else
        remote_add(c->memory, to, c->word_of[row], own, 1);
}

/* A rank that waits looks many times after its last send: only the first look has anything to wait for. */
static void quiet(struct carrier* c) {
    if (c->n_quiet < c->n_sent)
        remote_quiet(c->memory);
    c->n_quiet = c->n_sent;
}

static void look(struct solver* s) {
    struct carrier* c = s->carrier;
    if (s->options.mechanism == MECHANISM_PREFETCH && ++c->rows % ROWS_AHEAD == 0)
        quiet(c);
}

/* Whether a word is complete, and what it brings. */
static int complete(const struct solver* s, const struct carrier* c, int64_t k, double* value) {
    const int64_t word = *(volatile int64_t*)&c->words[k];
    if (updates(s)) {
        *value = (double)word * EDGE_QUANTUM;
        return word < (int64_t)1 << (c->shift - 1);
    }
    memcpy(value, &word, sizeof word);
    return !isnan(*value);
}

/* Takes what has arrived since the last look. */
static void wait_for_edges(struct solver* s) {
    struct carrier* c = s->carrier;
    int64_t kept = 0, n = c->n_pending < LOOK_AT ? c->n_pending : LOOK_AT;
    quiet(c);
    remote_look(c->memory);
    for (int64_t k = 0; k < n; k++) {
        double value;
        if (complete(s, c, c->pending[k], &value))
            solver_arrive(s, c->row_of[c->pending[k]], value);
        else
            c->pending[kept++] = c->pending[k];
    }
    if (kept == n)
        return;
    memmove(c->pending + kept, c->pending + n, (size_t)(c->n_pending - n) * sizeof *c->pending);
    c->n_pending -= n - kept;
}

const struct edge_carrier edges_remote = {open_carrier, close_carrier, begin, send_edge, look, wait_for_edges, barrier};
