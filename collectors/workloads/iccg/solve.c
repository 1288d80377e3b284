#include "solve.h"

#include <string.h>

#include "../common/memory.h"
#include "../logpost_compute.h"
#include "partition.h"

int solver_owner(const struct solver* s, int64_t row) {
    return s->owner[row];
}

void solver_arrive(struct solver* s, int64_t row, double value) {
    s->sum[row] -= value;
    if (--s->missing[row] == 0)
        s->ready[s->n_ready++] = (int32_t)row;
}

/* Edges by their source, and the numbers of remote ones at their target. */
static void find_edges(struct solver* s) {
    const struct lower* f = s->factor;
    int64_t* slot_of_rank = LP_NEW(int64_t, s->ranks);
    int64_t* next = LP_NEW(int64_t, f->n + 1);
    s->out_start = LP_NEW(int64_t, f->n + 1);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t p = f->start[i]; p < f->start[i + 1] - 1; p++)
            s->out_start[f->column[p] + 1] += solver_owner(s, f->column[p]) == s->rank;
    for (int64_t j = 0; j < f->n; j++)
        s->out_start[j + 1] += s->out_start[j];
    memcpy(next, s->out_start, (size_t)(f->n + 1) * sizeof *next);
    s->out_row = LP_NEW(int32_t, s->out_start[f->n]);
    s->out_value = LP_NEW(double, s->out_start[f->n]);
    s->out_slot = LP_NEW(int64_t, s->out_start[f->n]);
    for (int64_t i = 0; i < f->n; i++) {
        const int target = solver_owner(s, i);
        s->n_own += target == s->rank;
        s->n_in[i] = (int32_t)(f->start[i + 1] - f->start[i] - 1);
        for (int64_t p = f->start[i]; p < f->start[i + 1] - 1; p++) {
            const int source = solver_owner(s, f->column[p]);
            const int64_t slot = source == target ? -1 : slot_of_rank[target]++;
            if (source != s->rank)
                continue;
            const int64_t at = next[f->column[p]]++;
            s->out_row[at] = (int32_t)i;
            s->out_value[at] = f->value[p];
            s->out_slot[at] = slot;
            s->n_out += slot >= 0;
        }
    }
    s->edges_in = slot_of_rank[s->rank];
    free(slot_of_rank);
    free(next);
}

void solver_open(struct solver* s, const struct solve_options* options, const struct lower* factor,
                 struct processor* processor, const struct team* team) {
    memset(s, 0, sizeof *s);
    s->options = *options;
    s->factor = factor;
    s->team = team;
    s->processor = processor;
    s->rank = team->rank;
    s->ranks = team->ranks;
    if (options->chunk == 0)
        s->options.chunk = (factor->n + s->ranks - 1) / s->ranks;
    const int64_t n = factor->n;
    s->owner = LP_NEW(int32_t, n);
    if (options->by_graph)
        partition_graph(factor, s->ranks, s->owner);
    else
        for (int64_t row = 0; row < n; row++)
            s->owner[row] = (int32_t)(row / s->options.chunk % s->ranks);
    s->x = LP_NEW(double, n);
    s->sum = LP_NEW(double, n);
    s->n_in = LP_NEW(int32_t, n);
    s->missing = LP_NEW(int32_t, n);
    s->ready = LP_NEW(int32_t, n);
    find_edges(s);
    if (s->ranks > 1)
        s->carry = options->mechanism < MECHANISM_PUT ? edges_messages : &edges_remote;
    if (s->carry)
        s->carry->open(s, "iccg edges");
}

void solver_close(struct solver* s) {
    if (s->carry)
        s->carry->close(s);
    free(s->owner);
    free(s->out_start);
    free(s->out_row);
    free(s->out_value);
    free(s->out_slot);
    free(s->x);
    free(s->sum);
    free(s->n_in);
    free(s->missing);
    free(s->ready);
}

static void compute_row(struct solver* s, int64_t row) {
    const struct lower* f = s->factor;
    s->x[row] = s->sum[row] / f->value[f->start[row + 1] - 1];
    s->n_done++;
    const double edges = (double)(s->out_start[row + 1] - s->out_start[row]);
    logpost_account_flops(2.0 * edges);
    if (s->options.mechanism == MECHANISM_PREFETCH)
        processor_overhead(s->processor, s->options.prefetch_cycles * edges);
    for (int64_t at = s->out_start[row]; at < s->out_start[row + 1]; at++) {
        const double value = edge_round(s->out_value[at] * s->x[row]);
        if (s->out_slot[at] < 0)
            solver_arrive(s, s->out_row[at], value);
        else
            s->carry->send(s, at, value);
    }
}

void solver_barrier(struct solver* s) {
    const double start = team_seconds();
    team_barrier(s->team);
    s->barrier_s += team_seconds() - start;
}

void solver_run(struct solver* s, const double* b) {
    s->n_ready = s->n_done = 0;
    memcpy(s->sum, b, (size_t)s->factor->n * sizeof(double));
    memcpy(s->missing, s->n_in, (size_t)s->factor->n * sizeof *s->missing);
    for (int64_t i = 0; i < s->factor->n; i++)
        if (s->n_in[i] == 0 && solver_owner(s, i) == s->rank)
            s->ready[s->n_ready++] = (int32_t)i;
    if (s->carry)
        s->carry->begin(s);
    while (s->n_done < s->n_own) {
        if (s->n_done < s->n_ready)
            compute_row(s, s->ready[s->n_done]);
        else
            s->carry->wait(s);
        if (s->carry)
            s->carry->look(s);
    }
    if (s->carry)
        s->carry->end(s);
}
