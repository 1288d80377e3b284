/* The duration of one-sided transfers between the two ranks of a pair: from the begin of MPI_Put or MPI_Get to the end
 * of MPI_Win_flush, while the target waits in MPI_Recv.
 *
 * As in programs, one end has just written the data, and the target has read what a put before brought: on one node
 * either decides where caches have them. Writing and reading are not timed. */
#ifndef LOGPOST_CALIBRATION_TRANSFER_H
#define LOGPOST_CALIBRATION_TRANSFER_H

#include "calibration.h"

struct cal_transfer {
    bool get;
    int bytes;
    char *memory, *buffer; /* each rank's memory in the window, and outside of it */
    MPI_Win window;        /* of the pair, on which rank 0 has a lock of rank 1 */
};

/* A sample (see cal_measure) of a pair whose `what` is a struct cal_transfer; rank 0 times. */
cal_sample cal_one_transfer;

#endif
