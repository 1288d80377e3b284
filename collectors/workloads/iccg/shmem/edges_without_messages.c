/* For libraries without two-sided messages. */
#include <stddef.h>

#include "../solve.h"

const struct edge_carrier* const edges_messages = NULL;
const char* const edge_mechanisms = "put|shared|prefetch";
const enum mechanism edge_first = MECHANISM_PUT;
