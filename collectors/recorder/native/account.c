/* One thread may complete what another one started: requests are looked for among all. Where an account has two sums,
 * of what is in the log and of what has no record, the numbers of what is not recorded follow on those of what is. */
#include "account.h"

#include <stdlib.h>

void lp_account_begin(struct lp_account* a, void* memory, uint64_t* logged, size_t slot_bytes) {
    a->lost = memory;
    a->channels = (struct lp_channel*)(a->lost + 1);
    a->cells = (struct lp_carried*)(a->channels + LP_CHANNELS);
    a->logged = logged;
    *a->lost = (struct lp_lost){.magic = LP_LOST_MAGIC,
                                .process = lp_process_id,
                                .slot_bytes = slot_bytes,
                                .channels = LP_CHANNELS,
                                .cells = LP_CELLS,
                                .first = UINT64_MAX};
    for (uint32_t c = LP_CELLS; c > 0; c--) {
        a->next[c] = a->free_cell;
        a->free_cell = c;
    }
    a->sum = a->lost;
}

void lp_account_copy(struct lp_account* a, const struct lp_account* from) {
    memcpy(a->channels, from->channels, LP_CHANNELS * sizeof *a->channels);
    memcpy(a->cells, from->cells, LP_CELLS * sizeof *a->cells);
    memcpy(a->head, from->head, sizeof a->head);
    memcpy(a->tail, from->tail, sizeof a->tail);
    memcpy(a->next, from->next, sizeof a->next);
    a->channels_used = from->channels_used;
    a->free_cell = from->free_cell;
    a->started = from->started;
    for (uint32_t i = 0; i < LP_CHANNELS; i++)
        a->logged[i] = a->channels[i].count;
    for (uint32_t c = 0; c < LP_CELLS; c++)
        a->cells[c].logged = 1;
    a->recorded.unnumbered = from->lost->unnumbered;
    a->recorded.unheld = from->lost->unheld;
}

/* NULL: there is no place for it. */
static struct lp_channel* channel(struct lp_account* a, uint32_t what, uint32_t comm, int32_t peer, int32_t tag) {
    struct lp_channel* again = a->latest[what];
    if (again && again->comm == comm && again->peer == peer && again->tag == tag)
        return again;
    const struct lp_channel key = {comm, peer, tag, what, 0};
    uint64_t hash = ((uint64_t)comm << 32 | (uint32_t)peer) * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ ((uint64_t)(uint32_t)tag << 3 | what)) * 0xC2B2AE3D27D4EB4Full;
    for (uint32_t i = (uint32_t)(hash >> 40);; i++) {
        struct lp_channel* c = &a->channels[i % LP_CHANNELS];
        if (!c->what && a->channels_used == LP_MOST_CHANNELS) {
            a->sum->unnumbered++;
            return NULL;
        }
        if (!c->what) {
            a->channels_used++;
            *c = key;
        }
        if (c->comm == comm && c->peer == peer && c->tag == tag && c->what == what) {
            a->latest[what] = c;
            return c;
        }
    }
}

static void count(struct lp_account* a, uint32_t what, uint32_t comm, int32_t peer, int32_t tag) {
    struct lp_channel* c = channel(a, what, comm, peer, tag);
    if (!c)
        return;
    c->count++;
    if (a->sum == &a->recorded)
        a->logged[c - a->channels]++;
}

void lp_account_count(struct lp_account* a, struct lp_channel of) {
    struct lp_channel* c = channel(a, of.what, of.comm, of.peer, of.tag);
    if (c)
        c->count += of.count;
}

static void sent(struct lp_account* a, const struct lp_message* m) {
    if (m->peer < 0)
        return;
    a->sum->sends++;
    count(a, LP_SENT, m->comm, m->peer, m->tag);
}

static void received(struct lp_account* a, uint32_t comm, int32_t peer, int32_t tag) {
    if (peer < 0)
        return;
    a->sum->receives++;
    count(a, LP_RECEIVED, comm, peer, tag);
}

static void operated(struct lp_account* a, uint32_t what, uint32_t on) {
    a->sum->collectives++;
    count(a, what, on, 0, 0);
}

/* The operation of an LP_COLL_INIT was started. */
static void operated_persistently(struct lp_account* a, const struct lp_collective* c) {
    uint64_t number;
    memcpy(&number, (const char*)(c + 1) + sizeof(uint64_t), sizeof number);
    a->sum->collectives++;
    count(a, LP_OPERATED, c->comm, 0, (int32_t)number);
}

