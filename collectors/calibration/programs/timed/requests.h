/* cost(M, Delta) of a burst of requests, whose replies are handled while it is issued.
 *
 * Paper: LogP Performance Assessment of Fast Network Interfaces (Culler, Liu, Martin & Yoshikawa) 3.1-3.2, 3.5, 4.2.
 *   start; M times { issue a request; compute for Delta }; stop; handle the remaining replies
 * Issuing looks for replies first and handles those that have arrived, as an Active Message request does. At most
 * `window` requests are outstanding: the capacity of LogP's network, which a message passing library with its unlimited
 * buffers lacks; beyond it a reply is waited for before the next request. */
#ifndef LOGPOST_CALIBRATION_REQUESTS_H
#define LOGPOST_CALIBRATION_REQUESTS_H

#include "calibration.h"

enum { CAL_REPLY_BYTES = 8 };

struct cal_requests {
    int bytes, requests, window, peers; /* peers: servers, or requesters of one server */
    double delta_s;
    char *buffer, *replies; /* of `bytes`, at least CAL_REPLY_BYTES; of window * CAL_REPLY_BYTES */
    MPI_Request* ring;      /* of window */
};

/* Samples (see cal_measure) whose `what` is a struct cal_requests. Rank 0 of the group issues, the others serve.
 * round_trip and waiting_replies: a pair. waiting_replies: delta_s is computed once, after all requests. */
cal_sample cal_request_burst, cal_round_trip, cal_waiting_replies;

/* The last rank of the group serves, all others send requests to it, starting together, and time. */
cal_sample cal_many_to_one;

#endif
