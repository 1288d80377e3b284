/* What each kind of call leaves in the log. Called by the generated wrappers after the end of the call was stamped,
 * with t->busy held. `f` is the function's number in the table. Definitions (communicators, layouts) are looked up
 * before room is reserved, since learning one writes a record, too. */
#ifndef LOGPOST_HOOKS_H
#define LOGPOST_HOOKS_H

#include <stdlib.h>

#include "runtime.h"

#define LP_HOOK static __attribute__((noinline, unused)) void /* there are hundreds of wrappers to compile */
#define LP_HEAD sizeof(struct lp_head)

struct lp_stamp {
    struct lp_thread* t;
    int f;
    uint64_t enter, leave;
};

LP_FAST void lp_call(struct lp_stamp s) {
    if (lp_reserve(s.t, LP_HEAD))
        lp_commit(s.t, LP_CALL, s.f, LP_HEAD, s.enter, s.leave);
}

/* The same, out of line: of calls that failed, and of those that leave nothing else. */
LP_HOOK lp_plain(struct lp_stamp s) {
    lp_call(s);
}

/* Begins a call, out of line; no thread: it passes through. `kind`, `peer` and `comm` say what it may wait for. */
static __attribute__((noinline, unused)) struct lp_stamp lp_begins(int f, int kind, int32_t peer, uint32_t comm,
                                                                   uintptr_t address, const uintptr_t* place) {
    struct lp_stamp s = {lp_enter(), f, 0, 0};
    if (s.t) {
        s.t->stack = lp_stack(s.t, address, place);
        s.enter = lp_now();
        lp_opens(s.t, kind, f, s.enter, peer, LP_ANY_TAG, comm, 0);
    }
    return s;
}

/* MPI ends with the last session of a program without MPI_Init, but may begin again. */
LP_HOOK lp_session_end(struct lp_stamp s) {
    const int kind = lp_session_ends() ? LP_FINALIZE : LP_CALL;
    if (lp_reserve(s.t, LP_HEAD))
        lp_commit(s.t, kind, s.f, LP_HEAD, s.enter, s.leave);
    if (kind == LP_FINALIZE)
        lp_write_sync(s.t, lp_read_sync());
}

/* Level 0 switches recording off once it is noted; level 1 switches it on before its own call is. */
LP_HOOK lp_level(struct lp_stamp s, int level) {
    size_t n = LP_HEAD + 8;
    if (!lp_reserve(s.t, n))
        return;
    *(int64_t*)(s.t->pos + LP_HEAD) = level;
    lp_commit(s.t, LP_LEVEL, s.f, n, s.enter, s.leave);
    if (level == 0)
        lp_switch_in_call(s.t, 0);
}

static inline uint64_t lp_bytes(struct lp_thread* t, int64_t count, MPI_Datatype type) {
    return count > 0 ? (uint64_t)count * lp_type(t, type)->size : 0;
}

static inline int32_t lp_peer(int rank) {
    return rank >= 0 ? rank : rank == MPI_ANY_SOURCE ? LP_ANY_PEER : LP_NO_PEER;
}

LP_FAST struct lp_message lp_envelope(struct lp_thread* t, int64_t count, lp_word type, int peer, int tag,
                                      lp_word comm) {
    uint32_t id = lp_comm_id(t, (MPI_Comm)comm);
    struct lp_type_entry* e = lp_type(t, (MPI_Datatype)type);
    struct lp_message m = {count > 0 ? (uint64_t)count * e->size : 0,
                           lp_peer(peer),
                           tag == MPI_ANY_TAG ? LP_ANY_TAG : tag,
                           id,
                           e->layout,
                           0};
    if (LP_UNLIKELY(e->block) && m.bytes > e->block)
        lp_layout_used(e, m.bytes);
    return m;
}

/* Whether the order of arrival decided on the sender of a receive: it names none, or the one that the thread's probe
 * of any source has found. Forgets the probe. */
