/* The order in which a rank sends its blocks of ghost values: EM3D's performance bug, and its cure.
 *
 * original   destination after destination, in the order of the ranks. Every rank walks the same way and starts at the
 *            same rank, so all of them hit the same receiver at once while the other receivers idle.
 * improved   LoGPC section 5.3.1: "We rewrote the core communication phase so that the message distribution was more
 *            uniform (i.e., random)". `random` shuffles the blocks of all destinations, each rank in its own way;
 *            `staggered` walks the destinations starting behind the own rank, the usual cure today. */
#ifndef LOGPOST_EM3D_SCHEDULE_H
#define LOGPOST_EM3D_SCHEDULE_H

#include <stdint.h>

enum order { ORDER_ORIGINAL = 0, ORDER_IMPROVED = 1 };
enum spread { SPREAD_RANDOM = 0, SPREAD_STAGGERED = 1 };

struct block {
    int32_t peer;  /* destination, or source of a block to receive */
    int32_t tag;   /* number of the block within the pair */
    int64_t first; /* first of its values in send_source, or first ghost value */
    int32_t count;
};

struct schedule {
    struct block* blocks;
    int64_t n;
};

/* Blocks of at most `values` values (0: one block per peer) from the prefix sums `start` (ranks + 1). */
struct schedule schedule_build(const int64_t* start, int ranks, int64_t values);

/* Puts the blocks to send into the order of communication. */
void schedule_order(struct schedule* schedule, enum order order, enum spread spread, int rank, int ranks,
                    uint64_t seed);

#endif
