/* Samples of the code between calls: where each thread that calls the library is, at equal distances of its
 * processor time. */
#ifndef LOGPOST_SAMPLER_H
#define LOGPOST_SAMPLER_H

#include "recorder.h"

LP_HIDDEN void lp_sampler_prepare(void);
/* The calling thread begins to be sampled, where the environment requests it, */
LP_HIDDEN void lp_sampler_begin(struct lp_thread* t);
/* and is no longer. */
LP_HIDDEN void lp_sampler_end(struct lp_thread* t);
LP_HIDDEN void lp_sampler_in_child(void);

#endif
