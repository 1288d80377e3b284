/* Writes an OTF2 archive of a halo exchange on a ring, as large as wanted, for benchmarks.
 *
 * usage: halo_archive DIRECTORY LOCATIONS EVENTS [STRIDE]
 *
 * The neighbours on the ring are STRIDE ranks away (1).
 *
 * Every rank repeats, 44 events per step:
 *   Enter timestep
 *     compute(2 user regions, 4 events)
 *     Irecv from the left, Irecv from the right   (Enter, MpiIrecvRequest, Leave)
 *     pack (2 events)
 *     Isend to the left, Isend to the right       (Enter, MpiIsend, Leave)
 *     pack (2 events)
 *     4 Wait: both receives, both sends           (Enter, MpiIrecv | MpiIsendComplete, Leave)
 *     Send to the right, Recv from the left       (Enter, MpiSend | MpiRecv, Leave)
 *     Allreduce                                   (Enter, Begin, End, Leave)
 *   Leave timestep
 *
 * As in Score-P's archives, ids are local and renamed by a mapping table per location, the resolution divides no power
 * of ten, and each location has its own clock with two offset records (a drift of a few ppm, offsets of up to a
 * second).
 */
#include <errno.h>
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMESTEP, COMPUTE_A, COMPUTE_B, PACK, ISEND, IRECV, WAIT, SEND, RECV, ALLREDUCE, REGIONS };
static const char* const region_names[REGIONS] = {"timestep",  "compute_inner", "compute_halo", "pack_halo",
                                                  "MPI_Isend", "MPI_Irecv",     "MPI_Wait",     "MPI_Send",
                                                  "MPI_Recv",  "MPI_Allreduce"};
enum { EVENTS_PER_STEP = 44 };

static const uint64_t TICKS_PER_SECOND = 2596156638;
static const uint64_t START = (uint64_t)5954647295039;
static const uint64_t STEP_TICKS = 400000; /* 154 us */

static void check(OTF2_ErrorCode status, const char* what) {
    if (status != OTF2_SUCCESS) {
        fprintf(stderr, "halo_archive: %s: %s\n", what, OTF2_Error_GetDescription(status));
        exit(1);
    }
}

static OTF2_FlushType pre_flush(void* data, OTF2_FileType type, OTF2_LocationRef location, void* caller, bool final) {
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}
static OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = pre_flush, .otf2_post_flush = NULL};

