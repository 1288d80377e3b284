/* Stacks that are seen for the first time: unwound, remembered, and noted with the objects that their code is in. */
#include "stacks.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

#include "hash.h"

char* lp_window_room(struct lp_thread* t, size_t bytes) {
    return lp_reserve(t, bytes);
}

#if defined(LOGPOST_SIMULATED)

uint32_t lp_stack_learn(struct lp_thread* t, uintptr_t address, const uintptr_t* place) {
    (void)t, (void)address, (void)place;
    return 0;
}

void lp_stacks_begin(struct lp_thread* t) {
    (void)t;
}

void lp_stacks_free(struct lp_thread* t) {
    (void)t;
}

void lp_stacks_forget(struct lp_thread* t) {
    (void)t;
}

void lp_stacks_note_modules(struct lp_thread* t) {
    (void)t;
}

#else

#define MAX_STACKS 65536u /* per thread: 20 MB at most; beyond it only direct callers are distinguished */
#define MAX_CHAIN 64      /* stacks with one hash */
#define MODULES 2048

/* --- objects that hold code -------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long noted_adds; /* how many objects had been loaded when they were noted last */
static uint64_t noted[MODULES];       /* hashes of the objects noted */
static int noted_count;

/* The build id of a loaded object in hexadecimal, or nothing. */
static void build_id(const struct dl_phdr_info* info, char* text, size_t room) {
    text[0] = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)* part = &info->dlpi_phdr[i];
        if (part->p_type != PT_NOTE)
            continue;
        const char *at = (const char*)(info->dlpi_addr + part->p_vaddr), *end = at + part->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr)* note = (const ElfW(Nhdr)*)at;
            const char* name = at + sizeof *note;
            const unsigned char* data = (const unsigned char*)name + ((note->n_namesz + 3u) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
                for (uint32_t b = 0; b < note->n_descsz && 2 * b + 3 < room; b++)
                    snprintf(text + 2 * b, 3, "%02x", data[b]);
                return;
            }
            at = (const char*)data + ((note->n_descsz + 3u) & ~3u);
        }
    }
}

static int note_module(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    struct lp_thread* t = data;
    uint64_t hash = lp_hash(LP_HASH, &info->dlpi_addr, sizeof info->dlpi_addr);
    hash = lp_hash(hash, info->dlpi_name, strlen(info->dlpi_name));
    for (int i = 0; i < noted_count; i++)
        if (noted[i] == hash)
            return 0;
    if (noted_count == MODULES)
        return 1;
    noted[noted_count++] = hash;
    char path[1024] = "", id[80], text[1400];
    if (!info->dlpi_name[0]) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
    } else if (info->dlpi_name[0] != '/' && strchr(info->dlpi_name, '/')) {
        char* absolute = realpath(info->dlpi_name, NULL);
        snprintf(path, sizeof path, "%s", absolute ? absolute : info->dlpi_name);
        free(absolute);
    } else {
        snprintf(path, sizeof path, "%s", info->dlpi_name);
    }
    build_id(info, id, sizeof id);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)* part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        unsigned long long begin = info->dlpi_addr + part->p_vaddr;
        snprintf(text, sizeof text, "base=%llx\nbegin=%llx\nend=%llx\nid=%s\npath=%s\n",
                 (unsigned long long)info->dlpi_addr, begin, begin + (unsigned long long)part->p_memsz, id, path);
        lp_note_text(t, LP_MODULE, text);
    }
    return 0;
}

static int count_adds(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    *(unsigned long long*)data = info->dlpi_adds;
    return 1;
}

void lp_stacks_note_modules(struct lp_thread* t) {
    unsigned long long adds = 0;
    dl_iterate_phdr(count_adds, &adds);
    pthread_mutex_lock(&lock);
    if (adds != noted_adds) {
        dl_iterate_phdr(note_module, t);
        noted_adds = adds;
    }
    pthread_mutex_unlock(&lock);
}

/* --- stacks ------------------------------------------------------------------------------------------------------ */

int lp_stack_depth(void) {
    static volatile int known = -1;
    if (known < 0) {
        const char* text = getenv("LOGPOST_STACK_DEPTH");
        long wanted = text && *text ? atol(text) : 16;
        known = wanted < 0 ? 0 : wanted > LP_STACK_MAX_FRAMES ? LP_STACK_MAX_FRAMES : (int)wanted;
    }
    return known;
}

#if defined(__x86_64__)
struct walk {
    struct lp_frame* frame;
    int count, room, cut;
};

static _Unwind_Reason_Code visit(struct _Unwind_Context* context, void* data) {
    struct walk* w = data;
    uintptr_t address = (uintptr_t)_Unwind_GetIP(context);
    const uintptr_t* place = (const uintptr_t*)_Unwind_GetCFA(context) - 1;
    if (!w->count) { /* our own functions, up to the wrapper's caller, which the wrapper itself has given */
        w->count = address == w->frame[0].address && place == w->frame[0].place;
        return _URC_NO_REASON;
    }
    /* Where the return address is not where calls put it (signal frames, the first frame of a thread), the walk ends */
    if (!address || place <= w->frame[w->count - 1].place || *place != address)
        return _URC_END_OF_STACK;
    if (w->count == w->room) {
        w->cut = 1;
        return _URC_END_OF_STACK;
    }
    w->frame[w->count].address = address;
    w->frame[w->count++].place = place;
    return _URC_NO_REASON;
}
#endif

