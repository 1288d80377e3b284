/* Points in space: which are close to each other, and which rank gets which. Both results depend on the points alone.
 */
#ifndef LOGPOST_WORKLOADS_GEOMETRY_H
#define LOGPOST_WORKLOADS_GEOMETRY_H

#include <stdint.h>

typedef double point[3];

/* All pairs i < j closer than `radius`, ordered by i, then j. box > 0: coordinates are in [0, box) and the space
 * repeats itself; then radius must not exceed box / 3. Returns their number; *pairs is to be freed. */
int64_t geometry_pairs(const point* at, int64_t n, double radius, double box, int32_t (**pairs)[2]);

/* Recursive coordinate bisection: halves the points across the longest side of their box, again and again, until there
 * are `parts` parts of equal size (give or take one). */
void geometry_bisect(const point* at, int64_t n, int parts, int32_t* part_of);

#endif
