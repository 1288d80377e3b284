/* The MPI library of a process (resolve.c), and what the program looks up in it by dlsym (looked_up.c). */
#ifndef LOGPOST_LIBRARY_H
#define LOGPOST_LIBRARY_H

#include "runtime.h"

enum lp_abi { LP_ABI_UNKNOWN, LP_ABI_OPENMPI, LP_ABI_MPICH, LP_ABI_STANDARD };

#if defined(OPEN_MPI)
#define LP_OWN_ABI LP_ABI_OPENMPI
#elif defined(MPI_ABI_VERSION) && !defined(MPICH_NUMVERSION)
#define LP_OWN_ABI LP_ABI_STANDARD
#else
#define LP_OWN_ABI LP_ABI_MPICH
#endif

struct lp_library {
    void* handle; /* as dlsym has it; NULL: there is none */
    const void* base;
    enum lp_abi abi;
    char path[1024];
};

/* The library that defines a function; no handle: it is not a library of MPI. */
LP_HIDDEN struct lp_library lp_owner(const void* function);
/* The one that an object is linked to, or is. */
LP_HIDDEN struct lp_library lp_owner_in(const char* path);
/* The one that the process was recorded with, or that it is linked to; no handle: it is not decided yet. */
LP_HIDDEN struct lp_library lp_decided(void);
/* The one that the program looked up by dlsym, if it is still loaded. */
LP_HIDDEN struct lp_library lp_looked_up_library(void);
/* The C library's dlsym. */
LP_HIDDEN void* lp_symbol(void* handle, const char* name);

#endif