LP_FAST uint32_t lp_any_source(struct lp_thread* t, uint32_t comm, int source, int tag) {
    struct lp_found* found = &lp_mpi_part(t)->found;
    if (source == MPI_ANY_SOURCE)
        return 1;
    if (!found->comm || comm != found->comm || source != found->peer || (tag != found->tag && tag != MPI_ANY_TAG))
        return 0;
    found->comm = 0;
    return 1;
}

/* Bytes received and cancellation, read from the status the way each library lays it out in its public header (their
 * binary interfaces fix it); MPI's own functions do the same at the price of three more calls. */
static inline uint64_t lp_status_bytes(const MPI_Status* status) {
#if defined(OPEN_MPI)
    return (uint64_t)status->_ucount;
#elif defined(LOGPOST_SIMULATED)
    return (uint64_t)(uint32_t)status->count;
#elif defined(MPICH_NUMVERSION)
    return (uint64_t)(uint32_t)status->count_lo | (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32;
#else
    MPI_Count n = 0;
    lp_mpi.Get_elements_x((MPI_Status*)status, lp_k.byte, &n);
    return n > 0 ? (uint64_t)n : 0;
#endif
}

static inline int lp_status_cancelled(const MPI_Status* status) {
#if defined(OPEN_MPI)
    return status->_cancelled != 0;
#elif defined(LOGPOST_SIMULATED)
    return status->cancelled != 0;
#elif defined(MPICH_NUMVERSION)
    return status->count_hi_and_cancelled & 1;
#else
    int flag = 0;
    lp_mpi.Test_cancelled((MPI_Status*)status, &flag);
    return flag;
#endif
}

LP_FAST struct lp_done lp_finished(uintptr_t request, const MPI_Status* status) {
    struct lp_done d = {request, 0, LP_NO_PEER, 0, 0, 0};
    if (lp_status_cancelled(status)) { /* before anything else: source and tag are stale then */
        d.flags = LP_DONE_CANCELLED;
        return d;
    }
    d.bytes = lp_status_bytes(status);
    d.peer = lp_peer(status->MPI_SOURCE);
    d.tag = status->MPI_TAG;
    return d;
}

/* --- what a call that may wait is about, noted before it --------------------------------------------------------- */

LP_FAST void lp_opens_message(struct lp_thread* t, int kind, int f, uint64_t enter, int peer, int tag, lp_word comm) {
    lp_opens(t, kind, f, enter, lp_peer(peer), tag == MPI_ANY_TAG ? LP_ANY_TAG : tag,
             lp_comm_known(t, LP_KEY(MPI_Comm, comm)), 0);
}

static __attribute__((noinline, unused)) struct lp_stamp lp_begins_collective(int f, lp_word comm, int32_t root,
                                                                              uintptr_t address,
                                                                              const uintptr_t* place) {
    struct lp_stamp s = {lp_enter(), f, 0, 0};
    if (s.t) {
        s.t->stack = lp_stack(s.t, address, place);
        uint32_t known = lp_comm_known(s.t, LP_KEY(MPI_Comm, comm));
        s.enter = lp_now();
        lp_opens(s.t, LP_COLL, f, s.enter, root, 0, known, 0);
    }
    return s;
}

LP_FAST void lp_opens_wait(struct lp_thread* t, int f, uint64_t enter, const uint64_t* handles, int count) {
    uint32_t known = 0;
    for (int i = 0; handles && i < count; i++)
        if (handles[i] != (uintptr_t)lp_k.request_null) {
            if (known < LP_OPEN_HANDLES)
                t->open->handle[known] = handles[i];
            known++;
        }
    lp_opens(t, LP_DONE, f, enter, LP_NO_PEER, LP_ANY_TAG, 0, known);
}

/* --- one message, perhaps with a request or message handle, or two of them --------------------------------------- */

LP_FAST void lp_message_1(struct lp_stamp s, int kind, struct lp_message m) {
    size_t n = LP_HEAD + sizeof m;
    if (!lp_reserve(s.t, n))
        return;
    *(struct lp_message*)(s.t->pos + LP_HEAD) = m;
    lp_commit(s.t, kind, s.f, n, s.enter, s.leave);
}

LP_FAST void lp_message_2(struct lp_stamp s, int kind, struct lp_message m, uint64_t handle) {
    size_t n = LP_HEAD + sizeof m + 8;
    if (!lp_reserve(s.t, n))
        return;
    *(struct lp_message*)(s.t->pos + LP_HEAD) = m;
    *(uint64_t*)(s.t->pos + LP_HEAD + sizeof m) = handle;
    lp_commit(s.t, kind, s.f, n, s.enter, s.leave);
}

LP_HOOK lp_message_3(struct lp_stamp s, int kind, struct lp_message m, uint64_t handle, uint64_t second) {
    size_t n = LP_HEAD + sizeof m + 16;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, &m, sizeof m);
    memcpy(s.t->pos + LP_HEAD + sizeof m, &handle, 8);
    memcpy(s.t->pos + LP_HEAD + sizeof m + 8, &second, 8);
    lp_commit(s.t, kind, s.f, n, s.enter, s.leave);
}

