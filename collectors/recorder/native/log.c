/* Threads and their logs: a file per thread, and before it a window, a small mapped file that takes the records.
 *
 * The window's blocks are allocated and its pages touched once, when the thread first calls MPI: a page fault in the
 * middle of a call would cost more than the call, and a full disk would be a SIGBUS. When it is full its content is
 * appended to the log with one write, five times cheaper than mapping the next part of the log, and a full disk is an
 * error code. What kills the process leaves both files to the kernel: nothing is lost. No file descriptor is kept, for
 * programs close descriptors that they do not know. Memory in use is one window per thread that calls MPI, of those
 * that live at the same time: programs that start a thread per task start tens of thousands, and a log for each
 * would be as many files, mappings and locations. With a ring (ring.c) the log holds notes alone, and the windows'
 * other records go there. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash.h"
#include "recorder.h"
#include "regions.h"
#include "ring.h"
#include "sampler.h"
#include "stacks.h"
#include "switch.h"
#if defined(LOGPOST_SIMULATED)
#include <simgrid/actor.h>
#include <simgrid/host.h>
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

volatile int lp_on = 0;
volatile int lp_stopped = 0;
LP_TLS struct lp_thread* lp_self = NULL;
uint64_t lp_process_id = 0;
int lp_clock = LP_CLOCK_MONOTONIC_RAW;

static char directory[1024];
static char host[65];
static long long pid;
static size_t window_bytes;
static uint64_t limit_bytes; /* of one thread's log; 0: none */
static int ring;             /* full windows go to a ring */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static uint32_t threads;
static struct lp_thread* ended; /* the last one whose log is to be taken over */
static uint64_t start_ticks;

void lp_say(const char* format, ...) {
    char text[700] = "logpost: ";
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text + 9, sizeof text - 10, format, list);
    va_end(list);
    if (n < 0)
        return;
    size_t length = strlen(text);
    text[length++] = '\n';
    int cancellable = lp_shield();
    ssize_t ignored = write(2, text, length);
    (void)ignored;
    lp_unshield(cancellable);
}

#if !defined(LOGPOST_SIMULATED)
static int tsc_is_good(void) {
#if defined(__x86_64__)
    FILE* f = fopen("/proc/cpuinfo", "re");
    if (!f)
        return 0;
    char* line = NULL;
    size_t room = 0;
    int good = 0;
    while (!good && getline(&line, &room, f) > 0)
        if (!strncmp(line, "flags", 5)) {
            good = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc") ? 1 : -1;
        }
    free(line);
    fclose(f);
    return good == 1;
#else
    return 0;
#endif
}
#endif

static void end_of_thread(void* arg) {
    struct lp_thread* t = arg;
    if (!lp_on) { /* finalized, or a forked child: nothing of the log is ours to touch */
        lp_self = NULL;
        return;
    }
    const int in_call = t->busy;
    lp_busy(t);
    lp_sampler_end(t);
    if (t->phase != lp_on && !in_call) /* what it has skipped is to be stated */
        lp_follow(t);
    lp_self = NULL;
    if (t->map && t->index) { /* location 0 of a process is the thread that started the library */
        __atomic_store_n(&t->open->enter, 0, __ATOMIC_RELEASE);
        pthread_mutex_lock(&lock);
        t->ended_before = ended;
        ended = t;
        pthread_mutex_unlock(&lock);
        return;
    }
    lp_log_close(t);
    lp_thread_ends(t);
    lp_stacks_free(t);
    free(t->handles);
    free(t);
}

#if !defined(LOGPOST_SIMULATED)
void lp_clock_name(char name[LP_CLOCK_NAME]) {
    enum { BOOT = 64, SPACE = 62 };
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, name, BOOT) : 0;
    if (fd >= 0)
        close(fd);
    name[n > 0 ? n : 0] = 0;
    size_t length = strcspn(name, "\n");
    name[length++] = ' ';
    n = readlink("/proc/self/ns/time", name + length, SPACE);
    /* A system that knows no such thing shifts no clock. */
    name[n > 0 ? length + (size_t)n : length - 1] = 0;
}
#endif

