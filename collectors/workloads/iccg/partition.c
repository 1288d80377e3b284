#include "partition.h"

#include <string.h>

#include "../common/memory.h"

struct graph {
    int64_t *start, *next;
    int32_t* neighbour;
    int32_t* part;  /* of each row, while it is being cut: the first part that its rows may still belong to */
    int32_t* queue; /* rows in the order in which a search reaches them */
    char* reached;
};

static void open_graph(struct graph* g, const struct lower* m) {
    g->start = LP_NEW(int64_t, m->n + 1);
    g->next = LP_NEW(int64_t, m->n + 1);
    g->neighbour = LP_NEW(int32_t, 2 * m->start[m->n]);
    g->part = LP_NEW(int32_t, m->n);
    g->queue = LP_NEW(int32_t, m->n);
    g->reached = LP_NEW(char, m->n);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t p = m->start[i]; p < m->start[i + 1] - 1; p++) {
            g->start[i + 1]++;
            g->start[m->column[p] + 1]++;
        }
    for (int64_t i = 0; i < m->n; i++)
        g->start[i + 1] += g->start[i];
    memcpy(g->next, g->start, (size_t)(m->n + 1) * sizeof *g->next);
    for (int32_t i = 0; i < m->n; i++)
        for (int64_t p = m->start[i]; p < m->start[i + 1] - 1; p++) {
            g->neighbour[g->next[i]++] = m->column[p];
            g->neighbour[g->next[m->column[p]]++] = i;
        }
}

static void close_graph(struct graph* g) {
    free(g->start);
    free(g->next);
    free(g->neighbour);
    free(g->part);
    free(g->queue);
    free(g->reached);
}

/* Rows of one part breadth first from `root`, then from those that it does not reach. Returns how many were reached. */
static int64_t search(struct graph* g, const int32_t* rows, int64_t n, int32_t root) {
    int64_t found = 0, done = 0, connected = 0;
    for (int64_t i = 0; i < n; i++)
        g->reached[rows[i]] = 0;
    for (int64_t i = -1; i < n; i++) {
        const int32_t seed = i < 0 ? root : rows[i];
        if (g->reached[seed])
            continue;
        g->reached[seed] = 1;
        g->queue[found++] = seed;
        for (; done < found; done++) {
            const int32_t row = g->queue[done];
            for (int64_t p = g->start[row]; p < g->start[row + 1]; p++) {
                const int32_t other = g->neighbour[p];
                if (g->part[other] != g->part[row] || g->reached[other])
                    continue;
                g->reached[other] = 1;
                g->queue[found++] = other;
            }
        }
        if (i < 0)
            connected = found;
    }
    return connected;
}

static void cut(struct graph* g, int32_t* rows, int64_t n, int32_t first, int parts) {
    if (parts < 2 || n == 0)
        return;
    /* The row that a search reaches last is at the rim. */
    const int64_t connected = search(g, rows, n, rows[0]);
    search(g, rows, n, g->queue[connected - 1]);
    memcpy(rows, g->queue, (size_t)n * sizeof *rows);
    const int left = parts / 2;
    const int64_t middle = n * left / parts;
    for (int64_t i = middle; i < n; i++)
        g->part[rows[i]] = first + left;
    cut(g, rows, middle, first, left);
    cut(g, rows + middle, n - middle, first + left, parts - left);
}

void partition_graph(const struct lower* m, int parts, int32_t* owner) {
    struct graph g;
    int32_t* rows = LP_NEW(int32_t, m->n);
    open_graph(&g, m);
    for (int32_t i = 0; i < m->n; i++)
        rows[i] = i;
    cut(&g, rows, m->n, 0, parts);
    memcpy(owner, g.part, (size_t)m->n * sizeof *owner);
    close_graph(&g);
    free(rows);
}
