/* What the ring has overwritten, summed up in a mapped file that outlives the process: how many messages of each
 * channel and operations of each communicator, and the requests that were started and not completed.
 *
 * Where recording is switched off and on (switch.c) there is no file, and what is in the log is summed up as well,
 * apart: the numbers of what is not recorded follow on those of what is. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"
#include "switch.h"

enum { CHANNELS = 1 << 16, CELLS = 1 << 13, BUCKETS = 1 << 12, MOST_CHANNELS = CHANNELS - CHANNELS / 8 };
static const size_t BYTES =
    sizeof(struct lp_lost) + CHANNELS * sizeof(struct lp_channel) + CELLS * sizeof(struct lp_carried);

static struct lp_lost* lost;
static struct lp_lost recorded; /* the same of what is in the log */
static struct lp_lost* sum;     /* one of both */
/* Requests whose start is in the log, which other threads have ended while off: stated with what is skipped. */
static struct lp_ended* ended;
static size_t ended_used, ended_room;
static struct lp_channel* channels;
static uint64_t* told; /* how many of a channel's are in the log, or have been stated there; NULL: of a ring */
static uint32_t channels_used;
static struct lp_carried* cells;
/* By handle, in the order of their start. The numbers are those of cells plus 1; 0: none. */
static uint32_t head[BUCKETS], tail[BUCKETS], next[CELLS + 1], free_cell;
static uint64_t started;

static void begin(void* memory, size_t slot_bytes) {
    lost = memory;
    channels = (struct lp_channel*)(lost + 1);
    cells = (struct lp_carried*)(channels + CHANNELS);
    *lost = (struct lp_lost){.magic = LP_LOST_MAGIC,
                             .process = lp_process_id,
                             .slot_bytes = slot_bytes,
                             .channels = CHANNELS,
                             .cells = CELLS,
                             .first = UINT64_MAX};
    for (uint32_t c = CELLS; c > 0; c--) {
        next[c] = free_cell;
        free_cell = c;
    }
    sum = lost;
}

int lp_lost_create(const char* path, size_t slot_bytes) {
    int fd = open(path, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    if (fd < 0)
        return errno;
    int error = posix_fallocate(fd, 0, (off_t)BYTES);
    void* map = error ? MAP_FAILED : mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!error && map == MAP_FAILED)
        error = errno;
    close(fd);
    if (!error)
        begin(map, slot_bytes);
    return error;
}

int lp_lost_create_beside_log(void) {
    uint64_t* counts = calloc(CHANNELS, sizeof *counts);
    void* memory = counts ? calloc(1, BYTES) : NULL;
    if (!memory) {
        free(counts);
        return ENOMEM;
    }
    told = counts;
    begin(memory, 0);
    return 0;
}

static void one_more(struct lp_channel* c) {
    c->count++;
    if (sum == &recorded)
        told[c - channels]++;
}

static void count(uint32_t what, uint32_t comm, int32_t peer, int32_t tag) {
    static struct lp_channel* latest[LP_OPERATED_ON_WINDOW + 1]; /* of each kind: it is likely to come again */
    struct lp_channel* again = latest[what];
    if (again && again->comm == comm && again->peer == peer && again->tag == tag) {
        one_more(again);
        return;
    }
    const struct lp_channel key = {comm, peer, tag, what, 0};
    uint64_t hash = ((uint64_t)comm << 32 | (uint32_t)peer) * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ ((uint64_t)(uint32_t)tag << 3 | what)) * 0xC2B2AE3D27D4EB4Full;
    for (uint32_t i = (uint32_t)(hash >> 40);; i++) {
        struct lp_channel* c = &channels[i % CHANNELS];
        if (!c->what && channels_used == MOST_CHANNELS) {
            sum->unnumbered++;
            return;
        }
        if (!c->what) {
            channels_used++;
            *c = key;
        }
        if (c->comm == comm && c->peer == peer && c->tag == tag && c->what == what) {
            one_more(c);
            latest[what] = c;
            return;
        }
    }
}

static void sent(const struct lp_message* m) {
    if (m->peer < 0)
        return;
    sum->sends++;
    count(LP_SENT, m->comm, m->peer, m->tag);
}

static void received(uint32_t comm, int32_t peer, int32_t tag) {
    if (peer < 0)
        return;
    sum->receives++;
    count(LP_RECEIVED, comm, peer, tag);
}

static void operated(uint32_t what, uint32_t on) {
    sum->collectives++;
    count(what, on, 0, 0);
}

