/* OpenSHMEM on Open MPI, together with MPI in one interposer: start, contexts, active sets, strides and locks.
 *
 * shmem_init() starts the MPI beneath it, so that a recording begins and ends as it does with MPI: the clocks are
 * compared by MPI messages, PEs are ranks of MPI_COMM_WORLD. A program may have called MPI_Init before;
 * shmem_finalize() ends MPI, too. Calls of MPI within one of OpenSHMEM pass through. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hooks_shmem.h"

uint32_t lp_shmem;
static int starting; /* depth of calls that start the library */
static int own_pe;
static uint32_t all; /* the communicator of all PEs */
int lp_shmem_pes;
static uintptr_t program_begin, program_end; /* of the executable, where its static data are */

/* --- the library ------------------------------------------------------------------------------------------------- */

static int visit(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    const char* name = strrchr(info->dlpi_name ? info->dlpi_name : "", '/');
    if (!name || strncmp(name, "/liboshmem.so", 13))
        return 0;
    *(void**)data = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return *(void**)data != NULL;
}

/* Python loads the library for itself only: then it is found among the loaded objects, as MPI's is. */
void* lp_shmem_real(const char* name) {
    void* symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) {
        void* library = NULL;
        dl_iterate_phdr(visit, &library);
        symbol = library ? dlsym(library, name) : NULL;
    }
    if (!symbol) { /* what the loader does when a program needs what no library has */
        lp_say("the OpenSHMEM library of this process has no %s", name);
        _exit(127);
    }
    return symbol;
}

/* --- start ------------------------------------------------------------------------------------------------------- */

struct lp_thread* lp_shmem_starts(void) {
    lp_before_init(NULL);
    starting++;
    return lp_enter(); /* where MPI is recorded already */
}

struct lp_thread* lp_shmem_started(struct lp_thread* t, uint64_t enter) {
    starting--;
    if (t || starting)
        return t;
    int (*initialized)(int*) = (int (*)(int*))(uintptr_t)lp_find("PMPI_Initialized");
    int yes = 0;
    return initialized && !initialized(&yes) && yes ? lp_after_init(enter) : NULL;
}

static int executable(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size, (void)data;
    program_begin = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            program_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1; /* it is the first */
}

/* A program may end without shmem_finalize(): the library then does at exit what that does, by calls of MPI that are
 * not the program's. This runs before, since it was registered later. */
static void at_exit(void) {
    struct lp_thread* t = lp_enter();
    if (!t)
        return;
    lp_switch_in_call(t, 1);
    uint64_t now = lp_now();
    t->stack = 0;
    lp_after_finalize(t, lp_shmem_finalize_number, now, now, 0);
}

void lp_shmem_begins(struct lp_stamp s) {
    if (lp_shmem) {
        lp_call(s);
        return;
    }
    atexit(at_exit);
    int other;
    lp_comm_size(lp_k.world, &own_pe, &lp_shmem_pes, &other);
    all = lp_comm_id(s.t, lp_k.world);
    dl_iterate_phdr(executable, NULL);
    lp_shmem = lp_rma_register(s.t, (MPI_Win)&lp_shmem, lp_k.world, LP_RMA_SYMMETRIC);
    lp_note_name(s.t, LP_NAME_RMA, lp_shmem, "symmetric memory");
    lp_rma_note(s, LP_RMA_NEW, (struct lp_rma_call){lp_shmem, LP_RMA_SYMMETRIC});
}

void lp_shmem_context(struct lp_thread* t, void* ctx) {
    lp_rma_register_context(t, (MPI_Win)ctx, lp_shmem);
}

/* --- calls: not in place, for there are hundreds of wrappers ---------------------------------------------------------
 */

struct lp_stamp lp_shmem_enter(int function, int kind, uintptr_t address, const uintptr_t* place) {
    return lp_begins(function, kind, LP_NO_PEER, kind == LP_COLL ? all : 0, address, place);
}

void lp_shmem_call(struct lp_stamp s) {
    lp_call(s);
}

void lp_shmem_access(struct lp_stamp s, int operation, uint64_t sent, uint64_t received, int pe, uint32_t window,
                     uint32_t flags, uint32_t layout, uint32_t target_layout) {
    struct lp_transfer x = {sent, received, 0, window, pe, layout, target_layout, (uint32_t)operation, flags};
    size_t n = LP_HEAD + sizeof x;
    if (!lp_reserve(s.t, n))
        return;
    *(struct lp_transfer*)(s.t->pos + LP_HEAD) = x;
    lp_commit(s.t, LP_TRANSFER, s.f, n, s.enter, s.leave);
}

void lp_shmem_sync(struct lp_stamp s, int operation, uint32_t window) {
    struct lp_synchronize y = {window, LP_ANY_PEER, (uint32_t)operation, 0};
    size_t n = LP_HEAD + sizeof y;
    if (!lp_reserve(s.t, n))
        return;
    *(struct lp_synchronize*)(s.t->pos + LP_HEAD) = y;
    lp_commit(s.t, LP_SYNCHRONIZE, s.f, n, s.enter, s.leave);
}

/* --- layouts: each pair of count and stride of a size of elements once
 * ------------------------------------------------ */

