/* Opens plugin.so for itself only, `deep` bound on demand, and runs it; before that it looks, as mpi4py does, whether
 * the process has MPI. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    printf("MPI is %s\n",
           dlsym(RTLD_DEFAULT, "MPI_Get_version") || dlsym(dlopen(0, RTLD_LAZY), "MPI_Init") ? "there" : "not there");
    fflush(stdout);
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | (argc > 2 ? RTLD_DEEPBIND : 0));
    if (!plugin)
        return puts(dlerror()), 1;
    int (*run)(void) = (int (*)(void))dlsym(plugin, "run");
    return run();
}
