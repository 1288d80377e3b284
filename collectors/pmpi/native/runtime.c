/* Start and end of a recording: MPI_Init, MPI_Finalize, and the measurement of clock offsets. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime.h"

static int fits = -1;              /* -1: not looked yet */
static struct lp_sync before_init; /* MPI_Init is a long base for the clock's rate, even of a short program */
static int own_rank, own_size;
int lp_has_world;

const size_t lp_thread_bytes = sizeof(struct lp_mpi_thread);

void lp_thread_begins(struct lp_thread* t) {
    lp_mpi_part(t)->comm_generation = lp_comm_generation - 1;
    lp_mpi_part(t)->rma_generation = lp_rma_generation - 1;
    lp_mpi_part(t)->found = (struct lp_found){0, 0, 0};
}

void lp_thread_ends(struct lp_thread* t) {
    free(lp_mpi_part(t)->statuses);
}

MPI_Status* lp_statuses_scratch(struct lp_thread* t, size_t n) {
    struct lp_mpi_thread* m = lp_mpi_part(t);
    if (n > m->statuses_room) {
        MPI_Status* more = realloc(m->statuses, n * sizeof *more);
        if (!more)
            return NULL;
        m->statuses = more;
        m->statuses_room = n;
    }
    return m->statuses;
}

void lp_before_init(const void* caller) {
    if (fits >= 0)
        return;
    fits = 0;
    if (!getenv("LOGPOST_RAW_DIR"))
        return;
    if (!lp_library_fits(caller))
        return;
    if (!lp_log_prepare())
        return;
    lp_off_in_children();
    lp_note_exit();
    before_init = lp_read_sync();
    fits = 1;
}

#if defined(LOGPOST_SIMULATED)

static void open_own(void) {}

static void close_own(void) {}

static void calibrate(void) {}

static void calibrate_layouts(void) {}

static void choose_measuring_ranks(void) {}

static void measure_offsets(struct lp_thread* t) {
    (void)t;
}

#else

static MPI_Comm own;            /* a duplicate of MPI_COMM_WORLD for our own messages */
static unsigned char* measured; /* which ranks measure their clock against rank 0 */

#define ALL_MEASURE 256 /* up to this many ranks everybody measures, beyond it one rank per clock */
#define EXCHANGES 12
#define PATIENCE_NS 2000000u /* of the exchanges of one rank: ranks that outnumber cores answer late */

