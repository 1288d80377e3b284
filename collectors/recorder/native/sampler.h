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

/* For records that signal handlers may make. Room in the window; NULL: there is none. */
LP_HIDDEN char* lp_room_in_handler(struct lp_thread* t, size_t bytes);
/* The number of the callers of what `context` (a ucontext_t) shows, of a thread that is sampled; 0: unknown. */
LP_HIDDEN uint32_t lp_callers(struct lp_thread* t, const void* context, uint64_t now);

#endif
