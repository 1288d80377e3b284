/* What all threads of a process did, summed up in the order of time, once recording has been off.
 *
 * A thread's records are the rest of its log and what its window holds; those between LP_OFF and LP_ON are not kept.
 * Where a ring has the records they are what the window holds: it is summed up whenever it moves, and what the ring had
 * before is taken from there once.
 * One thread may complete what another one started, so all are summed up whenever one of them needs the sums. What
 * ended after the sum was begun waits for the next time: else the end of a request could be seen before its start,
 * which another thread is about to write. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "switch.h"

/* A thread that has ended, with records that are not summed up. */
struct ended {
    struct ended* next;
    uint64_t summed, flushed;
    uint32_t index;
    int off;
};

struct stream {
    struct lp_thread* thread; /* NULL: it has ended */
    uint32_t index;
    int off;
    void* map; /* of the log, `mapped` bytes */
    size_t mapped;
    const char *at, *end;         /* what is not summed up of the log, or of the window behind it */
    const char *window, *limit;   /* NULL: there is no window, or it is what `at` is in */
    const struct lp_head* record; /* the next one; NULL: there is none */
    uint64_t taken;               /* bytes */
};

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct lp_thread* threads;
static struct ended* gone;
static int ring_followed; /* what the ring has is in the sums */

void lp_sum_joins(struct lp_thread* t) {
    pthread_mutex_lock(&list);
    t->next = threads;
    threads = t;
    pthread_mutex_unlock(&list);
}

void lp_sum_leaves(struct lp_thread* t) {
    pthread_mutex_lock(&list);
    struct lp_thread** at = &threads;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at) {
        *at = t->next;
        struct ended* e = t->summed < t->flushed && !lp_log_keeps_ring() ? malloc(sizeof *e) : NULL;
        if (e) {
            *e = (struct ended){gone, t->summed, t->flushed, t->index, t->summed_off};
            gone = e;
        }
    }
    pthread_mutex_unlock(&list);
}

/* --- one thread's records ----------------------------------------------------------------------------------------- */

static void look(struct stream* s) {
    for (;;) {
        struct lp_head head;
        uint64_t word = 0;
        if (s->at && (size_t)(s->end - s->at) >= sizeof head)
            word = __atomic_load_n((const uint64_t*)s->at, __ATOMIC_ACQUIRE);
        memcpy(&head, &word, sizeof word);
        const size_t size = (size_t)head.words * 8;
        if (word && size >= sizeof head && size <= (size_t)(s->end - s->at)) {
            s->record = (const struct lp_head*)s->at;
            return;
        }
        if (!s->window) {
            s->record = NULL;
            return;
        }
        s->at = s->window;
        s->end = s->limit;
        s->window = NULL;
    }
}

/* 0: the log cannot be read now. */
static int begin(struct stream* s, uint64_t summed, uint64_t flushed) {
    char path[1280];
    if (summed >= flushed)
        return 1;
    lp_log_path(s->index, path, sizeof path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void* map = fd >= 0 ? mmap(NULL, flushed, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (map == MAP_FAILED)
        return 0;
    s->map = map;
    s->mapped = flushed;
    s->at = (const char*)map + summed;
    s->end = (const char*)map + flushed;
    return 1;
}

/* Holds the thread's `moving` until it is ended. */
static void begin_thread(struct stream* s, struct lp_thread* t) {
    pthread_mutex_lock(&t->moving);
    if (lp_log_keeps_ring() && t->summed < t->flushed)
        t->summed = t->flushed; /* what the ring has was summed up before */
    *s = (struct stream){.thread = t, .index = t->index, .off = t->summed_off};
    if (begin(s, t->summed, t->flushed) && t->map) {
        const uint64_t in_window = t->summed > t->flushed ? t->summed - t->flushed : 0;
        s->window = t->map + LP_FILE_HEADER + in_window;
        s->limit = lp_log_end(t);
    }
    look(s);
}

static void end(struct stream* s) {
    if (s->map)
        munmap(s->map, s->mapped);
    if (!s->thread)
        return;
    s->thread->summed += s->taken;
    s->thread->summed_off = s->off;
    pthread_mutex_unlock(&s->thread->moving);
}

static void take(struct stream* s) {
    const struct lp_head* r = s->record;
    if (r->kind == LP_OFF || r->kind == LP_ON)
        s->off = r->kind == LP_OFF;
    if (r->kind < LP_FIRST_NOTE)
        lp_skipped_take(s->index, r, s->off);
    s->at += (size_t)r->words * 8;
    s->taken += (size_t)r->words * 8;
    look(s);
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static size_t begin_all(struct stream** streams) {
    size_t n = 0, room = 0;
    for (struct lp_thread* t = threads; t; t = t->next)
        room++;
    for (struct ended* e = gone; e; e = e->next)
        room++;
    struct stream* all = *streams = malloc((room + 1) * sizeof *all);
    if (!all)
        return 0;
    for (struct lp_thread* t = threads; t; t = t->next)
        begin_thread(&all[n++], t);
    if (lp_log_keeps_ring() && !ring_followed) {
        ring_followed = 1;
        lp_skipped_follow_ring();
    }
    while (gone) {
        struct ended* e = gone;
        all[n] = (struct stream){.index = e->index, .off = e->off};
        begin(&all[n], e->summed, e->flushed);
        look(&all[n++]);
        gone = e->next;
        free(e);
    }
    return n;
}

/* Notes have no time: they pass with what is before them. */
static struct stream* earliest(struct stream* all, size_t n) {
    struct stream* first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!all[i].record)
            continue;
        if (all[i].record->kind >= LP_FIRST_NOTE)
            return &all[i];
        if (!first || all[i].record->leave < first->record->leave)
            first = &all[i];
    }
    return first;
}

void lp_sum_up(const struct lp_thread* whole) {
    const uint64_t until = lp_now();
    struct stream *all, *s;
    pthread_mutex_lock(&list);
    const size_t n = begin_all(&all);
    while ((s = earliest(all, n)) != NULL) {
        const int note = s->record->kind >= LP_FIRST_NOTE;
        if (!note && s->record->leave > until && s->thread && s->thread != whole)
            s->record = NULL;
        else
            take(s);
    }
    for (size_t i = 0; i < n; i++)
        end(&all[i]);
    pthread_mutex_unlock(&list);
    free(all);
}
