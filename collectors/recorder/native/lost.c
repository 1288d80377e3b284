/* What the ring has overwritten, summed up in a mapped file that outlives the process. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "account.h"
#include "ring.h"

static struct lp_account account;
static struct lp_lost* lost;

int lp_lost_create(const char* path, size_t slot_bytes) {
    int fd = open(path, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    if (fd < 0)
        return errno;
    int error = posix_fallocate(fd, 0, (off_t)LP_ACCOUNT_BYTES);
    void* map = error ? MAP_FAILED : mmap(NULL, LP_ACCOUNT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!error && map == MAP_FAILED)
        error = errno;
    close(fd);
    if (!error) {
        lp_account_begin(&account, map, NULL, slot_bytes);
        lost = account.lost;
    }
    return error;
}

/* A time at which recording was off ends in a slot that is overwritten: what was skipped counts as gone, as what was
 * overwritten before it does. */
static void switched_on(uint32_t thread, const struct lp_head* record) {
    struct lp_gap gap;
    memcpy(&gap, record + 1, sizeof gap);
    lp_account_keep_stated(&account, thread, record->enter);
    const uint64_t ticks = record->enter - gap.since;
    lost->times_off++;
    lost->longest_off = ticks > lost->longest_off ? ticks : lost->longest_off;
    lost->off.calls += gap.calls;
    lost->off.sends += gap.sends;
    lost->off.receives += gap.receives;
    lost->off.collectives += gap.collectives;
    lost->off.transfers += gap.transfers;
    lost->off.inexact += gap.inexact;
}

static void add(uint32_t thread, const struct lp_head* r) {
    const void* data = r + 1;
    const size_t bytes = (size_t)r->words * 8 - sizeof *r;
    switch (r->kind) {
        case LP_SKIPPED:
            for (size_t i = 0; i < bytes / sizeof(struct lp_skipped); i++)
                lp_account_count(&account, ((const struct lp_skipped*)data)[i].channel);
            break;
        case LP_CARRIED:
            for (size_t i = 0; i < bytes / sizeof(struct lp_carried); i++)
                lp_account_carry(&account, (const struct lp_carried*)data + i);
            break;
        case LP_ENDED:
            for (size_t i = 0; i < bytes / sizeof(struct lp_ended); i++)
                lp_account_end(&account, ((const struct lp_ended*)data)[i].handle,
                               ((const struct lp_ended*)data)[i].thread);
            break;
        case LP_ON:
            switched_on(thread, r);
            break;
        default:
            if (r->kind < LP_FIRST_NOTE)
                lp_account_add(&account, thread, r);
    }
}

static void add_all(struct lp_account* to, uint32_t thread, const char* at, size_t bytes) {
    for (const char* end = at + bytes; at + sizeof(struct lp_head) <= end;) {
        const struct lp_head* r = (const struct lp_head*)at;
        const size_t size = (size_t)r->words * 8;
        if (size < sizeof *r || size > (size_t)(end - at))
            break;
        if (to == &account)
            add(thread, r);
        else if (r->kind < LP_FIRST_NOTE)
            lp_account_add(to, thread, r);
        at += size;
    }
}

static size_t used_of(const struct lp_file_header* header, size_t slot_bytes) {
    const size_t room = slot_bytes - LP_FILE_HEADER;
    return header->open < room ? header->open : room;
}

void lp_lost_add(const char* slot, size_t slot_bytes) {
    struct lp_file_header header;
    memcpy(&header, slot, sizeof header);
    if (header.turn <= lost->turn)
        return; /* the program's own cut has summed it up */
    __atomic_store_n(&lost->updating, lost->updating + 1, __ATOMIC_SEQ_CST);
    if (header.thread == 0 && header.flushed == LP_FILE_HEADER)
        lost->started = 1;
    add_all(&account, header.thread, slot + LP_FILE_HEADER, used_of(&header, slot_bytes));
    lost->turn = header.turn;
    __atomic_store_n(&lost->updating, lost->updating + 1, __ATOMIC_SEQ_CST);
}

void lp_lost_newest(uint64_t turn) {
    __atomic_store_n(&lost->newest, turn, __ATOMIC_RELEASE);
}

void lp_lost_copy(struct lp_account* to) {
    lp_account_copy(to, &account);
}

void lp_lost_add_to(struct lp_account* to, const char* slot, size_t slot_bytes) {
    struct lp_file_header header;
    memcpy(&header, slot, sizeof header);
    if (header.turn > lost->turn)
        add_all(to, header.thread, slot + LP_FILE_HEADER, used_of(&header, slot_bytes));
}