/* Host, process and start of this process, and the clock that it reads. */
static void identify(void) {
#if defined(LOGPOST_SIMULATED) /* a process is a simulated rank on a simulated host, the same in every run */
    lp_clock = LP_CLOCK_SIMULATED;
    strncpy(host, sg_host_get_name(sg_host_self()), sizeof host - 1);
    pid = (long long)sg_actor_self_get_pid();
    const char* boot = "";
#else
    const char* wanted = getenv("LOGPOST_CLOCK");
    lp_clock = tsc_is_good() && !(wanted && !strcmp(wanted, "monotonic")) ? LP_CLOCK_TSC : LP_CLOCK_MONOTONIC_RAW;
    if (gethostname(host, sizeof host - 1))
        strcpy(host, "unknown");
    pid = (long long)getpid();
    char boot[LP_CLOCK_NAME];
    lp_clock_name(boot);
#endif
    for (char* c = host; *c; c++)
        if (*c == '/')
            *c = '_';
    start_ticks = lp_clock_ns(CLOCK_REALTIME);
    uint64_t hash = lp_hash(LP_HASH, host, strlen(host));
    hash = lp_hash(hash, boot, strlen(boot));
    hash = lp_hash(hash, &pid, sizeof pid);
    hash = lp_hash(hash, &start_ticks, sizeof start_ticks);
    /* 0 means no process. No more than a signed number holds: the groups of an inter-communicator learn each other's
     * names as the largest of all (comm.c), and MPICH 4.0 compares MPI_UINT64_T as signed. */
    lp_process_id = (hash >> 1) | 1;
}

int lp_log_prepare(void) {
    const char* dir = getenv("LOGPOST_RAW_DIR");
    if (!dir || !*dir || strlen(dir) >= sizeof directory)
        return 0;
    strcpy(directory, dir);
    const char* kib = getenv("LOGPOST_WINDOW_KIB");
    long value = kib ? atol(kib) : 0;
    if (value < 64 || value > 1 << 20)
        value = 256;
    long page = sysconf(_SC_PAGESIZE);
    window_bytes = ((size_t)value * 1024 + (size_t)page - 1) / (size_t)page * (size_t)page;
    const char* mib = getenv("LOGPOST_LIMIT_MIB");
    if (mib && atoll(mib) > 0)
        limit_bytes = (uint64_t)atoll(mib) << 20;
    identify();
    lp_switch_prepare();
    lp_regions_prepare();
    lp_sampler_prepare();
    mkdir(directory, 0777);
    if (lp_ring_prepare(&window_bytes)) {
        char base[1280];
        snprintf(base, sizeof base, "%s/%s.%lld.%llx", directory, host, pid, (unsigned long long)start_ticks);
        int error = lp_ring_create(base, window_bytes);
        if (error) {
            lp_say("this process is not recorded, the program continues: cannot write %s.ring on %s: %s", base, host,
                   strerror(error));
            return 0;
        }
        ring = 1;
    }
#if defined(LOGPOST_SIMULATED)
    (void)end_of_thread; /* ranks have no threads */
    return 1;
#else
    return pthread_key_create(&key, end_of_thread) == 0;
#endif
}

static void unmap(struct lp_thread* t) {
    t->open = &t->no_window;
    pthread_mutex_lock(&t->moving);
    if (t->map)
        munmap(t->map, window_bytes);
    t->map = t->pos = t->end = NULL; /* every further reserve calls lp_window, which refuses */
    pthread_mutex_unlock(&t->moving);
}

/* The last record of a log that ends before its program; every window keeps room for it. */
#define STOP_ROOM (sizeof(struct lp_head) + 8) /* 8: the zero word that ends the log */
static void mark_stopped(struct lp_thread* t) {
    if (t->map && (size_t)(t->map + window_bytes - sizeof(struct lp_open) - t->pos) >= STOP_ROOM) {
        uint64_t now = lp_now();
        lp_commit(t, LP_STOPPED, 0, sizeof(struct lp_head), now, now);
    }
    unmap(t);
}

/* Ends recording in this process; the program continues. */
static void stop(struct lp_thread* t, const char* what, int error) {
    int first = !__atomic_exchange_n(&lp_stopped, 1, __ATOMIC_SEQ_CST);
    if (first)
        lp_say("recording of this process ends here, the program continues: %s %s on %s: %s", what, t->path, host,
               error ? strerror(error) : "limit reached");
    mark_stopped(t);
}

