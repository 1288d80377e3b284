/* What a log states of its process and threads: host, clock, program, the processors they are bound to. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hash.h"
#include "python.h"
#include "recorder.h"
#include "sampler.h"

#if defined(LOGPOST_SIMULATED)
#include <simgrid/actor.h>
#include <simgrid/host.h>

/* One clock, one program, and a machine that is not this one: nothing to measure, and the same text in every run. */
void lp_note_process(struct lp_thread* t, const char* library, int rank, int size) {
    (void)library;
    const char *program = getenv("LOGPOST_PROGRAM"), *command = getenv("LOGPOST_COMMAND"),
               *about = getenv("LOGPOST_SIMULATION");
    char text[8192];
    snprintf(text, sizeof text,
             "host=%s\nboot=simulated\ncores=%d\npid=%ld\nexecutable=%s\ncommand=%.2000s\nlibrary=SimGrid SMPI\n"
             "clock=simulated time\nsimulation=%.4000s\nrank=%d\nsize=%d\n",
             sg_host_get_name(sg_host_self()), sg_host_core_count(sg_host_self()), (long)sg_actor_self_get_pid(),
             program ? program : "", command ? command : "", about ? about : "", rank, size);
    lp_note_text(t, LP_INFO, text);
}

void lp_describe_thread(struct lp_thread* t) {
    lp_note_text(t, LP_THREAD, "binding=");
}

void lp_note_queued(struct lp_thread* t) {
    (void)t;
}

uint64_t lp_binding(void) {
    return 0;
}

void lp_off_in_children(void) {}

void lp_note_exit(void) {}

#else

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

/* Linux counts it where it is built to (CONFIG_SCHED_INFO); else it states zeros, or nothing. */
void lp_note_queued(struct lp_thread* t) {
    char text[96];
    unsigned long long ran = 0;
    uint64_t queued = 0;
    const uint64_t now = lp_now();
    const size_t n = sizeof(struct lp_head) + sizeof queued;
    read_line("/proc/thread-self/schedstat", text, sizeof text);
    if (sscanf(text, "%llu %" SCNu64, &ran, &queued) != 2 || !ran || !lp_reserve(t, n))
        return;
    memcpy(t->pos + sizeof(struct lp_head), &queued, sizeof queued);
    lp_commit(t, LP_QUEUED, 0, n, now, now);
}

uint64_t lp_binding(void) {
    unsigned char set[512]; /* 4096 processors */
    memset(set, 0, sizeof set);
    sched_getaffinity(0, sizeof set, (cpu_set_t*)(void*)set);
    return lp_hash(LP_HASH, set, sizeof set);
}

/* The duration of recording one call, in ticks: two readings of the clock, and a record with what opens it, the least
 * of some rounds; without the look-up of communicators, types and stacks. Nothing keeps these records, and the thread
 * is busy, so that no sample is among them. */
static double own_ticks(struct lp_thread* t) {
    enum { ROUNDS = 16, CALLS = 64, BYTES = sizeof(struct lp_head) + 32 };
    if (!t->map)
        return 0;
    static uint64_t room[(CALLS * BYTES + 8) / sizeof(uint64_t)];
    char* const pos = t->pos;
    const struct lp_open open = *t->open;
    uint64_t least = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        t->pos = (char*)room;
        const uint64_t begin = lp_now();
        for (int call = 0; call < CALLS; call++) {
            lp_opens(t, LP_CALL, 0, lp_now(), call, LP_ANY_TAG, 0, 0);
            lp_publish(t, LP_CALL, 0, BYTES, lp_now());
        }
        const uint64_t lasted = lp_now() - begin;
        least = lasted < least ? lasted : least;
    }
    t->pos = pos;
    *t->open = open;
    return (double)least / CALLS;
}

void lp_note_process(struct lp_thread* t, const char* library, int rank, int size) {
    lp_python_prepare(rank);
    char exe[1024] = "", command[1024], boot[LP_CLOCK_NAME], host[256] = "", cpus[1024];
    char text[8192];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    read_line("/proc/self/cmdline", command, sizeof command);
    lp_clock_name(boot);
    if (gethostname(host, sizeof host - 1))
        strcpy(host, "unknown");
    binding(cpus, sizeof cpus);
    snprintf(text, sizeof text,
             "host=%s\nboot=%s\ncores=%ld\npid=%ld\nexecutable=%s\ncommand=%s\nlibrary=%.512s\nclock=%s\nbinding=%s\n"
             "rank=%d\nsize=%d\nown_ticks=%.1f\n",
             host, boot, sysconf(_SC_NPROCESSORS_ONLN), (long)getpid(), exe, command, library,
             lp_clock == LP_CLOCK_TSC ? "rdtsc" : "CLOCK_MONOTONIC_RAW", cpus, rank, size, own_ticks(t));
    lp_note_text(t, LP_INFO, text);
}

static void in_child(void) {
    lp_on = 0;
    lp_sampler_in_child();
}

void lp_off_in_children(void) {
    pthread_atfork(NULL, NULL, in_child);
}

#if defined(__GLIBC__)

/* Error handlers end programs so, the library's own among them. */
static void at_exit(int status, void* unused) {
    (void)unused;
    struct lp_thread* t = lp_self;
    if (!lp_on || !t || !t->busy)
        return;
    t->open->status = status;
    __atomic_store_n(&t->open->exited, 1, __ATOMIC_RELEASE);
}

void lp_note_exit(void) {
    on_exit(at_exit, NULL);
}

#else

void lp_note_exit(void) {}

#endif

#endif
