#include "graph.h"

#include "../common/checksum.h"
#include "../common/memory.h"
#include "../common/random.h"

int64_t graph_first(int64_t n, int64_t part, int64_t parts) {
    return part * n / parts;
}

static int64_t part_of(int64_t n, int64_t i, int64_t parts) {
    int64_t part = n > 0 ? i * parts / n : 0;
    while (part + 1 < parts && graph_first(n, part + 1, parts) <= i)
        part++;
    while (part > 0 && graph_first(n, part, parts) > i)
        part--;
    return part;
}

/* Parts are dealt to ranks in runs, so a rank's nodes are contiguous. */
static int rank_of_part(int64_t part, int64_t parts, int ranks) {
    return (int)part_of(parts, part, ranks);
}

/* First node of either field on a rank. */
static int64_t first_node(const struct graph_options* o, int rank, int ranks) {
    return graph_first(o->nodes / 2, graph_first(o->parts, rank, ranks), o->parts);
}

/* The end of edge k of source node i, and its weight. */
static int64_t edge_end(const struct graph_options* o, enum field target, int64_t part, int64_t i, int64_t k,
                        double* weight) {
    const uint64_t stream = lp_random((uint64_t)o->seed, (uint64_t)target, (uint64_t)i);
    const uint64_t edge = (uint64_t)k * 4;
    const int64_t n = o->nodes / 2;
    int64_t end_part = part;
    if (o->parts > 1 && lp_uniform(stream, edge, 0) < o->nonlocal) {
        if (2 * o->span >= o->parts - 1) {
            end_part = (part + 1 + lp_below(stream, edge, 1, o->parts - 1)) % o->parts;
        } else {
            int64_t step = lp_below(stream, edge, 1, 2 * o->span) - o->span;
            end_part = (part + step + (step >= 0 ? 1 : 0) + o->parts) % o->parts;
        }
    }
    int64_t first = graph_first(n, end_part, o->parts);
    int64_t count = graph_first(n, end_part + 1, o->parts) - first;
    /* Signed weights of size 1/degree keep the values bounded over thousands of iterations. */
    *weight = (2 * lp_uniform(stream, edge, 3) - 1) / (double)(2 * o->degree);
    return first + lp_below(stream, edge, 2, count);
}

double graph_initial(const struct graph_options* options, enum field field, int64_t i) {
    return lp_uniform((uint64_t)options->seed, 0x696e6974u + (uint64_t)field, (uint64_t)i);
}

void graph_build(struct half_graph* half, const struct graph_options* o, enum field target, int rank, int ranks) {
    const int64_t n = o->nodes / 2;
    half->first_target = half->first_source = first_node(o, rank, ranks);
    half->n_targets = half->n_sources = first_node(o, rank + 1, ranks) - half->first_target;
    half->in_start = LP_NEW(int64_t, half->n_targets + 1);
    half->send_start = LP_NEW(int64_t, ranks + 1);
    half->recv_start = LP_NEW(int64_t, ranks + 1);
    half->in_source = NULL;
    half->in_weight = NULL;
    half->send_source = half->recv_source = NULL;
    int64_t* in_next = LP_NEW(int64_t, half->n_targets + 1);
    int64_t* send_next = LP_NEW(int64_t, ranks + 1);
    int64_t* recv_next = LP_NEW(int64_t, ranks + 1);

    /* Two passes over all edges: count, then fill. */
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t part = 0, i = 0; part < o->parts; part++) {
            const int source_rank = rank_of_part(part, o->parts, ranks);
            for (; i < graph_first(n, part + 1, o->parts); i++) {
                for (int64_t k = 0; k < o->degree; k++) {
                    double weight;
                    int64_t end = edge_end(o, target, part, i, k, &weight);
                    int end_rank = rank_of_part(part_of(n, end, o->parts), o->parts, ranks);
                    if (source_rank == rank && end_rank != rank) {
                        if (pass == 0)
                            half->send_start[end_rank + 1]++;
                        else
                            half->send_source[send_next[end_rank]++] = (int32_t)(i - half->first_source);
                    }
                    if (end_rank != rank)
                        continue;
                    int64_t local_end = end - half->first_target;
                    if (pass == 0) {
                        half->in_start[local_end + 1]++;
                        if (source_rank != rank)
                            half->recv_start[source_rank + 1]++;
                    } else {
                        int64_t at = in_next[local_end]++;
                        half->in_weight[at] = weight;
                        if (source_rank == rank) {
                            half->in_source[at] = (int32_t)(i - half->first_source);
                        } else {
                            const int64_t ghost = recv_next[source_rank]++;
                            half->recv_source[ghost] = (int32_t)(i - first_node(o, source_rank, ranks));
                            half->in_source[at] = (int32_t)(half->n_sources + ghost);
                        }
                    }
                }
            }
        }
        if (pass == 0) {
            for (int64_t i = 0; i < half->n_targets; i++)
                half->in_start[i + 1] += half->in_start[i];
            for (int r = 0; r < ranks; r++) {
                half->send_start[r + 1] += half->send_start[r];
                half->recv_start[r + 1] += half->recv_start[r];
                send_next[r] = half->send_start[r];
                recv_next[r] = half->recv_start[r];
            }
            for (int64_t i = 0; i < half->n_targets; i++)
                in_next[i] = half->in_start[i];
            half->n_ghosts = half->recv_start[ranks];
            half->in_source = LP_NEW(int32_t, half->in_start[half->n_targets]);
            half->in_weight = LP_NEW(double, half->in_start[half->n_targets]);
            half->send_source = LP_NEW(int32_t, half->send_start[ranks]);
            half->recv_source = LP_NEW(int32_t, half->n_ghosts);
        }
    }
    free(in_next);
    free(send_next);
    free(recv_next);
}

void graph_free(struct half_graph* half) {
    free(half->in_start);
    free(half->in_source);
    free(half->in_weight);
    free(half->send_start);
    free(half->send_source);
    free(half->recv_start);
    free(half->recv_source);
}

void graph_update_node(const struct half_graph* half, int64_t i, const double* sources, double* targets) {
    double sum = 0;
    for (int64_t k = half->in_start[i]; k < half->in_start[i + 1]; k++)
        sum += half->in_weight[k] * sources[half->in_source[k]];
    targets[i] -= sum;
}

void graph_update(const struct half_graph* half, const double* sources, double* targets) {
    for (int64_t i = 0; i < half->n_targets; i++)
        graph_update_node(half, i, sources, targets);
}

uint64_t graph_checksum(enum field field, int64_t first, int64_t n, const double* values) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += lp_checksum_term(((uint64_t)(first + i) << 1) | (uint64_t)field, values[i]);
    return sum;
}

uint64_t graph_serial_checksum(const struct graph_options* options, int64_t iterations) {
    struct half_graph half[2];
    double* values[2];
    uint64_t sum = 0;
    for (int f = 0; f < 2; f++) {
        graph_build(&half[f], options, (enum field)f, 0, 1);
        values[f] = LP_NEW(double, half[f].n_targets);
        for (int64_t i = 0; i < half[f].n_targets; i++)
            values[f][i] = graph_initial(options, (enum field)f, i);
    }
    for (int64_t iteration = 0; iteration < iterations; iteration++)
        for (int f = 0; f < 2; f++)
            graph_update(&half[f], values[1 - f], values[f]);
    for (int f = 0; f < 2; f++) {
        sum += graph_checksum((enum field)f, 0, half[f].n_targets, values[f]);
        graph_free(&half[f]);
        free(values[f]);
    }
    return sum;
}
