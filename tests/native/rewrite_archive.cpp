// Writes an archive a second time, changed in one way.
//
// usage: rewrite_archive FROM TO ticks FACTOR    a clock whose ticks are FACTOR times as long
//        rewrite_archive FROM TO apart           regions, strings, source locations and calling contexts have an id for
//                                                each location, as if every process wrote its own definitions
//        rewrite_archive FROM TO odd SEED        definitions that make no sense: odd_definitions.hpp
//        rewrite_archive FROM TO circle          regions are entered in calling contexts, one of each, in a circle:
//        each
//                                                has the next one as its parent
//        rewrite_archive FROM TO same            not changed at all
//
// FROM is the anchor file, TO a directory that does not exist.
#include <otf2/otf2.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "definition_rows.hpp"
#include "odd_definitions.hpp"

namespace fs = std::filesystem;
using logpost::tests::Definition;
using logpost::tests::OddDefinitions;
using logpost::tests::Reference;
using logpost::tests::references;

namespace {

// The formatter finds another shape each time.
// clang-format off
#define LOGPOST_EVENTS(X)                                                                                             \
    X(MeasurementOnOff) X(Enter) X(Leave) X(MpiSend) X(MpiIsend) X(MpiIsendComplete) X(MpiIrecvRequest) X(MpiRecv)    \
    X(MpiIrecv) X(MpiRequestTest) X(MpiRequestCancelled) X(MpiCollectiveBegin) X(MpiCollectiveEnd) X(OmpFork)         \
    X(OmpJoin) X(OmpAcquireLock) X(OmpReleaseLock) X(OmpTaskCreate) X(OmpTaskSwitch) X(OmpTaskComplete) X(Metric)     \
    X(ParameterString) X(ParameterInt) X(ParameterUnsignedInt) X(RmaWinCreate) X(RmaWinDestroy)                       \
    X(RmaCollectiveBegin) X(RmaCollectiveEnd) X(RmaGroupSync) X(RmaRequestLock) X(RmaAcquireLock) X(RmaTryLock)       \
    X(RmaReleaseLock) X(RmaSync) X(RmaWaitChange) X(RmaPut) X(RmaGet) X(RmaAtomic) X(RmaOpCompleteBlocking)           \
    X(RmaOpCompleteNonBlocking) X(RmaOpTest) X(RmaOpCompleteRemote) X(ThreadFork) X(ThreadJoin) X(ThreadTeamBegin)    \
    X(ThreadTeamEnd) X(ThreadAcquireLock) X(ThreadReleaseLock) X(ThreadTaskCreate) X(ThreadTaskSwitch)                \
    X(ThreadTaskComplete) X(ThreadCreate) X(ThreadBegin) X(ThreadWait) X(ThreadEnd) X(CallingContextEnter)            \
    X(CallingContextLeave) X(CallingContextSample) X(IoCreateHandle) X(IoDestroyHandle) X(IoDuplicateHandle)          \
    X(IoSeek) X(IoChangeStatusFlags) X(IoDeleteFile) X(IoOperationBegin) X(IoOperationTest) X(IoOperationIssued)      \
    X(IoOperationComplete) X(IoOperationCancelled) X(IoAcquireLock) X(IoReleaseLock) X(IoTryLock) X(ProgramBegin)     \
    X(ProgramEnd) X(NonBlockingCollectiveRequest) X(NonBlockingCollectiveComplete) X(CommCreate) X(CommDestroy)
// clang-format on

using Ids = std::map<std::uint64_t, std::uint64_t>;

/// What is done to an archive. Ticks are divided by a number; the other two change definitions.
struct Change {
    std::uint64_t factor = 1;
    bool apart = false;
    bool circle = false;
    std::unique_ptr<std::mt19937_64> odd{};

