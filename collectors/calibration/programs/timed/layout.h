/* log3P's times of data in memory: to oneself, to another rank, and the memory copy.
 *
 * Paper: log_nP and log_3P (Cameron, Ge & Sun) 3.2 and 4.1: doubles, MPI_Send and MPI_Recv, MPI_Type_vector.
 *   to_self    T00: a message to oneself (rank 0 of the group), from one array to another
 *   to_other   T01: half of a ping-pong of one array between ranks 0 and 1
 *   copy       T_mem: memcpy (contiguous), or the loop that gathers (packed) */
#ifndef LOGPOST_CALIBRATION_LAYOUT_H
#define LOGPOST_CALIBRATION_LAYOUT_H

#include "calibration.h"

struct cal_layout {
    int64_t blocks, doubles, step; /* blocks of `doubles`, one every `step` doubles */
    bool packed;                   /* by a loop of the program's own */
    MPI_Datatype type;             /* of what is handed to MPI: one of it */
    double *here, *there, *packed_here, *packed_there;
};

/* Samples (see cal_measure) whose `what` is a struct cal_layout; rank 0 times. */
cal_sample cal_layout_to_self, cal_layout_to_other, cal_layout_copy;

enum cal_form { CAL_DATATYPE, CAL_PACKED, CAL_CONTIGUOUS };

/* A visit to `bytes` in blocks of `block`, one every `stride` bytes (contiguous: equal), and its line. `transfer`:
 * self, remote or memory_copy, as `sample` has it. */
void cal_visit_layout(struct cal* c, MPI_Comm group, cal_sample* sample, struct cal_layout* l, enum cal_form form,
                      int64_t bytes, int64_t block, int64_t stride, int round, const char* transfer,
                      const char* locality);

#endif
