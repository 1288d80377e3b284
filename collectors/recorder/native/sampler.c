/* A timer per thread, on its processor time, sends it a real-time signal that the program does not use;
 * the handler writes where the thread was into its window, unless it is in a call.
 *
 * No system call of the program is interrupted: since Linux 5.11, x86 looks for expired timers of processor time on the
 * thread's return to the program, so the signal is never pending in one. (SA_RESTART would not be enough: it restarts
 * neither sleeps nor poll.) Older systems are not sampled. Timers are not inherited by children, nor by what exec
 * starts. Once the program uses the signal, by whatever means, no sample is taken any more. */
#include "sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "frames.h"
#include "hash.h"
#include "stacks.h"

#if LP_HAS_FRAMES

#include <dlfcn.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

enum { KNOWN = 1024, PROBES = 8 };

struct lp_sampler {
    struct lp_sampler* next;
    int timer;
    uint32_t lost; /* samples for which there was no room, since the last one that is in the log */
    struct lp_stack_bounds stack;
    struct {
        uint64_t hash; /* of the callers; 0: none */
        uint32_t id;
    } known[KNOWN];
};

static volatile int signal_number; /* 0: no samples are taken */
static uint64_t period_ns;
static pid_t process;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lp_sampler* all;

static int (*real_sigaction)(int, const struct sigaction*, struct sigaction*);

static void find_real(void) {
    if (!real_sigaction)
        real_sigaction = (int (*)(int, const struct sigaction*, struct sigaction*))(uintptr_t)dlvsym(
            RTLD_NEXT, "sigaction", "GLIBC_2.2.5");
}

/* --- a sample ---------------------------------------------------------------------------------------------------- */

/* Room in the window; also one that is full is emptied here, where that takes nothing but writes. */
char* lp_room_in_handler(struct lp_thread* t, size_t bytes) {
    if (!t->map || ((size_t)(t->end - t->pos) < bytes && !lp_log_move_in_handler(t)))
        return NULL;
    return t->pos;
}

/* The number of the callers, which are noted when they are new; 0: unknown. */
static uint32_t callers_of(struct lp_thread* t, const void* context, uint64_t now) {
    struct lp_sampler* s = t->sampler;
    const size_t fixed = sizeof(struct lp_head) + sizeof(struct lp_stack_def);
    int cut = 0, depth = lp_stack_depth();
    if (!t->stacks || !depth || !lp_room_in_handler(t, fixed + (size_t)depth * 8))
        return 0;
    struct lp_stack_def* def = (struct lp_stack_def*)(t->pos + sizeof(struct lp_head));
    uint64_t* address = (uint64_t*)(def + 1);
    const int count = lp_frames(context, s->stack, address, depth, &cut);
    if (!count)
        return 0;
    const uint64_t hash = lp_hash(LP_HASH, address, (size_t)count * 8) | 1;
    unsigned at = (unsigned)(hash >> 32) % KNOWN;
    for (int i = 0; i < PROBES && s->known[at].hash && s->known[at].hash != hash; i++)
        at = (at + 1) % KNOWN;
    if (s->known[at].hash == hash)
        return s->known[at].id;
    if (t->stacks->count + 1 >= LP_MOST_STACKS)
        return 0;
    *def = (struct lp_stack_def){++t->stacks->count, (uint32_t)count, cut != 0};
    s->known[at].hash = hash;
    s->known[at].id = def->stack;
    lp_publish(t, LP_DEF_STACK, 0, fixed + (size_t)count * 8, now);
    return s->known[at].id;
}

uint32_t lp_callers(struct lp_thread* t, const void* context, uint64_t now) {
    const uint32_t native = callers_of(t, context, now);
    return lp_python ? lp_python_stack(t, native, lp_room_in_handler) : native;
}

static void take(int number, siginfo_t* info, void* context) {
    (void)number;
    struct lp_thread* t = lp_self;
    const int saved = errno;
    if (!t || t->busy || !t->sampler || !LP_IS_ON(lp_on) || t->phase != lp_on || t->off)
        return;
    t->busy = 1;
    const uint64_t now = lp_now();
    const size_t bytes = sizeof(struct lp_head) + sizeof(struct lp_sample);
    const uint32_t callers = lp_callers(t, context, now);
    if (lp_room_in_handler(t, bytes)) {
        const ucontext_t* interrupted = context;
        *(struct lp_sample*)(t->pos + sizeof(struct lp_head)) =
            (struct lp_sample){(uint64_t)interrupted->uc_mcontext.gregs[REG_RIP],
                               1 + (uint32_t)(info->si_overrun > 0 ? info->si_overrun : 0), t->sampler->lost};
        lp_publish(t, LP_SAMPLE, callers, bytes, now);
        t->sampler->lost = 0;
    } else {
        t->sampler->lost++;
    }
    lp_leave(t);
    errno = saved;
}

/* --- begin and end ----------------------------------------------------------------------------------------------- */

/* Whether expired timers wait for the return to the program. */
static int system_fits(void) {
    struct utsname system;
    int major = 0, minor = 0;
    return !uname(&system) && sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 11));
}

void lp_sampler_prepare(void) {
    const char* text = getenv("LOGPOST_SAMPLE_HZ");
    const double hertz = text ? atof(text) : 0;
    find_real();
    if (!(hertz > 0) || !real_sigaction || !system_fits() || !lp_frames_prepare())
        return;
    period_ns = (uint64_t)(1e9 / hertz);
    process = getpid();
    for (int number = SIGRTMAX - 1; number > SIGRTMIN; number--) { /* tools that run programs take the last one */
        struct sigaction now, ours = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
        sigset_t blocked;
        if (real_sigaction(number, NULL, &now) || now.sa_handler != SIG_DFL || (now.sa_flags & SA_SIGINFO) ||
            pthread_sigmask(SIG_BLOCK, NULL, &blocked) || sigismember(&blocked, number))
            continue;
        sigfillset(&ours.sa_mask); /* the program's handlers may call the library: not from within ours */
        if (!real_sigaction(number, &ours, NULL))
            signal_number = number;
        return;
    }
}

