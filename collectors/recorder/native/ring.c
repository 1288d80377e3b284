/* The ring's slots. A thread whose window is full takes the next slot: a new one while the ring may grow, else the
 * oldest, whose records are summed up first. All of it happens once per window, under one lock, outside of the path of
 * calls. */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALLEST_WINDOW = 64 << 10, FEWEST_SLOTS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char path[1280];
static uint64_t keep_bytes, keep_ns, turns;
static size_t slot_bytes;
static uint32_t slots, most_slots;
static uint32_t *queue, oldest; /* the slots in the order of their turns, around `oldest` */
static uint64_t* filled_ns;     /* when each was filled */
static char *scratch, *noted;

int lp_ring_prepare(size_t* window_bytes) {
    const char *bytes = getenv("LOGPOST_KEEP_BYTES"), *ns = getenv("LOGPOST_KEEP_NS");
    keep_bytes = bytes ? strtoull(bytes, NULL, 10) : 0;
    keep_ns = ns ? strtoull(ns, NULL, 10) : 0;
    if (!keep_bytes)
        return 0;
    while (*window_bytes > SMALLEST_WINDOW && *window_bytes > keep_bytes / FEWEST_SLOTS)
        *window_bytes /= 2;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *window_bytes = (*window_bytes + page - 1) / page * page;
    return 1;
}

int lp_ring_create(const char* base, size_t window_bytes) {
    char lost[1280];
    slot_bytes = window_bytes;
    most_slots = keep_bytes / slot_bytes > 2 ? (uint32_t)(keep_bytes / slot_bytes) : 2;
    filled_ns = calloc(most_slots, sizeof *filled_ns);
    queue = calloc(most_slots, sizeof *queue);
    scratch = malloc(slot_bytes);
    noted = malloc(slot_bytes);
    if (!filled_ns || !queue || !scratch || !noted)
        return ENOMEM;
    snprintf(path, sizeof path, "%.1270s.ring", base);
    snprintf(lost, sizeof lost, "%.1270s.lost", base);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    if (fd < 0)
        return errno;
    close(fd);
    return lp_lost_create(lost, slot_bytes);
}

/* What the slot holds becomes part of an account; NULL: of the sum. */
static int add_slot(uint32_t slot, struct lp_account* to) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    size_t have = 0;
    int error = 0;
    while (have < slot_bytes && !error) {
        ssize_t n = pread(fd, scratch + have, slot_bytes - have, (off_t)((uint64_t)slot * slot_bytes + have));
        if (n > 0)
            have += (size_t)n;
        else if (n == 0)
            break; /* the last slot of the file, written as far as it has records */
        else if (errno != EINTR)
            error = errno;
    }
    close(fd);
    if (!error && have > LP_FILE_HEADER)
        to ? lp_lost_add_to(to, scratch, have) : lp_lost_add(scratch, have);
    return error;
}

static int sum_up(uint32_t slot) {
    return add_slot(slot, NULL);
}

static int fill(const struct lp_thread* t, uint32_t slot, size_t used) {
    const uint64_t at = (uint64_t)slot * slot_bytes;
    struct lp_file_header header;
    memcpy(&header, t->map, sizeof header);
    header.flushed = t->flushed;
    header.open = used;
    header.turn = 0; /* until the records are there */
    if (!lp_may_grow_to(at + LP_FILE_HEADER + used))
        return EFBIG;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = lp_write(fd, &header, sizeof header, at);
    error = error ? error : lp_write(fd, t->map + LP_FILE_HEADER, used, at + LP_FILE_HEADER);
    header.turn = turns + 1;
    error = error ? error : lp_write(fd, &header, sizeof header, at);
    if (close(fd) && !error)
        error = errno;
    if (!error) {
        lp_lost_newest(++turns);
        filled_ns[slot] = lp_clock_ns(CLOCK_MONOTONIC_RAW);
    }
    return error;
}

static int grow(const struct lp_thread* t, size_t used) {
    int error = fill(t, slots, used);
    if (error)
        return error;
    memmove(queue + oldest + 1, queue + oldest, (slots - oldest) * sizeof *queue);
    queue[oldest] = slots++;
    oldest = (oldest + 1) % slots;
    return 0;
}

static int turn(const struct lp_thread* t, size_t used) {
    /* Of a ring that is to hold a time, a slot that is old enough makes a new one needless. */
    if (slots < 2 ||
        (slots < most_slots && (!keep_ns || lp_clock_ns(CLOCK_MONOTONIC_RAW) - filled_ns[queue[oldest]] < keep_ns))) {
        int error = grow(t, used);
        if (!error || slots < 2)
            return error;
        most_slots = slots; /* a full disk: the ring is as large as it could become */
    }
    int error = sum_up(queue[oldest]);
    error = error ? error : fill(t, queue[oldest], used);
    if (!error)
        oldest = (oldest + 1) % slots;
    return error;
}

static int wanted(int kind, enum lp_notes which) {
    if (kind < LP_FIRST_NOTE || kind == LP_WINDOW)
        return 0;
    if (kind == LP_SKIPPED)
        return which != LP_NOTES_OUTSIDE_SLOT;
    return which == LP_ALL_NOTES || (kind != LP_CARRIED && kind != LP_ENDED);
}

size_t lp_copy_notes(char* to, const char* records, size_t used, enum lp_notes which) {
    size_t bytes = 0;
    for (const char *at = records, *end = at + used; at + sizeof(struct lp_head) <= end;) {
        const struct lp_head* head = (const struct lp_head*)at;
        const size_t size = (size_t)head->words * 8;
        if (size < sizeof *head || size > (size_t)(end - at))
            break;
        if (wanted(head->kind, which)) {
            memcpy(to + bytes, at, size);
            bytes += size;
        }
        at += size;
    }
    return bytes;
}

/* Behind the notes of earlier windows. */
static int keep_notes(const struct lp_thread* t, size_t used, uint64_t* notes, enum lp_notes which) {
    size_t bytes = lp_copy_notes(noted, t->map + LP_FILE_HEADER, used, which);
    int error = bytes ? lp_write_at(t->path, noted, bytes, *notes) : 0;
    if (!error)
        *notes += bytes;
    return error;
}

int lp_ring_take(const struct lp_thread* t, size_t used, uint64_t* notes) {
    pthread_mutex_lock(&lock);
    int error = used ? keep_notes(t, used, notes, LP_NOTES_OUTSIDE_SLOT) : 0;
    if (!error && used)
        error = turn(t, used);
    pthread_mutex_unlock(&lock);
    return error;
}

int lp_ring_skip(const struct lp_thread* t, size_t used, uint64_t* notes) {
    pthread_mutex_lock(&lock);
    int error = used ? keep_notes(t, used, notes, LP_NOTES_WITHOUT_RESUME) : 0;
    pthread_mutex_unlock(&lock);
    return error;
}

int lp_ring_copy(struct lp_account* to) {
    int error = 0;
    pthread_mutex_lock(&lock);
    lp_lost_copy(to);
    for (uint32_t i = 0; i < slots && !error; i++)
        error = add_slot(queue[(oldest + i) % slots], to);
    pthread_mutex_unlock(&lock);
    return error;
}

int lp_ring_cut(void) {
    int error = 0;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < slots && !error; i++)
        error = sum_up(queue[(oldest + i) % slots]);
    pthread_mutex_unlock(&lock);
    return error;
}
