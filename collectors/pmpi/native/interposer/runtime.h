/* What the parts of the interposer share.
 *
 * Rules that keep the traced program safe:
 *  - nothing happens before MPI_Init has returned, nor after MPI_Finalize, nor in forked children;
 *  - the fast path takes no lock and makes no system call: each thread writes to its own mapped window;
 *  - a call made inside a call (ROMIO, Fortran bindings, callbacks) is passed through: `busy` is the depth guard;
 *  - no symbol of an MPI library is referenced, they are looked up at run time; */
#ifndef LOGPOST_RUNTIME_H
#define LOGPOST_RUNTIME_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../rawlog.h"
#include "clock.h"

/* Open MPI's predefined handles are addresses of objects in libmpi: found by name, for there is no libmpi to link. */
#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)lp_find_object(#global))
#endif

#define LP_HIDDEN __attribute__((visibility("hidden")))
#define LP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#if defined(LOGPOST_SIMULATED)
#define LP_TLS /* SMPI runs all ranks in one thread and gives each its own globals */
#else
#define LP_TLS __thread __attribute__((tls_model("initial-exec")))
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
};
#define LP_TYPE_ENTRIES 64u

struct lp_thread {
    char* pos; /* where the next record goes */
    char* end; /* of the window's room for records */
    int busy;
    uint32_t comm_id, comm_generation; /* the communicator used last */
    uintptr_t comm_handle;
    struct lp_type_entry types[LP_TYPE_ENTRIES];
    uint64_t* handles; /* scratch space of calls on many requests */
    MPI_Status* statuses;
    size_t handles_room, statuses_room;
    char* map;
    uint64_t flushed; /* bytes of the log that are in its file, header included */
    uint32_t index;
    int window_moves;
    char path[1280], window[1280];
};

/* log.c */
extern LP_HIDDEN volatile int lp_on;
extern LP_HIDDEN volatile int lp_stopped;
extern LP_HIDDEN LP_TLS struct lp_thread* lp_self;
extern LP_HIDDEN uint64_t lp_process_id;
LP_HIDDEN struct lp_thread* lp_thread_create(void);
LP_HIDDEN char* lp_window(struct lp_thread* t, size_t need);
LP_HIDDEN void lp_log_close(struct lp_thread* t);
LP_HIDDEN void lp_note_text(struct lp_thread* t, int kind, const char* text);
LP_HIDDEN struct lp_sync lp_read_sync(void);
LP_HIDDEN void lp_write_sync(struct lp_thread* t, struct lp_sync sync);
LP_HIDDEN void lp_say(const char* format, ...) __attribute__((format(printf, 1, 2)));
LP_HIDDEN int lp_log_prepare(void);
LP_HIDDEN uint64_t* lp_handles_scratch(struct lp_thread* t, size_t n);
LP_HIDDEN MPI_Status* lp_statuses_scratch(struct lp_thread* t, size_t n);

/* resolve.c */
LP_HIDDEN void* lp_find(const char* name);
LP_HIDDEN void* lp_find_object(const char* name);
LP_HIDDEN void* lp_real(const char* pmpi_name); /* never NULL: a function that fails when there is none */
LP_HIDDEN int lp_library_fits(void);

/* runtime.c */
LP_HIDDEN void lp_describe_thread(struct lp_thread* t);
LP_HIDDEN void lp_before_init(void);
LP_HIDDEN struct lp_thread* lp_after_init(uint64_t enter);
LP_HIDDEN void lp_before_finalize(struct lp_thread* t);
LP_HIDDEN void lp_after_finalize(struct lp_thread* t, int function, uint64_t enter, uint64_t leave, int result);

/* comm.c */
extern LP_HIDDEN volatile uint32_t lp_comm_generation;
LP_HIDDEN uint32_t lp_comm_lookup(struct lp_thread* t, uintptr_t handle);
LP_HIDDEN uint32_t lp_comm_register(struct lp_thread* t, MPI_Comm comm, uint32_t parent, uint32_t flags);
LP_HIDDEN uint32_t lp_comm_register_far(struct lp_thread* t, MPI_Comm comm, MPI_Comm local, uint32_t parent);
LP_HIDDEN uint32_t lp_comm_idup(struct lp_thread* t, MPI_Comm comm, MPI_Comm parent);
LP_HIDDEN void lp_comm_forget(uintptr_t handle);
LP_HIDDEN void lp_comm_name(struct lp_thread* t, MPI_Comm comm, const char* name);
LP_HIDDEN void lp_comm_size(MPI_Comm comm, int* rank, int* size, int* other);

