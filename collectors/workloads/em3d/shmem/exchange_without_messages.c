/* For libraries without two-sided messages. */
#include <stddef.h>

#include "../exchange.h"

const struct exchange_carrier* const exchange_messages = NULL;
const char* const exchange_mechanisms = "put|shared|prefetch";
const enum mechanism exchange_first = MECHANISM_PUT;
