/* A collector: the log of a runtime becomes an OTF2 archive. The log has a line per event, in the order of time:
 *
 *     NANOSECONDS RANK enter REGION
 *     NANOSECONDS RANK leave REGION
 *     NANOSECONDS RANK send PEER BYTES        (within a region; it matches the receive of the same order)
 *     NANOSECONDS RANK receive PEER BYTES
 *
 * usage: example-import LOG ARCHIVE */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 1024, MOST_REGIONS = 256, NAME = 64 };
static char regions[MOST_REGIONS][NAME];
static uint32_t regions_used;
static uint64_t events[MOST_RANKS], ranks, first, last;

static void stop(const char* what, const char* which) {
    fprintf(stderr, "example-import: %s: %s\n", what, which);
    exit(2);
}

static void check(OTF2_ErrorCode status) {
    if (status != OTF2_SUCCESS)
        stop("cannot write the archive", OTF2_Error_GetDescription(status));
}

static OTF2_FlushType flush(void* data, OTF2_FileType type, OTF2_LocationRef location, void* caller, bool final) {
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}
static OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};

/* The region's number; a new name is added. */
static uint32_t region_of(const char* name) {
    for (uint32_t one = 0; one < regions_used; one++)
        if (strcmp(regions[one], name) == 0)
            return one;
    if (regions_used == MOST_REGIONS)
        stop("more than 256 regions; the first too many", name);
    strcpy(regions[regions_used], name);
    return regions_used++;
}

static void read_log(FILE* log, OTF2_Archive* archive) {
    char line[256], what[16], name[NAME];
    while (fgets(line, sizeof line, log)) {
        uint64_t time, rank, bytes = 0;
        const int fields = sscanf(line, "%" SCNu64 " %" SCNu64 " %15s %63s %" SCNu64, &time, &rank, what, name, &bytes);
        if (fields < 4 || rank >= MOST_RANKS)
            stop("not an event of this log", line);
        OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, rank);
        if (strcmp(what, "enter") == 0)
            check(OTF2_EvtWriter_Enter(writer, NULL, time, region_of(name)));
        else if (strcmp(what, "leave") == 0)
            check(OTF2_EvtWriter_Leave(writer, NULL, time, region_of(name)));
        else if (strcmp(what, "send") == 0)
            check(OTF2_EvtWriter_MpiSend(writer, NULL, time, (uint32_t)atoi(name), 0, 0, bytes));
        else if (strcmp(what, "receive") == 0)
            check(OTF2_EvtWriter_MpiRecv(writer, NULL, time, (uint32_t)atoi(name), 0, 0, bytes));
        else
            stop("not an event of this log", line);
        first = last == 0 ? time : first;
        last = time;
        ranks = rank >= ranks ? rank + 1 : ranks;
        events[rank]++;
    }
}

/* What the numbers of the events mean: the names, one host, a process per rank, and a communicator of all. */
static void write_definitions(OTF2_GlobalDefWriter* w) {
    uint32_t strings = 0;
#define TEXT(text) (check(OTF2_GlobalDefWriter_WriteString(w, strings, (text))), strings++)
    check(OTF2_GlobalDefWriter_WriteClockProperties(w, 1000000000, first, last - first, OTF2_UNDEFINED_TIMESTAMP));
    const uint32_t empty = TEXT(""), host = TEXT("host"), node = TEXT("node"), thread = TEXT("Master thread");
    for (uint32_t one = 0; one < regions_used; one++) {
        const uint32_t name = TEXT(regions[one]);
        /* The paradigm separates communication from the program's own regions. */
        const int communicates = strncmp(regions[one], "MPI_", 4) == 0;
        check(OTF2_GlobalDefWriter_WriteRegion(w, one, name, name, empty, OTF2_REGION_ROLE_FUNCTION,
                                               communicates ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                               OTF2_REGION_FLAG_NONE, empty, 0, 0));
    }
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, host, node, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    uint64_t members[MOST_RANKS];
    for (uint64_t rank = 0; rank < ranks; rank++) {
        char name[32];
        snprintf(name, sizeof name, "rank %" PRIu64, rank);
        check(OTF2_GlobalDefWriter_WriteLocationGroup(w, (uint32_t)rank, TEXT(name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                      0, OTF2_UNDEFINED_LOCATION_GROUP));
        check(OTF2_GlobalDefWriter_WriteLocation(w, rank, thread, OTF2_LOCATION_TYPE_CPU_THREAD, events[rank],
                                                 (uint32_t)rank));
        members[rank] = rank;
    }
    check(OTF2_GlobalDefWriter_WriteGroup(w, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, (uint32_t)ranks, members));
    check(OTF2_GlobalDefWriter_WriteGroup(w, 1, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, (uint32_t)ranks, members));
    check(OTF2_GlobalDefWriter_WriteComm(w, 0, TEXT("all"), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
}

int main(int argc, char** argv) {
    if (argc != 3)
        stop("two arguments are needed", "LOG ARCHIVE");
    FILE* log = fopen(argv[1], "r");
    if (log == NULL)
        stop("cannot be read", argv[1]);
    OTF2_Archive* archive =
        OTF2_Archive_Open(argv[2], "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                          OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive == NULL)
        stop("cannot be made", argv[2]);
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    check(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL));
    check(OTF2_Archive_OpenEvtFiles(archive));
    read_log(log, archive);
    check(OTF2_Archive_CloseEvtFiles(archive));
    check(OTF2_Archive_OpenDefFiles(archive));
    for (uint64_t rank = 0; rank < ranks; rank++)
        check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, rank)));
    check(OTF2_Archive_CloseDefFiles(archive));
    write_definitions(OTF2_Archive_GetGlobalDefWriter(archive));
    check(OTF2_Archive_Close(archive));
    fclose(log);
    return 0;
}