LP_FAST void lp_send(struct lp_stamp s, int64_t count, lp_word type, int dest, int tag, lp_word comm) {
    lp_message_1(s, LP_SEND, lp_envelope(s.t, count, type, dest, tag, comm));
}

LP_FAST void lp_recv(struct lp_stamp s, lp_word type, int source, int tag, lp_word comm, const MPI_Status* status) {
    struct lp_message m = lp_envelope(s.t, 0, type, status->MPI_SOURCE, status->MPI_TAG, comm);
    m.bytes = lp_status_bytes(status);
    m.any_source = lp_any_source(s.t, m.comm, source, tag);
    lp_message_1(s, LP_RECV, m);
}

LP_FAST void lp_request(struct lp_stamp s, int kind, int64_t count, lp_word type, int peer, int tag, lp_word comm,
                        const void* request) {
    struct lp_message m = lp_envelope(s.t, count, type, peer, tag, comm);
    if (kind == LP_IRECV || kind == LP_RECV_INIT)
        m.any_source = lp_any_source(s.t, m.comm, peer, tag);
    lp_message_2(s, kind, m, (uintptr_t)*(const MPI_Request*)request);
}

LP_HOOK lp_sendrecv(struct lp_stamp s, int64_t count, lp_word type, int dest, int tag, lp_word rtype, int source,
                    int rtag, lp_word comm, const MPI_Status* status) {
    struct lp_message m[2];
    m[0] = lp_envelope(s.t, count, type, dest, tag, comm);
    m[1] = lp_envelope(s.t, 0, rtype, status->MPI_SOURCE, status->MPI_TAG, comm);
    m[1].bytes = lp_status_bytes(status);
    m[1].any_source = lp_any_source(s.t, m[1].comm, source, rtag);
    size_t n = LP_HEAD + sizeof m;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, m, sizeof m);
    lp_commit(s.t, LP_SENDRECV, s.f, n, s.enter, s.leave);
}

LP_HOOK lp_isendrecv(struct lp_stamp s, int64_t count, lp_word type, int dest, int tag, int64_t rcount, lp_word rtype,
                     int source, int rtag, lp_word comm, const void* request) {
    struct lp_message m[2];
    m[0] = lp_envelope(s.t, count, type, dest, tag, comm);
    m[1] = lp_envelope(s.t, rcount, rtype, source, rtag, comm);
    m[1].any_source = lp_any_source(s.t, m[1].comm, source, rtag);
    uint64_t handle = (uintptr_t)*(const MPI_Request*)request;
    size_t n = LP_HEAD + sizeof m + 8;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, m, sizeof m);
    memcpy(s.t->pos + LP_HEAD + sizeof m, &handle, 8);
    lp_commit(s.t, LP_ISENDRECV, s.f, n, s.enter, s.leave);
}

