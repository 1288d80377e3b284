/* EM3D's irregular bipartite graph, and the part of it that one rank needs.
 *
 * The nodes of each kind are split into `parts` equal runs (the processors of the paper), and the parts into equal runs
 * over the ranks. Every node of the other kind has `degree` edges out; an edge is non-local with probability
 * `nonlocal`, and then ends in one of the 2 x span parts around its own (with end-around; when these would be all the
 * others, in any other part). In-degrees are therefore irregular, as in the original program. The graph depends on the
 * options alone, never on the number of ranks: compare runs on 1, 2 and 4 ranks by giving all of them `--parts 4`. */
#ifndef LOGPOST_EM3D_GRAPH_H
#define LOGPOST_EM3D_GRAPH_H

#include <stdint.h>

struct graph_options {
    int64_t nodes;   /* E and H nodes together */
    int64_t degree;  /* edges out of each node */
    double nonlocal; /* share of edges that leave their part, 0..1 */
    int64_t span;    /* how far, in parts */
    int64_t parts;
    int64_t seed;
};

enum field { FIELD_E = 0, FIELD_H = 1 };

/* What a rank needs to update its own nodes of one field from the other field (the sources). A source index counts the
 * rank's own source nodes first, then one ghost value per edge from another rank, by rank and then in the edges'
 * global order, which sender and receiver both know: values can be stored without any header. */
struct half_graph {
    int64_t n_targets, first_target;
    int64_t n_sources, first_source;
    int64_t n_ghosts;
    int64_t* in_start;  /* n_targets + 1 */
    int32_t* in_source; /* source index of each edge in */
    double* in_weight;
    int64_t* send_start;  /* ranks + 1: values to send to each rank */
    int32_t* send_source; /* own source whose value is sent there; once per edge, as the paper says */
    int64_t* recv_start;  /* ranks + 1: ghost values from each rank */
    int32_t* recv_source; /* which of its sources each ghost is */
};

/* First of the `n` nodes of one field that belongs to `part` of `parts`. */
int64_t graph_first(int64_t n, int64_t part, int64_t parts);

void graph_build(struct half_graph* half, const struct graph_options* options, enum field target, int rank, int ranks);
void graph_free(struct half_graph* half);

/* Start value of node `i` of a field, in [0, 1). */
double graph_initial(const struct graph_options* options, enum field field, int64_t i);

/* target_i -= sum over edges of weight x source: the core of EM3D, in a fixed order of summation. Two flop per edge. */
void graph_update_node(const struct half_graph* half, int64_t target, const double* sources, double* targets);
void graph_update(const struct half_graph* half, const double* sources, double* targets);

/* Partial checksum of `n` nodes of a field from `first` on; partial sums add up. */
uint64_t graph_checksum(enum field field, int64_t first, int64_t n, const double* values);

/* The same graph on one rank: what the checksum of both fields must be after `iterations`. */
uint64_t graph_serial_checksum(const struct graph_options* options, int64_t iterations);

#endif