/* Of a request that the log does not contain, its completion is not counted as logged, either. */
static struct lp_lost* skip_unless(struct lp_account* a, int logged) {
    struct lp_lost* before = a->sum;
    if (!logged)
        a->sum = a->lost;
    return before;
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

static uint32_t bucket(uint64_t handle) {
    return (uint32_t)((handle ^ handle >> 5 ^ handle >> 17) * 0x9E3779B97F4A7C15ull >> 40) % LP_BUCKETS;
}

static const struct lp_head* head_of(const struct lp_carried* c) {
    return (const struct lp_head*)c->record;
}

static const void* data_of(const struct lp_carried* c) {
    return head_of(c) + 1;
}

/* Where the record of a kind keeps the handle, behind its head. */
static size_t handle_place(int kind) {
    switch (kind) {
        case LP_ISENDRECV:
            return 2 * sizeof(struct lp_message);
        case LP_ICOLL:
        case LP_COLL_INIT:
            return sizeof(struct lp_collective);
        case LP_COMM_IDUP:
            return sizeof(struct lp_comm_call);
        case LP_TRANSFER:
            return offsetof(struct lp_transfer, request);
        default:
            return sizeof(struct lp_message);
    }
}

static void hold(struct lp_account* a, const struct lp_carried* carried) {
    const uint32_t cell = a->free_cell, b = bucket(carried->handle);
    if (!cell) {
        a->sum->unheld++;
        return;
    }
    a->free_cell = a->next[cell];
    a->cells[cell - 1] = *carried;
    a->cells[cell - 1].number = ++a->started;
    a->next[cell] = 0;
    *(a->tail[b] ? &a->next[a->tail[b]] : &a->head[b]) = cell;
    a->tail[b] = cell;
}

static void carry(struct lp_account* a, uint32_t thread, uint32_t active, const struct lp_head* record) {
    const size_t bytes = (size_t)record->words * 8;
    struct lp_carried c = {.thread = thread, .active = (uint16_t)active, .logged = a->sum == &a->recorded};
    if (bytes > sizeof c.record) {
        a->sum->unheld++;
        return;
    }
    memcpy(c.record, record, bytes);
    memcpy(&c.handle, (const char*)data_of(&c) + handle_place(record->kind), sizeof c.handle);
    hold(a, &c);
}

/* Frees a cell; `before` is the one before it in its bucket, 0: it is the first. */
static void drop(struct lp_account* a, uint32_t b, uint32_t before, uint32_t cell) {
    *(before ? &a->next[before] : &a->head[b]) = a->next[cell];
    if (a->tail[b] == cell)
        a->tail[b] = before;
    a->closed -= a->cells[cell - 1].logged == LP_CLOSED;
    a->cells[cell - 1].number = 0;
    a->next[cell] = a->free_cell;
    a->free_cell = cell;
}

static int persistent(int kind) {
    return kind == LP_SEND_INIT || kind == LP_RECV_INIT || kind == LP_COLL_INIT;
}

/* Half of the closed cells, the older ones, are free. */
static void forget_closed(struct lp_account* a) {
    uint64_t first = UINT64_MAX, last = 0;
    for (uint32_t i = 0; i < LP_CELLS; i++) {
        const struct lp_carried* c = &a->cells[i];
        if (c->number && c->logged == LP_CLOSED) {
            first = c->number < first ? c->number : first;
            last = c->number > last ? c->number : last;
        }
    }
    for (uint32_t b = 0; b < LP_BUCKETS; b++) {
        for (uint32_t i = a->head[b], before = 0, after; i; i = after) {
            const struct lp_carried* c = &a->cells[i - 1];
            after = a->next[i];
            if (c->logged == LP_CLOSED && c->number <= first + (last - first) / 2)
                drop(a, b, before, i);
            else
                before = i;
        }
    }
}

enum wanted { OPERATION, PERSISTENT, PROBED };

static int is(const struct lp_carried* c, uint64_t handle, enum wanted wanted) {
    const int kind = head_of(c)->kind;
    if (c->handle != handle || (kind == LP_MPROBE) != (wanted == PROBED))
        return 0;
    return (persistent(kind) && !c->active) == (wanted == PERSISTENT);
}

/* The oldest of a handle, that which the thread itself has started before others; NULL: there is none. With `out` its
 * cell is free, and holds it until the next one is carried. */
static const struct lp_carried* find(struct lp_account* a, uint64_t handle, uint32_t thread, enum wanted wanted,
                                     int out) {
    const uint32_t b = bucket(handle);
    uint32_t before = 0, at = 0, chosen = 0;
    for (uint32_t i = a->head[b], last = 0; i; last = i, i = a->next[i]) {
        const struct lp_carried* c = &a->cells[i - 1];
        if (!is(c, handle, wanted) || (chosen && c->thread != thread))
            continue;
        if (c->logged == LP_CLOSED && (c->thread == thread || head_of(c)->leave < a->now))
            continue;
        chosen = at = i;
        before = last;
        if (c->thread == thread)
            break;
    }
    if (!at)
        return NULL;
    if (out)
        drop(a, b, before, at);
    return &a->cells[at - 1];
}

/* As find() with `out`; an end that the log does not contain is noted. */
static const struct lp_carried* end(struct lp_account* a, uint64_t handle, uint32_t thread) {
    const struct lp_carried* c = find(a, handle, thread, OPERATION, 1);
    if (!c || !a->logged || a->sum == &a->recorded || !c->logged || c->thread == thread)
        return c;
    if (a->ended_used == a->ended_room) {
        const size_t room = a->ended_room ? 2 * a->ended_room : 64;
        struct lp_ended* more = realloc(a->ended, room * sizeof *more);
        if (!more) {
            a->sum->unheld++;
            return c;
        }
        a->ended = more;
        a->ended_room = room;
    }
    a->ended[a->ended_used++] = (struct lp_ended){handle, c->thread, 0};
    return c;
}

void lp_account_carry(struct lp_account* a, const struct lp_carried* stated) {
    struct lp_carried c = *stated;
    c.logged = LP_STATED;
    hold(a, &c);
}

void lp_account_keep_stated(struct lp_account* a, uint32_t thread, uint64_t ticks) {
    for (uint32_t i = 0; i < LP_CELLS; i++) {
        struct lp_carried* c = &a->cells[i];
        if (!c->number || c->thread != thread || c->logged == LP_CLOSED)
            continue;
        if (c->logged == LP_STATED) {
            c->logged = LP_NOT_STATED;
        } else {
            c->logged = LP_CLOSED;
            ((struct lp_head*)c->record)->leave = ticks;
            a->closed++;
        }
    }
    if (a->closed > LP_MOST_CLOSED)
        forget_closed(a);
}

void lp_account_end(struct lp_account* a, uint64_t handle, uint32_t thread) {
    a->now = UINT64_MAX;
    find(a, handle, thread, OPERATION, 1);
}

static void start(struct lp_account* a, uint32_t thread, uint64_t handle) {
    const struct lp_carried* c = find(a, handle, thread, PERSISTENT, 0);
    if (!c) {
        a->sum->unpaired++;
        return;
    }
    struct lp_lost* before = skip_unless(a, c->logged);
    if (head_of(c)->kind == LP_SEND_INIT)
        sent(a, data_of(c));
    else if (head_of(c)->kind == LP_COLL_INIT)
        operated_persistently(a, data_of(c));
    carry(a, thread, 1, head_of(c));
    a->sum = before;
}

static void complete(struct lp_account* a, uint32_t thread, const struct lp_done* done) {
    const struct lp_carried* c = end(a, done->request, thread);
    if (!c) {
        a->sum->unpaired++;
        return;
    }
    const int kind = head_of(c)->kind;
    const struct lp_message* requested = data_of(c);
    if (kind == LP_ISENDRECV)
        requested++;
    else if (kind != LP_IRECV && kind != LP_RECV_INIT)
        return;
    if (done->flags & LP_DONE_CANCELLED || done->peer == LP_NO_PEER)
        return;
    /* As the assembler does where a status contradicts the request. */
    const int other = (requested->peer != LP_ANY_PEER && done->peer != requested->peer) ||
                      (requested->tag != LP_ANY_TAG && done->tag != requested->tag);
    struct lp_lost* before = skip_unless(a, c->logged);
    received(a, requested->comm, other ? requested->peer : done->peer, other ? requested->tag : done->tag);
    a->sum = before;
}

/* A message that a matched probe has named is received: its communicator is the probe's. */
static struct lp_message probed(struct lp_account* a, uint32_t thread, uint64_t handle, int* logged) {
    const struct lp_carried* c = find(a, handle, thread, PROBED, 1);
    struct lp_message m = {.peer = LP_NO_PEER};
    if (c)
        memcpy(&m, data_of(c), sizeof m);
    *logged = c && c->logged;
    return m;
}

static void receive_probed(struct lp_account* a, uint32_t thread, const struct lp_message* m, uint64_t handle) {
    int logged = 0;
    const struct lp_message requested = probed(a, thread, handle, &logged);
    struct lp_lost* before = skip_unless(a, logged);
    received(a, requested.comm, requested.peer == LP_NO_PEER ? LP_NO_PEER : m->peer, m->tag);
    a->sum = before;
}

static void carry_probed(struct lp_account* a, uint32_t thread, const struct lp_head* record, const uint64_t* handles) {
    int logged = 0;
    struct {
        struct lp_head head;
        struct lp_message message;
        uint64_t request;
    } r = {*record, probed(a, thread, handles[1], &logged), handles[0]};
    r.head.kind = LP_IRECV;
    r.head.words = sizeof r / 8;
    struct lp_lost* before = skip_unless(a, logged);
    carry(a, thread, 0, &r.head);
    a->sum = before;
}

/* --- records ------------------------------------------------------------------------------------------------------ */

void lp_account_add(struct lp_account* a, uint32_t thread, const struct lp_head* r) {
    const void* data = r + 1;
    const size_t bytes = (size_t)r->words * 8 - sizeof *r;
    const struct lp_message* m = data;
    const struct lp_comm_call* c = data;
    a->now = r->leave;
    switch (r->kind) {
        case LP_SEND:
            sent(a, m);
            break;
        case LP_RECV:
            received(a, m->comm, m->peer, m->tag);
            break;
        case LP_SENDRECV:
            sent(a, m);
            received(a, m[1].comm, m[1].peer, m[1].tag);
            break;
        case LP_ISEND:
        case LP_ISENDRECV:
            sent(a, m);
            carry(a, thread, 0, r);
            break;
        case LP_IRECV:
        case LP_SEND_INIT:
        case LP_RECV_INIT:
        case LP_COLL_INIT:
        case LP_MPROBE:
            carry(a, thread, 0, r);
            break;
        case LP_IMRECV:
            carry_probed(a, thread, r, (const uint64_t*)(m + 1));
            break;
        case LP_MRECV:
            receive_probed(a, thread, m, *(const uint64_t*)(m + 1));
            break;
        case LP_START:
            for (size_t i = 0; i < bytes / 8; i++)
                start(a, thread, ((const uint64_t*)data)[i]);
            break;
        case LP_DONE:
        case LP_WAITED:
            for (size_t i = 0; i < bytes / sizeof(struct lp_done); i++)
                complete(a, thread, (const struct lp_done*)data + i);
            break;
        case LP_REQUEST_FREE:
            if (!find(a, *(const uint64_t*)data, thread, PERSISTENT, 1))
                end(a, *(const uint64_t*)data, thread);
            break;
        case LP_ICOLL:
            carry(a, thread, 0, r);
            /* fall through */
        case LP_COLL:
            operated(a, LP_OPERATED, ((const struct lp_collective*)data)->comm);
            break;
        case LP_COMM_IDUP:
            carry(a, thread, 0, r);
            /* fall through */
        case LP_COMM_NEW:
        case LP_COMM_FREE:
            operated(a, LP_OPERATED, c->parent ? c->parent : c->comm);
            break;
        case LP_TRANSFER:
            a->sum->transfers++;
            if (((const struct lp_transfer*)data)->flags & LP_TRANSFER_REQUEST)
                carry(a, thread, 0, r);
            break;
        case LP_RMA_NEW:
        case LP_RMA_FREE:
            operated(a, LP_OPERATED_ON_WINDOW, ((const struct lp_rma_call*)data)->window);
            break;
        case LP_RMA_COLL:
            operated(a, LP_OPERATED_ON_WINDOW, ((const struct lp_rma_collective*)data)->window);
            break;
        case LP_SYNCHRONIZE:
            if (((const struct lp_synchronize*)data)->operation == LP_FENCE)
                operated(a, LP_OPERATED_ON_WINDOW, ((const struct lp_synchronize*)data)->window);
            break;
        default:
            break;
    }
    if (r->kind == LP_DONE || r->kind == LP_TESTED || r->kind == LP_START || r->kind == LP_RANKS || r->kind >= LP_OFF)
        return;
    a->sum->calls++;
    a->sum->first = r->enter < a->sum->first ? r->enter : a->sum->first;
    a->sum->last = r->leave > a->sum->last ? r->leave : a->sum->last;
}