static int unwind(struct lp_frame* frame, int room, int* cut) {
#if defined(__x86_64__)
    struct walk w = {frame, 0, room, room <= 1};
    if (room > 1)
        _Unwind_Backtrace(visit, &w);
    *cut = w.cut || !w.count;
    return w.count ? w.count : 1;
#else
    (void)frame, (void)room;
    *cut = 1;
    return 1;
#endif
}

static struct lp_stack** former_slot(struct lp_thread* t, const struct lp_frame* frame, int count) {
    uint64_t hash = LP_HASH;
    for (int i = 0; i < count; i++)
        hash = (hash ^ frame[i].address) * 0x9E3779B97F4A7C15ull;
    return &t->stacks->former[(hash >> 32) % LP_STACK_SLOTS];
}

static void put_in_slot(struct lp_thread* t, struct lp_stack* s) {
    struct lp_stack** head = &t->stacks->slot[lp_stack_slot(s->frame[0].address, s->frame[0].place)];
    s->next = *head;
    *head = s;
}

/* The same stack of an ended thread, at this one's places; NULL: there is none. */
static struct lp_stack* former_stack(struct lp_thread* t, const struct lp_frame* frame, int count) {
    for (struct lp_stack *s, **at = former_slot(t, frame, count); (s = *at); at = &s->next) {
        int i = 0;
        while (i < count && s->frames == (uint32_t)count && s->frame[i].address == frame[i].address)
            i++;
        if (i < count)
            continue;
        *at = s->next;
        memcpy(s->frame, frame, (size_t)count * sizeof *frame);
        put_in_slot(t, s);
        return s;
    }
    return NULL;
}

static struct lp_stack* remember(struct lp_thread* t, const struct lp_frame* frame, int count, int cut) {
    struct lp_stack* s = former_stack(t, frame, count);
    if (s)
        return s;
    s = malloc(sizeof *s + (size_t)count * sizeof *frame);
    size_t bytes = sizeof(struct lp_head) + sizeof(struct lp_stack_def) + (size_t)count * 8;
    if (!s || !lp_reserve(t, bytes)) {
        free(s);
        return NULL;
    }
    s->id = ++t->stacks->count;
    s->frames = (uint32_t)count;
    memcpy(s->frame, frame, (size_t)count * sizeof *frame);
    struct lp_stack_def* def = (struct lp_stack_def*)(t->pos + sizeof(struct lp_head));
    *def = (struct lp_stack_def){s->id, s->frames, cut != 0};
    uint64_t* to = (uint64_t*)(def + 1);
    for (int i = 0; i < count; i++)
        to[i] = frame[i].address;
    uint64_t now = lp_now();
    lp_commit(t, LP_DEF_STACK, 0, bytes, now, now);
    put_in_slot(t, s);
    return s;
}

static struct lp_stack* find(struct lp_thread* t, uintptr_t address, const uintptr_t* place, int* length) {
    struct lp_stack **head = &t->stacks->slot[lp_stack_slot(address, place)], **at = head;
    for (struct lp_stack* s; (s = *at); at = &s->next, ++*length)
        if (lp_stack_is(s, address, place)) {
            *at = s->next; /* to the front: it is likely to be looked up again */
            s->next = *head;
            *head = s;
            return s;
        }
    return NULL;
}

uint32_t lp_stack_learn(struct lp_thread* t, uintptr_t address, const uintptr_t* place) {
    int length = 0;
    struct lp_stack* s = find(t, address, place, &length);
    if (s)
        return s->id;
    int saved = errno, room = lp_stack_depth();
    struct lp_frame frame[LP_STACK_MAX_FRAMES] = {{place, address}};
    if (length >= MAX_CHAIN || t->stacks->count >= MAX_STACKS) {
        frame[0].place = NULL; /* a caller at any place of the stack */
        room = 1;
        s = find(t, address, NULL, &length);
    }
    if (!s) {
        lp_stacks_note_modules(t);
        int cut = 0, count = unwind(frame, room, &cut);
        s = remember(t, frame, count, cut);
    }
    errno = saved;
    return s ? s->id : 0;
}

void lp_stacks_begin(struct lp_thread* t) {
    if (lp_stack_depth() > 0)
        t->stacks = calloc(1, sizeof *t->stacks);
}

void lp_stacks_forget(struct lp_thread* t) {
    for (unsigned i = 0; t->stacks && i < LP_STACK_SLOTS; i++)
        for (struct lp_stack* s; (s = t->stacks->slot[i]);) {
            t->stacks->slot[i] = s->next;
            struct lp_stack** head = former_slot(t, s->frame, (int)s->frames);
            s->next = *head;
            *head = s;
        }
}

void lp_stacks_free(struct lp_thread* t) {
    if (!t->stacks)
        return;
    lp_stacks_forget(t);
    for (unsigned i = 0; i < LP_STACK_SLOTS; i++)
        for (struct lp_stack *s = t->stacks->former[i], *next; s; s = next) {
            next = s->next;
            free(s);
        }
    free(t->stacks->python);
    free(t->stacks);
    t->stacks = NULL;
}

#endif
