/* FNV-1a, 64 bits: of data in several pieces, one after the other, beginning with LP_HASH. */
#ifndef LOGPOST_HASH_H
#define LOGPOST_HASH_H

#include <stddef.h>
#include <stdint.h>

#define LP_HASH 0xcbf29ce484222325ull

static inline uint64_t lp_hash(uint64_t hash, const void* data, size_t n) {
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char*)data)[i]) * 0x100000001b3ull;
    return hash;
}

#endif
