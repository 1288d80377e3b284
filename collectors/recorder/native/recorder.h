/* The recorder: what every collector that runs inside a program shares. It knows threads, logs, clocks and stacks, and
 * no communication library; the collector (pmpi) wraps the library's functions and states what a call did.
 *
 * Rules that keep the traced program safe:
 *  - nothing happens before the library's start-up has returned, nor after its finalization, nor in forked children;
 *  - the fast path takes no lock and makes no system call: each thread writes to its own mapped window;
 *  - a call made inside a call is passed through: `busy` is the depth guard. */
#ifndef LOGPOST_RECORDER_H
#define LOGPOST_RECORDER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "clock.h"
#include "rawlog.h"

#define LP_HIDDEN __attribute__((visibility("hidden")))
#define LP_FAST __attribute__((always_inline, unused)) static inline /* on the path of every call */
#define LP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#if defined(LOGPOST_SIMULATED)
#define LP_TLS /* SMPI runs all ranks in one thread and gives each its own globals */
#else
#define LP_TLS __thread __attribute__((tls_model("initial-exec")))
#endif

struct lp_stacks;
struct lp_sampler;

/* A region that the thread has been in: where its name was, or the function's address, and its number. */
struct lp_region_seen {
    uintptr_t at;
    const char* text; /* NULL: a function */
    uint32_t id;
};
#define LP_REGIONS_SEEN 256u
#define LP_IN_FILE 2

struct lp_thread {
    char* pos; /* where the next record begins */
    char* end; /* of the window's room for records */
    int busy;  /* 1: in a call, whose calls pass through; LP_IN_FILE: in one of the C library on a file */
    int phase; /* of lp_on, that it has followed */
    int off;
    uint64_t off_since;
    uint32_t stack; /* of the call at hand; 0: unknown */
    struct lp_stacks* stacks;
    struct lp_sampler* sampler; /* NULL: the thread is not sampled */
    uint64_t* handles;          /* scratch space of calls on many requests */
    size_t handles_room;
    char* map;
    uint64_t flushed; /* bytes of the log that are in its file, header included */
    uint32_t index;
    uint64_t binding;               /* hash of the processors that it may run on */
    struct lp_thread* ended_before; /* of a thread that has ended: another one whose log is to be taken over */
    /* Of switch.c: up to where the thread's records are summed up, because recording has been off, and whether it was
     * off there. Other threads that read what has records hold `moving`, as does the thread that moves or unmaps them.
     */
    uint64_t summed;
    int summed_off;
    pthread_mutex_t moving;
    struct lp_thread* next;
    int window_moves;
    struct lp_open* open; /* in the window; where there is none, `no_window` */
    struct lp_open no_window;
    uint32_t files_lost; /* calls on files for which there was no room, since the last one that is in the log */
    uint32_t depth;      /* regions that it is in, */
    uint32_t lowest;     /* and the least that it was in since recording went off */
    struct lp_region_seen seen[LP_REGIONS_SEEN];
    char path[1280], window[1280];
};

/* What the collector gives: the hash of its table of functions, and its own part of a thread behind struct lp_thread,
 * which begins zeroed, or as the thread left it whose log this one takes over. */
extern const uint64_t lp_table_hash;
extern LP_HIDDEN const size_t lp_thread_bytes; /* of a thread with the collector's part */
LP_HIDDEN void lp_thread_begins(struct lp_thread* t);
LP_HIDDEN void lp_thread_ends(struct lp_thread* t);

/* log.c */
extern LP_HIDDEN volatile int lp_on; /* 0: not recording; else how often it was switched, counted from 1 */
#define LP_IS_ON(phase) ((phase) & 1)
extern LP_HIDDEN volatile int lp_stopped;
extern LP_HIDDEN LP_TLS struct lp_thread* lp_self;
extern LP_HIDDEN uint64_t lp_process_id;
LP_HIDDEN struct lp_thread* lp_thread_create(void);
LP_HIDDEN char* lp_window(struct lp_thread* t, size_t need);
LP_HIDDEN int lp_log_move_in_handler(struct lp_thread* t); /* 0: the window is as full as before */
LP_HIDDEN void lp_log_close(struct lp_thread* t);
LP_HIDDEN void lp_note_text(struct lp_thread* t, int kind, const char* text);
LP_HIDDEN struct lp_sync lp_read_sync(void);
LP_HIDDEN void lp_write_sync(struct lp_thread* t, struct lp_sync sync);
LP_HIDDEN void lp_say(const char* format, ...) __attribute__((format(printf, 1, 2)));
LP_HIDDEN int lp_log_prepare(void);
LP_HIDDEN uint64_t* lp_handles_scratch(struct lp_thread* t, size_t n);
void logpost_cut_here(void);
void logpost_ask_for_archive(void); /* exported, for ../../logpost.h */

