/* How a program states its computation, so that it costs time on the virtual testbed as well as on a real machine.
 *
 *   logpost_compute_seconds(s)   work that takes s seconds of processor time
 *   logpost_compute_flops(n)     work of n floating-point operations
 *   logpost_account_flops(n)     n operations that the program has just done itself
 *
 *                              real MPI                                     SimGrid SMPI
 *   logpost_compute_seconds    arithmetic until the thread has used s       simulated execution of s seconds on the
 *                              seconds of CPU time (an oversubscribed       simulated host, at any speed
 *                              core needs more, as for any real work)
 *   logpost_compute_flops      n multiply and add operations                simulated execution of n flop
 *   logpost_account_flops      nothing: the arithmetic was the work         simulated execution of n flop
 *
 * On the testbed the host's own time between MPI calls is not measured (smpi/simulate-computation:no), so computation
 * that is not stated is free there. A header alone, to be copied next to any program.
 */
#ifndef LOGPOST_COMPUTE_H
#define LOGPOST_COMPUTE_H

#include <stdint.h>
#include <time.h>

/* smpicc includes smpi_helpers.h in front of everything. */
#if defined(SMPI_HELPERS_H) || defined(SMPI_H)
#define LOGPOST_COMPUTE_IS_SIMULATED 1
#include <simgrid/host.h>
#include <smpi/smpi.h>

static inline void logpost_account_flops(double flops) {
    if (flops > 0)
        smpi_execute_flops(flops);
}

static inline void logpost_compute_flops(double flops) {
    logpost_account_flops(flops);
}

/* Not smpi_execute(): it scales by smpi/host-speed and drops everything under a microsecond. */
static inline void logpost_compute_seconds(double seconds) {
    if (seconds > 0)
        smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self()));
}

#else
#define LOGPOST_COMPUTE_IS_SIMULATED 0

/* Four independent chains keep the loop bound by throughput, not by one addition's latency; the volatile sink keeps the
 * compiler from removing it. */
static inline void logpost_compute_flops(double flops) {
    static volatile double sink;
    double a = 1.0, b = 1.1, c = 1.2, d = 1.3;
    for (int64_t left = (int64_t)flops; left > 0; left -= 8) {
        a = a * 0.999999 + 1e-6;
        b = b * 0.999999 + 1e-6;
        c = c * 0.999999 + 1e-6;
        d = d * 0.999999 + 1e-6;
    }
    sink = a + b + c + d;
    (void)sink;
}

static inline void logpost_account_flops(double flops) {
    (void)flops;
}

static inline void logpost_compute_seconds(double seconds) {
    struct timespec now;
    if (!(seconds > 0))
        return;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    double end = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
    do {
        logpost_compute_flops(400); /* ~0.2 us: the resolution */
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < end);
}

#endif
#endif
