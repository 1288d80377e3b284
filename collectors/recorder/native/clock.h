/* The clock of a process: the time stamp counter where it ticks at one rate in every state of every core (17 ns a
 * reading in a virtual machine, and it overlaps with other work), else CLOCK_MONOTONIC_RAW (32 ns). */
#ifndef LOGPOST_CLOCK_H
#define LOGPOST_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(LOGPOST_SIMULATED)
#include <math.h>
#include <simgrid/engine.h>
#endif

extern __attribute__((visibility("hidden"))) int lp_clock; /* enum lp_clock_kind */

#if defined(LOGPOST_SIMULATED)

/* All ranks of a simulation share its clock; a tick is a picosecond. */
static inline uint64_t lp_now(void) {
    return (uint64_t)llrint(simgrid_get_clock() * 1e12);
}

static inline uint64_t lp_clock_ns(clockid_t id) {
    (void)id;
    return lp_now() / 1000;
}

#else

__attribute__((noinline, unused)) static uint64_t lp_clock_ns(clockid_t id) {
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* In place in every wrapper, two reads a call; a compiler counts its callers and would make it a call. */
__attribute__((always_inline)) static inline uint64_t lp_now(void) {
#if defined(__x86_64__)
    if (__builtin_expect(lp_clock == 1, 1))
        return __builtin_ia32_rdtsc(); /* <x86intrin.h>, which names it, compiles more slowly than all else here */
#endif
    return lp_clock_ns(CLOCK_MONOTONIC_RAW);
}

/* The clock that this process reads: the system's boot id and the time namespace (a container may see its clocks
 * shifted). Processes with one name share a clock. Empty when unknown. */
enum { LP_CLOCK_NAME = 128 };
void lp_clock_name(char name[LP_CLOCK_NAME]);

#endif

#endif
