#include "geometry.h"

#include <math.h>
#include <string.h>

#include "memory.h"

/* Distance along one axis, the shorter way round in a repeating space. */
static double apart(double a, double b, double box) {
    double d = fabs(a - b);
    return box > 0 && d > box - d ? box - d : d;
}

static int by_second(const void* a, const void* b) {
    const int32_t *x = a, *y = b;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

struct cells {
    int64_t per_side;
    double low[3], size;
    int32_t *first, *next; /* linked list of the points in each cell */
};

static int64_t cell_index(const struct cells* c, const double* p, int axis) {
    int64_t k = (int64_t)((p[axis] - c->low[axis]) / c->size);
    return k < 0 ? 0 : k >= c->per_side ? c->per_side - 1 : k;
}

static struct cells sort_into_cells(const point* at, int64_t n, double radius, double box) {
    struct cells c = {.size = radius};
    double extent = box;
    for (int axis = 0; axis < 3; axis++) {
        double low = box > 0 || n == 0 ? 0 : at[0][axis], high = low;
        for (int64_t i = 0; box <= 0 && i < n; i++) {
            low = fmin(low, at[i][axis]);
            high = fmax(high, at[i][axis]);
        }
        c.low[axis] = low;
        extent = fmax(extent, high - low);
    }
    c.per_side = (int64_t)fmin(floor(extent / radius), 64);
    if (c.per_side < 1)
        c.per_side = 1;
    if (extent > 0)
        c.size = extent / (double)c.per_side; /* at least `radius`: neighbours are in adjacent cells */
    c.first = LP_NEW(int32_t, c.per_side* c.per_side* c.per_side);
    c.next = LP_NEW(int32_t, n);
    for (int64_t k = 0; k < c.per_side * c.per_side * c.per_side; k++)
        c.first[k] = -1;
    for (int64_t i = n - 1; i >= 0; i--) {
        int64_t k =
            (cell_index(&c, at[i], 0) * c.per_side + cell_index(&c, at[i], 1)) * c.per_side + cell_index(&c, at[i], 2);
        c.next[i] = c.first[k];
        c.first[k] = (int32_t)i;
    }
    return c;
}

int64_t geometry_pairs(const point* at, int64_t n, double radius, double box, int32_t (**pairs)[2]) {
    struct cells c = sort_into_cells(at, n, radius, box);
    int64_t found = 0, room = 16 * (n + 1);
    int32_t (*list)[2] = lp_allocate(room, sizeof *list);
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = found;
        int64_t middle[3];
        for (int axis = 0; axis < 3; axis++)
            middle[axis] = cell_index(&c, at[i], axis);
        for (int neighbour = 0; neighbour < 27; neighbour++) {
            const int step[3] = {neighbour / 9 - 1, neighbour / 3 % 3 - 1, neighbour % 3 - 1};
            int64_t cell = 0;
            int inside = 1;
            for (int axis = 0; axis < 3; axis++) {
                int64_t k = middle[axis] + step[axis];
                if (box > 0 && c.per_side >= 3)
                    k = (k + c.per_side) % c.per_side;
                inside = inside && k >= 0 && k < c.per_side;
                cell = cell * c.per_side + k;
            }
            for (int32_t j = inside ? c.first[cell] : -1; j >= 0; j = c.next[j]) {
                if (j <= i)
                    continue;
                double dx = apart(at[i][0], at[j][0], box), dy = apart(at[i][1], at[j][1], box),
                       dz = apart(at[i][2], at[j][2], box);
                if (dx * dx + dy * dy + dz * dz >= radius * radius)
                    continue;
                if (found == room) {
                    int32_t (*longer)[2] = lp_allocate(2 * room, sizeof *longer);
                    memcpy(longer, list, (size_t)room * sizeof *list);
                    free(list);
                    list = longer;
                    room *= 2;
                }
                list[found][0] = (int32_t)i;
                list[found++][1] = j;
            }
        }
        qsort(list + begin, (size_t)(found - begin), sizeof *list, by_second);
    }
    free(c.first);
    free(c.next);
    *pairs = list;
    return found;
}

struct keyed {
    double key;
    int32_t index;
};

static int by_key(const void* a, const void* b) {
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void bisect(const point* at, struct keyed* points, int64_t n, int first_part, int parts, int32_t* part_of) {
    if (parts == 1) {
        for (int64_t i = 0; i < n; i++)
            part_of[points[i].index] = first_part;
        return;
    }
    int longest = 0;
    double side = -1;
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            low = fmin(low, at[points[i].index][axis]);
            high = fmax(high, at[points[i].index][axis]);
        }
        if (high - low > side) {
            side = high - low;
            longest = axis;
        }
    }
    for (int64_t i = 0; i < n; i++)
        points[i].key = at[points[i].index][longest];
    qsort(points, (size_t)n, sizeof *points, by_key);
    const int left = parts / 2;
    const int64_t middle = n * left / parts;
    bisect(at, points, middle, first_part, left, part_of);
    bisect(at, points + middle, n - middle, first_part + left, parts - left, part_of);
}

void geometry_bisect(const point* at, int64_t n, int parts, int32_t* part_of) {
    struct keyed* points = LP_NEW(struct keyed, n);
    for (int64_t i = 0; i < n; i++)
        points[i].index = (int32_t)i;
    bisect(at, points, n, 0, parts, part_of);
    free(points);
}
