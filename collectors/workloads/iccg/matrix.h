/* A symmetric positive definite matrix and its incomplete Cholesky factor without fill, IC(0). */
#ifndef LOGPOST_ICCG_MATRIX_H
#define LOGPOST_ICCG_MATRIX_H

#include <stddef.h>
#include <stdint.h>

/* Lower triangle by rows, diagonal last in each row. */
struct lower {
    int64_t n;
    int64_t* start; /* n + 1 */
    int32_t* column;
    double* value;
};

/* Stiffness matrix of a brick of side^3 nodes with 3 degrees of freedom each, every node coupled to its 26 neighbours:
 * the pattern of a structural finite-element matrix. Diagonally dominant. */
struct lower matrix_brick(int64_t side, uint64_t seed);

/* Reads a symmetric Matrix Market file (coordinate; real, integer or pattern). On failure returns n = 0 and writes one
 * line to `problem`. A pattern gets the values of a graph's Laplacian plus 1. */
struct lower matrix_read(const char* path, char* problem, size_t room);

/* Replaces the matrix by its factor L, after scaling it to a unit diagonal. Where a pivot fails, the diagonal is raised
 * (Manteuffel's shift); returns the shift that was needed. */
double matrix_factor(struct lower* m);

void matrix_free(struct lower* m);

#endif
