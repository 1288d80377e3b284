/* Finds out which MPI it has, as mpi4py's wheel does, then opens the module for it: argv is the library, the module. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    void* mpi = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
    if (!mpi || !dlsym(mpi, "MPI_Get_version"))
        return puts(dlerror()), 1;
    void* module = dlopen(argv[2], RTLD_LAZY | RTLD_LOCAL);
    if (!module)
        return puts(dlerror()), 1;
    int (*run)(void) = (int (*)(void))dlsym(module, "run");
    return run();
}
