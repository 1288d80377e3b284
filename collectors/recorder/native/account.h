/* What a process did, summed up: how many messages of each channel and operations of each communicator, and the
 * requests that were started and not completed. */
#ifndef LOGPOST_ACCOUNT_H
#define LOGPOST_ACCOUNT_H

#include "recorder.h"

enum {
    LP_CHANNELS = 1 << 16,
    LP_CELLS = 1 << 13,
    LP_BUCKETS = 1 << 12,
    LP_MOST_CLOSED = LP_CELLS / 4,
    LP_MOST_CHANNELS = LP_CHANNELS - LP_CHANNELS / 8
};

struct lp_account {
    struct lp_lost* lost;    /* what has no record; behind it in memory are the channels, then the cells */
    struct lp_lost recorded; /* the same of what is in the log */
    struct lp_lost* sum;     /* one of both */
    struct lp_channel* channels;
    uint64_t* logged; /* how many of a channel's are in the log, or have been stated there; NULL: of a ring */
    uint32_t channels_used;
    struct lp_channel* latest[LP_OPERATED_ON_WINDOW + 1]; /* of each kind: it is likely to be next */
    struct lp_carried* cells;
    /* By handle, in the order of their start. The numbers are those of cells plus 1; 0: none. */
    uint32_t head[LP_BUCKETS], tail[LP_BUCKETS], next[LP_CELLS + 1], free_cell;
    uint64_t started;
    uint64_t now;    /* ticks at which the call ended whose record is added */
    uint32_t closed; /* cells that are */
    /* Requests whose start is in the log, which other threads have ended while off: stated with what is skipped. */
    struct lp_ended* ended;
    size_t ended_used, ended_room;
};

/* Of struct lp_lost, its channels and its cells. */
#define LP_ACCOUNT_BYTES \
    (sizeof(struct lp_lost) + LP_CHANNELS * sizeof(struct lp_channel) + LP_CELLS * sizeof(struct lp_carried))

/* `memory`: LP_ACCOUNT_BYTES, zero. `logged`: as many zeros as there are channels, or NULL. */
LP_HIDDEN void lp_account_begin(struct lp_account* a, void* memory, uint64_t* logged, size_t slot_bytes);
/* All that another account holds counts as recorded. */
LP_HIDDEN void lp_account_copy(struct lp_account* a, const struct lp_account* from);
/* A record of a thread, no note; into what `a->sum` points to. */
LP_HIDDEN void lp_account_add(struct lp_account* a, uint32_t thread, const struct lp_head* record);
/* More messages or operations of a channel. */
LP_HIDDEN void lp_account_count(struct lp_account* a, struct lp_channel channel);
/* A pending request, as another account has stated it. */
LP_HIDDEN void lp_account_carry(struct lp_account* a, const struct lp_carried* stated);
/* A thread's requests that were not stated since this was called last are not pending at some ticks: they ended
 * unseen, or by records of other threads that are added later. */
LP_HIDDEN void lp_account_keep_stated(struct lp_account* a, uint32_t thread, uint64_t ticks);
/* A request that has ended unseen; none is known: nothing happens. */
LP_HIDDEN void lp_account_end(struct lp_account* a, uint64_t handle, uint32_t thread);

#endif
