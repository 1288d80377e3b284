/* Wrappers of gfortran's coarray library (libcaf of OpenCoarrays), together with those of MPI in one interposer: a call
 * made inside of a wrapped one is passed through, so the MPI calls beneath a coarray access are not shown.
 *
 * Arguments travel as machine words, which is right for any version of the library on 64-bit Linux. Images are ranks of
 * MPI_COMM_WORLD, counted from 1; within a team of the program's own they are not, so then calls have no peers.
 * Start and end of the library are not wrapped: MPI_Init and MPI_Finalize, which they call, are. */
#include <dlfcn.h>
#include <stddef.h>

#include "coarray_functions.h"
#include "collective_hooks.h"
#include "one_sided.h"

typedef uintptr_t W;

/* gfortran's array descriptor, since GCC 8. */
struct descriptor {
    void* base;
    size_t offset;
    size_t element_bytes;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span;
    struct {
        ptrdiff_t stride, lower, upper;
    } dimension[];
};

static uint32_t window; /* 0: the library has not started */
static int teams;       /* of the program's own, that are entered */

static uint64_t elements(W array) {
    const struct descriptor* d = (const struct descriptor*)array;
    uint64_t count = 1;
    for (int i = 0; d && i < d->rank; i++)
        count *= d->dimension[i].upper >= d->dimension[i].lower
                     ? (uint64_t)(d->dimension[i].upper - d->dimension[i].lower + 1)
                     : 0;
    return d ? count : 0;
}

static uint64_t bytes(W array) {
    return elements(array) * (array ? ((const struct descriptor*)array)->element_bytes : 0);
}

static void access(struct lp_stamp s, int operation, uint64_t sent, uint64_t received, W image) {
    int target = teams || (int)image < 1 ? LP_NO_PEER : (int)image - 1;
    struct lp_transfer x = {sent, received, 0, window, target, 0, 0, (uint32_t)operation, LP_TRANSFER_BLOCKING};
    size_t n = LP_HEAD + sizeof x;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, &x, sizeof x);
    lp_commit(s.t, LP_TRANSFER, s.f, n, s.enter, s.leave);
}

static void lock_of(struct lp_stamp s, int operation, W image) {
    if (teams || (int)image < 1) {
        lp_call(s);
        return;
    }
    struct lp_synchronize y = {window, (int)image - 1, (uint32_t)operation, 1};
    size_t n = LP_HEAD + sizeof y;
    if (!lp_reserve(s.t, n))
        return;
    memcpy(s.t->pos + LP_HEAD, &y, sizeof y);
    lp_commit(s.t, LP_SYNCHRONIZE, s.f, n, s.enter, s.leave);
}

/* Bytes as the MPI collector counts them. `image` 0: all have the result. */
static void collective(struct lp_stamp s, W image, uint64_t b, int to_all) {
    if (teams) {
        lp_call(s);
        return;
    }
    int rank = 0, size = 0, other = 0, root = (int)image > 0 ? (int)image - 1 : LP_ROOT_NONE;
    lp_comm_size(lp_k.world, &rank, &size, &other);
    struct lp_volume v = {0, 0};
    if (to_all) { /* co_broadcast */
        v.received = b;
        v.sent = rank == root ? b * (uint64_t)size : 0;
    } else if (root < 0) {
        v.sent = v.received = b * (uint64_t)size;
    } else {
        v.sent = b;
        v.received = rank == root ? b * (uint64_t)size : 0;
    }
    lp_coll(s, LP_COLL, (lp_word)lp_k.world, root, v, NULL);
}

static void opens_collective(struct lp_thread* t, int function, uint64_t enter, W image) {
    const int root = (int)image > 0 ? (int)image - 1 : LP_ROOT_NONE;
    if (teams)
        lp_opens(t, LP_CALL, function, enter, LP_NO_PEER, LP_ANY_TAG, 0, 0);
    else
        lp_opens(t, LP_COLL, function, enter, root, 0, lp_comm_known(t, (uintptr_t)lp_k.world), 0);
}

