/* What the site states of a node's network, read by one process of the node: counters of its adapters when the program
 * begins and when it ends, and the node's place in Slurm's topology.
 *
 * $LOGPOST_RAW_DIR/network.<host>.before and .after: lines of a name, a blank and a value. The process that makes the
 * first file of its host writes both. Counters are files below $LOGPOST_SYS (default /sys):
 *   class/infiniband/<adapter>/ports/<port>/counters/<name>       a number; hw_counters, too; and ports/<port>/rate, a
 * text class/cxi/<adapter>/device/telemetry/<name>                   <number>@<seconds since 1970>
 *   class/<kind>/<adapter>/device/numa_node                       and the processors of that node, a list
 * Of CXI's telemetry, some thousand files, the bytes and the pauses are read. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"

#if defined(LOGPOST_SIMULATED)

void lp_network_before(void) {}
void lp_network_after(void) {}

#else

static int reads; /* this process reads for its node */

static void value_of(FILE* to, const char* root, const char* path) {
    char place[1280], text[128];
    snprintf(place, sizeof place, "%s/%s", root, path);
    int f = open(place, O_RDONLY | O_CLOEXEC);
    ssize_t n = f < 0 ? 0 : read(f, text, sizeof text - 1);
    if (f >= 0)
        close(f);
    if (n <= 0)
        return;
    text[n] = 0;
    text[strcspn(text, "\n")] = 0;
    fprintf(to, "%s %s\n", path, text);
}

/* Calls `each` with the path of every entry of a directory below the root. */
static void entries(FILE* to, const char* root, const char* path,
                    void (*each)(FILE* to, const char* root, const char* path, const char* name)) {
    char place[1280];
    snprintf(place, sizeof place, "%s/%s", root, path);
    DIR* directory = opendir(place);
    if (!directory)
        return;
    for (const struct dirent* entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(place, sizeof place, "%s/%s", path, entry->d_name);
        each(to, root, place, entry->d_name);
    }
    closedir(directory);
}

static void counter(FILE* to, const char* root, const char* path, const char* name) {
    (void)name;
    value_of(to, root, path);
}

static void telemetry(FILE* to, const char* root, const char* path, const char* name) {
    static const char* const wanted[] = {"hni_sts_tx_ok_octets", "hni_sts_rx_ok_octets", "hni_tx_paused_",
                                         "hni_rx_paused_"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strncmp(name, wanted[i], strlen(wanted[i])))
            value_of(to, root, path);
}

static void port(FILE* to, const char* root, const char* path, const char* name) {
    char below[1280];
    (void)name;
    snprintf(below, sizeof below, "%s/rate", path);
    value_of(to, root, below);
    snprintf(below, sizeof below, "%s/counters", path);
    entries(to, root, below, counter);
    snprintf(below, sizeof below, "%s/hw_counters", path);
    entries(to, root, below, counter);
}

/* The processors that an adapter is next to. */
static void place(FILE* to, const char* root, const char* path) {
    char below[1280], at[1280];
    int node = -1;
    snprintf(below, sizeof below, "%s/device/numa_node", path);
    snprintf(at, sizeof at, "%s/%s", root, below);
    FILE* file = fopen(at, "re");
    if (file && fscanf(file, "%d", &node) != 1)
        node = -1;
    if (file)
        fclose(file);
    if (node < 0) /* the system does not know */
        return;
    value_of(to, root, below);
    snprintf(below, sizeof below, "devices/system/node/node%d/cpulist", node);
    value_of(to, root, below);
}

static void infiniband(FILE* to, const char* root, const char* path, const char* name) {
    char below[1280];
    (void)name;
    place(to, root, path);
    snprintf(below, sizeof below, "%s/ports", path);
    entries(to, root, below, port);
}

static void cxi(FILE* to, const char* root, const char* path, const char* name) {
    char below[1280];
    (void)name;
    place(to, root, path);
    snprintf(below, sizeof below, "%s/device/telemetry", path);
    entries(to, root, below, telemetry);
}

/* Whether the file was made: only the first process of a host makes it. */
static int note(const char* when, int first) {
    char path[1280], host[256] = "";
    const char *directory = getenv("LOGPOST_RAW_DIR"), *root = getenv("LOGPOST_SYS");
    const char* const variables[] = {"SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN"};
    struct timespec now = {0, 0};
    if (!directory || gethostname(host, sizeof host - 1))
        return 0;
    snprintf(path, sizeof path, "%s/network.%s.%s", directory, host, when);
    int f = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (first ? O_EXCL : O_TRUNC), 0666);
    FILE* to = f < 0 ? NULL : fdopen(f, "w");
    if (!to) {
        if (f >= 0)
            close(f);
        return 0;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    fprintf(to, "host %s\nseconds %lld.%09ld\n", host, (long long)now.tv_sec, now.tv_nsec);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            fprintf(to, "%s %s\n", variables[i], getenv(variables[i]));
    root = root ? root : "/sys";
    entries(to, root, "class/infiniband", infiniband);
    entries(to, root, "class/cxi", cxi);
    fclose(to);
    return 1;
}

void lp_network_before(void) {
    reads = note("before", 1);
}

void lp_network_after(void) {
    if (reads)
        note("after", 0);
    reads = 0;
}

#endif
