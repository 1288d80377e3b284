/* Stand-in of Score-P's measurement library for one process and one thread. It does what Score-P 8.4 documents:
 * variables SCOREP_*, the experiment directory with scorep.cfg and MANIFEST.md, an OTF2 archive where tracing is on,
 * filter rules by name, and its words when a trace buffer is full or the memory ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fnmatch.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

enum { REGIONS = 64, EVENT_BYTES = 12, LEAST = 2 << 20 };
typedef struct {
    uint64_t time;
    int region;
} Event; /* Leave: the region's complement */

static void* addresses[REGIONS];
static char names[REGIONS][256];
static int excluded[REGIONS], regions, on;
static Event* events;
static size_t count, room, memory;
static char directory[4096];

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const char* variable(const char* name, const char* otherwise) {
    const char* value = getenv(name);
    return value != NULL ? value : otherwise;
}

static int is_true(const char* value) {
    return !strcasecmp(value, "true") || !strcasecmp(value, "yes") || !strcasecmp(value, "on") || atoi(value) > 0;
}

static size_t size(const char* text) {
    char* unit;
    size_t value = strtoull(text, &unit, 10);
    switch (*unit | 32) {
        case 'g':
            value <<= 10; /* fall through */
        case 'm':
            value <<= 10; /* fall through */
        case 'k':
            value <<= 10;
    }
    return value;
}

static int is_excluded(const char* name) { /* the last rule that matches decides */
    char line[512], pattern[256];
    int excludes = 0, found = 0;
    FILE* file = fopen(variable("SCOREP_FILTERING_FILE", ""), "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char* word = line + strspn(line, " \t");
        if (*word == '#')
            continue;
        if (!strncmp(word, "EXCLUDE", 7))
            excludes = 1;
        if (!strncmp(word, "INCLUDE", 7))
            excludes = 0;
        if (sscanf(word, "EXCLUDE MANGLED %255s", pattern) == 1 || sscanf(word, "MANGLED %255s", pattern) == 1 ||
            sscanf(word, "EXCLUDE %255s", pattern) == 1 || sscanf(word, "INCLUDE %255s", pattern) == 1 ||
            sscanf(word, "%255s", pattern) == 1)
            if (fnmatch(pattern, name, 0) == 0)
                found = excludes;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static int region_of(void* address) {
    Dl_info info;
    for (int r = 0; r < regions; ++r)
        if (addresses[r] == address)
            return r;
    if (regions == REGIONS)
        abort();
    addresses[regions] = address;
    snprintf(names[regions], sizeof names[0], "%s", dladdr(address, &info) && info.dli_sname ? info.dli_sname : "?");
    excluded[regions] = is_excluded(names[regions]);
    return regions++;
}

static void event(void* address, int leave) {
    if (!on)
        return;
    int region = region_of(address);
    if (excluded[region])
        return;
    if (count == room)
        events = realloc(events, (room = room ? 2 * room : 1024) * sizeof *events);
    events[count++] = (Event){now(), leave ? ~region : region};
    if (count * EVENT_BYTES == memory / EVENT_BYTES * EVENT_BYTES)
        fputs("[Score-P] Trace buffer flush on rank 0.\n[Score-P] Increase SCOREP_TOTAL_MEMORY and try again.\n",
              stderr);
}
void __cyg_profile_func_enter(void* function, void* caller) {
    (void)caller;
    event(function, 0);
}
void __cyg_profile_func_exit(void* function, void* caller) {
    (void)caller;
    event(function, 1);
}

__attribute__((constructor)) static void begin(void) {
    const char* where = variable("SCOREP_EXPERIMENT_DIRECTORY", "");
    char name[4200];
    snprintf(directory, sizeof directory, "%s", *where ? where : "scorep-measurement-tmp");
    if (mkdir(directory, 0755) != 0) {
        fprintf(stderr, "[Score-P] Cannot create experiment directory %s\n", directory); /* no parents are made */
        _Exit(EXIT_FAILURE);
    }
    snprintf(name, sizeof name, "%s/scorep.cfg", directory);
    FILE* file = fopen(name, "w");
    on = is_true(variable("SCOREP_ENABLE_TRACING", "false"));
    memory = size(variable("SCOREP_TOTAL_MEMORY", "16000k"));
    fprintf(file, "SCOREP_ENABLE_PROFILING=%s\nSCOREP_ENABLE_TRACING=%s\nSCOREP_TOTAL_MEMORY=%s\n",
            variable("SCOREP_ENABLE_PROFILING", "true"), on ? "true" : "false",
            variable("SCOREP_TOTAL_MEMORY", "16000k"));
    fclose(file);
    if (on && memory < LEAST) {
        fprintf(stderr,
                "[Score-P] src/measurement/SCOREP_Memory.c:187: Error: No more memory pages available: "
                "Out of memory. Please increase SCOREP_TOTAL_MEMORY=%zu and try again.\n",
                memory);
        abort();
    }
}

static OTF2_FlushType flush(void* u, OTF2_FileType t, OTF2_LocationRef l, void* c, bool f) {
    (void)u, (void)t, (void)l, (void)c, (void)f;
    return OTF2_FLUSH;
}

__attribute__((destructor)) static void end(void) {
    static OTF2_FlushCallbacks callbacks = {flush, NULL};
    if (!on)
        return;
    on = 0;
    OTF2_Archive* archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 22,
                                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_SetCreator(archive, "stand-in of Score-P 8.4");
    OTF2_Archive_OpenEvtFiles(archive);
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, 0);
    for (size_t i = 0; i < count; ++i)
        if (events[i].region >= 0)
            OTF2_EvtWriter_Enter(writer, NULL, events[i].time, (OTF2_RegionRef)events[i].region);
        else
            OTF2_EvtWriter_Leave(writer, NULL, events[i].time, (OTF2_RegionRef)~events[i].region);
    OTF2_Archive_CloseEvtWriter(archive, writer);
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, 0));
    OTF2_Archive_CloseDefFiles(archive);
    OTF2_GlobalDefWriter* defs = OTF2_Archive_GetGlobalDefWriter(archive);
    uint64_t first = count ? events[0].time : 0, last = count ? events[count - 1].time : 1;
    OTF2_GlobalDefWriter_WriteClockProperties(defs, 1000000000, first, last - first + 1, OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteString(defs, 0, "");
    OTF2_GlobalDefWriter_WriteString(defs, 1, "node");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, 1, 1, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    OTF2_GlobalDefWriter_WriteLocationGroup(defs, 0, 1, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                            OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(defs, 0, 1, OTF2_LOCATION_TYPE_CPU_THREAD, count, 0);
    for (int r = 0; r < regions; ++r) {
        OTF2_GlobalDefWriter_WriteString(defs, (OTF2_StringRef)(2 + r), names[r]);
        OTF2_GlobalDefWriter_WriteRegion(defs, (OTF2_RegionRef)r, (OTF2_StringRef)(2 + r), (OTF2_StringRef)(2 + r), 0,
                                         OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER, OTF2_REGION_FLAG_NONE, 0, 0,
                                         0);
    }
    OTF2_Archive_Close(archive);
}