    std::uint64_t draw(std::uint64_t n) const { return (*odd)() % n; }
};

/// The kinds whose ids may differ from location to location, and the mapping table that renames them.
const std::map<std::string, OTF2_MappingType> kApart = {{"String", OTF2_MAPPING_STRING},
                                                        {"Region", OTF2_MAPPING_REGION},
                                                        {"SourceCodeLocation", OTF2_MAPPING_SOURCE_CODE_LOCATION},
                                                        {"CallingContext", OTF2_MAPPING_CALLING_CONTEXT}};
/// Of the definitions of one kind: the number of each id, in their order.
std::map<std::string, Ids> numbers_of(const std::vector<Definition>& rows) {
    std::map<std::string, Ids> numbers;
    for (const auto& row : rows) {
        if (kApart.contains(row.kind)) {
            auto& ids = numbers[row.kind];
            ids.emplace(row.fields.at(0).number(), ids.size());
        }
    }
    return numbers;
}

/// The id of a location's own definition, in place of that of the one for all; what is not defined stays so.
std::uint64_t own_id(const Ids& ids, std::uint64_t id, std::size_t location) {
    const auto found = ids.find(id);
    return found == ids.end() ? UINT32_MAX - 1 : location * ids.size() + found->second;
}

/// One definition for each location instead of one for all; what is not renamed refers to the first location's.
std::vector<Definition> apart(const std::vector<Definition>& rows, std::size_t locations) {
    const auto ids = numbers_of(rows);
    std::vector<Definition> all;
    for (const auto& row : rows) {
        const auto copies = kApart.contains(row.kind) ? locations : 1;
        for (std::size_t l = 0; l < copies; ++l) {
            auto copy = row;
            for (const auto& of : references()) {
                if (of.definition != row.kind || of.targets.size() != 1 || !ids.contains(of.targets[0])) {
                    continue;
                }
                for (auto& number : copy.fields.at(of.field).numbers) {
                    number = number == of.undefined ? number : own_id(ids.at(of.targets[0]), number, l);
                }
            }
            all.push_back(std::move(copy));
        }
    }
    return all;
}

void check(OTF2_ErrorCode status, const char* what) {
    if (status != OTF2_SUCCESS) {
        throw std::runtime_error(std::string(what) + ": " + OTF2_Error_GetDescription(status));
    }
}

struct EventCopy {
    OTF2_EvtWriter* writer;
    std::uint64_t factor;
};

template <auto write>
struct OfEvent {
    template <class... Rest>
    static OTF2_CallbackCode copy(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                  OTF2_AttributeList* attributes, Rest... rest) {
        const auto& to = *static_cast<EventCopy*>(user);
        return write(to.writer, attributes, time / to.factor, rest...) == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS
                                                                                       : OTF2_CALLBACK_INTERRUPT;
    }
};

/// A region's calling context has the region's number.
OTF2_CallbackCode enter_context(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                OTF2_AttributeList* attributes, OTF2_RegionRef region) {
    OTF2_EvtWriter_CallingContextEnter(static_cast<EventCopy*>(user)->writer, attributes, time, region, 1);
    return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode leave_context(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                OTF2_AttributeList* attributes, OTF2_RegionRef region) {
    OTF2_EvtWriter_CallingContextLeave(static_cast<EventCopy*>(user)->writer, attributes, time, region);
    return OTF2_CALLBACK_SUCCESS;
}

/// A calling context of each region, the next one's child; the last one's parent is the first.
void add_circle(std::vector<Definition>& rows) {
    std::vector<std::uint64_t> regions;
    for (const auto& row : rows) {
        if (row.kind == "Region") {
            regions.push_back(row.fields.at(0).number());
        }
    }
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const auto parent = regions[(i + 1) % regions.size()];
        rows.push_back({"CallingContext", {regions[i], regions[i], OTF2_UNDEFINED_SOURCE_CODE_LOCATION, parent}});
    }
}

OTF2_CallbackCode copy_flush(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                             OTF2_AttributeList* attributes, OTF2_TimeStamp end) {
    const auto& to = *static_cast<EventCopy*>(user);
    OTF2_EvtWriter_BufferFlush(to.writer, attributes, time / to.factor, end / to.factor);
    return OTF2_CALLBACK_SUCCESS;
}

struct Local {
    std::map<OTF2_MappingType, Ids> maps;
    std::vector<std::pair<std::uint64_t, std::int64_t>> offsets;
};

OTF2_CallbackCode take_map(void* user, OTF2_MappingType type, const OTF2_IdMap* map) {
    OTF2_IdMap_Traverse(
        map, [](std::uint64_t from, std::uint64_t to, void* ids) { static_cast<Ids*>(ids)->emplace(from, to); },
        &static_cast<Local*>(user)->maps[type]);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode take_offset(void* user, OTF2_TimeStamp time, std::int64_t offset, double) {
    static_cast<Local*>(user)->offsets.emplace_back(time, offset);
    return OTF2_CALLBACK_SUCCESS;
}

class Rewriting {
  public:
    Rewriting(const fs::path& from, const fs::path& to, Change change) : change_(std::move(change)) {
        reader_ = OTF2_Reader_Open(from.c_str());
        if (reader_ == nullptr) {
            throw std::runtime_error(from.string() + " is no archive");
        }
        OTF2_Reader_SetSerialCollectiveCallbacks(reader_);
        std::uint64_t events = 0;
        std::uint64_t definitions = 0;
        OTF2_Reader_GetChunkSize(reader_, &events, &definitions);
        archive_ = OTF2_Archive_Open(to.c_str(), from.stem().c_str(), OTF2_FILEMODE_WRITE, events, definitions,
                                     OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        if (archive_ == nullptr) {
            throw std::runtime_error(to.string() + " cannot be written");
        }
        OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
        static const OTF2_FlushCallbacks kFlush = {
            [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) -> OTF2_FlushType { return OTF2_FLUSH; }, nullptr};
        OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr);
        copy_properties();
        rows_ = logpost::tests::read_rows(reader_);
    }
    ~Rewriting() {
        OTF2_Archive_Close(archive_);
        OTF2_Reader_Close(reader_);
    }
    Rewriting(const Rewriting&) = delete;
    Rewriting& operator=(const Rewriting&) = delete;

    void run() {
        std::vector<std::uint64_t> locations;
        for (const auto& row : rows_) {
            if (row.kind == "Location") {
                locations.push_back(row.fields.at(0).number());
            }
        }
        for (const auto location : locations) {
            OTF2_Reader_SelectLocation(reader_, location);
        }
        const bool has_definitions = OTF2_Reader_OpenDefFiles(reader_) == OTF2_SUCCESS;
        check(OTF2_Reader_OpenEvtFiles(reader_), "no event files");
        OTF2_Archive_OpenDefFiles(archive_);
        OTF2_Archive_OpenEvtFiles(archive_);
        for (std::size_t l = 0; l < locations.size(); ++l) {
            write_local(locations[l], l, has_definitions ? read_local(locations[l]) : Local{});
            copy_events(locations[l]);
        }
        OTF2_Archive_CloseDefFiles(archive_);
        OTF2_Archive_CloseEvtFiles(archive_);
        write_rows(locations.size());
    }

  private:
    void copy_properties() {
        std::uint32_t n = 0;
        char** names = nullptr;
        check(OTF2_Reader_GetPropertyNames(reader_, &n, &names), "no properties");
        for (std::uint32_t i = 0; i < n; ++i) {
            char* value = nullptr;
            OTF2_Reader_GetProperty(reader_, names[i], &value);
            OTF2_Archive_SetProperty(archive_, names[i], value, true);
            std::free(value);
        }
        std::free(static_cast<void*>(names));
        char* creator = nullptr;
        OTF2_Reader_GetCreator(reader_, &creator);
        OTF2_Archive_SetCreator(archive_, creator);
        std::free(creator);
    }

    Local read_local(std::uint64_t location) {
        Local found;
        auto* definitions = OTF2_Reader_GetDefReader(reader_, location);
        if (definitions == nullptr) {
            return found;
        }
        auto* callbacks = OTF2_DefReaderCallbacks_New();
        OTF2_DefReaderCallbacks_SetMappingTableCallback(callbacks, take_map);
        OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks, take_offset);
        OTF2_Reader_RegisterDefCallbacks(reader_, definitions, callbacks, &found);
        OTF2_DefReaderCallbacks_Delete(callbacks);
        std::uint64_t n = 0;
        OTF2_Reader_ReadAllLocalDefinitions(reader_, definitions, &n);
        OTF2_Reader_CloseDefReader(reader_, definitions);
        return found;
    }

    void write_local(std::uint64_t location, std::size_t number, Local local) {
        if (change_.apart) {
            rename(local, number);
        }
        auto* writer = OTF2_Archive_GetDefWriter(archive_, location);
        for (auto& [type, ids] : local.maps) {
            auto* map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, ids.size());
            for (auto [from, to] : ids) {
                if (change_.odd && change_.draw(64) == 0) {
                    to = change_.draw(2) == 0 ? from : change_.draw(2000);
                }
                OTF2_IdMap_AddIdPair(map, from, to);
            }
            OTF2_DefWriter_WriteMappingTable(writer, type, map);
            OTF2_IdMap_Free(map);
        }
        std::set<std::uint64_t> compared;
        for (const auto& [time, offset] : local.offsets) {
            if (compared.insert(time / change_.factor).second) {
                OTF2_DefWriter_WriteClockOffset(writer, time / change_.factor,
                                                offset / static_cast<std::int64_t>(change_.factor), 0.0);
            }
        }
        OTF2_Archive_CloseDefWriter(archive_, writer);
    }

