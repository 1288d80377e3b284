"""How many rows the row groups of streamed tables have."""

MESSAGES_PER_BATCH = 1 << 15
CALLS_PER_BATCH = 3 << 14
"""At most: of most programs, one batch is a whole block of calls, which has one location more than 2^15 calls need."""
