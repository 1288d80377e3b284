/* The flight recorder's ring: one file of bounded size per process, whose oldest slot makes room for the newest. What
 * is overwritten is counted, message by message and operation by operation, so that the messages at the two ends
 * of a channel can still be matched. */
#ifndef LOGPOST_RING_H
#define LOGPOST_RING_H

#include "recorder.h"

/* Whether the environment requests a ring; may make windows smaller, so that a small ring has several slots. `base` is
 * the path of the process's files without ending. */
LP_HIDDEN int lp_ring_prepare(size_t* window_bytes);
LP_HIDDEN int lp_ring_create(const char* base, size_t window_bytes);

/* Moves a window's `used` bytes of records, whose place in the thread's stream is t->flushed, into the ring, and its
 * notes behind the first `*notes` bytes of the thread's log. 0, or an error number. */
LP_HIDDEN int lp_ring_take(const struct lp_thread* t, size_t used, uint64_t* notes);

/* As lp_ring_take, of records that are not kept: only notes are, apart from those of pending requests. */
LP_HIDDEN int lp_ring_skip(const struct lp_thread* t, size_t used, uint64_t* notes);

/* What was overwritten and what the ring holds, in an account that is new. */
struct lp_account;
LP_HIDDEN int lp_ring_copy(struct lp_account* to);

/* All that the ring holds counts as overwritten from now on. */
LP_HIDDEN int lp_ring_cut(void);

/* Copies the notes among `used` bytes of records; moves of windows are no definitions. Returns their bytes. */
enum lp_notes {
    LP_ALL_NOTES,
    LP_NOTES_OUTSIDE_SLOT,  /* without those that stay in the slot with LP_ON */
    LP_NOTES_WITHOUT_RESUME /* without those of use to an LP_ON alone */
};
LP_HIDDEN size_t lp_copy_notes(char* to, const char* records, size_t used, enum lp_notes which);

/* log.c: writes at some place of a file; 0, or an error number. */
LP_HIDDEN int lp_write(int fd, const void* from, size_t bytes, uint64_t at);
LP_HIDDEN int lp_write_at(const char* path, const void* from, size_t bytes, uint64_t at);
LP_HIDDEN int lp_may_grow_to(uint64_t bytes);

/* lost.c: the sum of what was overwritten */
LP_HIDDEN int lp_lost_create(const char* path, size_t slot_bytes);
LP_HIDDEN void lp_lost_add(const char* slot, size_t slot_bytes);
LP_HIDDEN void lp_lost_newest(uint64_t turn);
/* The sum becomes that of a new account, and a slot that is not in the sum is added to it. */
LP_HIDDEN void lp_lost_copy(struct lp_account* to);
LP_HIDDEN void lp_lost_add_to(struct lp_account* to, const char* slot, size_t slot_bytes);

#endif
