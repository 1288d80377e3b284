#include "reduction.h"

/* In caches, as operands are that a message has just brought. */
static const int SIZES[CAL_REDUCTIONS] = {1 << 10, 16 << 10, CAL_LARGEST_REDUCTION};

double cal_reduce_local(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_reduction* d = what;
    (void)group;
    double start = cal_now();
    for (int r = 0; r < repeat; r++)
        MPI_Reduce_local(d->from, d->into, d->doubles, MPI_DOUBLE, MPI_SUM);
    return cal_since(c, start) / repeat;
}

void cal_visit_reductions(struct cal* c, MPI_Comm group, double* from, double* into, int round) {
    for (int i = 0; i < CAL_REDUCTIONS; i++) {
        struct cal_reduction d = {SIZES[i] / 8, from, into};
        struct cal_result r;
        for (int k = 0; k < d.doubles; k++) /* sums stay normal numbers */
            from[k] = into[k] = 1;
        cal_measure(c, group, 1, cal_reduce_local, &d, &r);
        cal_emit(c, &r, round, "reduction", "self", SIZES[i], "");
    }
}