#define CAF_OPENS(name, DECLARED, PASSED, NUMBER, OPENS, NOTE)                                    \
    __attribute__((visibility("default"))) void _gfortran_caf_##name DECLARED {                   \
        static void(*volatile known) DECLARED;                                                    \
        void(*real) DECLARED = known;                                                             \
        if (LP_UNLIKELY(!real))                                                                   \
            real = known = (void(*) DECLARED)(uintptr_t)dlsym(RTLD_NEXT, "_gfortran_caf_" #name); \
        struct lp_thread* t = window ? lp_enter() : NULL;                                         \
        if (!t) {                                                                                 \
            real PASSED;                                                                          \
            return;                                                                               \
        }                                                                                         \
        t->stack = LP_STACK_HERE(t);                                                              \
        uint64_t enter = lp_now();                                                                \
        OPENS;                                                                                    \
        real PASSED;                                                                              \
        struct lp_stamp s = {t, NUMBER, enter, lp_now()};                                         \
        NOTE;                                                                                     \
        lp_leave(t);                                                                              \
    }

#define CAF(name, DECLARED, PASSED, NUMBER, NOTE) \
    CAF_OPENS(name, DECLARED, PASSED, NUMBER, lp_opens(t, LP_CALL, NUMBER, enter, LP_NO_PEER, LP_ANY_TAG, 0, 0), NOTE)
/* All images take part, and wait for each other. */
#define CAF_ALL(name, DECLARED, PASSED, NUMBER, IMAGE, NOTE) \
    CAF_OPENS(name, DECLARED, PASSED, NUMBER, opens_collective(t, NUMBER, enter, IMAGE), NOTE)

/* The window that stands for all coarrays is made here, by all images in the same place. */
__attribute__((visibility("default"))) void _gfortran_caf_init(W argc, W argv) {
    static void (*volatile known)(W, W);
    if (!known)
        known = (void (*)(W, W))(uintptr_t)dlsym(RTLD_NEXT, "_gfortran_caf_init");
    known(argc, argv);
    struct lp_thread* t = window ? NULL : lp_enter();
    if (!t)
        return;
    t->stack = LP_STACK_HERE(t);
    struct lp_rma_call made = {lp_rma_register(t, (MPI_Win)&window, lp_k.world, LP_RMA_CREATED), LP_RMA_CREATED};
    uint64_t now = lp_now();
    struct lp_stamp s = {t, LPF_init, now, now};
    lp_note_name(t, LP_NAME_RMA, made.window, "coarrays");
    lp_rma_note(s, LP_RMA_NEW, made);
    window = made.window;
    lp_leave(t);
}

/* token, offset, image, array there, its vector subscripts, array here, kinds */
CAF(send, (W a, W b, W c, W d, W e, W f, W g, W h, W i, W j), (a, b, c, d, e, f, g, h, i, j), LPF_send,
    access(s, LP_PUT, e ? bytes(f) : elements(d) * ((const struct descriptor*)d)->element_bytes, 0, c))
CAF(get, (W a, W b, W c, W d, W e, W f, W g, W h, W i, W j), (a, b, c, d, e, f, g, h, i, j), LPF_get,
    access(s, LP_GET, 0, e ? bytes(f) : bytes(d), c))
/* the same of its target, then of its source: one call, and a second one of no duration for the put */
CAF(sendget, (W a, W b, W c, W d, W e, W f, W g, W h, W i, W j, W k, W l, W m, W n),
    (a, b, c, d, e, f, g, h, i, j, k, l, m, n), LPF_sendget, {
        access(s, LP_GET, 0, j ? bytes(d) : bytes(i), h);
        s.enter = s.leave;
        access(s, LP_PUT, e ? bytes(i) : bytes(d), 0, c);
    })
CAF(send_by_ref, (W a, W b, W c, W d, W e, W f, W g, W h, W i, W j), (a, b, c, d, e, f, g, h, i, j), LPF_send_by_ref,
    access(s, LP_PUT, bytes(c), 0, b))
CAF(get_by_ref, (W a, W b, W c, W d, W e, W f, W g, W h, W i, W j), (a, b, c, d, e, f, g, h, i, j), LPF_get_by_ref,
    access(s, LP_GET, 0, bytes(c), b))
CAF(sendget_by_ref, (W a, W b, W c, W d, W e, W f, W g, W h, W i, W j, W k, W l, W m),
    (a, b, c, d, e, f, g, h, i, j, k, l, m), LPF_sendget_by_ref, lp_call(s))