struct stride {
    size_t count, element;
    ptrdiff_t stride;
    uint32_t layout;
};
static struct stride strides[256];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* 0: without gaps, or there is no more room for what is new. */
static uint32_t layout_of(struct lp_thread* t, size_t count, size_t element, ptrdiff_t stride) {
    if (stride == 1 || count < 2)
        return 0;
    uint32_t found = 0;
    pthread_mutex_lock(&lock);
    size_t at = (count * 0x9e3779b97f4a7c15ull ^ (uint64_t)stride * 0xc2b2ae3d27d4eb4full ^ element) >> 8;
    struct stride* s = NULL;
    for (size_t i = 0; i < 256 && !found; i++) {
        s = &strides[(at + i) % 256];
        if (!s->layout)
            break;
        if (s->count == count && s->element == element && s->stride == stride)
            found = s->layout;
    }
    if (!found && !s->layout) {
        int64_t step = stride * (int64_t)element;
        found =
            lp_layout_note(t, (struct lp_layout_def){0, 1, count, element, step,
                                                     (int64_t)(count - 1) * step + (int64_t)element, count * element});
        *s = (struct stride){count, element, stride, found};
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void lp_shmem_strided(struct lp_stamp s, int operation, ptrdiff_t own_stride, ptrdiff_t target_stride, size_t count,
                      size_t element, int pe, uint32_t window, uint32_t flags) {
    uint32_t own = layout_of(s.t, count, element, own_stride), there = layout_of(s.t, count, element, target_stride);
    uint64_t sent = operation == LP_PUT ? count * element : 0;
    lp_shmem_access(s, operation, sent, count * element - sent, pe, window, flags, own, there);
}

/* --- locks ---------------------------------------------------------------------------------------------------------
 */

/* All PEs name a lock alike: by its address in the symmetric heap, which is the same everywhere, or by its place in the
 * executable, which each PE may have loaded elsewhere. */
void lp_shmem_lock(struct lp_stamp s, int operation, const volatile long* address) {
    uintptr_t at = (uintptr_t)address;
    struct lp_lock y = {{lp_shmem, LP_ANY_PEER, (uint32_t)operation, 1},
                        at >= program_begin && at < program_end ? at - program_begin : at};
    size_t n = LP_HEAD + sizeof y;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, &y, sizeof y);
    lp_commit(s.t, LP_SYNCHRONIZE, s.f, n, s.enter, s.leave);
}

/* --- collective operations of active sets ----------------------------------------------------------------------------
 */

struct set {
    struct set* next;
    int start, log_stride, size;
    uint32_t window;
};
static struct set* sets;

/* The window of an active set; its communicator is known by its members. */
static uint32_t window_of(struct lp_thread* t, int start, int log_stride, int size) {
    if (size < 0 || (start == 0 && log_stride == 0 && size == lp_shmem_pes))
        return lp_shmem;
    pthread_mutex_lock(&lock);
    struct set* s = sets;
    while (s && (s->start != start || s->log_stride != log_stride || s->size != size))
        s = s->next;
    if (!s && (s = calloc(1, sizeof *s))) {
        *s = (struct set){sets, start, log_stride, size, 0};
        sets = s;
        const int step = 1 << log_stride;
        char name[96];
        snprintf(name, sizeof name, "PEs %d to %d in steps of %d", start, start + (size - 1) * step, step);
        uint32_t comm = lp_comm_strided(t, lp_k.world, start, step, size);
        lp_note_name(t, LP_NAME_COMM, comm, name);
        s->window = comm ? lp_rma_register_over(t, (MPI_Win)s, comm, LP_RMA_SYMMETRIC, 0) : 0;
        lp_note_name(t, LP_NAME_RMA, s->window, name);
    }
    uint32_t window = s ? s->window : 0;
    pthread_mutex_unlock(&lock);
    return window;
}

/* Bytes as the MPI collector counts them. */
void lp_shmem_collective(struct lp_stamp s, enum lp_volume_of volume, uint64_t bytes, int root, int start,
                         int log_stride, int size, uint32_t completes) {
    /* Without elements Open MPI returns at once, and no PE waits for another; only collect informs the others. */
    const int apart = !bytes && volume != LP_VOLUME_BARRIER && volume != LP_VOLUME_ALLGATHERV;
    struct lp_rma_collective c = {0, 0, window_of(s.t, start, log_stride, size), root, completes, (uint32_t)apart};
    uint64_t members = (uint64_t)(size < 0 ? lp_shmem_pes : size);
    switch (volume) {
        case LP_VOLUME_BARRIER:
            break;
        case LP_VOLUME_BCAST:
            c.received = bytes;
            c.sent = own_pe == start + root * (1 << log_stride) ? bytes * members : 0;
            break;
        case LP_VOLUME_ALLGATHERV: /* what others put in is not known here */
            c.sent = bytes * members;
            break;
        default:
            c.sent = c.received = bytes * members;
    }
    size_t n = LP_HEAD + sizeof c;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, &c, sizeof c);
    lp_commit(s.t, LP_RMA_COLL, s.f, n, s.enter, s.leave);
}
