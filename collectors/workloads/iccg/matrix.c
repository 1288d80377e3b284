#include "matrix.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "../common/memory.h"
#include "../common/random.h"

#define FREEDOMS 3 /* displacements of a node of a structure in space */

struct entry {
    int32_t row, column;
    double value;
};

static int by_row(const void* a, const void* b) {
    const struct entry *x = a, *y = b;
    if (x->row != y->row)
        return (x->row > y->row) - (x->row < y->row);
    return (x->column > y->column) - (x->column < y->column);
}

/* Entries of the lower triangle; a missing diagonal becomes 1, entries given twice are added. */
static struct lower assemble(struct entry* entries, int64_t n_entries, int64_t n) {
    struct lower m = {n, LP_NEW(int64_t, n + 1), LP_NEW(int32_t, n_entries + n), LP_NEW(double, n_entries + n)};
    int64_t at = 0, k = 0;
    qsort(entries, (size_t)n_entries, sizeof *entries, by_row);
    for (int64_t row = 0; row < n; row++) {
        const int64_t begin = at;
        for (; k < n_entries && entries[k].row == row; k++) {
            if (at > begin && m.column[at - 1] == entries[k].column) {
                m.value[at - 1] += entries[k].value;
                continue;
            }
            m.column[at] = entries[k].column;
            m.value[at++] = entries[k].value;
        }
        if (at == begin || m.column[at - 1] != row) {
            m.column[at] = (int32_t)row;
            m.value[at++] = 1;
        }
        m.start[row + 1] = at;
    }
    return m;
}

struct lower matrix_brick(int64_t side, uint64_t seed) {
    const int64_t nodes = side * side * side, n = nodes * FREEDOMS;
    struct entry* entries = LP_NEW(struct entry, nodes * 14 * FREEDOMS * FREEDOMS);
    double* diagonal = LP_NEW(double, n);
    int64_t count = 0;
    for (int64_t a = 0; a < nodes; a++) {
        for (int neighbour = 0; neighbour <= 13; neighbour++) { /* the 13 with a smaller number, and itself */
            int64_t x = a % side + neighbour % 3 - 1, y = a / side % side + neighbour / 3 % 3 - 1,
                    z = a / side / side + neighbour / 9 - 1;
            if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side)
                continue;
            int64_t b = (z * side + y) * side + x;
            for (int i = 0; i < FREEDOMS; i++) {
                for (int j = 0; j < (a == b ? i : FREEDOMS); j++) {
                    int64_t row = a * FREEDOMS + i, column = b * FREEDOMS + j;
                    /* Any values below a dominant diagonal: times depend on the pattern. */
                    double value = lp_uniform(seed, (uint64_t)row, (uint64_t)column) - 0.7;
                    entries[count++] = (struct entry){(int32_t)row, (int32_t)column, value};
                    diagonal[row] += fabs(value);
                    diagonal[column] += fabs(value);
                }
            }
        }
    }
    /* Dominant, so that the matrix is positive definite. */
    for (int64_t row = 0; row < n; row++)
        entries[count++] = (struct entry){(int32_t)row, (int32_t)row, 1.05 * diagonal[row] + 0.01};
    struct lower m = assemble(entries, count, n);
    free(entries);
    free(diagonal);
    return m;
}

static struct lower fail(char* problem, size_t room, const char* path, const char* reason) {
    snprintf(problem, room, "%s: %s", path, reason);
    return (struct lower){0, NULL, NULL, NULL};
}

