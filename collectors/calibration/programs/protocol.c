/* The eager limit: the size from which on a send waits for a late receive (timed/late.h).
 *
 *   --largest N         largest size that is tried
 *   --tries N           sends at each size; the median decides
 *   --least-delay-s S   how late the receive of no bytes is
 *   --delay-s S         how late the receive of the largest size is */
#include <stdlib.h>

#include "late.h"

static void visit_pair(struct cal* c, void* what, int round, const struct cal_pair* pair) {
    struct cal_late* l = what;
    for (int silent = 0; silent < 2; silent++) {
        l->silent = silent;
        cal_bisect(c, pair, l, round);
    }
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    struct cal_late l = {
        .largest = (int64_t)cal_number(&c, "largest", 1 << 20),
        .longest_delay_s = cal_number(&c, "delay-s", 1e-3),
        .tries = (int)cal_number(&c, "tries", 5),
    };
    l.least_delay_s = cal_number(&c, "least-delay-s", l.longest_delay_s);
    if (l.tries < 1 || l.tries > CAL_MOST_TRIES || l.largest < 1)
        cal_refuse(&c, "--tries must be 1 to 200 and --largest at least", "1");
    l.buffer = cal_memory(&c, l.largest);
    /* Not cal_rounds: which sizes are tried depends on the results. */
    for (int round = 0; round < c.rounds; round++)
        cal_each_pair(&c, visit_pair, &l, round);
    free(l.buffer);
    return cal_close(&c);
}
