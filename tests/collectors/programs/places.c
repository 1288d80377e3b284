/* Preloaded into ranks: eight processors, and with PLACES_HOSTS a host for the first half of the ranks and one for the
 * others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* of_rank(const char* of_openmpi, const char* of_mpich) {
    const char* found = getenv(of_openmpi);
    return found ? found : getenv(of_mpich);
}

int sched_getaffinity(pid_t process, size_t size, cpu_set_t* set) {
    int (*real)(pid_t, size_t, cpu_set_t*) = dlsym(RTLD_NEXT, "sched_getaffinity");
    if (!of_rank("OMPI_COMM_WORLD_RANK", "PMI_RANK"))
        return real(process, size, set);
    CPU_ZERO_S(size, set);
    for (int cpu = 0; cpu < 8; cpu++)
        CPU_SET_S(cpu, size, set);
    return 0;
}

int gethostname(char* name, size_t size) {
    int (*real)(char*, size_t) = dlsym(RTLD_NEXT, "gethostname");
    const char *rank = of_rank("OMPI_COMM_WORLD_RANK", "PMI_RANK"),
               *ranks = of_rank("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
    if (!rank || !ranks || !getenv("PLACES_HOSTS"))
        return real(name, size);
    snprintf(name, size, "host%d", 2 * atoi(rank) >= atoi(ranks));
    return 0;
}