struct lower matrix_read(const char* path, char* problem, size_t room) {
    char line[1024];
    FILE* file = fopen(path, "r");
    if (!file)
        return fail(problem, room, path, "cannot be opened");
    if (!fgets(line, sizeof line, file))
        line[0] = 0;
    for (char* c = line; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    const int pattern = strstr(line, "pattern") != NULL;
    if (strncmp(line, "%%matrixmarket", 14) != 0 || !strstr(line, "coordinate") || !strstr(line, "symmetric") ||
        strstr(line, "skew") || strstr(line, "complex")) {
        fclose(file);
        return fail(problem, room, path, "is not a Matrix Market file of a real symmetric coordinate matrix");
    }
    do {
        if (!fgets(line, sizeof line, file))
            line[0] = 0;
    } while (line[0] == '%');
    long long n = 0, columns = 0, count = 0;
    if (sscanf(line, "%lld %lld %lld", &n, &columns, &count) != 3 || n < 1 || n != columns || n > INT32_MAX ||
        count < 1 || count > (1LL << 40)) {
        fclose(file);
        return fail(problem, room, path, "has no valid line of sizes");
    }
    struct entry* entries = LP_NEW(struct entry, count + n);
    long long read = 0;
    for (; read < count && fgets(line, sizeof line, file); read++) {
        long long row, column;
        double value = -1;
        if (sscanf(line, "%lld %lld %lf", &row, &column, &value) != (pattern ? 2 : 3) || row < 1 || column < 1 ||
            row > n || column > n)
            break;
        entries[read].row = (int32_t)((row > column ? row : column) - 1);
        entries[read].column = (int32_t)((row > column ? column : row) - 1);
        entries[read].value = value;
    }
    fclose(file);
    if (read < count) {
        free(entries);
        return fail(problem, room, path, "ends early or has an invalid line");
    }
    if (pattern) { /* diagonal: neighbours + 1 */
        double* degree = LP_NEW(double, n);
        for (long long k = 0; k < count; k++) {
            degree[entries[k].row] += entries[k].row != entries[k].column;
            degree[entries[k].column] += entries[k].row != entries[k].column;
            if (entries[k].row == entries[k].column)
                entries[k].value = 0;
        }
        for (int32_t i = 0; i < n; i++)
            entries[count++] = (struct entry){i, i, degree[i] + 1};
        free(degree);
    }
    struct lower m = assemble(entries, count, n);
    free(entries);
    return m;
}

/* L in place of the values; 0 where a pivot is not positive. Row by row: l_ik = (a_ik - sum_j l_ij l_kj) / l_kk. */
static int factor_in_place(const struct lower* m, double* value) {
    for (int64_t i = 0; i < m->n; i++) {
        for (int64_t p = m->start[i]; p < m->start[i + 1]; p++) {
            const int32_t k = m->column[p];
            double sum = value[p];
            int64_t a = m->start[i], b = m->start[k];
            while (a < p && b < m->start[k + 1] - 1) {
                if (m->column[a] == m->column[b])
                    sum -= value[a++] * value[b++];
                else if (m->column[a] < m->column[b])
                    a++;
                else
                    b++;
            }
            if (k < i)
                value[p] = sum / value[m->start[k + 1] - 1];
            else if (sum > 0)
                value[p] = sqrt(sum);
            else
                return 0;
        }
    }
    return 1;
}

double matrix_factor(struct lower* m) {
    double* scale = LP_NEW(double, m->n);
    double* value = LP_NEW(double, m->start[m->n]);
    double shift = 0;
    for (int64_t i = 0; i < m->n; i++) {
        double d = fabs(m->value[m->start[i + 1] - 1]);
        scale[i] = d > 0 ? 1 / sqrt(d) : 1;
    }
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t p = m->start[i]; p < m->start[i + 1]; p++)
            m->value[p] *= scale[i] * scale[m->column[p]];
    for (;; shift = shift > 0 ? 2 * shift : 1e-3) {
        memcpy(value, m->value, (size_t)m->start[m->n] * sizeof *value);
        for (int64_t i = 0; i < m->n; i++)
            value[m->start[i + 1] - 1] += shift;
        if (factor_in_place(m, value))
            break;
    }
    free(m->value);
    free(scale);
    m->value = value;
    return shift;
}

void matrix_free(struct lower* m) {
    free(m->start);
    free(m->column);
    free(m->value);
}