/* A probe of any source has found a message: the receive that names its sender gets what arrived first, too. */
LP_HOOK lp_probed(struct lp_stamp s, int source, lp_word comm, const MPI_Status* status) {
    if (source == MPI_ANY_SOURCE && status->MPI_SOURCE >= 0)
        lp_mpi_part(s.t)->found =
            (struct lp_found){lp_comm_id(s.t, (MPI_Comm)comm), status->MPI_SOURCE, status->MPI_TAG};
    lp_call(s);
}

LP_HOOK lp_mprobe(struct lp_stamp s, int source, lp_word comm, const void* message, const MPI_Status* status) {
    struct lp_message m = {
        lp_status_bytes(status), lp_peer(status->MPI_SOURCE), status->MPI_TAG, lp_comm_id(s.t, (MPI_Comm)comm), 0,
        source == MPI_ANY_SOURCE};
    lp_message_2(s, LP_MPROBE, m, (uintptr_t)*(const MPI_Message*)message);
}

LP_HOOK lp_mrecv(struct lp_stamp s, lp_word type, uintptr_t message, const MPI_Status* status) {
    struct lp_message m = {lp_status_bytes(status),
                           lp_peer(status->MPI_SOURCE),
                           status->MPI_TAG,
                           0,
                           lp_type(s.t, (MPI_Datatype)type)->layout,
                           0};
    lp_message_2(s, LP_MRECV, m, message);
}

LP_HOOK lp_imrecv(struct lp_stamp s, lp_word type, uintptr_t message, const void* request) {
    struct lp_message m = {0, LP_ANY_PEER, LP_ANY_TAG, 0, lp_type(s.t, (MPI_Datatype)type)->layout, 0};
    lp_message_3(s, LP_IMRECV, m, (uintptr_t)*(const MPI_Request*)request, message);
}

/* --- starting and completing requests ---------------------------------------------------------------------------- */

LP_HOOK lp_one_handle(struct lp_stamp s, int kind, uint64_t handle) {
    size_t n = LP_HEAD + 8;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, &handle, 8);
    lp_commit(s.t, kind, s.f, n, s.enter, s.leave);
}

/* A call on a list writes its parts first, as records that the closing LP_CALL makes valid. */
LP_HOOK lp_handle_list(struct lp_stamp s, int kind, const uint64_t* handles, size_t count) {
    for (size_t i = 0; i < count; i += LP_MAX_ENTRIES) {
        size_t part = count - i < LP_MAX_ENTRIES ? count - i : LP_MAX_ENTRIES;
        size_t n = LP_HEAD + part * 8;
        if (!lp_reserve(s.t, n))
            return;
        memcpy(s.t->pos + LP_HEAD, handles + i, part * 8);
        lp_commit(s.t, kind, s.f, n, s.enter, s.leave);
    }
}

/* The handles of a list before the call overwrites them; NULL (and nothing noted) when memory is short. */
static inline uint64_t* lp_save(struct lp_thread* t, int count, const void* requests) {
    uint64_t* handles = lp_handles_scratch(t, count > 0 ? (size_t)count : 1);
    if (!handles)
        return NULL;
    const MPI_Request* r = requests;
    for (int i = 0; i < count; i++)
        handles[i] = (uintptr_t)r[i];
    return handles;
}

static inline MPI_Status* lp_statuses(struct lp_thread* t, int count, void* wanted) {
    return wanted == (void*)MPI_STATUSES_IGNORE ? lp_statuses_scratch(t, count > 0 ? (size_t)count : 1)
                                                : (MPI_Status*)wanted;
}

/* Open MPI gives a persistent request whose buffered send is still in progress another handle as it starts it anew. */
LP_HOOK lp_startall(struct lp_stamp s, uint64_t* handles, const void* requests, int count) {
    for (int i = 0; handles && i < count; i++) {
        uint64_t pair[2] = {handles[i], (uintptr_t)((const MPI_Request*)requests)[i]};
        if (LP_UNLIKELY(pair[0] != pair[1])) {
            lp_handle_list(s, LP_REPLACED, pair, 2);
            handles[i] = pair[1];
        }
    }
    if (handles && count > 0)
        lp_handle_list(s, LP_START, handles, (size_t)count);
    lp_call(s);
}

