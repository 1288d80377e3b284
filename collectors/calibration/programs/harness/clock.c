/* The clock, what reading it costs, and computation without communication. */
#include "parts.h"

#if SIMULATED
#include <simgrid/host.h>
#include <smpi/smpi.h>
#endif

double cal_now(void) {
    return MPI_Wtime();
}

double cal_since(const struct cal* c, double start_s) {
    double passed = cal_now() - start_s - c->clock_cost_s;
    return passed > 0 ? passed : 0;
}

#if SIMULATED
void cal_compute(const struct cal* c, double seconds) {
    (void)c;
    if (seconds > 0)
        smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self()));
}

void cal_measure_clock(struct cal* c) {
    /* Simulated time stops between calls (smpi/wtime:0); the resolution is that of a double. */
    c->clock_cost_s = 0;
    c->clock_resolution_s = 1e-12;
    c->spins_per_s = 0;
}
#else
/* One chain of dependent operations: its duration depends on nothing but the core's clock. Through volatile at both
 * ends, so that no compiler moves it past the clock or shares it between calls. */
static void spin(int64_t times) {
    volatile double ends = 1.0;
    double x = ends;
    for (int64_t i = 0; i < times; i++)
        x = x * 0.999999 + 1e-6;
    ends = x;
}

void cal_compute(const struct cal* c, double seconds) {
    spin((int64_t)(seconds * c->spins_per_s));
}

/* The mean over a row of reads: a clock may tick in steps as long as a read (10 ns where that is 25), and one
 * read after another then shows one step or another, never what it costs. Of many rows the median, which those that an
 * interrupt made longer do not move. */
static double cost_of_reading(void) {
    enum { ROWS = 101, READS = 1000 };
    double mean[ROWS];
    for (int i = 0; i < ROWS; i++) {
        double start = cal_now(), last = start;
        for (int k = 0; k < READS; k++)
            last = cal_now();
        mean[i] = (last - start) / READS;
    }
    return cal_median(mean, ROWS);
}

/* The resolution of times: MPI_Wtick, or the cost of looking where that is more (a clock in finer steps than that). */
static double step_of_clock(void) {
    enum { TIMES = 1001 };
    double least = 1, tick = MPI_Wtick();
    for (int i = 0; i < TIMES; i++) {
        double a = cal_now(), b;
        while ((b = cal_now()) == a)
            ;
        if (b - a < least)
            least = b - a;
    }
    return least > tick ? least : tick;
}

static double speed_of_spinning(void) {
    enum { TIMES = 50, SPINS = 20000 };
    double fastest = 1e9;
    for (int i = 0; i < TIMES; i++) {
        double start = cal_now();
        spin(SPINS);
        double took = cal_now() - start;
        if (took < fastest)
            fastest = took;
    }
    return SPINS / (fastest > 0 ? fastest : 1e-9);
}

void cal_measure_clock(struct cal* c) {
    c->clock_cost_s = cost_of_reading();
    c->clock_resolution_s = step_of_clock();
    c->spins_per_s = speed_of_spinning();
}
#endif
