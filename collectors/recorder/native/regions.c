/* Named regions of the program: logpost.h, compiler instrumentation, NVTX and ITT markers.
 *
 * Begin and end are separate records. A region that began before the library did, or within one of its calls, is
 * none; the depth at which a thread is shows which ends belong to records. */
#include "regions.h"

#include <pthread.h>
#include <stdlib.h>

#include "hash.h"
#include "stacks.h"

enum { BUCKETS = 1024, LONGEST = 500 };

/* A region that has a number: by its name, or a function by its address. */
struct region {
    struct region* next;
    uintptr_t function; /* 0: it has a name */
    uint32_t id;
    char text[];
};
static struct region* regions[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t ids;
static int functions; /* compiler instrumentation is requested */

void lp_regions_prepare(void) {
    const char* requested = getenv("LOGPOST_FUNCTIONS");
    functions = requested && *requested && strcmp(requested, "0");
}

/* --- numbers ---------------------------------------------------------------------------------------------------------
 */

static void define(struct lp_thread* t, int kind, uint32_t id, uint32_t length, const void* text) {
    const size_t bytes = sizeof(struct lp_head) + (8 + length + 7) / 8 * 8;
    if (!lp_reserve(t, bytes))
        return;
    memcpy(t->pos + sizeof(struct lp_head), &id, sizeof id);
    memcpy(t->pos + sizeof(struct lp_head) + 4, &length, sizeof length);
    memcpy(t->pos + sizeof(struct lp_head) + 8, text, length);
    lp_commit(t, kind, 0, bytes, 0, 0);
}

static const struct region* learn(struct lp_thread* t, uintptr_t function, const char* text, size_t length) {
    uint64_t hash = lp_hash(LP_HASH ^ function, text, length);
    struct region** bucket = &regions[(hash * 0x9E3779B97F4A7C15ull >> 40) % BUCKETS];
    pthread_mutex_lock(&lock);
    struct region* r = *bucket;
    while (r && (r->function != function || strncmp(r->text, text, length) || r->text[length]))
        r = r->next;
    int fresh = !r && (r = malloc(sizeof *r + length + 1));
    if (fresh) {
        memcpy(r->text, text, length);
        r->text[length] = 0;
        r->function = function;
        r->id = ++ids;
        r->next = *bucket;
        *bucket = r;
    }
    pthread_mutex_unlock(&lock);
    if (fresh && function) {
        lp_stacks_note_modules(t);
        define(t, LP_DEF_FUNCTION, r->id, sizeof function, &function);
    } else if (fresh) {
        define(t, LP_DEF_REGION, r->id, (uint32_t)length, text);
    }
    return r;
}

/* Programs name a region by the same literal each time, or by a buffer that they fill anew. */
static uint32_t id_of(struct lp_thread* t, uintptr_t function, const char* text) {
    const uintptr_t at = function ? function : (uintptr_t)text;
    struct lp_region_seen* seen = &t->seen[(at ^ at >> 6 ^ at >> 12) % LP_REGIONS_SEEN];
    if (LP_UNLIKELY(seen->at != at || (seen->text ? function || strcmp(seen->text, text) : !function))) {
        const struct region* r = learn(t, function, text, function ? 0 : strnlen(text, LONGEST));
        if (!r)
            return 0;
        *seen = (struct lp_region_seen){at, function ? NULL : r->text, r->id};
    }
    return seen->id;
}

/* --- records --------------------------------------------------------------------------------------------------------
 */

static void note(struct lp_thread* t, int kind, uint64_t region, uint64_t now) {
    const size_t n = sizeof(struct lp_head) + 8;
    if (!lp_reserve(t, n))
        return;
    *(uint64_t*)(t->pos + sizeof(struct lp_head)) = region;
    t->stack = 0;
    lp_commit(t, kind, 0, n, now, now);
}

static void begin(struct lp_thread* t, uint32_t region) {
    t->depth++;
    note(t, LP_REGION_BEGIN, region, lp_now());
}

static void end(struct lp_thread* t) {
    const size_t n = sizeof(struct lp_head);
    if (!t->depth)
        return;
    if (--t->depth < t->lowest)
        t->lowest = t->depth;
    uint64_t now = lp_now();
    t->stack = 0;
    if (lp_reserve(t, n))
        lp_commit(t, LP_REGION_END, 0, n, now, now);
}

void logpost_region_enter(const char* name) {
    struct lp_thread* t = name ? lp_enter() : NULL;
    if (!t)
        return;
    begin(t, id_of(t, 0, name));
    lp_leave(t);
}

void logpost_region_leave(void) {
    struct lp_thread* t = lp_enter();
    if (!t)
        return;
    end(t);
    lp_leave(t);
}

void logpost_mark_here(const char* name) {
    struct lp_thread* t = name ? lp_enter() : NULL;
    if (!t)
        return;
    note(t, LP_MARK, id_of(t, 0, name), lp_now());
    lp_leave(t);
}

/* --- gcc and clang: -finstrument-functions --------------------------------------------------------------------------
 */

void lp_function_enter(void* function, void* site) {
    (void)site;
    struct lp_thread* t = functions ? lp_enter() : NULL;
    if (!t)
        return;
    begin(t, id_of(t, (uintptr_t)function, ""));
    lp_leave(t);
}

void lp_function_exit(void* function, void* site) {
    (void)function, (void)site;
    if (functions)
        logpost_region_leave();
}

/* Programs were linked to the C library's functions that do nothing, by their version: these must have the same. */
#if !defined(LOGPOST_SIMULATED)
#if defined(__x86_64__)
#define LP_LIBC "GLIBC_2.2.5"
#else
#define LP_LIBC "GLIBC_2.17"
#endif
__asm__(".symver lp_function_enter,__cyg_profile_func_enter@" LP_LIBC
        "\n"
        ".symver lp_function_exit,__cyg_profile_func_exit@" LP_LIBC "\n");
#endif

/* --- NVTX: version 2 by its library's names, version 3 by what its headers load
 * ------------------------------------------ */

int nvtxRangePushA(const char* name) {
    logpost_region_enter(name);
    return 0;
}

int nvtxRangePop(void) {
    logpost_region_leave();
    return 0;
}

void nvtxMarkA(const char* name) {
    logpost_mark_here(name);
}

/* Of an event's attributes the message alone; as nvToolsExt.h lays them out. */
struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char* ascii;
        const wchar_t* wide;
        const struct nvtx_string* registered;
    } message;
};
enum { NVTX_ASCII = 1, NVTX_REGISTERED = 3 };

