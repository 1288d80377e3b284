/* Rows of a matrix dealt to processes so that few edges are between two of them. */
#ifndef LOGPOST_ICCG_PARTITION_H
#define LOGPOST_ICCG_PARTITION_H

#include <stdint.h>

#include "matrix.h"

/* Recursive graph bisection, a method of Chaco's, which SENS's ICCG comes from: rows in the order of their distance
 * from one at the rim are cut in two, and each half again. Parts differ by few rows. The same on every rank. */
void partition_graph(const struct lower* m, int parts, int32_t* owner);

#endif
