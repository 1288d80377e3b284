/* What a calibration within MPI_Init measures of a pair. */
#ifndef LOGPOST_QUICK_H
#define LOGPOST_QUICK_H

#include "parts.h"

/* Memory that a rank of a pair needs for it. */
size_t lp_quick_memory(void);

/* By both ranks of a pair; c->out takes the samples of its rank 0. Nothing begins that may not be over at c->until_s.
 * `layouts`: log3P's points, too. `memory` has lp_quick_memory() bytes. */
void lp_quick_pair(struct cal* c, const struct cal_pair* pair, bool layouts, char* memory);

#endif
