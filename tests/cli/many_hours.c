/* Writes an archive of many ranks, each hours long: many_hours DIRECTORY RANKS. A tick is 1 us; an hour H has 3.6e9.
 *
 *   0          main begins; MPI_Send to the next rank until 1
 *   H          every rank but 0 enters MPI_Barrier
 *   2 H        rank 0 enters it
 *   2 H + 1    all leave it, and enter MPI_Recv from the rank before
 *   2 H + 3    the receive and main end
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAIN, SEND, BARRIER, RECV, REGIONS };
static const char* const names[REGIONS] = {"main", "MPI_Send", "MPI_Barrier", "MPI_Recv"};
static const uint64_t HOUR = 3600000000;

static OTF2_FlushType flush(void* data, OTF2_FileType type, OTF2_LocationRef location, void* caller, bool final) {
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static void events(OTF2_EvtWriter* w, uint32_t rank, uint32_t ranks) {
    const uint64_t end = 2 * HOUR;
    OTF2_EvtWriter_Enter(w, NULL, 0, MAIN);
    OTF2_EvtWriter_Enter(w, NULL, 0, SEND);
    OTF2_EvtWriter_MpiSend(w, NULL, 0, (rank + 1) % ranks, 0, 7, 8);
    OTF2_EvtWriter_Leave(w, NULL, 1, SEND);
    const uint64_t begin = rank == 0 ? end : HOUR;
    OTF2_EvtWriter_Enter(w, NULL, begin, BARRIER);
    OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, begin);
    OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, end + 1, OTF2_COLLECTIVE_OP_BARRIER, 0, OTF2_UNDEFINED_UINT32, 0, 0);
    OTF2_EvtWriter_Leave(w, NULL, end + 1, BARRIER);
    OTF2_EvtWriter_Enter(w, NULL, end + 1, RECV);
    OTF2_EvtWriter_MpiRecv(w, NULL, end + 3, (rank + ranks - 1) % ranks, 0, 7, 8);
    OTF2_EvtWriter_Leave(w, NULL, end + 3, RECV);
    OTF2_EvtWriter_Leave(w, NULL, end + 3, MAIN);
}

int main(int argc, char** argv) {
    if (argc != 3) {
        return 2;
    }
    const uint32_t ranks = (uint32_t)atoi(argv[2]);
    static OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};
    OTF2_Archive* archive = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                                              OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    uint64_t* members = malloc(ranks * sizeof *members);
    if (archive == NULL || members == NULL) {
        return 1;
    }
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL);
    OTF2_Archive_OpenEvtFiles(archive);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        OTF2_EvtWriter* w = OTF2_Archive_GetEvtWriter(archive, rank);
        events(w, rank, ranks);
        OTF2_Archive_CloseEvtWriter(archive, w);
    }
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_GlobalDefWriter* w = OTF2_Archive_GetGlobalDefWriter(archive);
    OTF2_GlobalDefWriter_WriteClockProperties(w, 1000000, 0, 2 * HOUR + 3, OTF2_UNDEFINED_TIMESTAMP);
    uint32_t text = 0;
#define TEXT(value) (OTF2_GlobalDefWriter_WriteString(w, text, (value)), text++)
    const uint32_t empty = TEXT(""), node = TEXT("node");
    for (uint32_t region = 0; region < REGIONS; ++region) {
        const uint32_t name = TEXT(names[region]);
        OTF2_GlobalDefWriter_WriteRegion(w, region, name, name, empty, OTF2_REGION_ROLE_FUNCTION,
                                         region == MAIN ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE,
                                         empty, 0, 0);
    }
    OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, node, node, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        char name[32];
        snprintf(name, sizeof name, "MPI Rank %u", rank);
        OTF2_GlobalDefWriter_WriteLocationGroup(w, rank, TEXT(name), OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(w, rank, empty, OTF2_LOCATION_TYPE_CPU_THREAD, 13, rank);
        members[rank] = rank;
    }
    OTF2_GlobalDefWriter_WriteGroup(w, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, members);
    OTF2_GlobalDefWriter_WriteGroup(w, 1, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    ranks, members);
    OTF2_GlobalDefWriter_WriteComm(w, 0, TEXT("MPI_COMM_WORLD"), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_Archive_CloseGlobalDefWriter(archive, w);
    free(members);
    return OTF2_Archive_Close(archive) != OTF2_SUCCESS;
}