/* layout.c */
#define LP_TYPE_SLOTS 1024u
extern LP_HIDDEN volatile uint32_t lp_type_generation[LP_TYPE_SLOTS]; /* moves when a type of that slot is freed */
static inline volatile uint32_t* lp_type_slot(uintptr_t handle) {
    return &lp_type_generation[(handle ^ handle >> 5 ^ handle >> 13) % LP_TYPE_SLOTS];
}
LP_HIDDEN struct lp_type_entry* lp_type_learn(struct lp_thread* t, struct lp_type_entry* slot, MPI_Datatype type);

/* The functions of MPI that the interposer itself calls, looked up once. */
/* clang-format off */
#define LP_API(X) \
    X(Allgather) X(Allreduce) X(Bcast) X(Comm_dup) X(Comm_free) X(Comm_get_parent) X(Comm_group) X(Comm_rank) \
    X(Comm_remote_size) X(Comm_size) X(Comm_test_inter) X(Get_elements_x) X(Get_library_version) X(Group_free) \
    X(Group_size) X(Group_translate_ranks) X(Recv) X(Send) X(Test_cancelled) X(Type_free) X(Type_get_contents) \
    X(Type_get_envelope) X(Type_get_extent_x) X(Type_size_x)
/* clang-format on */
struct lp_api {
#define X(name) __typeof__(PMPI_##name)* name;
    LP_API(X)
#undef X
};
extern LP_HIDDEN struct lp_api lp_mpi;

struct lp_constants {
    MPI_Comm world, self, comm_null;
    MPI_Request request_null;
    MPI_Datatype type_null, uint64, byte;
    MPI_Op max;
    MPI_Group group_null;
};
extern LP_HIDDEN struct lp_constants lp_k;

static inline struct lp_thread* lp_enter(void) {
    if (LP_UNLIKELY(!lp_on))
        return NULL;
    struct lp_thread* t = lp_self;
    if (LP_UNLIKELY(!t) && !(t = lp_thread_create()))
        return NULL;
    if (t->busy)
        return NULL;
    t->busy = 1;
    return t;
}

/* Room for a record of `bytes` bytes; NULL when recording has ended. */
static inline char* lp_reserve(struct lp_thread* t, size_t bytes) {
    if (LP_UNLIKELY((size_t)(t->end - t->pos) < bytes))
        return lp_window(t, bytes);
    return t->pos;
}

/* Publishes the record at t->pos: times and what ends the log first, then the word that makes it visible. */
static inline void lp_commit(struct lp_thread* t, int kind, int function, size_t bytes, uint64_t enter,
                             uint64_t leave) {
    struct lp_head* head = (struct lp_head*)t->pos;
    head->enter = enter;
    head->leave = leave;
    *(uint64_t*)(t->pos + bytes) = 0; /* the window has been used before: the log ends after this record */
    uint64_t word = (uint64_t)(uint16_t)kind | (uint64_t)(uint16_t)function << 16 | (uint64_t)bytes << 32;
    __atomic_store_n((uint64_t*)head, word, __ATOMIC_RELEASE);
    t->pos += bytes;
}

static inline uint32_t lp_comm_id(struct lp_thread* t, MPI_Comm comm) {
    uintptr_t handle = (uintptr_t)comm;
    if (t->comm_handle == handle && t->comm_generation == lp_comm_generation)
        return t->comm_id;
    return lp_comm_lookup(t, handle);
}

static inline struct lp_type_entry* lp_type(struct lp_thread* t, MPI_Datatype type) {
    uintptr_t handle = (uintptr_t)type;
    struct lp_type_entry* e = &t->types[(handle ^ handle >> 6 ^ handle >> 12) % LP_TYPE_ENTRIES];
    if (e->handle == handle && e->generation == *lp_type_slot(handle))
        return e;
    return lp_type_learn(t, e, type);
}

#endif
