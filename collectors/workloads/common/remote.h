/* Memory of each rank that the others read and change without the owner's help: what SENS calls shared memory, and
 * one-sided communication. Words of 8 bytes: doubles, or int64 that are added to. remote_mpi.c: an MPI window, always
 * open to all; remote_shmem.c: the symmetric heap.
 *
 * On the testbed, accesses that stand for cache misses (remote_read, remote_prefetch, remote_update) take the messages
 * that they take on the Alewife, because SMPI's MPI_Get has no request: a request of 8 bytes, and the line or the
 * acknowledgement back. remote_invalidate exists there alone. */
#ifndef LOGPOST_WORKLOADS_REMOTE_H
#define LOGPOST_WORKLOADS_REMOTE_H

#include <stdint.h>

#include "processor.h"
#include "team.h"

struct remote;

/* `words` may differ between the ranks. All words are 0. Collective. */
struct remote* remote_open(const struct team* team, int64_t words, const struct processor* processor, const char* name);
void remote_close(struct remote* remote);

/* The own words. */
void* remote_own(struct remote* remote);

/* Load: waits for the words. */
void remote_read(struct remote* remote, int rank, int64_t at, void* to, int64_t words);

/* Starts a load of which at most REMOTE_AHEAD may be in flight. Its number is what remote_next said before, and must
 * not be that of one in flight. */
#define REMOTE_AHEAD 8 /* more than any program has ahead: two values of two accesses, and writes (SENS 4) */
int remote_next(const struct remote* remote);
void remote_prefetch(struct remote* remote, int rank, int64_t at, void* to, int64_t words);

/* Waits for a prefetched load, by its number. */
void remote_arrive(struct remote* remote, int load);

/* Starts an atomic addition to each of some words; `what` must stay until remote_quiet. */
void remote_add(struct remote* remote, int rank, int64_t at, const int64_t* what, int64_t words);

/* The same, and waits until it is done, as under sequential consistency. */
void remote_update(struct remote* remote, int rank, int64_t at, const int64_t* what, int64_t words);

/* Starts a store; `from` must stay until remote_quiet. */
void remote_put(struct remote* remote, int rank, int64_t at, const void* from, int64_t words);

/* The same for one word whose owner looks at it concurrently: it changes at once. */
void remote_set(struct remote* remote, int rank, int64_t at, const void* from);

/* Testbed: takes the lock of a value at a rank: request and reply of a miss. Giving it back is a store to an own line.
 */
void remote_lock(struct remote* remote, int rank);

/* Testbed: makes a rank forget its copy of a value; `wait`: until it has replied. */
void remote_invalidate(struct remote* remote, int rank, int wait);

/* All own stores and additions are there. */
void remote_quiet(struct remote* remote);

/* All of everybody's are there, and can be seen in the own words. Collective. */
void remote_barrier(struct remote* remote);

/* One more look at the own words, in a loop that waits for them to change. */
void remote_look(struct remote* remote);

#endif
