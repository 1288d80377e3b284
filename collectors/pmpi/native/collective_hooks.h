/* What collective operations leave in the log, and calls that make, name and free communicators. */
#ifndef LOGPOST_COLLECTIVE_HOOKS_H
#define LOGPOST_COLLECTIVE_HOOKS_H

#include "hooks.h"

/* --- collectives: bytes as Score-P counts them, so that archives of both compare (README.md of this folder) --------
 */

struct lp_volume {
    uint64_t sent, received;
    uint32_t layout, received_layout;
};

/* The layout of elements of a type, of which each message of the operation has `count`; a use of it is counted. */
static inline uint32_t lp_laid_out(struct lp_thread* t, int64_t count, lp_word type) {
    struct lp_type_entry* e = lp_type(t, (MPI_Datatype)type);
    const uint64_t bytes = count > 0 ? (uint64_t)count * e->size : 0;
    if (e->block && bytes > e->block)
        lp_layout_used(e, bytes);
    return e->layout;
}

struct lp_place {
    int rank, size;
    int other; /* size of the remote group, or of the own one */
    int inter; /* whether there is a remote group, in which a root >= 0 is */
};

static inline struct lp_place lp_place(lp_word comm) {
    struct lp_place p;
    p.inter = lp_comm_size((MPI_Comm)comm, &p.rank, &p.size, &p.other);
    return p;
}

static inline int32_t lp_root(int root) {
    return root >= 0               ? root
           : root == MPI_ROOT      ? LP_ROOT_SELF
           : root == MPI_PROC_NULL ? LP_ROOT_THIS_GROUP
                                   : LP_ROOT_NONE;
}

static inline int lp_is_root(struct lp_place p, int root) {
    return root == MPI_ROOT || (!p.inter && root >= 0 && root == p.rank);
}

/* The record of a call, and behind it the handle of its request where it has one. */
LP_HOOK lp_note_call(struct lp_stamp s, int kind, const void* data, size_t bytes, const void* request) {
    size_t n = LP_HEAD + bytes + (request ? 8 : 0);
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, data, bytes);
    if (request) {
        uint64_t handle = (uintptr_t)*(const MPI_Request*)request;
        memcpy(s.t->pos + LP_HEAD + bytes, &handle, 8);
    }
    lp_commit(s.t, kind, s.f, n, s.enter, s.leave);
}

LP_HOOK lp_coll(struct lp_stamp s, int kind, lp_word comm, int32_t root, struct lp_volume v, const void* request) {
    struct lp_collective c = {v.sent, v.received, lp_comm_id(s.t, (MPI_Comm)comm), root, v.layout, v.received_layout};
    lp_note_call(s, kind, &c, sizeof c, request);
}

/* A collective operation that returned an error. Whether its member took part in it is seen where all logs are
 * (failed.cpp). The communicator may be what was wrong, so MPI is not called with it. */
LP_HOOK lp_failed_over(struct lp_stamp s, uint32_t known, int32_t root) {
    struct lp_collective c = {0, 0, known, root, 0, 0};
    size_t n = LP_HEAD + sizeof c;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, &c, sizeof c);
    lp_commit(s.t, LP_CALL, s.f, n, s.enter, s.leave);
}

LP_HOOK lp_failed_coll(struct lp_stamp s, lp_word comm, int32_t root) {
    lp_failed_over(s, lp_comm_known(s.t, LP_KEY(MPI_Comm, comm)), root);
}

LP_HOOK lp_coll_init(struct lp_stamp s, lp_word comm, int32_t root, struct lp_volume v, const void* request) {
    struct lp_collective c = {v.sent, v.received, lp_comm_id(s.t, (MPI_Comm)comm), root, v.layout, v.received_layout};
    const uint64_t made[2] = {(uintptr_t)*(const MPI_Request*)request, lp_comm_persistent((MPI_Comm)comm)};
    size_t n = LP_HEAD + sizeof c + sizeof made;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, &c, sizeof c);
    memcpy(s.t->pos + LP_HEAD + sizeof c, made, sizeof made);
    lp_commit(s.t, LP_COLL_INIT, s.f, n, s.enter, s.leave);
}

#define LP_IN_PLACE(buffer) ((const void*)(buffer) == (const void*)MPI_IN_PLACE)

/* Sum of a list of counts, of either width. */
#define LP_SUM(name, type)                                                          \
    static inline __attribute__((unused)) int64_t name(const void* counts, int n) { \
        int64_t sum = 0;                                                            \
        for (int i = 0; counts && i < n; i++)                                       \
            sum += ((const type*)counts)[i];                                        \
        return sum;                                                                 \
    }
