/* Recording that is switched off and on while the program runs: by MPI_Pcontrol, by logpost.h, by a file.
 *
 * Ranks switch at different instants, so what a process does while it is off is followed all the same: its records go
 * to the window as always, and a full window is summed up (lost.c) where else it would be written. When recording is on
 * again, the log says what was left out, so that both ends of a channel still know their messages' numbers. */
#ifndef LOGPOST_SWITCH_H
#define LOGPOST_SWITCH_H

#include "recorder.h"

/* Whether the environment names a file that switches. */
LP_HIDDEN void lp_switch_prepare(void);
/* For the whole process; each thread follows with its next call. */
LP_HIDDEN void lp_switch(int on);
/* Around the move of a window of a thread that is off: what it holds is summed up, and no other thread sums during the
 * move. */
LP_HIDDEN void lp_switch_hold(struct lp_thread* t);
/* Whether the windows that are on are summed up as well when they move: no log will hold them. */
LP_HIDDEN int lp_switch_follows_ring(void);
LP_HIDDEN void lp_switch_release(void);
/* The notes of such a window, `used` bytes of records, go behind the log. 0, or an error number. */
LP_HIDDEN int lp_switch_skip(struct lp_thread* t, size_t used, uint64_t* noted);
/* At the end of the program: states what threads that have not noticed that recording is on again have skipped. */
LP_HIDDEN void lp_switch_ends(struct lp_thread* t);

/* sums.c: sums up what all threads have done, the thread `whole`, which calls, to its end. */
LP_HIDDEN void lp_sum_up(const struct lp_thread* whole);
/* A thread begins, and one ends that has all of its records in its log. */
LP_HIDDEN void lp_sum_joins(struct lp_thread* t);
LP_HIDDEN void lp_sum_leaves(struct lp_thread* t);

/* skipped.c: sums without a file, of what has records and of what has none. */
LP_HIDDEN int lp_skipped_create(void);
/* What the ring holds and has overwritten has records. */
LP_HIDDEN void lp_skipped_follow_ring(void);
/* A record of a thread; `off`: one that is not kept. */
LP_HIDDEN void lp_skipped_take(uint32_t thread, const struct lp_head* record, int off);
/* States in the thread's log what was skipped since it was stated last, and the thread's pending requests. */
LP_HIDDEN struct lp_gap lp_skipped_state(struct lp_thread* t);

/* log.c */
LP_HIDDEN int lp_log_move(struct lp_thread* t); /* empties the window; 0: recording has ended */
/* Of a window over a ring: whether only its notes count. */
LP_HIDDEN void lp_log_mark_off(struct lp_thread* t, int off);
LP_HIDDEN int lp_log_keeps_ring(void);
LP_HIDDEN void lp_log_path(uint32_t thread, char* path, size_t room);
LP_HIDDEN const char* lp_log_end(const struct lp_thread* t); /* of the window's room for records */

#endif
