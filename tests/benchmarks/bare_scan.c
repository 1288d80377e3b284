/* The limit that the reader is measured against: libotf2's C interface with empty callbacks, one reader per location,
 * clock offsets and mapping tables applied (both are libotf2's default), one thread, every reader closed when done.
 *
 * usage: bare_scan ANCHOR      prints: seconds events peak-kilobytes
 */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

struct locations {
    uint64_t* refs;
    size_t n, capacity;
};

static OTF2_CallbackCode on_location(void* data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t events, OTF2_LocationGroupRef group) {
    (void)name, (void)type, (void)events, (void)group;
    struct locations* all = data;
    if (all->n == all->capacity) {
        all->capacity = all->capacity ? 2 * all->capacity : 64;
        uint64_t* bigger = realloc(all->refs, all->capacity * sizeof *bigger);
        if (bigger == NULL) {
            return OTF2_CALLBACK_INTERRUPT;
        }
        all->refs = bigger;
    }
    all->refs[all->n++] = self;
    return OTF2_CALLBACK_SUCCESS;
}

#define COMMON OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t p, void *u, OTF2_AttributeList *a
#define UNUSED (void)l, (void)t, (void)p, (void)u, (void)a

static OTF2_CallbackCode on_region(COMMON, OTF2_RegionRef region) {
    UNUSED, (void)region;
    return OTF2_CALLBACK_SUCCESS;
}
static OTF2_CallbackCode on_message(COMMON, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
    UNUSED, (void)peer, (void)comm, (void)tag, (void)bytes;
    return OTF2_CALLBACK_SUCCESS;
}
static OTF2_CallbackCode on_nonblocking(COMMON, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                        uint64_t request) {
    UNUSED, (void)peer, (void)comm, (void)tag, (void)bytes, (void)request;
    return OTF2_CALLBACK_SUCCESS;
}
static OTF2_CallbackCode on_request(COMMON, uint64_t request) {
    UNUSED, (void)request;
    return OTF2_CALLBACK_SUCCESS;
}
static OTF2_CallbackCode on_begin(COMMON) {
    UNUSED;
    return OTF2_CALLBACK_SUCCESS;
}
static OTF2_CallbackCode on_end(COMMON, OTF2_CollectiveOp operation, OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                uint64_t received) {
    UNUSED, (void)operation, (void)comm, (void)root, (void)sent, (void)received;
    return OTF2_CALLBACK_SUCCESS;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: bare_scan ANCHOR\n");
        return 2;
    }
    const double begin = seconds();
    OTF2_Reader* reader = OTF2_Reader_Open(argv[1]);
    if (reader == NULL) {
        return 1;
    }
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    struct locations all = {0};
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks* on_definition = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(on_definition, on_location);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, on_definition, &all);
    OTF2_GlobalDefReaderCallbacks_Delete(on_definition);
    uint64_t n = 0;
    OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n);
    for (size_t i = 0; i < all.n; ++i) {
        OTF2_Reader_SelectLocation(reader, all.refs[i]);
    }
    OTF2_Reader_OpenDefFiles(reader);
    OTF2_Reader_OpenEvtFiles(reader);

    OTF2_EvtReaderCallbacks* on_event = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(on_event, on_region);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(on_event, on_region);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(on_event, on_message);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(on_event, on_message);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(on_event, on_nonblocking);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(on_event, on_nonblocking);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(on_event, on_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(on_event, on_request);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(on_event, on_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(on_event, on_end);
    uint64_t events = 0;
    for (size_t i = 0; i < all.n; ++i) {
        OTF2_DefReader* local = OTF2_Reader_GetDefReader(reader, all.refs[i]);
        if (local != NULL) {
            OTF2_Reader_ReadAllLocalDefinitions(reader, local, &n);
            OTF2_Reader_CloseDefReader(reader, local);
        }
        OTF2_EvtReader* event_reader = OTF2_Reader_GetEvtReader(reader, all.refs[i]);
        OTF2_Reader_RegisterEvtCallbacks(reader, event_reader, on_event, NULL);
        if (OTF2_Reader_ReadAllLocalEvents(reader, event_reader, &n) != OTF2_SUCCESS) {
            return 1;
        }
        events += n;
        OTF2_Reader_CloseEvtReader(reader, event_reader);
    }
    OTF2_EvtReaderCallbacks_Delete(on_event);
    OTF2_Reader_Close(reader);
    free(all.refs);
    const double end = seconds();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%.6f %" PRIu64 " %ld\n", end - begin, events, usage.ru_maxrss);
    return 0;
}