void lp_sampler_begin(struct lp_thread* t) {
    const int number = signal_number;
    pthread_attr_t attributes;
    void* low = NULL;
    size_t size = 0;
    if (!number || t->sampler || pthread_getattr_np(pthread_self(), &attributes))
        return;
    const int failed = pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    struct lp_sampler* s = failed ? NULL : calloc(1, sizeof *s);
    if (!s)
        return;
    s->stack = (struct lp_stack_bounds){(uintptr_t)low, (uintptr_t)low + size};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    const struct itimerspec every = {{(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)},
                                     {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)}};
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &s->timer)) {
        free(s);
        return;
    }
    const size_t n = sizeof(struct lp_head) + 8;
    if (lp_reserve(t, n)) {
        const uint64_t now = lp_now();
        *(uint64_t*)(t->pos + sizeof(struct lp_head)) = period_ns;
        lp_commit(t, LP_SAMPLING, 0, n, now, now);
    }
    t->sampler = s;
    pthread_mutex_lock(&lock);
    s->next = all;
    all = s;
    if (signal_number)
        syscall(SYS_timer_settime, s->timer, 0, &every, NULL);
    pthread_mutex_unlock(&lock);
}

void lp_sampler_end(struct lp_thread* t) {
    struct lp_sampler* s = t->sampler;
    if (!s)
        return;
    t->sampler = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_mutex_lock(&lock);
    struct lp_sampler** at = &all;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (signal_number)
        syscall(SYS_timer_delete, s->timer);
    pthread_mutex_unlock(&lock);
    free(s);
    lp_stacks_note_modules(t); /* samples may be in objects that no call has been made from */
}

void lp_sampler_in_child(void) {
    signal_number = 0;
}

static void withdraw(void) {
    pthread_mutex_lock(&lock);
    const int number = signal_number;
    signal_number = 0;
    for (struct lp_sampler* s = number ? all : NULL; s; s = s->next)
        syscall(SYS_timer_delete, s->timer);
    pthread_mutex_unlock(&lock);
    if (!number)
        return;
    struct sigaction none = {.sa_handler = SIG_IGN};
    real_sigaction(number, &none, NULL); /* drops what is pending */
    none.sa_handler = SIG_DFL;
    real_sigaction(number, &none, NULL);
    lp_say("no samples are taken from here on: the program uses their signal, %d", number);
}

/* --- the program takes the signal -------------------------------------------------------------------------------- */

static int is_ours(int number) {
    return number && number == signal_number && getpid() == process; /* else of a child that has our memory for now */
}

/* In a set that the program waits for. */
static void keep_out_of(const sigset_t* set) {
    if (set && signal_number && sigismember(set, signal_number) == 1 && getpid() == process)
        withdraw();
}

#define REAL(name, version, type) \
    static __typeof__(type) real; \
    if (!real)                    \
    real = (__typeof__(type))(uintptr_t)dlvsym(RTLD_NEXT, #name, version)

typedef void (*handler)(int);
typedef handler (*signal_function)(int, handler);

int lp_sigaction(int number, const struct sigaction* action, struct sigaction* before) {
    find_real();
    if (is_ours(number)) {
        if (action)
            withdraw();
        else if (before)
            *before = (struct sigaction){.sa_handler = SIG_DFL};
        if (!action)
            return 0;
    }
    return real_sigaction(number, action, before);
}

handler lp_signal(int number, handler action) {
    REAL(signal, "GLIBC_2.2.5", signal_function);
    if (is_ours(number))
        withdraw();
    return real(number, action);
}

int lp_sigwait(const sigset_t* set, int* number) {
    REAL(sigwait, "GLIBC_2.2.5", int (*)(const sigset_t*, int*));
    keep_out_of(set);
    return real(set, number);
}

int lp_sigwaitinfo(const sigset_t* set, siginfo_t* info) {
    REAL(sigwaitinfo, "GLIBC_2.2.5", int (*)(const sigset_t*, siginfo_t*));
    keep_out_of(set);
    return real(set, info);
}

int lp_sigtimedwait(const sigset_t* set, siginfo_t* info, const struct timespec* limit) {
    REAL(sigtimedwait, "GLIBC_2.2.5", int (*)(const sigset_t*, siginfo_t*, const struct timespec*));
    keep_out_of(set);
    return real(set, info, limit);
}

int lp_signalfd(int fd, const sigset_t* set, int flags) {
    REAL(signalfd, "GLIBC_2.7", int (*)(int, const sigset_t*, int));
    keep_out_of(set);
    return real(fd, set, flags);
}

__asm__(
    ".symver lp_sigaction,sigaction@GLIBC_2.2.5\n"
    ".symver lp_signal,signal@GLIBC_2.2.5\n"
    ".symver lp_sigwait,sigwait@GLIBC_2.2.5\n"
    ".symver lp_sigwaitinfo,sigwaitinfo@GLIBC_2.2.5\n"
    ".symver lp_sigtimedwait,sigtimedwait@GLIBC_2.2.5\n"
    ".symver lp_signalfd,signalfd@GLIBC_2.7\n");

#else

void lp_sampler_prepare(void) {}

void lp_sampler_begin(struct lp_thread* t) {
    (void)t;
}

void lp_sampler_end(struct lp_thread* t) {
    (void)t;
}

void lp_sampler_in_child(void) {}

#endif