static uint64_t clock_key(void) {
    char name[LP_CLOCK_NAME];
    lp_clock_name(name);
    if (!name[0] && gethostname(name, sizeof name - 1))
        strcpy(name, "unknown");
    uint64_t hash = 0xcbf29ce484222325ull;
    for (const char* c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3ull;
    return (hash ^ (uint64_t)lp_clock) * 0x100000001b3ull;
}

/* Requests rank 0's time, several times, and notes the quickest answer. */
static void ask(struct lp_thread* t) {
    struct lp_offset best = {0, 0, 0};
    uint64_t width = UINT64_MAX, begin = lp_clock_ns(CLOCK_MONOTONIC_RAW);
    for (int i = 0; i < EXCHANGES; i++) {
        uint64_t going = i + 1 < EXCHANGES && lp_clock_ns(CLOCK_MONOTONIC_RAW) - begin < PATIENCE_NS, answer = 0;
        uint64_t before = lp_now();
        lp_mpi.Send(&going, 1, lp_k.uint64, 0, 1, own);
        if (lp_mpi.Recv(&answer, 1, lp_k.uint64, 0, 1, own, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return;
        uint64_t after = lp_now();
        if (after - before < width) {
            width = after - before;
            best = (struct lp_offset){before, after, answer};
        }
        if (!going)
            break;
    }
    size_t bytes = sizeof(struct lp_head) + sizeof best;
    if (!lp_reserve(t, bytes))
        return;
    memcpy(t->pos + sizeof(struct lp_head), &best, sizeof best);
    lp_commit(t, LP_OFFSET, 0, bytes, best.before, best.after);
}

static void measure_offsets(struct lp_thread* t) {
    if (!measured)
        return;
    if (own_rank) {
        if (measured[own_rank])
            ask(t);
        return;
    }
    for (int r = 1; r < own_size; r++)
        for (uint64_t going = measured[r]; going;) {
            uint64_t answer;
            if (lp_mpi.Recv(&going, 1, lp_k.uint64, r, 1, own, MPI_STATUS_IGNORE) != MPI_SUCCESS)
                break; /* it has failed, and the library lets the others continue */
            answer = lp_now();
            lp_mpi.Send(&answer, 1, lp_k.uint64, r, 1, own);
        }
}

static void choose_measuring_ranks(void) {
    uint64_t key = clock_key();
    uint64_t* keys = malloc(sizeof(uint64_t) * (size_t)own_size);
    measured = calloc((size_t)own_size, 1);
    if (!keys || !measured)
        return; /* out of memory within MPI_Init: the program is lost without us */
    lp_mpi.Allgather(&key, 1, lp_k.uint64, keys, 1, lp_k.uint64, own);
    for (int r = 1; r < own_size; r++) {
        int first = own_size <= ALL_MEASURE;
        if (!first) {
            first = keys[r] != keys[0];
            for (int q = r - 1; first && q > 0 && r - q < 4096; q--)
                first = keys[q] != keys[r];
        }
        measured[r] = (unsigned char)first;
    }
    free(keys);
}

static void open_own(void) {
    lp_mpi.Comm_dup(lp_k.world, &own);
}

static void close_own(void) {
    lp_mpi.Comm_free(&own);
}

static void calibrate(void) {
    lp_calibrate(own, own_rank, own_size);
}

static void calibrate_layouts(void) {
    lp_calibrate_used(own, own_rank);
}

__attribute__((destructor)) static void at_end(void) {
    if (fits < 0 && getenv("LOGPOST_RAW_DIR"))
        lp_library_unseen();
}

#endif

static const char* library_name(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    int length = 0;
    if (lp_mpi.Get_library_version)
        lp_mpi.Get_library_version(text, &length);
    text[strcspn(text, "\n")] = 0;
    return text;
}

struct lp_thread* lp_after_init(uint64_t enter) {
    (void)enter;
    if (fits != 1 || lp_has_world)
        return NULL;
    struct lp_thread* t = lp_self ? lp_self : lp_thread_create();
    if (!t)
        return NULL;
    lp_busy(t);
    lp_has_world = 1;
    lp_mpi.Comm_rank(lp_k.world, &own_rank);
    lp_mpi.Comm_size(lp_k.world, &own_size);
    if (!lp_on) { /* a session may have begun before */
        lp_note_process(t, library_name(), own_rank, own_size);
        lp_write_sync(t, before_init);
    }
    open_own();
    lp_comm_register(t, lp_k.world, 0, LP_COMM_WORLD);
    lp_comm_register(t, lp_k.self, 0, LP_COMM_SELF);
    MPI_Comm parent = lp_k.comm_null;
    if (lp_mpi.Comm_get_parent)
        lp_mpi.Comm_get_parent(&parent);
    if (parent != lp_k.comm_null)
        lp_comm_register(t, parent, 0, 0);
    choose_measuring_ranks();
    measure_offsets(t);
    if (parent == lp_k.comm_null) /* the parents of a spawned world have measured, and wait for it */
        calibrate();
    lp_network_before();
    lp_write_sync(t, lp_read_sync());
    lp_note_queued(t);
    if (!lp_on)
        lp_on = 1;
    return t;
}

/* --- MPI-4's sessions without MPI_Init ------------------------------------------------------------------------------
 *
 * There is no MPI_COMM_WORLD, and a process begins and ends a session alone: nothing may be sent in there. */

static int sessions; /* that have not ended */

#if defined(LOGPOST_SIMULATED)

struct lp_thread* lp_after_session_init(const void* session) {
    (void)session;
    return NULL;
}

void lp_session_made(struct lp_thread* t, MPI_Comm comm) {
    (void)t, (void)comm;
}

#else

/* The handle of a session has the form of every other one of its MPI; not every mpi.h has a type for it. */
struct lp_thread* lp_after_session_init(const void* session) {
    static int begun;
    int (*group_of)(MPI_Comm, const char*, MPI_Group*) =
        (int (*)(MPI_Comm, const char*, MPI_Group*))(uintptr_t)lp_find("PMPI_Group_from_session_pset");
    MPI_Group world = lp_k.group_null;
    __atomic_add_fetch(&sessions, 1, __ATOMIC_RELAXED);
    if (fits != 1 || lp_on || lp_has_world || !group_of || __atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
        return NULL;
    struct lp_thread* t = lp_self ? lp_self : lp_thread_create();
    if (!t || group_of(*(const MPI_Comm*)session, "mpi://WORLD", &world))
        return NULL;
    lp_busy(t);
    lp_mpi.Group_rank(world, &own_rank);
    lp_mpi.Group_size(world, &own_size);
    lp_mpi.Group_free(&world);
    lp_note_process(t, library_name(), own_rank, own_size);
    lp_comm_sessions(t, own_rank, own_size);
    lp_write_sync(t, before_init);
    lp_write_sync(t, lp_read_sync());
    lp_on = 1;
    return t;
}

/* The first communicator of all processes measures their clocks: all of them are in the call that makes it. Threads may
 * make several at a time, in different orders on different processes; then none of these does. */
void lp_session_made(struct lp_thread* t, MPI_Comm comm) {
    static int begun;
    int inter = 0, size = 0, rank = 0, elsewhere = 0;
    if (lp_has_world || comm == lp_k.comm_null || own_size < 2)
        return;
    lp_mpi.Comm_test_inter(comm, &inter);
    lp_mpi.Comm_size(comm, &size);
    if (inter || size != own_size)
        return;
    const uint64_t since = lp_now();
    int mine = __atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL);
    lp_mpi.Allreduce(&mine, &elsewhere, 1, lp_k.integer, lp_k.max, comm);
    if (elsewhere)
        return;
    lp_mpi.Comm_split(comm, 0, own_rank, &own);
    lp_mpi.Comm_rank(own, &rank);
    int other = rank != own_rank, others = 0; /* spawned processes have separate ranks */
    lp_mpi.Allreduce(&other, &others, 1, lp_k.integer, lp_k.max, own);
    if (!others) {
        choose_measuring_ranks();
        measure_offsets(t);
        free(measured);
        measured = NULL;
    }
    close_own();
    lp_write_sync(t, lp_read_sync());
    if (lp_reserve(t, sizeof(struct lp_head))) /* a pause of the recorder's */
        lp_commit(t, LP_WINDOW, 0, sizeof(struct lp_head), since, lp_now());
}

#endif

int lp_session_ends(void) {
    return __atomic_sub_fetch(&sessions, 1, __ATOMIC_RELAXED) == 0 && !lp_has_world;
}

void lp_before_finalize(struct lp_thread* t) {
    lp_note_queued(t);
    lp_network_after();
    measure_offsets(t);
    calibrate_layouts();
    close_own();
    lp_write_sync(t, lp_read_sync());
}

void lp_after_finalize(struct lp_thread* t, int function, uint64_t enter, uint64_t leave, int result) {
    (void)result;
    if (lp_reserve(t, sizeof(struct lp_head)))
        lp_commit(t, LP_FINALIZE, function, sizeof(struct lp_head), enter, leave);
    lp_write_sync(t, lp_read_sync());
    lp_on = 0;
    lp_log_close(t);
}
