/* Recording that is switched off and on while the program runs: by MPI_Pcontrol, by logpost.h, by a file.
 *
 * Ranks switch at different instants, so what a process does meanwhile is followed all the same: its records go to the
 * window as always, and a full window is summed up (lost.c) where else it would be written. When recording is on again,
 * the log says what was left out, so that both ends of a channel still know their messages' numbers. */
#ifndef LOGPOST_SWITCH_H
#define LOGPOST_SWITCH_H

#include "recorder.h"

/* Whether the environment names a file that switches. */
LP_HIDDEN void lp_switch_prepare(void);
/* For the whole process; each thread follows with its next call. Not where a ring records. */
LP_HIDDEN void lp_switch(int on);
/* A full window, or the rest of one, of a thread that is off: `used` bytes of records. 0, or an error number. */
LP_HIDDEN int lp_switch_skip(struct lp_thread* t, size_t used, uint64_t* noted);

/* lost.c: sums without a file, of what has records and of what has none. */
LP_HIDDEN int lp_lost_create_beside_log(void);
LP_HIDDEN void lp_lost_add_recorded(uint32_t thread, const char* records, size_t bytes);
LP_HIDDEN void lp_lost_add_skipped(uint32_t thread, const char* records, size_t bytes);
/* States in the thread's log what was skipped since it was stated last, and the thread's requests under way. */
LP_HIDDEN struct lp_gap lp_lost_tell(struct lp_thread* t);

/* log.c */
LP_HIDDEN int lp_log_move(struct lp_thread* t); /* empties the window; 0: recording has ended */
LP_HIDDEN int lp_log_keeps_ring(void);

#endif
