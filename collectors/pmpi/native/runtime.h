/* What the parts of the MPI collector share, beyond the recorder.
 *
 * No symbol of an MPI library is referenced, they are looked up at run time. Calls made inside of calls (ROMIO, Fortran
 * bindings, callbacks) are passed through. */
#ifndef LOGPOST_RUNTIME_H
#define LOGPOST_RUNTIME_H

#include <mpi.h>
#include "recorder.h"
#include "stacks.h"

/* Open MPI's predefined handles are addresses of objects in libmpi: found by name, for there is no libmpi to link. */
#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)lp_find_object(#global))
#endif

/* Handles travel through the wrappers as machine words, so that passing them on is right for any MPI, whichever header
 * this file was compiled with. A handle that is an int leaves the upper half undefined: narrow it before use. */
typedef uintptr_t lp_word;
#define LP_KEY(type, word) ((uintptr_t)(type)(word))

struct lp_type_entry {
    uintptr_t handle;
    uint32_t generation;
    uint32_t layout;
    uint64_t size;
    uint64_t block, stride;     /* of a layout that is regular; else 0 */
    struct lp_layout_use* used; /* the last one of this type */
};
#define LP_TYPE_ENTRIES 64u

/* Messages of one size in one regular layout. */
struct lp_layout_use {
    uint64_t bytes, block, stride;
    uint64_t messages; /* and 1 more; 0: the place is free */
};
#define LP_LAYOUT_USES 64u

/* The message that the thread's last probe of any source has found, until it is received. */
struct lp_found {
    uint32_t comm; /* local id; 0: there is none */
    int peer;
    int tag;
};

/* A thread with what only MPI needs; struct lp_thread is its beginning. */
struct lp_mpi_thread {
    struct lp_thread base;
    uint32_t comm_id, comm_generation; /* the communicator used last */
    uintptr_t comm_handle;
    uint32_t rma_id, rma_generation; /* the window used last */
    uintptr_t rma_handle;
    struct lp_found found;
    struct lp_type_entry types[LP_TYPE_ENTRIES];
    MPI_Status* statuses; /* scratch space of calls on many requests */
    size_t statuses_room;
};

static inline struct lp_mpi_thread* lp_mpi_part(struct lp_thread* t) {
    return (struct lp_mpi_thread*)t;
}

/* resolve.c */
LP_HIDDEN void* lp_find(const char* name);
LP_HIDDEN void* lp_find_object(const char* name);
#define LP_CALLER __builtin_return_address(0) /* of a wrapper */
/* For an address within what calls it; never NULL: a function that fails when there is none. */
LP_HIDDEN void* lp_real(const char* pmpi_name, const void* caller);
LP_HIDDEN int lp_library_fits(const void* caller);
LP_HIDDEN void lp_library_unseen(void); /* at the end of a process that no wrapper has seen start MPI */

/* runtime.c */
LP_HIDDEN MPI_Status* lp_statuses_scratch(struct lp_thread* t, size_t n);
LP_HIDDEN void lp_before_init(const void* caller);
LP_HIDDEN struct lp_thread* lp_after_init(uint64_t enter);
extern LP_HIDDEN int lp_has_world; /* MPI_Init was called */
LP_HIDDEN struct lp_thread* lp_after_session_init(const void* session);
LP_HIDDEN int lp_session_ends(void); /* 1: it was the last one, and MPI ends with it */
LP_HIDDEN void lp_session_made(struct lp_thread* t, MPI_Comm comm);
LP_HIDDEN void lp_before_finalize(struct lp_thread* t);
LP_HIDDEN void lp_after_finalize(struct lp_thread* t, int function, uint64_t enter, uint64_t leave, int result);

