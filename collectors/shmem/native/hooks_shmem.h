/* What each kind of OpenSHMEM call leaves in the log. Called by the generated wrappers, as hooks.h of MPI.
 *
 * All symmetric memory is one window over MPI_COMM_WORLD, whose ranks are the PEs. Each context is a separate window in
 * the log, so that what completes its accesses completes no others; in the archive they are the one window. */
#ifndef LOGPOST_HOOKS_SHMEM_H
#define LOGPOST_HOOKS_SHMEM_H

#include "one_sided.h"

extern LP_HIDDEN uint32_t lp_shmem; /* the window; 0: the library has not started */

extern LP_HIDDEN int lp_shmem_pes;
extern LP_HIDDEN const int lp_shmem_finalize_number; /* in the table of functions */

/* shmem.c */
LP_HIDDEN void* lp_shmem_real(const char* name);
/* Begins a call, from `address` on the stack at `place`; no thread: it passes through. `kind`: LP_COLL of
 * all PEs, or LP_CALL. */
LP_HIDDEN struct lp_stamp lp_shmem_enter(int function, int kind, uintptr_t address, const uintptr_t* place);
LP_HIDDEN void lp_shmem_call(struct lp_stamp s);
LP_HIDDEN struct lp_thread* lp_shmem_starts(void);
LP_HIDDEN struct lp_thread* lp_shmem_started(struct lp_thread* t, uint64_t enter);
LP_HIDDEN void lp_shmem_begins(struct lp_stamp s);
LP_HIDDEN void lp_shmem_context(struct lp_thread* t, void* ctx);
LP_HIDDEN void lp_shmem_strided(struct lp_stamp s, int operation, ptrdiff_t own_stride, ptrdiff_t target_stride,
                                size_t count, size_t element, int pe, uint32_t window, uint32_t flags);
LP_HIDDEN void lp_shmem_lock(struct lp_stamp s, int operation, const volatile long* lock);
enum lp_volume_of {
    LP_VOLUME_BARRIER,
    LP_VOLUME_BCAST,
    LP_VOLUME_ALLGATHER,
    LP_VOLUME_ALLGATHERV,
    LP_VOLUME_ALLTOALL,
    LP_VOLUME_ALLREDUCE
};
/* `bytes` of one PE, or of one block; `size` -1: of all PEs. `completes`: the window whose accesses it completes. */
LP_HIDDEN void lp_shmem_collective(struct lp_stamp s, enum lp_volume_of volume, uint64_t bytes, int root, int start,
                                   int log_stride, int size, uint32_t completes);

/* Of a context; the default one, and one of unknown creation, is the window itself. */
LP_FAST uint32_t lp_shmem_window(struct lp_thread* t, const void* ctx) {
    uint32_t window = lp_rma_id(t, (MPI_Win)ctx);
    return window ? window : lp_shmem;
}

LP_HIDDEN void lp_shmem_access(struct lp_stamp s, int operation, uint64_t sent, uint64_t received, int pe,
                               uint32_t window, uint32_t flags, uint32_t layout, uint32_t target_layout);
LP_HIDDEN void lp_shmem_sync(struct lp_stamp s, int operation, uint32_t window);

#endif
