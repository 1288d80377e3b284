#include "processor.h"

#include "../logpost_compute.h"

#if LOGPOST_COMPUTE_IS_SIMULATED

#include <xbt/config.h>

#define LOOK_CYCLES 11        /* a local load that misses, as what is waited for has changed (SENS Fig. 3) */
#define SMALLEST_CYCLE_S 1e-8 /* where no processor is emulated: keeps a loop of looks from lasting no time */

void processor_open(struct processor* p, double cycle_ns) {
    *p = (struct processor){.cycle_s = cycle_ns * 1e-9};
}

void processor_busy(struct processor* p, double cycles) {
    logpost_compute_seconds(cycles * p->cycle_s);
}

void processor_look(const struct processor* p) {
    logpost_compute_seconds(LOOK_CYCLES * (p->cycle_s > 0 ? p->cycle_s : SMALLEST_CYCLE_S));
}

void processor_tests_for_free(void) {
    if (sg_cfg_get_double("smpi/test") > 0)
        sg_cfg_set_double("smpi/test", 0);
}

#else

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

/* A single oversleep longer than this is a lost time slice, which a real processor would have lost as well. */
#define LARGEST_SURPLUS_S 1e-3

void processor_open(struct processor* p, double cycle_ns) {
    *p = (struct processor){.cycle_s = cycle_ns * 1e-9};
    /* By default Linux delays a wake-up by up to 50 us to batch it with others. */
    if (cycle_ns > 0)
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void processor_busy(struct processor* p, double cycles) {
    double wanted = cycles * p->cycle_s - p->surplus_s;
    if (p->cycle_s <= 0)
        return;
    if (wanted <= 0) {
        p->surplus_s = -wanted;
        return;
    }
    double start = now_s();
    struct timespec pause = {(time_t)wanted, (long)((wanted - (double)(time_t)wanted) * 1e9)};
    nanosleep(&pause, NULL);
    double surplus = now_s() - start - wanted;
    p->surplus_s = surplus < 0 ? 0 : surplus > LARGEST_SURPLUS_S ? LARGEST_SURPLUS_S : surplus;
}

void processor_look(const struct processor* p) {
    (void)p;
    sched_yield();
}

void processor_tests_for_free(void) {}

#endif