/* switch.c */
extern LP_HIDDEN volatile uint64_t lp_next_look; /* ticks at which the file that switches is to be looked at */
LP_HIDDEN void lp_look(uint64_t now);
LP_HIDDEN void lp_follow(struct lp_thread* t);                 /* recording was switched */
LP_HIDDEN void lp_switch_in_call(struct lp_thread* t, int on); /* by a call that is being recorded, or is to be */
void logpost_switch_off(void);
void logpost_switch_on(void);

/* network.c: by one process of each node, when the program has begun, and when it ends */
LP_HIDDEN void lp_network_before(void);
LP_HIDDEN void lp_network_after(void);

/* process.c */
LP_HIDDEN void lp_note_process(struct lp_thread* t, const char* library, int rank, int size);
LP_HIDDEN void lp_describe_thread(struct lp_thread* t);
LP_HIDDEN void lp_note_queued(struct lp_thread* t); /* what the calling thread's wait for processors is by now */
LP_HIDDEN uint64_t lp_binding(void);                /* hash of the processors that the calling thread may run on */
LP_HIDDEN void lp_off_in_children(void);
LP_HIDDEN void lp_note_exit(void); /* from now on, that of a process within a call */

/* The recorder's system calls are points at which a thread may be cancelled, perhaps with a lock, in calls of the
 * library that are none: between lp_shield and lp_unshield, which takes what lp_shield gave, it is not. */
LP_FAST int lp_shield(void) {
    int before = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

LP_FAST void lp_unshield(int before) {
    pthread_setcancelstate(before, NULL);
}

/* Between both nothing but the thread's own code writes to its window: a signal that arrives takes no sample. */
LP_FAST void lp_busy(struct lp_thread* t) {
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

LP_FAST void lp_leave(struct lp_thread* t) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
}

LP_FAST struct lp_thread* lp_enter(void) {
    int phase = lp_on;
    if (LP_UNLIKELY(!phase))
        return NULL;
    struct lp_thread* t = lp_self;
    if (LP_UNLIKELY(!t) && !(t = lp_thread_create()))
        return NULL;
    if (t->busy == 1)
        return NULL;
    lp_busy(t);
    if (LP_UNLIKELY(t->phase != phase))
        lp_follow(t);
    return t;
}

/* Room for a record of `bytes` bytes; NULL when recording has ended. */
LP_FAST char* lp_reserve(struct lp_thread* t, size_t bytes) {
    if (LP_UNLIKELY((size_t)(t->end - t->pos) < bytes))
        return lp_window(t, bytes);
    return t->pos;
}

/* The first word of a head, put together in a register: a load that spans several stores just made waits for them. */
LP_FAST uint64_t lp_first_word(int kind, int function, size_t words, uint32_t stack) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (uint64_t)(uint8_t)kind | (uint64_t)(uint8_t)(stack >> 16) << 8 | (uint64_t)(uint16_t)function << 16 |
           (uint64_t)(uint16_t)words << 32 | (uint64_t)(uint16_t)stack << 48;
#else
    struct lp_head first = {(uint8_t)kind, (uint8_t)(stack >> 16), (uint16_t)function, (uint16_t)words,
                            (uint16_t)stack};
    uint64_t word;
    memcpy(&word, &first, sizeof word);
    return word;
#endif
}

/* Notes what the call that begins waits for, in case it never ends. */
LP_FAST void lp_opens(struct lp_thread* t, int kind, int function, uint64_t enter, int32_t peer, int32_t tag,
                      uint32_t comm, uint32_t handles) {
    struct lp_open* o = t->open;
    o->what = lp_first_word(kind, function, 0, t->stack);
    o->peer = peer;
    o->tag = tag;
    o->comm = comm;
    o->handles = handles;
    __atomic_store_n(&o->enter, enter, __ATOMIC_RELEASE);
}

/* Publishes a record at t->pos without looking at the time; in signal handlers, too. */
LP_FAST void lp_publish(struct lp_thread* t, int kind, uint32_t stack, size_t bytes, uint64_t now) {
    struct lp_head* head = (struct lp_head*)t->pos;
    head->enter = head->leave = now;
    *(uint64_t*)(t->pos + bytes) = 0;
    __atomic_store_n((uint64_t*)head, lp_first_word(kind, 0, bytes / 8, stack), __ATOMIC_RELEASE);
    t->pos += bytes;
}

/* Publishes the record at t->pos: times and what ends the log first, then the word that makes it visible. */
LP_FAST void lp_commit(struct lp_thread* t, int kind, int function, size_t bytes, uint64_t enter, uint64_t leave) {
    struct lp_head* head = (struct lp_head*)t->pos;
    head->enter = enter;
    head->leave = leave;
    *(uint64_t*)(t->pos + bytes) = 0; /* the window has been used before: the log ends after this record */
    __atomic_store_n((uint64_t*)head, lp_first_word(kind, function, bytes / 8, t->stack), __ATOMIC_RELEASE);
    t->pos += bytes;
    if (LP_UNLIKELY(leave >= lp_next_look))
        lp_look(leave);
}

#endif
