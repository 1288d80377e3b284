#include "schedule.h"

#include <string.h>

#include "../common/memory.h"
#include "../common/random.h"

struct schedule schedule_build(const int64_t* start, int ranks, int64_t values) {
    struct schedule s = {NULL, 0};
    for (int pass = 0; pass < 2; pass++) {
        int64_t n = 0;
        for (int peer = 0; peer < ranks; peer++) {
            int64_t size = values > 0 ? values : start[peer + 1] - start[peer];
            int32_t tag = 0;
            for (int64_t at = start[peer]; at < start[peer + 1]; at += size, tag++, n++) {
                if (pass == 0)
                    continue;
                int64_t left = start[peer + 1] - at;
                s.blocks[n] = (struct block){peer, tag, at, (int32_t)(left < size ? left : size)};
            }
        }
        if (pass == 0)
            s.blocks = LP_NEW(struct block, n);
        s.n = n;
    }
    return s;
}

void schedule_order(struct schedule* s, enum order order, enum spread spread, int rank, int ranks, uint64_t seed) {
    if (order == ORDER_ORIGINAL || s->n == 0)
        return;
    struct block* old = LP_NEW(struct block, s->n);
    memcpy(old, s->blocks, (size_t)s->n * sizeof *old);
    if (spread == SPREAD_RANDOM) {
        int32_t* shuffled = LP_NEW(int32_t, s->n);
        for (int64_t i = 0; i < s->n; i++)
            shuffled[i] = (int32_t)i;
        lp_shuffle(lp_random(seed, 0x6f726465u, (uint64_t)rank), shuffled, s->n);
        for (int64_t i = 0; i < s->n; i++)
            s->blocks[i] = old[shuffled[i]];
        free(shuffled);
    } else {
        int64_t at = 0;
        for (int step = 1; step < ranks; step++)
            for (int64_t i = 0; i < s->n; i++)
                if (old[i].peer == (rank + step) % ranks)
                    s->blocks[at++] = old[i];
    }
    free(old);
}