/* comm.c */
extern LP_HIDDEN volatile uint32_t lp_comm_generation;
LP_HIDDEN uint32_t lp_comm_lookup(struct lp_thread* t, uintptr_t handle);
LP_HIDDEN uint32_t lp_comm_known(struct lp_thread* t, uintptr_t handle); /* 0: not seen before; calls no MPI */
LP_HIDDEN uint32_t lp_comm_register(struct lp_thread* t, MPI_Comm comm, uint32_t parent, uint32_t flags);
LP_HIDDEN void lp_comm_sessions(struct lp_thread* t, int rank, int size);
LP_HIDDEN uint32_t lp_comm_register_far(struct lp_thread* t, MPI_Comm comm, MPI_Comm local, uint32_t parent);
LP_HIDDEN uint32_t lp_comm_idup(struct lp_thread* t, MPI_Comm comm, MPI_Comm parent);
/* The number of a persistent collective operation that was just made, on which all members agree; 0: not known. */
LP_HIDDEN uint32_t lp_comm_persistent(MPI_Comm comm);
/* Of `size` ranks of a known communicator, the first and every `step`-th behind it: no MPI communicator is made. */
LP_HIDDEN uint32_t lp_comm_strided(struct lp_thread* t, MPI_Comm of, int first, int step, int size);
LP_HIDDEN void lp_comm_forget(uintptr_t handle);
/* Of an open file: the local id of its communicator; 0: not seen opened. They call no MPI function of files. */
LP_HIDDEN uint32_t lp_file_opened(struct lp_thread* t, uintptr_t file, MPI_Comm comm, const char* name);
LP_HIDDEN void lp_file_unopened(uintptr_t comm); /* the call failed, and counts all the same: it may not on others */
LP_HIDDEN uint32_t lp_file_id(uintptr_t file);
LP_HIDDEN void lp_file_forget(uintptr_t file);
LP_HIDDEN void lp_comm_name(struct lp_thread* t, MPI_Comm comm, const char* name);
LP_HIDDEN void lp_note_name(struct lp_thread* t, int kind, uint32_t id, const char* name);
/* 1: an inter-communicator, of which `other` is the remote group's size. */
LP_HIDDEN int lp_comm_size(MPI_Comm comm, int* rank, int* size, int* other);

/* windows.c: those for one-sided accesses, and their local ids; 0: not seen made */
extern LP_HIDDEN volatile uint32_t lp_rma_generation;
LP_HIDDEN uint32_t lp_rma_lookup(struct lp_thread* t, uintptr_t handle);
LP_HIDDEN uint32_t lp_rma_register(struct lp_thread* t, MPI_Win win, MPI_Comm comm, int kind);
/* The same over a communicator's local id, and for a context of a window. */
LP_HIDDEN uint32_t lp_rma_register_over(struct lp_thread* t, MPI_Win win, uint32_t comm, int kind, uint32_t of);
LP_HIDDEN uint32_t lp_rma_register_context(struct lp_thread* t, MPI_Win ctx, uint32_t of);
/* Bit k: the process has had windows of kind k (enum lp_rma_kind). */
extern LP_HIDDEN uint32_t lp_rma_kinds;
LP_HIDDEN struct lp_rma_call lp_rma_forget(MPI_Win win);
LP_HIDDEN void lp_rma_name(struct lp_thread* t, MPI_Win win, const char* name);
/* In thread's scratch space, those that are no members left out; NULL: unknown. Calls MPI, but only locally. */
LP_HIDDEN uint64_t* lp_rma_ranks(struct lp_thread* t, MPI_Win win, MPI_Group group, int* count);

/* calibrate.c: LogGP between ranks of this job, where the recording requests it; by all ranks, within MPI_Init. `own`
 * is a private duplicate of MPI_COMM_WORLD. */
LP_HIDDEN void lp_calibrate(MPI_Comm own, int rank, int size);
/* The layouts that the program used, and transfers through windows like its own; by all ranks, within MPI_Finalize. */
LP_HIDDEN void lp_calibrate_used(MPI_Comm own, int rank);