/* xorshift: the same archive on every machine */
static uint64_t noise(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

struct clock {
    int64_t offset_begin, offset_end; /* global - local, at the first and last tick of the trace */
    uint64_t length;
};

/* The local reading of global tick `t`. */
static uint64_t local_time(const struct clock* clock, uint64_t t) {
    const double part = (double)(t - START) / (double)clock->length;
    return t - (uint64_t)(clock->offset_begin + (int64_t)(part * (double)(clock->offset_end - clock->offset_begin)));
}

static void write_events(OTF2_EvtWriter* w, uint64_t rank, uint64_t ranks, uint64_t stride, uint64_t steps,
                         const struct clock* clock) {
    const uint32_t left = (uint32_t)((rank + ranks - stride) % ranks);
    const uint32_t right = (uint32_t)((rank + stride) % ranks);
    uint64_t state = 0x9E3779B97F4A7C15ULL ^ (rank + 1);
    uint64_t request = 0;
    /* Local region ids run backwards, so that the mapping table has something to do. */
#define REGION(name) (uint32_t)(REGIONS - 1 - (name))
#define AT(ticks) local_time(clock, (now += (ticks)))
    for (uint64_t step = 0; step < steps; ++step) {
        uint64_t now = START + step * STEP_TICKS + noise(&state) % 2000;
        OTF2_EvtWriter_Enter(w, NULL, AT(0), REGION(TIMESTEP));
        OTF2_EvtWriter_Enter(w, NULL, AT(100), REGION(COMPUTE_A));
        OTF2_EvtWriter_Leave(w, NULL, AT(60000 + noise(&state) % 8000), REGION(COMPUTE_A));
        const uint64_t receives = request;
        for (int side = 0; side < 2; ++side) {
            OTF2_EvtWriter_Enter(w, NULL, AT(60), REGION(IRECV));
            OTF2_EvtWriter_MpiIrecvRequest(w, NULL, AT(200), request++);
            OTF2_EvtWriter_Leave(w, NULL, AT(40), REGION(IRECV));
        }
        OTF2_EvtWriter_Enter(w, NULL, AT(50), REGION(PACK));
        OTF2_EvtWriter_Leave(w, NULL, AT(900), REGION(PACK));
        const uint64_t sends = request;
        for (int side = 0; side < 2; ++side) {
            OTF2_EvtWriter_Enter(w, NULL, AT(60), REGION(ISEND));
            OTF2_EvtWriter_MpiIsend(w, NULL, AT(800), side == 0 ? left : right, 0, (uint32_t)side, 8192, request++);
            OTF2_EvtWriter_Leave(w, NULL, AT(40), REGION(ISEND));
        }
        OTF2_EvtWriter_Enter(w, NULL, AT(50), REGION(COMPUTE_B));
        OTF2_EvtWriter_Leave(w, NULL, AT(90000), REGION(COMPUTE_B));
        for (int side = 0; side < 2; ++side) {
            OTF2_EvtWriter_Enter(w, NULL, AT(60), REGION(WAIT));
            /* A message to the left carries tag 0 and arrives from the right. */
            OTF2_EvtWriter_MpiIrecv(w, NULL, AT(3000), side == 0 ? right : left, 0, (uint32_t)side, 8192,
                                    receives + (uint64_t)side);
            OTF2_EvtWriter_Leave(w, NULL, AT(40), REGION(WAIT));
        }
        for (int side = 0; side < 2; ++side) {
            OTF2_EvtWriter_Enter(w, NULL, AT(60), REGION(WAIT));
            OTF2_EvtWriter_MpiIsendComplete(w, NULL, AT(100), sends + (uint64_t)side);
            OTF2_EvtWriter_Leave(w, NULL, AT(40), REGION(WAIT));
        }
        OTF2_EvtWriter_Enter(w, NULL, AT(50), REGION(PACK));
        OTF2_EvtWriter_Leave(w, NULL, AT(900), REGION(PACK));
        OTF2_EvtWriter_Enter(w, NULL, AT(60), REGION(SEND));
        OTF2_EvtWriter_MpiSend(w, NULL, AT(900), right, 0, 7, 64);
        OTF2_EvtWriter_Leave(w, NULL, AT(40), REGION(SEND));
        OTF2_EvtWriter_Enter(w, NULL, AT(60), REGION(RECV));
        OTF2_EvtWriter_MpiRecv(w, NULL, AT(20000), left, 0, 7, 64);
        OTF2_EvtWriter_Leave(w, NULL, AT(40), REGION(RECV));
        OTF2_EvtWriter_Enter(w, NULL, AT(60), REGION(ALLREDUCE));
        OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, AT(0));
        now = START + step * STEP_TICKS + 260000 + noise(&state) % 3000;
        OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, AT(0), OTF2_COLLECTIVE_OP_ALLREDUCE, 0, OTF2_UNDEFINED_UINT32, 8, 8);
        OTF2_EvtWriter_Leave(w, NULL, AT(40), REGION(ALLREDUCE));
        OTF2_EvtWriter_Leave(w, NULL, AT(200), REGION(TIMESTEP));
    }
}

static void write_local_definitions(OTF2_Archive* archive, uint64_t rank, const struct clock* clock) {
    OTF2_DefWriter* w = OTF2_Archive_GetDefWriter(archive, rank);
    OTF2_IdMap* map = OTF2_IdMap_Create(OTF2_ID_MAP_DENSE, REGIONS);
    for (uint64_t region = 0; region < REGIONS; ++region) {
        OTF2_IdMap_AddIdPair(map, region, REGIONS - 1 - region);
    }
    check(OTF2_DefWriter_WriteMappingTable(w, OTF2_MAPPING_REGION, map), "mapping table");
    OTF2_IdMap_Free(map);
    OTF2_DefWriter_WriteClockOffset(w, local_time(clock, START), clock->offset_begin, 0.0);
    OTF2_DefWriter_WriteClockOffset(w, local_time(clock, START + clock->length), clock->offset_end, 0.0);
    OTF2_Archive_CloseDefWriter(archive, w);
}

