/* Eager or rendezvous: the time of a send whose receive is posted late, by message size.
 *
 * The receiver says that it is there, computes for a while without calling MPI, and only then receives. An eager send
 * returns at once, a rendezvous waits for the delay. From the sizes 1, 2, 4, … the first waiting one is found, and
 * between it and the one before it a bisection continues until two neighbouring sizes differ. All sizes that were tried
 * are written. log_nP and log_3P 3.1: "short", "long" (eager) and "very long" (handshake) messages of MPICH.
 *
 * The delay must be long against the copying, and grows with it so that small messages on a slow network need not wait
 * as long as large ones: it is least_delay_s for no bytes, longest_delay_s for the largest, and linear between. */
#ifndef LOGPOST_CALIBRATION_LATE_H
#define LOGPOST_CALIBRATION_LATE_H

#include "calibration.h"

enum { CAL_MOST_TRIES = 200 };

struct cal_late {
    int64_t bytes, largest;
    double delay_s, least_delay_s, longest_delay_s; /* of this size, of none, of the largest */
    bool silent;                                    /* the receiver does not call MPI during the delay */
    char* buffer;                                   /* of the largest */
    int tries;                                      /* sends at each size; the median decides */
};

/* By both ranks of a pair. Returns the largest size that does not wait where a larger one does; else -1. */
int64_t cal_bisect(struct cal* c, const struct cal_pair* pair, struct cal_late* l, int round);

#endif