int lp_write(int fd, const void* from, size_t bytes, uint64_t at) {
    const uint64_t to = at + bytes;
    while (at < to) {
        ssize_t n = pwrite(fd, from, (size_t)(to - at), (off_t)at);
        if (n == 0 || (n < 0 && errno != EINTR))
            return n == 0 ? ENOSPC : errno;
        if (n > 0) {
            at += (uint64_t)n;
            from = (const char*)from + n;
        }
    }
    return 0;
}

int lp_may_grow_to(uint64_t bytes) {
    struct rlimit limit; /* growing beyond it would be a SIGXFSZ in the program */
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

int lp_write_at(const char* path, const void* from, size_t bytes, uint64_t at) {
    if (!lp_may_grow_to(at + bytes))
        return EFBIG;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = lp_write(fd, from, bytes, at);
    if (close(fd) && !error)
        error = errno; /* network file systems report a full disk here */
    return error;
}

static int move_window(struct lp_thread* t) {
    size_t used = (size_t)(t->pos - t->map) - LP_FILE_HEADER;
    uint64_t kept = used;
    struct lp_file_header* header = (struct lp_file_header*)t->map;
    uint64_t notes = header->notes;
    int error = ring     ? (t->off ? lp_ring_skip : lp_ring_take)(t, used, &notes)
                : t->off ? lp_switch_skip(t, used, &kept)
                         : lp_write_at(t->path, t->map + LP_FILE_HEADER, used, t->flushed);
    if (error)
        return error;
    const uint64_t to = t->flushed + kept, off = t->off && ring ? LP_WINDOW_IS_OFF : 0;
    /* Whatever instant the process is killed at, the log (or the ring) counts up to `flushed` and then the window,
     * unless the lowest bit says that the window's records are there already. */
    __atomic_store_n(&header->flushed, to | off | LP_WINDOW_IS_STALE, __ATOMIC_RELEASE);
    __atomic_store_n(&header->notes, notes, __ATOMIC_RELEASE);
    __atomic_store_n((uint64_t*)(t->map + LP_FILE_HEADER), 0, __ATOMIC_RELEASE);
    __atomic_store_n(&header->flushed, to | off, __ATOMIC_RELEASE);
    t->flushed = to;
    t->pos = t->map + LP_FILE_HEADER;
    if (t->off)
        t->summed = to;
    return 0;
}

/* Appends what the window holds to the log, or moves it into the ring, or sums it up while recording is off. On success
 * the window is empty. */
static int flush(struct lp_thread* t) {
    int cancellable = lp_shield(), held = t->off;
    pthread_mutex_lock(&t->moving); /* the thread that begins to follow the ring holds it, too */
    held = held || lp_switch_follows_ring();
    if (held) {
        pthread_mutex_unlock(&t->moving);
        lp_switch_hold(t);
        pthread_mutex_lock(&t->moving);
    }
    int error = move_window(t);
    pthread_mutex_unlock(&t->moving);
    if (held)
        lp_switch_release();
    lp_unshield(cancellable);
    return error;
}

int lp_log_move_in_handler(struct lp_thread* t) {
    if (ring || t->off || lp_stopped || lp_switch_follows_ring() ||
        (limit_bytes && t->flushed + (uint64_t)(t->pos - t->map) + window_bytes > limit_bytes) ||
        pthread_mutex_trylock(&t->moving))
        return 0;
    const uint64_t begin = lp_now();
    const int error = move_window(t);
    pthread_mutex_unlock(&t->moving);
    if (!error)
        lp_commit(t, LP_WINDOW, 0, sizeof(struct lp_head), begin, lp_now());
    return !error;
}

int lp_log_keeps_ring(void) {
    return ring;
}

void lp_log_mark_off(struct lp_thread* t, int off) {
    if (ring && t->map)
        __atomic_store_n(&((struct lp_file_header*)t->map)->flushed, t->flushed | (off ? LP_WINDOW_IS_OFF : 0),
                         __ATOMIC_RELEASE);
}

const char* lp_log_end(const struct lp_thread* t) {
    return t->map + window_bytes - sizeof(struct lp_open);
}

void lp_log_path(uint32_t thread, char* path, size_t room) {
    snprintf(path, room, "%s/%s.%lld.%llx.%u.raw", directory, host, pid, (unsigned long long)start_ticks, thread);
}

int lp_log_move(struct lp_thread* t) {
    int error = flush(t);
    if (error)
        stop(t, error == EFBIG ? "RLIMIT_FSIZE prevents" : "cannot extend", error);
    return !error;
}

char* lp_window(struct lp_thread* t, size_t need) {
    if (lp_stopped && t->map)
        mark_stopped(t); /* another thread ran into the limit */
    if (!t->map)
        return NULL;
    if (need + 4096 > window_bytes)
        return NULL; /* callers split their lists; see LP_MAX_ENTRIES */
    uint64_t begin = lp_now();
    int saved = errno, cancellable = lp_shield();
    int full = limit_bytes && !ring && t->flushed + (uint64_t)(t->pos - t->map) + window_bytes > limit_bytes;
    int error = full ? 0 : flush(t);
    errno = saved;
    if (full || error) {
        stop(t, error == EFBIG ? "RLIMIT_FSIZE prevents" : "cannot extend", error);
    } else {
        lp_commit(t, LP_WINDOW, 0, sizeof(struct lp_head), begin, lp_now());
        if (t->window_moves++ % 64 == 0)
            lp_write_sync(t, lp_read_sync()); /* so that killed programs have a long base for the clock rate */
    }
    lp_unshield(cancellable);
    return t->pos; /* NULL when it has stopped */
}

void lp_note_text(struct lp_thread* t, int kind, const char* text) {
    size_t length = strlen(text) + 1;
    size_t bytes = sizeof(struct lp_head) + (length + 7) / 8 * 8;
    if (!lp_reserve(t, bytes))
        return;
    memcpy(t->pos + sizeof(struct lp_head), text, length);
    uint64_t now = lp_now();
    lp_commit(t, kind, 0, bytes, now, now);
}

struct lp_sync lp_read_sync(void) {
    struct lp_sync best = {0, 0, 0};
    uint64_t width = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t a = lp_now();
        uint64_t raw = lp_clock_ns(CLOCK_MONOTONIC_RAW);
        uint64_t b = lp_now();
        if (b - a < width) {
            width = b - a;
            best.ticks = a + (b - a) / 2;
            best.raw_ns = raw;
        }
    }
    best.real_ns = lp_clock_ns(CLOCK_REALTIME);
    return best;
}