/* A request of which the log does not tell: nor does it of what comes of it. */
static struct lp_lost* skip_unless(int told) {
    struct lp_lost* before = sum;
    if (!told)
        sum = lost;
    return before;
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

static uint32_t bucket(uint64_t handle) {
    return (uint32_t)((handle ^ handle >> 5 ^ handle >> 17) * 0x9E3779B97F4A7C15ull >> 40) % BUCKETS;
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

static void carry(uint32_t thread, uint32_t active, const struct lp_head* record) {
    const uint32_t cell = free_cell;
    const size_t bytes = (size_t)record->words * 8;
    struct lp_carried* c = &cells[cell - 1];
    if (!cell || bytes > sizeof c->record) {
        sum->unheld++;
        return;
    }
    free_cell = next[cell];
    memcpy(c->record, record, bytes);
    c->thread = thread;
    c->active = (uint16_t)active;
    c->told = sum == &recorded;
    c->number = ++started;
    memcpy(&c->handle, (const char*)data_of(c) + handle_place(record->kind), sizeof c->handle);
    const uint32_t b = bucket(c->handle);
    next[cell] = 0;
    *(tail[b] ? &next[tail[b]] : &head[b]) = cell;
    tail[b] = cell;
}

static int persistent(int kind) {
    return kind == LP_SEND_INIT || kind == LP_RECV_INIT || kind == LP_COLL_INIT;
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
static const struct lp_carried* find(uint64_t handle, uint32_t thread, enum wanted wanted, int out) {
    const uint32_t b = bucket(handle);
    uint32_t before = 0, at = 0, chosen = 0;
    for (uint32_t i = head[b], last = 0; i; last = i, i = next[i]) {
        const struct lp_carried* c = &cells[i - 1];
        if (!is(c, handle, wanted) || (chosen && c->thread != thread))
            continue;
        chosen = at = i;
        before = last;
        if (c->thread == thread)
            break;
    }
    if (!at)
        return NULL;
    if (!out)
        return &cells[at - 1];
    *(before ? &next[before] : &head[b]) = next[at];
    if (tail[b] == at)
        tail[b] = before;
    cells[at - 1].number = 0;
    next[at] = free_cell;
    free_cell = at;
    return &cells[at - 1];
}

/* As find() with `out`; what ends so that the log does not tell is noted. */
static const struct lp_carried* end(uint64_t handle, uint32_t thread) {
    const struct lp_carried* c = find(handle, thread, OPERATION, 1);
    if (!c || sum == &recorded || !c->told || c->thread == thread)
        return c;
    if (ended_used == ended_room) {
        const size_t room = ended_room ? 2 * ended_room : 64;
        struct lp_ended* more = realloc(ended, room * sizeof *more);
        if (!more) {
            sum->unheld++;
            return c;
        }
        ended = more;
        ended_room = room;
    }
    ended[ended_used++] = (struct lp_ended){handle, c->thread, 0};
    return c;
}

static void start(uint32_t thread, uint64_t handle) {
    const struct lp_carried* c = find(handle, thread, PERSISTENT, 0);
    if (!c) {
        sum->unpaired++;
        return;
    }
    struct lp_lost* before = skip_unless(c->told);
    if (head_of(c)->kind == LP_SEND_INIT)
        sent(data_of(c));
    else if (head_of(c)->kind == LP_COLL_INIT)
        operated(LP_OPERATED, ((const struct lp_collective*)data_of(c))->comm);
    carry(thread, 1, head_of(c));
    sum = before;
}

static void complete(uint32_t thread, const struct lp_done* done) {
    const struct lp_carried* c = end(done->request, thread);
    if (!c) {
        sum->unpaired++;
        return;
    }
    const int kind = head_of(c)->kind;
    const struct lp_message* asked = data_of(c);
    if (kind == LP_ISENDRECV)
        asked++;
    else if (kind != LP_IRECV && kind != LP_RECV_INIT)
        return;
    if (done->flags & LP_DONE_CANCELLED || done->peer == LP_NO_PEER)
        return;
    /* As the assembler does where a status contradicts what was asked for. */
    const int other = (asked->peer != LP_ANY_PEER && done->peer != asked->peer) ||
                      (asked->tag != LP_ANY_TAG && done->tag != asked->tag);
    struct lp_lost* before = skip_unless(c->told);
    received(asked->comm, other ? asked->peer : done->peer, other ? asked->tag : done->tag);
    sum = before;
}

/* A message that a matched probe has named is received: its communicator is the probe's. */
static struct lp_message probed(uint32_t thread, uint64_t handle, int* told) {
    const struct lp_carried* c = find(handle, thread, PROBED, 1);
    struct lp_message m = {.peer = LP_NO_PEER};
    if (c)
        memcpy(&m, data_of(c), sizeof m);
    *told = c && c->told;
    return m;
}

static void receive_probed(uint32_t thread, const struct lp_message* m, uint64_t handle) {
    int told = 0;
    const struct lp_message asked = probed(thread, handle, &told);
    struct lp_lost* before = skip_unless(told);
    received(asked.comm, asked.peer == LP_NO_PEER ? LP_NO_PEER : m->peer, m->tag);
    sum = before;
}

static void carry_probed(uint32_t thread, const struct lp_head* record, const uint64_t* handles) {
    int told = 0;
    struct {
        struct lp_head head;
        struct lp_message message;
        uint64_t request;
    } r = {*record, probed(thread, handles[1], &told), handles[0]};
    r.head.kind = LP_IRECV;
    r.head.words = sizeof r / 8;
    struct lp_lost* before = skip_unless(told);
    carry(thread, 0, &r.head);
    sum = before;
}

/* --- records ------------------------------------------------------------------------------------------------------ */

static void add(uint32_t thread, const struct lp_head* r) {
    const void* data = r + 1;
    const size_t bytes = (size_t)r->words * 8 - sizeof *r;
    const struct lp_message* m = data;
    const struct lp_comm_call* c = data;
    switch (r->kind) {
        case LP_SEND:
            sent(m);
            break;
        case LP_RECV:
            received(m->comm, m->peer, m->tag);
            break;
        case LP_SENDRECV:
            sent(m);
            received(m[1].comm, m[1].peer, m[1].tag);
            break;
        case LP_ISEND:
        case LP_ISENDRECV:
            sent(m);
            carry(thread, 0, r);
            break;
        case LP_IRECV:
        case LP_SEND_INIT:
        case LP_RECV_INIT:
        case LP_COLL_INIT:
        case LP_MPROBE:
            carry(thread, 0, r);
            break;
        case LP_IMRECV:
            carry_probed(thread, r, (const uint64_t*)(m + 1));
            break;
        case LP_MRECV:
            receive_probed(thread, m, *(const uint64_t*)(m + 1));
            break;
        case LP_START:
            for (size_t i = 0; i < bytes / 8; i++)
                start(thread, ((const uint64_t*)data)[i]);
            break;
        case LP_DONE:
        case LP_WAITED:
            for (size_t i = 0; i < bytes / sizeof(struct lp_done); i++)
                complete(thread, (const struct lp_done*)data + i);
            break;
        case LP_REQUEST_FREE:
            if (!find(*(const uint64_t*)data, thread, PERSISTENT, 1))
                end(*(const uint64_t*)data, thread);
            break;
        case LP_ICOLL:
            carry(thread, 0, r);
            /* fall through */
        case LP_COLL:
            operated(LP_OPERATED, ((const struct lp_collective*)data)->comm);
            break;
        case LP_COMM_IDUP:
            carry(thread, 0, r);
            /* fall through */
        case LP_COMM_NEW:
        case LP_COMM_FREE:
            operated(LP_OPERATED, c->parent ? c->parent : c->comm);
            break;
        case LP_TRANSFER:
            sum->transfers++;
            if (((const struct lp_transfer*)data)->flags & LP_TRANSFER_REQUEST)
                carry(thread, 0, r);
            break;
        case LP_RMA_NEW:
        case LP_RMA_FREE:
            operated(LP_OPERATED_ON_WINDOW, ((const struct lp_rma_call*)data)->window);
            break;
        case LP_RMA_COLL:
            operated(LP_OPERATED_ON_WINDOW, ((const struct lp_rma_collective*)data)->window);
            break;
        case LP_SYNCHRONIZE:
            if (((const struct lp_synchronize*)data)->operation == LP_FENCE)
                operated(LP_OPERATED_ON_WINDOW, ((const struct lp_synchronize*)data)->window);
            break;
        default:
            break;
    }
    if (r->kind == LP_DONE || r->kind == LP_TESTED || r->kind == LP_START || r->kind == LP_RANKS || r->kind >= LP_OFF)
        return;
    sum->calls++;
    sum->first = r->enter < sum->first ? r->enter : sum->first;
    sum->last = r->leave > sum->last ? r->leave : sum->last;
}

static void add_all(uint32_t thread, const char* at, size_t bytes) {
    for (const char* end = at + bytes; at + sizeof(struct lp_head) <= end;) {
        const struct lp_head* r = (const struct lp_head*)at;
        const size_t size = (size_t)r->words * 8;
        if (size < sizeof *r || size > (size_t)(end - at))
            break;
        if (r->kind < LP_FIRST_NOTE)
            add(thread, r);
        at += size;
    }
}

void lp_lost_add(const char* slot, size_t slot_bytes) {
    struct lp_file_header header;
    memcpy(&header, slot, sizeof header);
    if (header.turn <= lost->turn)
        return; /* the program's own cut has summed it up */
    const size_t used = header.open < slot_bytes - LP_FILE_HEADER ? header.open : slot_bytes - LP_FILE_HEADER;
    const char* at = slot + LP_FILE_HEADER;
    __atomic_store_n(&lost->updating, lost->updating + 1, __ATOMIC_SEQ_CST);
    if (header.thread == 0 && header.flushed == LP_FILE_HEADER)
        lost->started = 1;
    add_all(header.thread, at, used);
    lost->turn = header.turn;
    __atomic_store_n(&lost->updating, lost->updating + 1, __ATOMIC_SEQ_CST);
}

void lp_lost_newest(uint64_t turn) {
    __atomic_store_n(&lost->newest, turn, __ATOMIC_RELEASE);
}

void lp_lost_take(uint32_t thread, const struct lp_head* record, int off) {
    sum = off ? lost : &recorded;
    add(thread, record);
    sum = lost;
}

/* In parts that fit into any window. */
enum { PART = 256 };

static void tell_channels(struct lp_thread* t) {
    const size_t room = sizeof(struct lp_head) + PART * sizeof(struct lp_skipped);
    for (uint32_t i = 0; i < CHANNELS && lp_reserve(t, room);) {
        struct lp_skipped* to = (struct lp_skipped*)(t->pos + sizeof(struct lp_head));
        uint32_t n = 0;
        for (; i < CHANNELS && n < PART; i++)
            if (channels[i].what && channels[i].count != told[i]) {
                to[n] = (struct lp_skipped){channels[i], told[i]};
                to[n++].channel.count -= told[i];
                told[i] = channels[i].count;
            }
        if (n)
            lp_commit(t, LP_SKIPPED, 0, sizeof(struct lp_head) + n * sizeof *to, 0, 0);
    }
}

static int by_start(const void* a, const void* b) {
    const struct lp_carried *x = &cells[*(const uint32_t*)a], *y = &cells[*(const uint32_t*)b];
    return x->number < y->number ? -1 : x->number > y->number;
}

static void tell_requests(struct lp_thread* t) {
    static uint32_t under_way[CELLS];
    const size_t room = sizeof(struct lp_head) + PART * sizeof(struct lp_carried);
    uint32_t found = 0;
    for (uint32_t c = 0; c < CELLS; c++)
        if (cells[c].number && cells[c].thread == t->index)
            under_way[found++] = c;
    qsort(under_way, found, sizeof *under_way, by_start);
    for (uint32_t i = 0; i < found && lp_reserve(t, room); i += PART) {
        struct lp_carried* to = (struct lp_carried*)(t->pos + sizeof(struct lp_head));
        const uint32_t n = found - i < PART ? found - i : PART;
        for (uint32_t k = 0; k < n; k++) {
            to[k] = cells[under_way[i + k]];
            cells[under_way[i + k]].told = 1;
        }
        lp_commit(t, LP_CARRIED, 0, sizeof(struct lp_head) + n * sizeof *to, 0, 0);
    }
}

/* The thread's own are those that are not among its requests under way. */
static void tell_ended(struct lp_thread* t) {
    const size_t room = sizeof(struct lp_head) + PART * sizeof *ended;
    for (size_t i = 0; i < ended_used && lp_reserve(t, room);) {
        struct lp_ended* to = (struct lp_ended*)(t->pos + sizeof(struct lp_head));
        size_t n = 0;
        for (; i < ended_used && n < PART; i++)
            if (ended[i].thread != t->index)
                to[n++] = ended[i];
        if (n)
            lp_commit(t, LP_ENDED, 0, sizeof(struct lp_head) + n * sizeof *to, 0, 0);
    }
    ended_used = 0;
}

struct lp_gap lp_lost_tell(struct lp_thread* t) {
    tell_channels(t);
    tell_requests(t);
    tell_ended(t);
    const struct lp_gap gap = {
        lost->calls,       lost->sends,     lost->receives,
        lost->collectives, lost->transfers, lost->unnumbered + lost->unheld + recorded.unnumbered + recorded.unheld};
    lost->calls = lost->sends = lost->receives = lost->collectives = lost->transfers = 0;
    lost->unnumbered = lost->unheld = recorded.unnumbered = recorded.unheld = 0;
    return gap;
}
