/* o(n) and T(n): the time within a send or receive call, and half of a round trip.
 *
 * Paper: LogP Performance Assessment of Fast Network Interfaces, 4.1-4.2 (o and T as functions of the length).
 *   one_way        MPI_Send and MPI_Recv there and back. As in programs, the sender has just written the data, and the
 *                  receiver's memory has not been read by another rank: on one node either decides where caches have
 *                  them. Writing is not timed.
 *   send           MPI_Isend to a posted receive. Only the call is timed: the processor's part before it can continue.
 *   blocking_send  MPI_Send to a posted receive.
 *   receive        MPI_Recv of a message that has arrived: after it said that it is ready the receiver computes
 *                  for settle_s without calling MPI. What the library leaves to the receiver's call is in it.
 *   stream         CAL_STREAM calls of MPI_Send to as many of MPI_Recv, then a message back, less the time of one
 *                  message and one back: time per further message, in which no round trip is. */
#ifndef LOGPOST_CALIBRATION_MESSAGE_H
#define LOGPOST_CALIBRATION_MESSAGE_H

#include "calibration.h"

enum { CAL_STREAM = 128 };

struct cal_message {
    int bytes;
    double settle_s;     /* rank 0's counts */
    char *buffer, *into; /* of what is sent, and of what is received */
};

/* Samples (see cal_measure) of a pair whose `what` is a struct cal_message; rank 0 times. */
cal_sample cal_one_way, cal_stream, cal_send, cal_blocking_send, cal_receive;

#endif
