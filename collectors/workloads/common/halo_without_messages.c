/* For libraries without two-sided messages. */
#include <stddef.h>

#include "halo.h"

const struct halo_carrier* const halo_messages = NULL;
const char* const halo_mechanisms = "put|shared|prefetch";
const enum halo_mechanism halo_first = HALO_PUT;