LP_FAST void lp_done_1(struct lp_stamp s, uint64_t handle, const MPI_Status* status) {
    size_t n = LP_HEAD + sizeof(struct lp_done);
    if (handle == (uintptr_t)lp_k.request_null) {
        lp_call(s);
    } else if (lp_reserve(s.t, n)) {
        *(struct lp_done*)(s.t->pos + LP_HEAD) = lp_finished(handle, status);
        lp_commit(s.t, LP_WAITED, s.f, n, s.enter, s.leave);
    }
}

LP_HOOK lp_tested(struct lp_stamp s, const uint64_t* handles, int count) {
    size_t k = 0;
    uint64_t* to = NULL;
    for (int i = 0; handles && i < count; i++) {
        if (handles[i] == (uintptr_t)lp_k.request_null)
            continue;
        if (k == 0 || k == LP_MAX_ENTRIES) {
            if (k)
                lp_commit(s.t, LP_TESTED, s.f, LP_HEAD + k * 8, s.enter, s.leave);
            k = 0;
            if (!lp_reserve(s.t, LP_HEAD + LP_MAX_ENTRIES * 8))
                return;
            to = (uint64_t*)(s.t->pos + LP_HEAD);
        }
        to[k++] = handles[i];
    }
    if (k)
        lp_commit(s.t, LP_TESTED, s.f, LP_HEAD + k * 8, s.enter, s.leave);
    lp_call(s);
}

/* A request that ended with an error is gone, and its handle may be given anew. */
static inline struct lp_done lp_ended_by_error(uint64_t handle) {
    return (struct lp_done){handle, 0, LP_NO_PEER, 0, LP_DONE_FAILED, 0};
}

LP_HOOK lp_failed_1(struct lp_stamp s, uint64_t handle, const void* request) {
    size_t n = LP_HEAD + sizeof(struct lp_done);
    if (handle == (uintptr_t)lp_k.request_null || *(const MPI_Request*)request != lp_k.request_null) {
        lp_call(s);
    } else if (lp_reserve(s.t, n)) {
        *(struct lp_done*)(s.t->pos + LP_HEAD) = lp_ended_by_error(handle);
        lp_commit(s.t, LP_WAITED, s.f, n, s.enter, s.leave);
    }
}

/* Completions number 0..count-1 of a list; indices NULL: all in order. `failed`: MPI_ERR_IN_STATUS. */
LP_HOOK lp_done_list(struct lp_stamp s, const uint64_t* handles, const int* indices, const MPI_Status* statuses,
                     int count, int failed) {
    size_t k = 0;
    struct lp_done* to = NULL;
    for (int i = 0; handles && statuses && i < count; i++) {
        uint64_t handle = handles[indices ? indices[i] : i];
        const int error = failed ? statuses[i].MPI_ERROR : MPI_SUCCESS;
        if (handle == (uintptr_t)lp_k.request_null || error == MPI_ERR_PENDING)
            continue;
        if (k == 0 || k == LP_MAX_ENTRIES) {
            if (k)
                lp_commit(s.t, LP_DONE, s.f, LP_HEAD + k * sizeof *to, s.enter, s.leave);
            k = 0;
            size_t left = (size_t)(count - i) < LP_MAX_ENTRIES ? (size_t)(count - i) : LP_MAX_ENTRIES;
            if (!lp_reserve(s.t, LP_HEAD + left * sizeof *to))
                return;
            to = (struct lp_done*)(s.t->pos + LP_HEAD);
        }
        to[k++] = error == MPI_SUCCESS ? lp_finished(handle, &statuses[i]) : lp_ended_by_error(handle);
    }
    if (k)
        lp_commit(s.t, LP_DONE, s.f, LP_HEAD + k * sizeof *to, s.enter, s.leave);
    lp_call(s);
}

#endif
