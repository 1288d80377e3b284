/* Replaces Intel's ittnotify (github.com/intel/ittapi), whose sources no package holds: what its static part does
 * to find a tool that listens, as of release 3.26. Written anew; the test uses the real one where LOGPOST_ITTAPI is
 * set. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct {
    volatile int flags;
    const char* nameA;
    void* nameW;
    int extra1;
    void* extra2;
    void* next;
} __itt_domain;
typedef struct {
    const char* strA;
    void* strW;
    int extra1;
    void* extra2;
    void* next;
} __itt_string_handle;
typedef struct {
    unsigned long long d1, d2, d3;
} __itt_id;
static const __itt_id __itt_null = {0, 0, 0};

/* A library of version 1, which has __itt_api_version, is searched for functions of those groups alone that
 * INTEL_ITTNOTIFY_GROUPS names; one of version 2 has __itt_api_init, and fills them in itself. */
static void* itt_function(const char* name) {
    static void* library;
    const char* path = getenv("INTEL_LIBITTNOTIFY64");
    if (!library && path)
        library = dlopen(path, RTLD_LAZY);
    if (!library || dlsym(library, "__itt_api_init") || !dlsym(library, "__itt_api_version"))
        return NULL;
    return getenv("INTEL_ITTNOTIFY_GROUPS") ? dlsym(library, name) : NULL;
}

static __itt_domain* __itt_domain_create(const char* name) {
    __itt_domain* (*create)(const char*) = (__itt_domain * (*)(const char*)) itt_function("__itt_domain_create");
    return create ? create(name) : NULL;
}

static __itt_string_handle* __itt_string_handle_create(const char* name) {
    __itt_string_handle* (*create)(const char*) =
        (__itt_string_handle * (*)(const char*)) itt_function("__itt_string_handle_create");
    return create ? create(name) : NULL;
}

static void __itt_task_begin(const __itt_domain* domain, __itt_id id, __itt_id parent, __itt_string_handle* name) {
    void (*begin)(const __itt_domain*, __itt_id, __itt_id, __itt_string_handle*) =
        (void (*)(const __itt_domain*, __itt_id, __itt_id, __itt_string_handle*))itt_function("__itt_task_begin");
    if (domain && domain->flags && begin)
        begin(domain, id, parent, name);
}

static void __itt_task_end(const __itt_domain* domain) {
    void (*end)(const __itt_domain*) = (void (*)(const __itt_domain*))itt_function("__itt_task_end");
    if (domain && domain->flags && end)
        end(domain);
}
