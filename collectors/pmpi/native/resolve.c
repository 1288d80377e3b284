/* Finding the MPI library whose functions the wrappers call.
 *
 * In a program linked to MPI the next definition of a name is the library's. A library that was opened by dlopen for
 * itself only (RTLD_LOCAL: Python, Julia) is not in that order. Then it is, in this order: what the caller's object is
 * linked to; what the program looks up by dlsym; an object of the process that defines PMPI_Init. A library is known by
 * what it defines and by its soname: its file may have been opened under any name. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

struct lp_api lp_mpi;
struct lp_constants lp_k;

static const char* const abi_names[] = {"an unknown", "Open MPI's", "MPICH's", "MPI-5's"};

static struct lp_library chosen; /* from the call on that starts MPI */
static volatile int is_chosen;

/* --- libraries -------------------------------------------------------------------------------------------------------
 */

/* The name that a library gives itself, else that of its file. */
static const char* soname(const struct link_map* map) {
    const char *strings = NULL, *slash = strrchr(map->l_name, '/');
    size_t at = 0;
    for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            strings = (const char*)d->d_un.d_ptr;
        if (d->d_tag == DT_SONAME)
            at = d->d_un.d_val;
    }
    if (strings && (uintptr_t)strings < map->l_addr) /* some loaders leave it as it is in the file */
        strings += map->l_addr;
    return strings && at ? strings + at : slash ? slash + 1 : map->l_name;
}

static enum lp_abi abi_of(void* handle, const struct link_map* map) {
    const char* name = soname(map);
    if (!strncmp(name, "libmpi_abi.so", 13))
        return LP_ABI_STANDARD;
    if (lp_symbol(handle, "ompi_mpi_comm_world"))
        return LP_ABI_OPENMPI;
    const char* version = strstr(name, ".so.12"); /* what MPICH, Intel MPI, MVAPICH2 and Cray agreed on */
    if (!strncmp(name, "libmpich.so", 11) || (version && strstr(name, "mpi") && strchr(".", version[6])))
        return LP_ABI_MPICH;
    return LP_ABI_UNKNOWN;
}