    /// What an event calls an id is the id of its location's own definition.
    void rename(Local& local, std::size_t location) const {
        for (const auto& [kind, ids] : numbers_of(rows_)) {
            auto& map = local.maps[kApart.at(kind)];
            for (const auto& [id, number] : ids) {
                map.emplace(id, id);
            }
            for (auto& [from, to] : map) {
                to = own_id(ids, to, location);
            }
        }
    }

    void copy_events(std::uint64_t location) {
        EventCopy copy{OTF2_Archive_GetEvtWriter(archive_, location), change_.factor};
        auto* callbacks = OTF2_EvtReaderCallbacks_New();
#define LOGPOST_COPY(name) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, OfEvent<OTF2_EvtWriter_##name>::copy);
        LOGPOST_EVENTS(LOGPOST_COPY)
#undef LOGPOST_COPY
        OTF2_EvtReaderCallbacks_SetBufferFlushCallback(callbacks, copy_flush);
        if (change_.circle) {
            OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, enter_context);
            OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, leave_context);
        }
        if (auto* events = OTF2_Reader_GetEvtReader(reader_, location)) {
            OTF2_EvtReader_ApplyMappingTables(events, false);
            OTF2_EvtReader_ApplyClockOffsets(events, false);
            OTF2_Reader_RegisterEvtCallbacks(reader_, events, callbacks, &copy);
            std::uint64_t n = 0;
            check(OTF2_Reader_ReadAllLocalEvents(reader_, events, &n), "events cannot be copied");
            OTF2_Reader_CloseEvtReader(reader_, events);
        }
        OTF2_EvtReaderCallbacks_Delete(callbacks);
        OTF2_Archive_CloseEvtWriter(archive_, copy.writer);
    }

    void write_rows(std::size_t locations) {
        auto rows = change_.apart ? apart(rows_, locations) : rows_;
        if (change_.odd) {
            OddDefinitions(rows, [&](std::uint64_t n) { return change_.draw(n); }).change(1 + change_.draw(6));
        }
        if (change_.circle) {
            add_circle(rows);
        }
        auto* writer = OTF2_Archive_GetGlobalDefWriter(archive_);
        for (auto& row : rows) {
            if (row.kind == "ClockProperties") {
                for (const std::size_t ticks : {0, 1, 2}) {
                    row.fields.at(ticks).numbers[0] /= change_.factor;
                }
            }
            logpost::tests::write_row(writer, row);
        }
        OTF2_Archive_CloseGlobalDefWriter(archive_, writer);
    }

    Change change_;
    OTF2_Reader* reader_ = nullptr;
    OTF2_Archive* archive_ = nullptr;
    std::vector<Definition> rows_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::string how = argc > 3 ? argv[3] : "";
    Change change;
    if (how == "ticks" && argc == 5) {
        change.factor = std::max(std::strtoull(argv[4], nullptr, 10), 1ULL);
    } else if (how == "odd" && argc == 5) {
        change.odd = std::make_unique<std::mt19937_64>(std::strtoull(argv[4], nullptr, 10));
    } else if (how == "apart" && argc == 4) {
        change.apart = true;
    } else if (how == "circle" && argc == 4) {
        change.circle = true;
    } else if (how != "same" || argc != 4) {
        std::fprintf(stderr, "usage: rewrite_archive FROM TO ticks FACTOR|apart|odd SEED|circle|same\n");
        return 2;
    }
    try {
        Rewriting(argv[1], argv[2], std::move(change)).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rewrite_archive: %s\n", error.what());
        return 1;
    }
    return 0;
}
