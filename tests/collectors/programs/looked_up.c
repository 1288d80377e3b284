/* Opens MPI by the path that it is given, as `local` or `deep` (MPI.jl: RTLD_DEEPBIND), and looks up all that it calls;
 * compiled with mpi.h and linked to no MPI. Between two ranks: a message each way. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void* mpi;

static void* find(const char* name) {
    dlerror();
    void* found = dlsym(mpi, name);
    const char* error = dlerror();
    if (!found || error)
        printf("%s: %s\n", name, error ? error : "nothing");
    return found;
}

#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)find(#global))
#endif
#define CALL(name) ((__typeof__(name)*)find(#name))

int main(int argc, char** argv) {
    int rank, x = 7, y = 0, major, minor;
    mpi = dlopen(argv[1], RTLD_LAZY | (strcmp(argv[2], "deep") ? RTLD_LOCAL : RTLD_DEEPBIND));
    if (!mpi)
        return puts(dlerror()), 1;
    if (dlsym(mpi, "MPI_No_such_function") || !dlerror() || dlsym(RTLD_DEFAULT, "MPI_Init"))
        return puts("found what is not there"), 1;
    CALL(MPI_Get_version)(&major, &minor);
    CALL(MPI_Init)(&argc, &argv);
    CALL(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
    CALL(PMPI_Sendrecv)(&x, 1, MPI_INT, 1 - rank, 5, &y, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CALL(MPI_Finalize)();
    return y != 7;
}