LP_SUM(lp_sum_int, int)
LP_SUM(lp_sum_count, int64_t)

#define LP_SUM_TYPES(name, type)                                                                                    \
    static inline __attribute__((unused)) uint64_t name(struct lp_thread* t, const void* counts, const void* types, \
                                                        int n) {                                                    \
        uint64_t sum = 0;                                                                                           \
        for (int i = 0; counts && types && i < n; i++)                                                              \
            sum += lp_bytes(t, (int64_t)((const type*)counts)[i], ((const MPI_Datatype*)types)[i]);                 \
        return sum;                                                                                                 \
    }
LP_SUM_TYPES(lp_sum_types_int, int)
LP_SUM_TYPES(lp_sum_types_count, int64_t)

/* --- communicators ----------------------------------------------------------------------------------------------- */

LP_HOOK lp_comm_call(struct lp_stamp s, int kind, uint32_t parent, uint32_t comm, const void* request) {
    struct lp_comm_call c = {parent, comm};
    lp_note_call(s, kind, &c, sizeof c, request);
}

LP_HOOK lp_comm_new(struct lp_stamp s, lp_word parent, int has_parent, const void* made) {
    uint32_t id = has_parent ? lp_comm_id(s.t, (MPI_Comm)parent) : 0;
    uint32_t fresh = lp_comm_register(s.t, *(const MPI_Comm*)made, id, 0);
    if (!has_parent)
        lp_session_made(s.t, *(const MPI_Comm*)made);
    lp_comm_call(s, LP_COMM_NEW, id, fresh, NULL);
}

/* Collective over both groups, which only the communicator that it makes has. */
LP_HOOK lp_comm_two(struct lp_stamp s, lp_word local, const void* made) {
    uint32_t fresh = lp_comm_register(s.t, *(const MPI_Comm*)made, lp_comm_id(s.t, (MPI_Comm)local), 0);
    lp_comm_call(s, LP_COMM_NEW, 0, fresh, NULL);
}

LP_HOOK lp_comm_far(struct lp_stamp s, lp_word local, const void* made) {
    uint32_t id = lp_comm_id(s.t, (MPI_Comm)local);
    uint32_t fresh = lp_comm_register_far(s.t, *(const MPI_Comm*)made, (MPI_Comm)local, id);
    lp_comm_call(s, LP_COMM_NEW, id, fresh, NULL);
}

LP_HOOK lp_comm_new_idup(struct lp_stamp s, lp_word parent, const void* made, const void* request) {
    uint32_t id = lp_comm_id(s.t, (MPI_Comm)parent);
    uint32_t fresh = lp_comm_idup(s.t, *(const MPI_Comm*)made, (MPI_Comm)parent);
    lp_comm_call(s, LP_COMM_IDUP, id, fresh, request);
}

/* --- files: communicators that their opening makes and their closing ends ----------------------------------------- */

LP_HOOK lp_file_open(struct lp_stamp s, lp_word comm, const char* name, const void* file) {
    uint32_t id = lp_comm_id(s.t, (MPI_Comm)comm);
    uint32_t fresh = lp_file_opened(s.t, (uintptr_t)*(const MPI_File*)file, (MPI_Comm)comm, name);
    lp_comm_call(s, LP_COMM_NEW, id, fresh, NULL);
}

LP_HOOK lp_file_open_failed(struct lp_stamp s, lp_word comm) {
    lp_file_unopened(LP_KEY(MPI_Comm, comm));
    lp_failed_coll(s, comm, LP_ROOT_NONE);
}

LP_HOOK lp_file_close(struct lp_stamp s, uint32_t held) {
    if (held)
        lp_comm_call(s, LP_COMM_FREE, held, 0, NULL);
    else
        lp_call(s);
}

/* Its members may wait for each other in it, as in calls that make a handle. */
LP_HOOK lp_file_coll(struct lp_stamp s, lp_word file) {
    uint32_t id = lp_file_id(LP_KEY(MPI_File, file));
    if (id)
        lp_comm_call(s, LP_COMM_NEW, id, 0, NULL);
    else
        lp_call(s);
}

LP_HOOK lp_file_coll_failed(struct lp_stamp s, lp_word file) {
    lp_failed_over(s, lp_file_id(LP_KEY(MPI_File, file)), LP_ROOT_NONE);
}

#endif
