/* What calls on windows leave in the log: making and freeing them, accesses, and what separates these. */
#ifndef LOGPOST_ONE_SIDED_H
#define LOGPOST_ONE_SIDED_H

#include "hooks.h"

LP_HOOK lp_rma_note(struct lp_stamp s, int kind, struct lp_rma_call call) {
    size_t n = LP_HEAD + sizeof call;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, &call, sizeof call);
    lp_commit(s.t, kind, s.f, n, s.enter, s.leave);
}

LP_HOOK lp_rma_new(struct lp_stamp s, int kind, lp_word comm, const void* made) {
    struct lp_rma_call call = {lp_rma_register(s.t, *(const MPI_Win*)made, (MPI_Comm)comm, kind), (uint32_t)kind};
    lp_rma_note(s, LP_RMA_NEW, call);
}

/* Bytes of an operand; none where the operation has none, whatever its arguments are. */
static inline uint64_t lp_operand(struct lp_thread* t, int64_t count, lp_word type, lp_word op) {
    return (MPI_Op)op == lp_k.no_op ? 0 : lp_bytes(t, count, (MPI_Datatype)type);
}

LP_FAST void lp_access(struct lp_stamp s, int operation, uint64_t sent, uint64_t received, lp_word type,
                       lp_word target_type, int target, lp_word win, const void* request) {
    uint32_t layout = lp_type(s.t, (MPI_Datatype)type)->layout;
    struct lp_transfer x = {sent,
                            received,
                            request ? (uintptr_t)*(const MPI_Request*)request : 0,
                            lp_rma_id(s.t, (MPI_Win)win),
                            lp_peer(target),
                            layout,
                            lp_type(s.t, (MPI_Datatype)target_type)->layout,
                            (uint32_t)operation,
                            request ? LP_TRANSFER_REQUEST : 0};
    size_t n = LP_HEAD + sizeof x;
    if (!lp_reserve(s.t, n))
        return;
    *(struct lp_transfer*)(s.t->pos + LP_HEAD) = x;
    lp_commit(s.t, LP_TRANSFER, s.f, n, s.enter, s.leave);
}

LP_FAST void lp_rma_sync(struct lp_stamp s, int operation, int target, int exclusive, lp_word win) {
    struct lp_synchronize y = {lp_rma_id(s.t, (MPI_Win)win), target, (uint32_t)operation, (uint32_t)exclusive};
    size_t n = LP_HEAD + sizeof y;
    if (!lp_reserve(s.t, n))
        return;
    *(struct lp_synchronize*)(s.t->pos + LP_HEAD) = y;
    lp_commit(s.t, LP_SYNCHRONIZE, s.f, n, s.enter, s.leave);
}

LP_HOOK lp_rma_group(struct lp_stamp s, int operation, lp_word group, lp_word win) {
    int count;
    const uint64_t* ranks = lp_rma_ranks(s.t, (MPI_Win)win, (MPI_Group)group, &count);
    if (count)
        lp_handle_list(s, LP_RANKS, ranks, (size_t)count);
    lp_rma_sync(s, operation, LP_ANY_PEER, 0, win);
}

#endif
