/* What a reduction computes: MPI_Reduce_local of doubles by MPI_SUM. Its slope over the size is gamma (Thakur,
 * Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005, section 3). */
#ifndef LOGPOST_CALIBRATION_REDUCTION_H
#define LOGPOST_CALIBRATION_REDUCTION_H

#include "calibration.h"

struct cal_reduction {
    int doubles;
    double *from, *into;
};

/* A sample (see cal_measure) of one rank, whose `what` is a struct cal_reduction. */
cal_sample cal_reduce_local;

/* A visit to each size, and its line. The group is one rank. */
void cal_visit_reductions(struct cal* c, MPI_Comm group, double* from, double* into, int round);

enum { CAL_REDUCTIONS = 3, CAL_LARGEST_REDUCTION = 128 << 10 };

#endif
