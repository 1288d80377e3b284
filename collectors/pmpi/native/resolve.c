/* Finding the MPI library that the process uses.
 *
 * In a program linked to MPI the next definition of a name is the library's. Python loads MPI for itself only
 * (RTLD_LOCAL): there dlsym(RTLD_NEXT) finds nothing and the library is found among the loaded objects. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "runtime.h"

struct lp_api lp_mpi;
struct lp_constants lp_k;

enum abi { ABI_NONE, ABI_OPENMPI, ABI_MPICH, ABI_STANDARD };
static const char* const abi_names[] = {"?", "Open MPI's", "MPICH's", "the MPI-5"};

static enum abi abi_of_soname(const char* path) {
    const char* name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (!strncmp(name, "libmpi_abi.so", 13))
        return ABI_STANDARD;
    if (!strncmp(name, "libmpich.so.12", 14) || !strncmp(name, "libmpi.so.12", 12) ||
        !strncmp(name, "libmpi_cray.so.12", 17))
        return ABI_MPICH;
    if (!strncmp(name, "libmpi.so.40", 12) || !strncmp(name, "libmpi.so.20", 12))
        return ABI_OPENMPI;
    return ABI_NONE;
}

#if defined(OPEN_MPI)
static const enum abi own_abi = ABI_OPENMPI;
#elif defined(MPI_ABI_VERSION) && !defined(MPICH_NUMVERSION)
static const enum abi own_abi = ABI_STANDARD;
#else
static const enum abi own_abi = ABI_MPICH;
#endif

struct search {
    enum abi abi;
    char path[1024];
};

static int visit(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    struct search* s = data;
    if (!info->dlpi_name || !*info->dlpi_name || strlen(info->dlpi_name) >= sizeof s->path)
        return 0;
    enum abi abi = abi_of_soname(info->dlpi_name);
    if (abi == ABI_NONE)
        return 0;
    s->abi = abi;
    strcpy(s->path, info->dlpi_name);
    return abi == own_abi; /* keep looking while only a foreign library was found */
}

static void* library(void) {
    static void* volatile handle;
    if (handle)
        return handle;
    struct search s = {ABI_NONE, ""};
    dl_iterate_phdr(visit, &s);
    if (s.abi != ABI_NONE)
        handle = dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD);
    return handle;
}

void* lp_find(const char* name) {
    void* symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) {
        void* lib = library();
        if (lib)
            symbol = dlsym(lib, name);
    }
    return symbol;
}

/* An object, not a function: the executable may hold a copy of it (a copy relocation), and then that copy is the one
 * that everybody uses, libmpi included. So the global order of search, not what comes after us. */
void* lp_find_object(const char* name) {
    void* symbol = dlsym(RTLD_DEFAULT, name);
    if (!symbol) {
        void* lib = library();
        if (lib)
            symbol = dlsym(lib, name);
    }
    return symbol;
}

static int missing(void) {
    return 16; /* an error code of every MPI (MPI_ERR_OTHER or near); reached only in a program that has no such
                  function */
}

void* lp_real(const char* pmpi_name) {
    void* symbol = lp_find(pmpi_name);
    if (!symbol)
        symbol = lp_find(pmpi_name + 1);
    return symbol ? symbol : (void*)missing;
}

int lp_library_fits(void) {
    struct search s = {ABI_NONE, ""};
    dl_iterate_phdr(visit, &s);
    if (s.abi == ABI_NONE || s.abi == own_abi) {
#define X(name) lp_mpi.name = (__typeof__(lp_mpi.name))lp_find("PMPI_" #name);
        /* clang-format off */
        LP_API(X)
        LP_CALIBRATION_API(X)
        /* clang-format on */
#undef X
        if (!lp_mpi.Comm_dup || !lp_mpi.Bcast || !lp_mpi.Type_size_x || !lp_mpi.Get_elements_x) {
            lp_say("not recorded: the MPI library of this program lacks functions of MPI-3");
            return 0;
        }
        lp_k = (struct lp_constants){MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL, MPI_REQUEST_NULL, MPI_DATATYPE_NULL,
                                     MPI_UINT64_T,   MPI_BYTE,      MPI_MAX,       MPI_GROUP_NULL,   MPI_NO_OP,
                                     MPI_INT,        MPI_DOUBLE,    MPI_BOR,       MPI_ERRORS_RETURN};
        return 1;
    }
    lp_say(
        "not recorded: %s uses %s binary interface, but the interposer was built for %s; pass --mpi with the right "
        "mpicc",
        s.path, abi_names[s.abi], abi_names[own_abi]);
    return 0;
}