/* layout.c */
#define LP_TYPE_SLOTS 1024u
extern LP_HIDDEN volatile uint32_t lp_type_generation[LP_TYPE_SLOTS]; /* moves when a type of that slot is freed */
static inline volatile uint32_t* lp_type_slot(uintptr_t handle) {
    return &lp_type_generation[(handle ^ handle >> 5 ^ handle >> 13) % LP_TYPE_SLOTS];
}
/* Notes a layout under the next number, which it returns; 0: there was no room. */
LP_HIDDEN uint32_t lp_layout_note(struct lp_thread* t, struct lp_layout_def layout);
LP_HIDDEN struct lp_type_entry* lp_type_learn(struct lp_thread* t, struct lp_type_entry* slot, MPI_Datatype type);
/* The process's uses, by all threads: of more sizes and layouts than there are places the first ones. */
extern LP_HIDDEN struct lp_layout_use lp_layout_uses[LP_LAYOUT_USES];
LP_HIDDEN void lp_layout_used(struct lp_type_entry* e, uint64_t bytes);

/* The functions of MPI that the interposer itself calls, looked up once. */
/* clang-format off */
#define LP_API(X) \
    X(Allgather) X(Allreduce) X(Bcast) X(Comm_dup) X(Comm_free) X(Comm_get_parent) X(Comm_group) X(Comm_rank) \
    X(Comm_remote_size) X(Comm_size) X(Comm_split) X(Comm_test_inter) X(Get_elements_x) X(Get_library_version) X(Group_free) \
    X(Group_rank) X(Group_size) X(Group_translate_ranks) X(Recv) X(Send) X(Test_cancelled) X(Type_free) X(Type_get_contents) \
    X(Type_get_envelope) X(Type_get_extent_x) X(Type_size_x) X(Win_get_group)
#if defined(LOGPOST_SIMULATED) /* a simulated machine needs no measuring */
#define LP_CALIBRATION_API(X)
#define LP_TRANSFER_API(X)
#else
#define LP_CALIBRATION_API(X) \
    X(Barrier) X(Comm_create_group) X(Comm_set_errhandler) X(Gather) X(Group_incl) X(Iprobe) X(Irecv) X(Isend) \
    X(Reduce_local) X(Test) X(Type_commit) X(Type_contiguous) X(Type_vector) X(Wait) X(Waitall) X(Wtick) X(Wtime)
#define LP_TRANSFER_API(X) \
    X(Get) X(Put) X(Win_allocate) X(Win_create) X(Win_flush) X(Win_free) X(Win_lock) X(Win_set_errhandler) X(Win_unlock)
#endif
/* clang-format on */
struct lp_api {
#define X(name) __typeof__(PMPI_##name)* name;
    LP_API(X) LP_CALIBRATION_API(X) LP_TRANSFER_API(X)
#undef X
};
extern LP_HIDDEN struct lp_api lp_mpi;

struct lp_constants {
    MPI_Comm world, self, comm_null;
    MPI_Request request_null;
    MPI_Datatype type_null, uint64, byte;
    MPI_Op max;
    MPI_Group group_null;
    MPI_Op no_op;
    MPI_Datatype integer, real; /* from here on: for calibrate.c */
    MPI_Op bor, sum;
    MPI_Errhandler errors_return;
    MPI_Info info_null;
};
extern LP_HIDDEN struct lp_constants lp_k;

static inline uint32_t lp_comm_id(struct lp_thread* t, MPI_Comm comm) {
    uintptr_t handle = (uintptr_t)comm;
    const struct lp_mpi_thread* m = lp_mpi_part(t);
    if (m->comm_handle == handle && m->comm_generation == lp_comm_generation)
        return m->comm_id;
    return lp_comm_lookup(t, handle);
}

static inline uint32_t lp_rma_id(struct lp_thread* t, MPI_Win win) {
    uintptr_t handle = (uintptr_t)win;
    const struct lp_mpi_thread* m = lp_mpi_part(t);
    if (m->rma_handle == handle && m->rma_generation == lp_rma_generation)
        return m->rma_id;
    return lp_rma_lookup(t, handle);
}

static inline struct lp_type_entry* lp_type(struct lp_thread* t, MPI_Datatype type) {
    uintptr_t handle = (uintptr_t)type;
    struct lp_type_entry* e = &lp_mpi_part(t)->types[(handle ^ handle >> 6 ^ handle >> 12) % LP_TYPE_ENTRIES];
    if (e->handle == handle && e->generation == *lp_type_slot(handle))
        return e;
    return lp_type_learn(t, e, type);
}

#endif