struct lp_library lp_owner(const void* function) {
    struct lp_library found = {NULL, NULL, LP_ABI_UNKNOWN, ""};
    struct link_map* map = NULL;
    Dl_info about, init;
    if (!function || !dladdr1(function, &about, (void**)&map, RTLD_DL_LINKMAP) || !map ||
        strlen(map->l_name) >= sizeof found.path)
        return found;
    void* handle = dlopen(*map->l_name ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return found;
    const void* first = lp_symbol(handle, "PMPI_Init");
    if (first && dladdr(first, &init) && init.dli_fbase == about.dli_fbase) {
        found = (struct lp_library){handle, about.dli_fbase, abi_of(handle, map), ""};
        strcpy(found.path, map->l_name);
    }
    dlclose(handle);
    return found;
}

struct lp_library lp_owner_in(const char* path) {
    void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    struct lp_library found = lp_owner(handle ? lp_symbol(handle, "PMPI_Init") : NULL);
    if (handle)
        dlclose(handle);
    return found;
}

/* The one that an object with this address is linked to. */
static struct lp_library of_caller(const void* address) {
    Dl_info about;
    struct link_map* map = NULL;
    if (!address || !dladdr1(address, &about, (void**)&map, RTLD_DL_LINKMAP) || !map || !*map->l_name)
        return lp_owner(NULL);
    return lp_owner_in(map->l_name);
}

struct names {
    char** at;
    size_t count;
};

static int take_name(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    struct names* names = data;
    if (!info->dlpi_name || !*info->dlpi_name)
        return 0;
    char** more = realloc(names->at, (names->count + 1) * sizeof *more);
    if (!more)
        return 1;
    names->at = more;
    more[names->count] = strdup(info->dlpi_name);
    return !more[names->count++];
}

/* Of all that is loaded: one of our binary interface, else another one. The list is made first, because opening an
 * object while the loader's list is held could wait for a thread that waits for the list. */
static struct lp_library among_loaded(void) {
    struct names names = {NULL, 0};
    struct lp_library found = lp_owner(NULL);
    dl_iterate_phdr(take_name, &names);
    for (size_t i = 0; i < names.count; i++) {
        struct lp_library next = lp_owner(NULL);
        if (names.at[i] && found.abi != LP_OWN_ABI)
            next = lp_owner_in(names.at[i]);
        if (next.handle)
            found = next;
        free(names.at[i]);
    }
    free(names.at);
    return found;
}

struct lp_library lp_decided(void) {
    return is_chosen ? chosen : lp_owner(lp_symbol(RTLD_NEXT, "PMPI_Init"));
}

/* Kept open, for its functions are called from now on, whatever becomes of the program's own handle. */
static struct lp_library library_for(const void* caller) {
    struct lp_library found = lp_decided();
    if (!found.handle)
        found = of_caller(caller);
    if (!found.handle)
        found = lp_looked_up_library();
    if (!found.handle)
        found = among_loaded();
    if (found.handle && !is_chosen)
        dlopen(*found.path ? found.path : NULL, RTLD_LAZY | RTLD_NOLOAD);
    return found;
}

/* --- functions -------------------------------------------------------------------------------------------------------
 */

static void* symbol_of(const struct lp_library* library, const char* name) {
    void* symbol = lp_symbol(RTLD_NEXT, name);
    return symbol || !library->handle ? symbol : lp_symbol(library->handle, name);
}

void* lp_find(const char* name) {
    struct lp_library library = library_for(NULL);
    return symbol_of(&library, name);
}

/* An object, not a function: the executable may hold a copy of it (a copy relocation), and then that copy is the one
 * that everybody uses, libmpi included. So the global order of search, not what is loaded after us. */
void* lp_find_object(const char* name) {
    void* symbol = lp_symbol(RTLD_DEFAULT, name);
    if (symbol)
        return symbol;
    struct lp_library library = library_for(NULL);
    return library.handle ? lp_symbol(library.handle, name) : NULL;
}

static int missing(void) {
    return 16; /* an error code of every MPI (MPI_ERR_OTHER or near); reached only in a program that has no such
                  function */
}

void* lp_real(const char* pmpi_name, const void* caller) {
    struct lp_library library = library_for(caller);
    void* symbol = symbol_of(&library, pmpi_name);
    if (!symbol)
        symbol = symbol_of(&library, pmpi_name + 1);
    return symbol ? symbol : (void*)missing;
}

/* --- recording -------------------------------------------------------------------------------------------------------
 */

/* Why this process is not recorded: a file, which `logpost record` says once for all processes. */
static void not_recorded(const struct lp_library* library) {
    char host[65] = "", file[1200], text[1600];
    const char* directory = getenv("LOGPOST_RAW_DIR");
    if (library->abi != LP_OWN_ABI)
        snprintf(text, sizeof text,
                 "%s has %s binary interface, and the interposer was built for %s; start the program with the launcher "
                 "of that MPI, or pass --mpi with the right mpicc",
                 library->path, abi_names[library->abi], abi_names[LP_OWN_ABI]);
    else
        snprintf(text, sizeof text,
                 "their calls of %s did not pass the recorder's library, as when a library that calls MPI is opened "
                 "with RTLD_DEEPBIND; link the program to MPI, or open that library without RTLD_DEEPBIND",
                 library->path);
    if (gethostname(host, sizeof host - 1))
        strcpy(host, "unknown");
    for (char* c = host; *c; c++)
        if (*c == '/')
            *c = '_';
    snprintf(file, sizeof file, "%s/%s.%ld.unrecorded", directory ? directory : ".", host, (long)getpid());
    FILE* out = fopen(file, "we");
    if (out) {
        fputs(text, out);
        fclose(out);
    } else {
        lp_say("not recorded: %s", text);
    }
}

void lp_library_unseen(void) {
    struct lp_library library = library_for(NULL);
    int (*initialized)(int*) =
        library.handle ? (int (*)(int*))(uintptr_t)lp_symbol(library.handle, "PMPI_Initialized") : NULL;
    int yes = 0;
    if (initialized && !initialized(&yes) && yes)
        not_recorded(&library);
}

int lp_library_fits(const void* caller) {
    if (!is_chosen) {
        chosen = library_for(caller);
        is_chosen = 1;
    }
    if (chosen.handle && chosen.abi != LP_OWN_ABI) {
        not_recorded(&chosen);
        return 0;
    }
#define X(name) lp_mpi.name = (__typeof__(lp_mpi.name))lp_find("PMPI_" #name);
    /* clang-format off */
    LP_API(X)
    LP_CALIBRATION_API(X)
    LP_TRANSFER_API(X)
    /* clang-format on */
#undef X
    if (!lp_mpi.Comm_dup || !lp_mpi.Bcast || !lp_mpi.Type_size_x || !lp_mpi.Get_elements_x) {
        lp_say("not recorded: the MPI library of this program lacks functions of MPI-3");
        return 0;
    }
    lp_k = (struct lp_constants){MPI_COMM_WORLD,    MPI_COMM_SELF, MPI_COMM_NULL,     MPI_REQUEST_NULL,
                                 MPI_DATATYPE_NULL, MPI_UINT64_T,  MPI_BYTE,          MPI_MAX,
                                 MPI_GROUP_NULL,    MPI_NO_OP,     MPI_INT,           MPI_DOUBLE,
                                 MPI_BOR,           MPI_SUM,       MPI_ERRORS_RETURN, MPI_INFO_NULL};
    return 1;
}
