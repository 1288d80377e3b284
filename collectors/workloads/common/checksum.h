/* A checksum of doubles that depends on every bit and every position but not on the order of summation: it is the same
 * for any distribution over ranks, and partial sums add (modulo 2^64). */
#ifndef LOGPOST_WORKLOADS_CHECKSUM_H
#define LOGPOST_WORKLOADS_CHECKSUM_H

#include <string.h>
#include "random.h"

static inline uint64_t lp_checksum_term(uint64_t position, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return lp_random(bits, position, 0x73756du);
}

#endif
