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

/* A call that may finish receives begins: SMPI has charged none of them yet. */
void lpt_begin(void);

/* A receive is finished: the wait for the NIC and the receive overhead, unless SMPI has charged them since lpt_begin
 * (it does where the sender did not wait). `from`: rank of the world; -1: not known. */
void lpt_finish(size_t bytes, int from);

/* From here on the calling rank's receives cost its processor nothing (one-sided operations), until called with 0. */
void lpt_one_sided(int inside);

#ifdef __cplusplus
}
#endif
#endif
