/* What a calibration within MPI_Init measures of a pair. */
#ifndef LOGPOST_QUICK_H
#define LOGPOST_QUICK_H

#include "parts.h"

/* Memory that a rank of a pair needs for it. */
size_t lp_quick_memory(void);

/* By both ranks of a pair; c->out takes the samples of its rank 0. Nothing begins that may not be over at c->until_s.
 * `layouts`: log3P's points, too. `memory` has lp_quick_memory() bytes. */
void lp_quick_pair(struct cal* c, const struct cal_pair* pair, bool layouts, char* memory);

/* By the ranks of `all`, whose first half sends to the other one: streams of its first pair, which `one` has, and of
 * all its pairs concurrently. c->out of its rank 0 takes the samples. `memory` as above. */
struct lp_together {
    MPI_Comm one, all;
    int pairs; /* at most LP_MOST_PAIRS */
    const char *locality, *pattern;
};
enum { LP_MOST_PAIRS = 128 };
void lp_quick_together(struct cal* c, const struct lp_together* together, char* memory);

/* Whether lp_quick_pair has measured messages of this layout themselves, as rank 0 or 1 of the pair knows. */
bool lp_quick_has(const struct lp_layout_use* use);

/* Bytes that one of these layouts spans; 0: none is measured that spans so much. */
size_t lp_quick_span(const struct lp_layout_use* use);

/* Likewise: messages of these layouts, and contiguous ones of their sizes. `memory` has room for twice the longest span
 * after lp_quick_scratch() bytes. */
void lp_quick_layouts(struct cal* c, const struct cal_pair* pair, const struct lp_layout_use* uses, int count,
                      char* memory);
size_t lp_quick_scratch(void);

/* Likewise: one-sided transfers through a window of both ranks' memory, which MPI allocates or (`created`) is given.
 * `memory` has room for two of lp_quick_transfer() bytes after lp_quick_scratch(). */
void lp_quick_transfers(struct cal* c, const struct cal_pair* pair, bool created, char* memory);
size_t lp_quick_transfer(void);

#endif
