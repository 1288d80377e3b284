/* Off and on: what each thread does when it notices, and the file that says so. */
#include "switch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "ring.h"

volatile uint64_t lp_next_look = UINT64_MAX;

/* Held by the thread that sums up or states sums. That thread may move its window while it holds it. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int followed; /* what the process does is summed up: recording has been off */
static char file[1024];
static int file_says = 1;
static struct lp_sync first_look; /* for the clock's rate */

enum { LOOK_NS = 100000000 };

/* --- the switch -----------------------------------------------------------------------------------------------------
 */

void lp_switch(int on) {
    int phase = lp_on;
    if (!phase || LP_IS_ON(phase) == !!on)
        return;
    int error = 0;
    if (!__atomic_load_n(&followed, __ATOMIC_ACQUIRE)) {
        int cancellable = lp_shield();
        pthread_mutex_lock(&lock);
        error = followed ? 0 : lp_skipped_create();
        if (!error)
            __atomic_store_n(&followed, 1, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&lock);
        lp_unshield(cancellable);
    }
    if (error)
        lp_say("recording cannot be switched off: out of memory");
    else
        __atomic_compare_exchange_n(&lp_on, &phase, phase + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void turn_off(struct lp_thread* t) {
    uint64_t now = lp_now();
    if (!lp_reserve(t, sizeof(struct lp_head)))
        return;
    lp_commit(t, LP_OFF, 0, sizeof(struct lp_head), now, now);
    if (!lp_log_move(t))
        return;
    t->off = 1;
    t->off_since = now;
    t->lowest = t->depth;
    lp_log_mark_off(t, 1);
}

static void state(struct lp_thread* t, int kind, struct lp_gap gap) {
    size_t n = sizeof(struct lp_head) + sizeof gap;
    if (!lp_reserve(t, n))
        return;
    memcpy(t->pos + sizeof(struct lp_head), &gap, sizeof gap);
    uint64_t now = lp_now();
    lp_commit(t, kind, 0, n, now, now);
}

static void turn_on(struct lp_thread* t) {
    pthread_mutex_lock(&lock); /* the order of statements is that of their times */
    if (lp_log_move(t)) {
        t->off = 0;
        struct lp_gap gap = lp_skipped_state(t);
        gap.since = t->off_since;
        gap.kept = t->lowest;
        gap.begun = t->depth - t->lowest;
        state(t, LP_ON, gap);
        lp_log_mark_off(t, 0);
    }
    pthread_mutex_unlock(&lock);
}

void lp_switch_ends(struct lp_thread* t) {
    if (!__atomic_load_n(&followed, __ATOMIC_ACQUIRE))
        return;
    int cancellable = lp_shield();
    lp_switch_hold(t);
    const struct lp_gap gap = lp_skipped_state(t);
    if (gap.calls || gap.sends || gap.receives || gap.collectives || gap.transfers || gap.inexact)
        state(t, LP_REST, gap);
    lp_switch_release();
    lp_unshield(cancellable);
}

void lp_follow(struct lp_thread* t) {
    int phase = lp_on, saved = errno, cancellable = lp_shield();
    t->phase = phase ? phase : t->phase;
    if (t->map && LP_IS_ON(t->phase) == t->off)
        LP_IS_ON(t->phase) ? turn_on(t) : turn_off(t);
    lp_unshield(cancellable);
    errno = saved;
}

void lp_switch_hold(struct lp_thread* t) {
    pthread_mutex_lock(&lock);
    lp_sum_up(t);
}

int lp_switch_follows_ring(void) {
    return lp_log_keeps_ring() && __atomic_load_n(&followed, __ATOMIC_ACQUIRE);
}

void lp_switch_release(void) {
    pthread_mutex_unlock(&lock);
}

int lp_switch_skip(struct lp_thread* t, size_t used, uint64_t* noted) {
    const char* records = t->map + LP_FILE_HEADER;
    char* notes = malloc(used + 1);
    if (!notes)
        return ENOMEM;
    *noted = lp_copy_notes(notes, records, used, LP_ALL_NOTES);
    int error = *noted ? lp_write_at(t->path, notes, *noted, t->flushed) : 0;
    free(notes);
    return error;
}

void lp_switch_in_call(struct lp_thread* t, int on) {
    lp_switch(on);
    if (t->phase != lp_on)
        lp_follow(t);
}

static void switch_here(int on) {
    struct lp_thread* t = lp_on ? lp_self : NULL;
    if (t && !t->busy) {
        lp_busy(t);
        lp_switch_in_call(t, on);
        lp_leave(t);
    } else {
        lp_switch(on); /* a thread that has made no call of the library has nothing to follow */
    }
}

void logpost_switch_off(void) {
    switch_here(0);
}

void logpost_switch_on(void) {
    switch_here(1);
}

/* --- the file -------------------------------------------------------------------------------------------------------
 */

void lp_switch_prepare(void) {
    const char* path = getenv("LOGPOST_SWITCH");
    if (!path || !*path || strlen(path) >= sizeof file)
        return;
    strcpy(file, path);
    first_look = lp_read_sync();
    lp_next_look = 0;
}

/* "on" or "1" is on; anything else, or no file, is off. */
static int says_on(void) {
    char text[8] = "";
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, " \t\r\n")] = 0;
    return !strcmp(text, "on") || !strcmp(text, "1");
}

void lp_look(uint64_t now) {
    uint64_t due = lp_next_look;
    if (!lp_on ||
        !__atomic_compare_exchange_n(&lp_next_look, &due, UINT64_MAX - 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return; /* another thread looks */
    int saved = errno, cancellable = lp_shield();
    int says = says_on();
    if (says != file_says) { /* a change switches: MPI_Pcontrol and logpost.h may have their say in between */
        file_says = says;
        lp_switch(says);
    }
    uint64_t ns = lp_clock_ns(CLOCK_MONOTONIC_RAW) - first_look.raw_ns;
    double ticks_per_ns = ns && now > first_look.ticks ? (double)(now - first_look.ticks) / (double)ns : 1;
    lp_next_look = now + (uint64_t)(LOOK_NS * ticks_per_ns);
    lp_unshield(cancellable);
    errno = saved;
}
