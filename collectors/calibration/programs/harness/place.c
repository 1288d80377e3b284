/* Where a rank is: on which host, bound to which processors. */

/* For sched_getaffinity. */
#define _GNU_SOURCE

#include "parts.h"

#include <stdio.h>

#if SIMULATED
void cal_find_place(struct cal_place* place) {
    int length;
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_processor_name(name, &length);
    snprintf(place->host, sizeof place->host, "%s", name);
    snprintf(place->cpus, sizeof place->cpus, "0");
    place->socket = 0;
}
#else
#include <sched.h>
#include <unistd.h>

static int package_of(int cpu) {
    char path[96];
    int package = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    FILE* file = fopen(path, "r");
    if (file == NULL)
        return 0; /* a machine or container without this file counts as one socket */
    if (fscanf(file, "%d", &package) != 1)
        package = 0;
    fclose(file);
    return package;
}

void cal_find_place(struct cal_place* place) {
    cpu_set_t set;
    size_t used = 0;
    bool first = true;
    if (gethostname(place->host, sizeof place->host - 1) != 0)
        snprintf(place->host, sizeof place->host, "unknown");
    place->socket = -1;
    snprintf(place->cpus, sizeof place->cpus, "unknown");
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        int last = cpu, package = package_of(cpu);
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set) && package_of(last + 1) == package)
            last++;
        if (used < sizeof place->cpus - 24)
            used += (size_t)snprintf(place->cpus + used, sizeof place->cpus - used, last > cpu ? "%s%d-%d" : "%s%d",
                                     first ? "" : ",", cpu, last);
        place->socket = first || place->socket == package ? package : -1;
        if (!first && place->socket == -1)
            break; /* of several sockets */
        first = false;
        cpu = last;
    }
}
#endif
