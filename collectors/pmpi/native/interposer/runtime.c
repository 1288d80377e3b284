/* Start and end of a recording: MPI_Init, MPI_Finalize, forks, and the measurement of clock offsets. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime.h"
#if defined(LOGPOST_SIMULATED)
#include <simgrid/actor.h>
#include <simgrid/host.h>
#endif

static int fits = -1;              /* -1: not looked yet */
static struct lp_sync before_init; /* MPI_Init is a long base for the clock's rate, even of a short program */
static int own_rank, own_size;

#if !defined(LOGPOST_SIMULATED)
static void in_child(void) {
    lp_on = 0;
}
#endif

void lp_before_init(void) {
    if (fits >= 0)
        return;
    fits = 0;
    if (!getenv("LOGPOST_RAW_DIR"))
        return;
    if (!lp_library_fits())
        return;
    if (!lp_log_prepare())
        return;
#if !defined(LOGPOST_SIMULATED)
    pthread_atfork(NULL, NULL, in_child);
#endif
    before_init = lp_read_sync();
    fits = 1;
}

#if defined(LOGPOST_SIMULATED)

/* One clock, one program, and a machine that is not this one: nothing to measure, and the same text in every run. */
static void note_process(struct lp_thread* t) {
    const char *program = getenv("LOGPOST_PROGRAM"), *command = getenv("LOGPOST_COMMAND"),
               *about = getenv("LOGPOST_SIMULATION");
    char text[8192];
    snprintf(text, sizeof text,
             "host=%s\nboot=simulated\ncores=%d\npid=%ld\nexecutable=%s\ncommand=%.2000s\nlibrary=SimGrid SMPI\n"
             "clock=simulated time\nsimulation=%.4000s\nrank=%d\nsize=%d\n",
             sg_host_get_name(sg_host_self()), sg_host_core_count(sg_host_self()), (long)sg_actor_self_get_pid(),
             program ? program : "", command ? command : "", about ? about : "", own_rank, own_size);
    lp_note_text(t, LP_INFO, text);
}

void lp_describe_thread(struct lp_thread* t) {
    lp_note_text(t, LP_THREAD, "binding=");
}

static void open_own(void) {}

static void close_own(void) {}

static void choose_who_measures(void) {}

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

/* Asks rank 0 for its time, several times, and notes the quickest answer. */
static void ask(struct lp_thread* t) {
    struct lp_offset best = {0, 0, 0};
    uint64_t width = UINT64_MAX, begin = lp_clock_ns(CLOCK_MONOTONIC_RAW);
    for (int i = 0; i < EXCHANGES; i++) {
        uint64_t going = i + 1 < EXCHANGES && lp_clock_ns(CLOCK_MONOTONIC_RAW) - begin < PATIENCE_NS, answer = 0;
        uint64_t before = lp_now();
        lp_mpi.Send(&going, 1, lp_k.uint64, 0, 1, own);
        lp_mpi.Recv(&answer, 1, lp_k.uint64, 0, 1, own, MPI_STATUS_IGNORE);
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
            lp_mpi.Recv(&going, 1, lp_k.uint64, r, 1, own, MPI_STATUS_IGNORE);
            answer = lp_now();
            lp_mpi.Send(&answer, 1, lp_k.uint64, r, 1, own);
        }
}

static void choose_who_measures(void) {
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

static size_t binding(char* text, size_t room) {
    cpu_set_t* set = CPU_ALLOC(4096);
    size_t size = CPU_ALLOC_SIZE(4096), used = 0;
    text[0] = 0;
    if (set && !sched_getaffinity(0, size, set))
        for (int c = 0; c < 4096 && used + 16 < room; c++) {
            if (!CPU_ISSET_S(c, size, set))
                continue;
            int to = c;
            while (to + 1 < 4096 && CPU_ISSET_S(to + 1, size, set))
                to++;
            used += (size_t)snprintf(text + used, room - used, to > c ? "%s%d-%d" : "%s%d", used ? "," : "", c, to);
            c = to;
        }
    if (set)
        CPU_FREE(set);
    return used;
}

void lp_describe_thread(struct lp_thread* t) {
    char text[1100] = "binding=";
    binding(text + 8, sizeof text - 8);
    lp_note_text(t, LP_THREAD, text);
}

static void read_line(const char* path, char* text, size_t room) {
    FILE* f = fopen(path, "re");
    size_t n = f ? fread(text, 1, room - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n')
            text[i] = i + 1 == n ? 0 : ' ';
        else if (!text[i])
            text[i] = i + 1 == n ? 0 : ' ';
}

static void note_process(struct lp_thread* t) {
    char exe[1024] = "", command[1024], boot[LP_CLOCK_NAME], host[256] = "", cpus[1024],
         library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    char text[8192];
    int length = 0;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    read_line("/proc/self/cmdline", command, sizeof command);
    lp_clock_name(boot);
    if (gethostname(host, sizeof host - 1))
        strcpy(host, "unknown");
    binding(cpus, sizeof cpus);
    if (lp_mpi.Get_library_version)
        lp_mpi.Get_library_version(library, &length);
    for (char* c = library; *c; c++)
        if (*c == '\n') {
            *c = 0;
            break;
        }
    snprintf(text, sizeof text,
             "host=%s\nboot=%s\ncores=%ld\npid=%ld\nexecutable=%s\ncommand=%s\nlibrary=%.512s\nclock=%s\nbinding=%s\n"
             "rank=%d\nsize=%d\n",
             host, boot, sysconf(_SC_NPROCESSORS_ONLN), (long)getpid(), exe, command, library,
             lp_clock == LP_CLOCK_TSC ? "rdtsc" : "CLOCK_MONOTONIC_RAW", cpus, own_rank, own_size);
    lp_note_text(t, LP_INFO, text);
}

static void open_own(void) {
    lp_mpi.Comm_dup(lp_k.world, &own);
}

static void close_own(void) {
    lp_mpi.Comm_free(&own);
}

#endif

struct lp_thread* lp_after_init(uint64_t enter) {
    (void)enter;
    if (fits != 1 || lp_on)
        return NULL;
    struct lp_thread* t = lp_self ? lp_self : lp_thread_create();
    if (!t)
        return NULL;
    t->busy = 1;
    lp_mpi.Comm_rank(lp_k.world, &own_rank);
    lp_mpi.Comm_size(lp_k.world, &own_size);
    note_process(t);
    lp_write_sync(t, before_init);
    open_own();
    lp_comm_register(t, lp_k.world, 0, LP_COMM_WORLD);
    lp_comm_register(t, lp_k.self, 0, LP_COMM_SELF);
    MPI_Comm parent = lp_k.comm_null;
    if (lp_mpi.Comm_get_parent)
        lp_mpi.Comm_get_parent(&parent);
    if (parent != lp_k.comm_null)
        lp_comm_register(t, parent, 0, 0);
    choose_who_measures();
    measure_offsets(t);
    lp_write_sync(t, lp_read_sync());
    lp_on = 1;
    return t;
}

void lp_before_finalize(struct lp_thread* t) {
    measure_offsets(t);
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
