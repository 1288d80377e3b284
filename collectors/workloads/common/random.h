/* Random numbers as a pure function of (seed, a, b): every rank can generate any part of a graph or a matrix without
 * asking another one, and the result does not depend on the number of ranks. The mixing is splitmix64's finalizer
 * (Steele, Lea & Flood, OOPSLA 2014). */
#ifndef LOGPOST_WORKLOADS_RANDOM_H
#define LOGPOST_WORKLOADS_RANDOM_H

#include <stdint.h>

static inline uint64_t lp_mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t lp_random(uint64_t seed, uint64_t a, uint64_t b) {
    return lp_mix(lp_mix(lp_mix(seed) ^ a) + b);
}

/* Uniform in [0, 1), 53 bits. */
static inline double lp_uniform(uint64_t seed, uint64_t a, uint64_t b) {
    return (double)(lp_random(seed, a, b) >> 11) * 0x1p-53;
}

/* Uniform in 0..n-1; the bias is below n / 2^64. */
static inline int64_t lp_below(uint64_t seed, uint64_t a, uint64_t b, int64_t n) {
    return (int64_t)(lp_random(seed, a, b) % (uint64_t)n);
}

/* Fisher-Yates shuffle of order[0..n-1]. */
static inline void lp_shuffle(uint64_t seed, int32_t* order, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = lp_below(seed, (uint64_t)i, 0x73687566u, i + 1);
        int32_t keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
}

#endif