/* Strings are registered with the tool that listens, so a handle is ours to make. */
struct nvtx_string {
    char text[1];
};

static const char* nvtx_text(const struct nvtx_attributes* a) {
    if (!a || a->size < offsetof(struct nvtx_attributes, message) + sizeof a->message)
        return "range";
    if (a->message_type == NVTX_ASCII && a->message.ascii)
        return a->message.ascii;
    if (a->message_type == NVTX_REGISTERED && a->message.registered)
        return a->message.registered->text;
    return "range";
}

int nvtxRangePushEx(const struct nvtx_attributes* attributes) {
    logpost_region_enter(nvtx_text(attributes));
    return 0;
}

void nvtxMarkEx(const struct nvtx_attributes* attributes) {
    logpost_mark_here(nvtx_text(attributes));
}

int nvtxDomainRangePushEx(void* domain, const struct nvtx_attributes* attributes) {
    (void)domain;
    return nvtxRangePushEx(attributes);
}

int nvtxDomainRangePop(void* domain) {
    (void)domain;
    return nvtxRangePop();
}

void nvtxDomainMarkEx(void* domain, const struct nvtx_attributes* attributes) {
    (void)domain;
    nvtxMarkEx(attributes);
}

static struct nvtx_string* nvtxDomainRegisterStringA(void* domain, const char* text) {
    (void)domain;
    return (struct nvtx_string*)strdup(text ? text : "");
}

/* The tables of places for functions, per module, that NVTX 3's headers offer: module 1 is the core, 5 the domains. */
struct nvtx_callbacks {
    size_t size;
    int (*table)(int module, void (****places)(void), unsigned* count);
};

static void put(void (***places)(void), unsigned count, unsigned at, void (*function)(void)) {
    if (at < count && places[at])
        *places[at] = function;
}

#define PUT(at, function) put(places, count, at, (void (*)(void))(function))

int InitializeInjectionNvtx2(const void* (*exported)(uint32_t)) {
    enum { CALLBACKS = 1, CORE = 1, CORE2 = 5 };
    const struct nvtx_callbacks* callbacks = exported(CALLBACKS);
    void (***places)(void) = NULL;
    unsigned count = 0;
    if (!callbacks || callbacks->size < sizeof *callbacks)
        return 0;
    if (callbacks->table(CORE, &places, &count)) {
        PUT(1, nvtxMarkEx);
        PUT(2, nvtxMarkA);
        PUT(8, nvtxRangePushEx);
        PUT(9, nvtxRangePushA);
        PUT(11, nvtxRangePop);
    }
    if (callbacks->table(CORE2, &places, &count)) {
        PUT(1, nvtxDomainMarkEx);
        PUT(4, nvtxDomainRangePushEx);
        PUT(5, nvtxDomainRangePop);
        PUT(10, nvtxDomainRegisterStringA);
    }
    return 1;
}

/* --- ITT: what its static library looks up in the library that INTEL_LIBITTNOTIFY64 names
 * --------------------------------- */

/* As ittnotify.h lays them out; programs look at `flags`. */
struct itt_domain {
    volatile int flags;
    const char* text;
    const wchar_t* wide;
    int extra1;
    void* extra2;
    struct itt_domain* next;
};
struct itt_string {
    const char* text;
    const wchar_t* wide;
    int extra1;
    void* extra2;
    struct itt_string* next;
};
struct itt_id {
    unsigned long long d1, d2, d3;
};

const char* __itt_api_version(void) {
    return "logpost";
}

struct itt_domain* __itt_domain_create(const char* name) {
    struct itt_domain* domain = calloc(1, sizeof *domain);
    if (domain) {
        domain->flags = 1;
        domain->text = strdup(name ? name : "");
    }
    return domain;
}

struct itt_string* __itt_string_handle_create(const char* name) {
    static struct itt_string* all;
    struct itt_string* s;
    pthread_mutex_lock(&lock);
    for (s = all; s && strcmp(s->text, name); s = s->next)
        ;
    char* text = s ? NULL : strdup(name);
    if (text && (s = calloc(1, sizeof *s))) {
        s->text = text;
        s->next = all;
        all = s;
    }
    pthread_mutex_unlock(&lock);
    return s;
}

void __itt_task_begin(const struct itt_domain* domain, struct itt_id id, struct itt_id parent,
                      struct itt_string* name) {
    (void)domain, (void)id, (void)parent;
    logpost_region_enter(name && name->text ? name->text : "task");
}

void __itt_task_end(const struct itt_domain* domain) {
    (void)domain;
    logpost_region_leave();
}
