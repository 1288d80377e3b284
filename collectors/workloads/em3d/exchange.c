#include "exchange.h"

#include <string.h>

#include "../common/memory.h"

void exchange_open(struct exchange* x, const struct exchange_options* options, const struct half_graph* half,
                   struct processor* processor, const struct team* team, const char* name) {
    const enum mechanism m = options->mechanism;
    memset(x, 0, sizeof *x);
    x->options = *options;
    x->half = half;
    x->team = team;
    x->processor = processor;
    int64_t values = m == MECHANISM_BULK ? 0 : options->block;
    x->out = schedule_build(half->send_start, team->ranks, values);
    x->in = schedule_build(half->recv_start, team->ranks, values);
    schedule_order(&x->out, options->order, options->spread, team->rank, team->ranks, options->seed);
    x->staging = LP_NEW(double, half->send_start[team->ranks]);
    if (team->ranks > 1)
        x->carry = m < MECHANISM_PUT ? exchange_messages : m == MECHANISM_PUT ? &exchange_remote : &exchange_shared;
    if (x->carry)
        x->carry->open(x, name);
    else
        x->sources = LP_NEW(double, half->n_sources);
}

void exchange_close(struct exchange* x) {
    if (x->carry)
        x->carry->close(x);
    else
        free(x->sources);
    free(x->out.blocks);
    free(x->in.blocks);
    free(x->staging);
}

const double* exchange_gather(struct exchange* x, const struct block* block) {
    double* values = x->staging + block->first;
    for (int32_t i = 0; i < block->count; i++)
        values[i] = x->sources[x->half->send_source[block->first + i]];
    return values;
}

void exchange_run(struct exchange* x) {
    if (!x->carry)
        return;
    double start = team_seconds();
    x->carry->run(x);
    x->exchange_s += team_seconds() - start;
    if (x->options.mechanism == MECHANISM_PUT)
        exchange_barrier(x); /* a put says nothing to its target: all must have arrived before anyone reads */
}

void exchange_update(struct exchange* x, double* targets) {
    const struct half_graph* half = x->half;
    const double start = team_seconds(), exchanged = x->exchange_s;
    if (!x->carry || !x->carry->load) {
        graph_update(half, x->sources, targets);
        processor_busy(x->processor, x->options.edge_cycles * (double)half->in_start[half->n_targets]);
    }
    for (int64_t i = 0; x->carry && x->carry->load && i < half->n_targets; i++) {
        for (int64_t k = half->in_start[i]; k < half->in_start[i + 1]; k++)
            x->carry->load(x, k);
        graph_update_node(half, i, x->sources, targets);
    }
    x->compute_s += team_seconds() - start - (x->exchange_s - exchanged);
}

void exchange_barrier(struct exchange* x) {
    const double start = team_seconds();
    if (x->carry)
        x->carry->barrier(x);
    x->barrier_s += team_seconds() - start;
}