void lp_write_sync(struct lp_thread* t, struct lp_sync sync) {
    size_t bytes = sizeof(struct lp_head) + sizeof sync;
    if (!lp_reserve(t, bytes))
        return;
    memcpy(t->pos + sizeof(struct lp_head), &sync, sizeof sync);
    lp_commit(t, LP_SYNC, 0, bytes, sync.ticks, sync.ticks);
}

/* The log with nothing but its header, and the window: blocks allocated, mapped, and every page touched. */
static int create_files(struct lp_thread* t) {
    struct lp_file_header header = {.magic = LP_MAGIC,
                                    .thread = t->index,
                                    .clock = (uint32_t)lp_clock,
                                    .process = lp_process_id,
                                    .table = lp_table_hash,
                                    .flushed = LP_FILE_HEADER};
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && window_bytes > limit.rlim_cur)
        return EFBIG;
    int fd = open(t->path, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    if (fd < 0)
        return errno;
    ssize_t n = write(fd, &header, sizeof header);
    int error = n == (ssize_t)sizeof header ? 0 : n < 0 ? errno : ENOSPC;
    if (close(fd) && !error)
        error = errno;
    fd = error ? -1 : open(t->window, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    if (fd < 0)
        return error ? error : errno;
    char* map = MAP_FAILED;
    error = posix_fallocate(fd, 0, (off_t)window_bytes);
    if (!error) {
        map = mmap(NULL, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
            error = errno;
    }
    close(fd);
    if (error) {
        unlink(t->window);
        return error;
    }
    if (madvise(map, window_bytes, MADV_POPULATE_WRITE))
        for (size_t i = 0; i < window_bytes; i += 4096)
            ((volatile char*)map)[i] = 0;
    header.open = window_bytes - sizeof(struct lp_open);
    header.notes = ring ? LP_FILE_HEADER : 0;
    memcpy(map, &header, sizeof header);
    t->map = map;
    t->flushed = LP_FILE_HEADER;
    t->pos = map + LP_FILE_HEADER;
    t->open = (struct lp_open*)(map + window_bytes) - 1;
    t->end = (char*)t->open - STOP_ROOM;
    return 0;
}

static void be_self(struct lp_thread* t) {
    lp_self = t;
#if !defined(LOGPOST_SIMULATED)
    pthread_setspecific(key, t);
#endif
}

/* The thread of an ended one's log; NULL: there is none on these processors. */
static struct lp_thread* take_over(uint64_t binding) {
    if (lp_stopped)
        return NULL;
    pthread_mutex_lock(&lock);
    struct lp_thread** at = &ended;
    while (*at && (*at)->binding != binding)
        at = &(*at)->ended_before;
    struct lp_thread* t = *at;
    if (t)
        *at = t->ended_before;
    pthread_mutex_unlock(&lock);
    return t;
}

/* Whatever the ended thread was in ended with it: calls, regions. Recording may have been switched since, which this
 * one follows as every thread does, at its first call. */
static void resume(struct lp_thread* t) {
    t->busy = 0;
    t->stack = 0;
    t->depth = t->lowest = 0;
    lp_thread_begins(t);
    lp_stacks_forget(t);
    be_self(t);
    const size_t n = sizeof(struct lp_head);
    if (lp_reserve(t, n)) {
        uint64_t now = lp_now();
        lp_commit(t, LP_NEXT, 0, n, now, now);
    }
}

static void begin(struct lp_thread* t) {
    t->open = &t->no_window;
    t->phase = 1;
    t->summed = LP_FILE_HEADER;
    pthread_mutex_init(&t->moving, NULL);
    lp_thread_begins(t);
    lp_stacks_begin(t);
    pthread_mutex_lock(&lock);
    t->index = threads++;
    pthread_mutex_unlock(&lock);
    be_self(t);
    lp_log_path(t->index, t->path, sizeof t->path);
    snprintf(t->window, sizeof t->window, "%.*s.window", (int)strlen(t->path) - 4, t->path);
    if (lp_stopped)
        return;
    int error = create_files(t);
    if (error) {
        stop(t, "cannot write", error);
        return;
    }
    lp_sum_joins(t);
    lp_write_sync(t, lp_read_sync());
    lp_describe_thread(t);
}

struct lp_thread* lp_thread_create(void) {
    int cancellable = lp_shield();
    const uint64_t binding = lp_binding();
    struct lp_thread* t = take_over(binding);
    if (t) {
        resume(t);
    } else if ((t = calloc(1, lp_thread_bytes)) != NULL) {
        t->binding = binding;
        begin(t);
    }
    if (t)
        lp_sampler_begin(t);
    lp_unshield(cancellable);
    return t;
}

/* Moves the rest of the window to the log, which is whole then. At the end of the program a window over a ring stays
 * where it is: the slot that it would overwrite holds more. */
void lp_log_close(struct lp_thread* t) {
    lp_sampler_end(t);
    if (t->map && !lp_on)
        lp_switch_ends(t);
    int error = !t->map || (ring && !lp_on) ? EEXIST : flush(t);
    lp_sum_leaves(t);
    unmap(t);
    if (!error)
        unlink(t->window);
}

uint64_t* lp_handles_scratch(struct lp_thread* t, size_t n) {
    if (n > t->handles_room) {
        uint64_t* more = realloc(t->handles, n * sizeof *more);
        if (!more)
            return NULL;
        t->handles = more;
        t->handles_room = n;
    }
    return t->handles;
}

/* The functions that the program calls through logpost.h. What other threads have in their windows stays there. */
void logpost_cut_here(void) {
    struct lp_thread* t = lp_self;
    if (!lp_on || !ring || !t || !t->map || t->busy)
        return;
    int saved = errno, cancellable = lp_shield();
    lp_busy(t);
    if (!flush(t))
        lp_ring_cut();
    lp_leave(t);
    lp_unshield(cancellable);
    errno = saved;
}

/* A file that `logpost record` looks for. */
void logpost_ask_for_archive(void) {
    char path[1280];
    if (!lp_on)
        return;
    int saved = errno, cancellable = lp_shield();
    snprintf(path, sizeof path, "%s/%s.%lld.request", directory, host, pid);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT, 0666);
    if (fd >= 0)
        close(fd);
    lp_unshield(cancellable);
    errno = saved;
}
