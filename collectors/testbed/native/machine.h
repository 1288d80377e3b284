/* What the ranks of a simulated run share: the machine's overheads, gaps, latencies, eager limit and finite capacity.
 *
 * SMPI runs all ranks in one process and gives each its own copy of the program's globals (and so of the collector's,
 * which is linked into the program). This library is linked dynamically, so it exists once.
 *
 * Times are simulated seconds. An actor is a rank; it is named by its number from 0. */
#ifndef LOGPOST_TESTBED_MACHINE_H
#define LOGPOST_TESTBED_MACHINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called by every rank. The first call reads the file named by LOGPOST_TESTBED and takes over SimGrid's costs. */
void lpt_open(void);

/* Whether a message of this size waits for its receiver (is larger than the eager limit). */
int lpt_is_rendezvous(size_t bytes);

/* Whether the machine has a finite capacity, so that the four calls below matter. */
int lpt_is_finite(void);

/* Whether a message to `rank` finds room there now. */
int lpt_has_room(int rank, size_t bytes);

/* Waits, in the order of arrival, until it does. */
void lpt_wait_for_room(int rank, size_t bytes);

/* Counts a message in flight to `rank`; takes it off again when `rank` has received it. */
void lpt_sent(int rank, size_t bytes);
void lpt_received(int rank, size_t bytes);

/* The receive overhead of a message. */
double lpt_receive_overhead(size_t bytes, int is_local);

/* Overheads that SMPI has charged the calling rank for receives so far (it charges them where the sender did not wait).
 */
double lpt_charged(void);

/* From here on the calling rank's receives cost its processor nothing (one-sided operations), until called with 0. */
void lpt_one_sided(int inside);

/* Lets the calling rank be busy. */
void lpt_busy(double seconds);

/* Whether two ranks are on one node. */
int lpt_same_host(int a, int b);

#ifdef __cplusplus
}
#endif
#endif
