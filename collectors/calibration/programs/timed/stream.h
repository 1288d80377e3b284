/* Pairs that stream at once: windows of MPI_Isend to posted receives; the receiver's token ends a window.
 *
 * Paper: Optimizing Communication Overlap for High-Speed Networks (Iancu & Strohmaier) 2.1. */
#ifndef LOGPOST_CALIBRATION_STREAM_H
#define LOGPOST_CALIBRATION_STREAM_H

#include "calibration.h"

enum { CAL_FEWEST_IN_WINDOW = 4 };

/* Ranks of the group: senders 0..pairs-1, their receivers pairs..2 pairs-1 in the same order. */
struct cal_stream {
    int bytes, window, pairs;
    char* memory;
    MPI_Request* requests;
};

/* A sample (see cal_measure) whose `what` is a struct cal_stream: time per message; the senders time. */
cal_sample cal_streams;

/* Messages of a window: as many as give window_bytes, from CAL_FEWEST_IN_WINDOW to most. */
int cal_window(double bytes, double window_bytes, double most);

#endif