CAF(register, (W a, W b, W c, W d, W e, W f, W g), (a, b, c, d, e, f, g), LPF_register, lp_call(s))
CAF(deregister, (W a, W b, W c, W d, W e), (a, b, c, d, e), LPF_deregister, lp_call(s))

CAF_ALL(sync_all, (W a, W b, W c), (a, b, c), LPF_sync_all, 0, {
    if (teams)
        lp_call(s);
    else
        lp_coll(s, LP_COLL, (lp_word)lp_k.world, LP_ROOT_NONE, (struct lp_volume){0, 0}, NULL);
})
CAF(sync_memory, (W a, W b, W c), (a, b, c), LPF_sync_memory, lp_call(s))
CAF(sync_images, (W a, W b, W c, W d, W e), (a, b, c, d, e), LPF_sync_images, lp_call(s))
CAF(sync_team, (W a, W b), (a, b), LPF_sync_team, lp_call(s))
CAF(form_team, (W a, W b, W c), (a, b, c), LPF_form_team, lp_call(s))
CAF(change_team, (W a, W b), (a, b), LPF_change_team, (teams++, lp_call(s)))
CAF(end_team, (W a), (a), LPF_end_team, (teams -= teams > 0, lp_call(s)))

CAF(event_post, (W a, W b, W c, W d, W e, W f), (a, b, c, d, e, f), LPF_event_post,
    access(s, LP_ACCUMULATE, sizeof(int), 0, c))
CAF(event_wait, (W a, W b, W c, W d, W e, W f), (a, b, c, d, e, f), LPF_event_wait, lp_call(s))
CAF(event_query, (W a, W b, W c, W d, W e), (a, b, c, d, e), LPF_event_query, lp_call(s))
CAF(lock, (W a, W b, W c, W d, W e, W f, W g), (a, b, c, d, e, f, g), LPF_lock, lock_of(s, LP_LOCK, c))
CAF(unlock, (W a, W b, W c, W d, W e, W f), (a, b, c, d, e, f), LPF_unlock, lock_of(s, LP_UNLOCK, c))

CAF(atomic_define, (W a, W b, W c, W d, W e, W f, W g), (a, b, c, d, e, f, g), LPF_atomic_define,
    access(s, LP_ACCUMULATE, (uint64_t)(int)g, 0, c))
CAF(atomic_ref, (W a, W b, W c, W d, W e, W f, W g), (a, b, c, d, e, f, g), LPF_atomic_ref,
    access(s, LP_FETCH_AND_ACCUMULATE, 0, (uint64_t)(int)g, c))
CAF(atomic_cas, (W a, W b, W c, W d, W e, W f, W g, W h, W i), (a, b, c, d, e, f, g, h, i), LPF_atomic_cas,
    access(s, LP_COMPARE_AND_SWAP, 2 * (uint64_t)(int)i, (uint64_t)(int)i, c))
CAF(atomic_op, (W a, W b, W c, W d, W e, W f, W g, W h, W i), (a, b, c, d, e, f, g, h, i), LPF_atomic_op,
    access(s, f ? LP_FETCH_AND_ACCUMULATE : LP_ACCUMULATE, (uint64_t)(int)i, f ? (uint64_t)(int)i : 0, d))

#define TO(name) ((int)b > 0 ? LPF_##name##_to : LPF_##name)
CAF_ALL(co_sum, (W a, W b, W c, W d, W e), (a, b, c, d, e), TO(co_sum), b, collective(s, b, bytes(a), 0))
CAF_ALL(co_min, (W a, W b, W c, W d, W e, W f), (a, b, c, d, e, f), TO(co_min), b, collective(s, b, bytes(a), 0))
CAF_ALL(co_max, (W a, W b, W c, W d, W e, W f), (a, b, c, d, e, f), TO(co_max), b, collective(s, b, bytes(a), 0))
CAF_ALL(co_reduce, (W a, W b, W c, W d, W e, W f, W g, W h), (a, b, c, d, e, f, g, h),
        (int)d > 0 ? LPF_co_reduce_to : LPF_co_reduce, d, collective(s, d, bytes(a), 0))
CAF_ALL(co_broadcast, (W a, W b, W c, W d, W e), (a, b, c, d, e), LPF_co_broadcast, b, collective(s, b, bytes(a), 1))