static void write_global_definitions(OTF2_Archive* archive, uint64_t ranks, uint64_t steps, uint64_t length) {
    OTF2_GlobalDefWriter* w = OTF2_Archive_GetGlobalDefWriter(archive);
    OTF2_GlobalDefWriter_WriteClockProperties(w, TICKS_PER_SECOND, START, length, OTF2_UNDEFINED_TIMESTAMP);
    uint32_t strings = 0;
#define TEXT(value) (OTF2_GlobalDefWriter_WriteString(w, strings, (value)), strings++)
    const uint32_t empty = TEXT("");
    const uint32_t machine = TEXT("machine"), cluster = TEXT("cluster"), node = TEXT("node"),
                   thread = TEXT("Master thread");
    for (uint32_t region = 0; region < REGIONS; ++region) {
        const uint32_t name = TEXT(region_names[region]);
        OTF2_GlobalDefWriter_WriteRegion(w, region, name, name, empty, OTF2_REGION_ROLE_FUNCTION,
                                         region < ISEND ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE,
                                         empty, 0, 0);
    }
    OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, cluster, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    const uint64_t per_node = 4; /* more nodes than a benchmark has blocks */
    for (uint64_t n = 0; n * per_node < ranks; ++n) {
        char name[32];
        snprintf(name, sizeof name, "n%04" PRIu64, n);
        OTF2_GlobalDefWriter_WriteSystemTreeNode(w, (uint32_t)n + 1, TEXT(name), node, 0);
    }
    uint64_t* members = malloc(ranks * sizeof *members);
    if (members == NULL) {
        exit(1);
    }
    for (uint64_t rank = 0; rank < ranks; ++rank) {
        char name[32];
        snprintf(name, sizeof name, "MPI Rank %" PRIu64, rank);
        OTF2_GlobalDefWriter_WriteLocationGroup(w, (uint32_t)rank, TEXT(name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                (uint32_t)(rank / per_node) + 1, OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(w, rank, thread, OTF2_LOCATION_TYPE_CPU_THREAD, steps * EVENTS_PER_STEP,
                                           (uint32_t)rank);
        members[rank] = rank;
    }
    OTF2_GlobalDefWriter_WriteGroup(w, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, (uint32_t)ranks, members);
    OTF2_GlobalDefWriter_WriteGroup(w, 1, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    (uint32_t)ranks, members);
    OTF2_GlobalDefWriter_WriteComm(w, 0, TEXT("MPI_COMM_WORLD"), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    free(members);
    OTF2_Archive_CloseGlobalDefWriter(archive, w);
}

int main(int argc, char** argv) {
    const bool given = argc == 4 || argc == 5;
    const uint64_t ranks = given ? strtoull(argv[2], NULL, 10) : 0;
    const uint64_t events = given ? strtoull(argv[3], NULL, 10) : 0;
    const uint64_t stride = argc == 5 ? strtoull(argv[4], NULL, 10) : 1;
    if (ranks < 2 || events < ranks * EVENTS_PER_STEP || stride == 0 || stride >= ranks) {
        fprintf(stderr,
                "usage: halo_archive DIRECTORY LOCATIONS EVENTS [STRIDE]   (at least 2 locations, 44 events "
                "each; a stride below the number of locations)\n");
        return 2;
    }
    const uint64_t steps = events / ranks / EVENTS_PER_STEP;
    const uint64_t length = steps * STEP_TICKS;
    OTF2_Archive* archive =
        OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                          OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive == NULL) {
        return 1;
    }
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "callbacks");
    check(OTF2_Archive_SetFlushCallbacks(archive, &flush_callbacks, NULL), "callbacks");
    check(OTF2_Archive_OpenEvtFiles(archive), "event files");
    check(OTF2_Archive_OpenDefFiles(archive), "definition files");
    for (uint64_t rank = 0; rank < ranks; ++rank) {
        uint64_t state = (rank + 1) * 0x2545F4914F6CDD1DULL;
        struct clock clock = {.length = length};
        clock.offset_begin = (int64_t)(noise(&state) % TICKS_PER_SECOND) - (int64_t)(TICKS_PER_SECOND / 2);
        clock.offset_end = clock.offset_begin + (int64_t)(noise(&state) % 2001) - 1000;
        OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, rank);
        write_events(writer, rank, ranks, stride, steps, &clock);
        check(OTF2_Archive_CloseEvtWriter(archive, writer), "event writer");
        write_local_definitions(archive, rank, &clock);
    }
    check(OTF2_Archive_CloseEvtFiles(archive), "event files");
    check(OTF2_Archive_CloseDefFiles(archive), "definition files");
    write_global_definitions(archive, ranks, steps, length);
    check(OTF2_Archive_Close(archive), "archive");
    printf("%" PRIu64 "\n", ranks * steps * EVENTS_PER_STEP);
    return 0;
}
