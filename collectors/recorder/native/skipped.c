/* What a process does while recording is off (switch.c), summed up in memory, and what is in its log as well, apart:
 * stated in the log when recording is on again. */
#include <errno.h>
#include <stdlib.h>

#include "account.h"
#include "ring.h"
#include "switch.h"

static struct lp_account account;

int lp_skipped_create(void) {
    uint64_t* logged = calloc(LP_CHANNELS, sizeof *logged);
    void* memory = logged ? calloc(1, LP_ACCOUNT_BYTES) : NULL;
    if (!memory) {
        free(logged);
        return ENOMEM;
    }
    lp_account_begin(&account, memory, logged, 0);
    return 0;
}

void lp_skipped_follow_ring(void) {
    account.sum = &account.recorded;
    if (lp_ring_copy(&account))
        account.recorded.unheld++; /* stated as what could not be followed */
    account.sum = account.lost;
}

void lp_skipped_take(uint32_t thread, const struct lp_head* record, int off) {
    account.sum = off ? account.lost : &account.recorded;
    lp_account_add(&account, thread, record);
    account.sum = account.lost;
}

/* In parts that fit into any window. */
enum { PART = 256 };

static void state_channels(struct lp_thread* t) {
    const size_t room = sizeof(struct lp_head) + PART * sizeof(struct lp_skipped);
    for (uint32_t i = 0; i < LP_CHANNELS && lp_reserve(t, room);) {
        struct lp_skipped* to = (struct lp_skipped*)(t->pos + sizeof(struct lp_head));
        uint32_t n = 0;
        for (; i < LP_CHANNELS && n < PART; i++)
            if (account.channels[i].what && account.channels[i].count != account.logged[i]) {
                to[n] = (struct lp_skipped){account.channels[i], account.logged[i]};
                to[n++].channel.count -= account.logged[i];
                account.logged[i] = account.channels[i].count;
            }
        if (n)
            lp_commit(t, LP_SKIPPED, 0, sizeof(struct lp_head) + n * sizeof *to, 0, 0);
    }
}

static int by_start(const void* a, const void* b) {
    const struct lp_carried *x = &account.cells[*(const uint32_t*)a], *y = &account.cells[*(const uint32_t*)b];
    return x->number < y->number ? -1 : x->number > y->number;
}

static void state_requests(struct lp_thread* t) {
    static uint32_t pending[LP_CELLS];
    const size_t room = sizeof(struct lp_head) + PART * sizeof(struct lp_carried);
    uint32_t found = 0;
    for (uint32_t c = 0; c < LP_CELLS; c++)
        if (account.cells[c].number && account.cells[c].thread == t->index)
            pending[found++] = c;
    qsort(pending, found, sizeof *pending, by_start);
    for (uint32_t i = 0; i < found && lp_reserve(t, room); i += PART) {
        struct lp_carried* to = (struct lp_carried*)(t->pos + sizeof(struct lp_head));
        const uint32_t n = found - i < PART ? found - i : PART;
        for (uint32_t k = 0; k < n; k++) {
            to[k] = account.cells[pending[i + k]];
            account.cells[pending[i + k]].logged = 1;
        }
        lp_commit(t, LP_CARRIED, 0, sizeof(struct lp_head) + n * sizeof *to, 0, 0);
    }
}

/* The thread's own are those that are not among its pending requests. */
static void state_ended(struct lp_thread* t) {
    const size_t room = sizeof(struct lp_head) + PART * sizeof *account.ended;
    for (size_t i = 0; i < account.ended_used && lp_reserve(t, room);) {
        struct lp_ended* to = (struct lp_ended*)(t->pos + sizeof(struct lp_head));
        size_t n = 0;
        for (; i < account.ended_used && n < PART; i++)
            if (account.ended[i].thread != t->index)
                to[n++] = account.ended[i];
        if (n)
            lp_commit(t, LP_ENDED, 0, sizeof(struct lp_head) + n * sizeof *to, 0, 0);
    }
    account.ended_used = 0;
}

struct lp_gap lp_skipped_state(struct lp_thread* t) {
    state_channels(t);
    state_requests(t);
    state_ended(t);
    struct lp_lost *lost = account.lost, *recorded = &account.recorded;
    const struct lp_gap gap = {
        .calls = lost->calls,
        .sends = lost->sends,
        .receives = lost->receives,
        .collectives = lost->collectives,
        .transfers = lost->transfers,
        .inexact = lost->unnumbered + lost->unheld + recorded->unnumbered + recorded->unheld,
    };
    lost->calls = lost->sends = lost->receives = lost->collectives = lost->transfers = 0;
    lost->unnumbered = lost->unheld = recorded->unnumbered = recorded->unheld = 0;
    return gap;
}
