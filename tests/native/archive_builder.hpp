#pragma once

// Writes small OTF2 archives in code, for tests that are stories: which location did what at which tick.

#include <otf2/otf2.h>
#include <stdlib.h>
#include <algorithm>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "definition_rows.hpp"
#include "scratch_directory.hpp"

namespace logpost::tests {

/// The events of one location. Times are ticks of the location's own clock.
class Events {
  public:
    explicit Events(OTF2_EvtWriter* writer) : w_(writer) {}
    Events& enter(std::uint64_t t, std::uint32_t region) { return did(OTF2_EvtWriter_Enter(w_, nullptr, t, region)); }
    Events& leave(std::uint64_t t, std::uint32_t region) { return did(OTF2_EvtWriter_Leave(w_, nullptr, t, region)); }
    Events& send(std::uint64_t t, std::uint32_t to, std::uint32_t comm, std::uint32_t tag, std::uint64_t bytes,
                 OTF2_AttributeList* attributes = nullptr) {
        return did(OTF2_EvtWriter_MpiSend(w_, attributes, t, to, comm, tag, bytes));
    }
    Events& isend(std::uint64_t t, std::uint32_t to, std::uint32_t comm, std::uint32_t tag, std::uint64_t bytes,
                  std::uint64_t request, OTF2_AttributeList* attributes = nullptr) {
        return did(OTF2_EvtWriter_MpiIsend(w_, attributes, t, to, comm, tag, bytes, request));
    }
    Events& isend_complete(std::uint64_t t, std::uint64_t request) {
        return did(OTF2_EvtWriter_MpiIsendComplete(w_, nullptr, t, request));
    }
    Events& irecv_request(std::uint64_t t, std::uint64_t request) {
        return did(OTF2_EvtWriter_MpiIrecvRequest(w_, nullptr, t, request));
    }
    Events& recv(std::uint64_t t, std::uint32_t from, std::uint32_t comm, std::uint32_t tag, std::uint64_t bytes) {
        return did(OTF2_EvtWriter_MpiRecv(w_, nullptr, t, from, comm, tag, bytes));
    }
    Events& irecv(std::uint64_t t, std::uint32_t from, std::uint32_t comm, std::uint32_t tag, std::uint64_t bytes,
                  std::uint64_t request) {
        return did(OTF2_EvtWriter_MpiIrecv(w_, nullptr, t, from, comm, tag, bytes, request));
    }
    Events& request_test(std::uint64_t t, std::uint64_t request) {
        return did(OTF2_EvtWriter_MpiRequestTest(w_, nullptr, t, request));
    }
    Events& cancelled(std::uint64_t t, std::uint64_t request) {
        return did(OTF2_EvtWriter_MpiRequestCancelled(w_, nullptr, t, request));
    }
    Events& collective(std::uint64_t begin, std::uint64_t end, OTF2_CollectiveOp op, std::uint32_t comm,
                       std::uint32_t root = OTF2_UNDEFINED_UINT32, std::uint64_t sent = 8, std::uint64_t received = 8) {
        did(OTF2_EvtWriter_MpiCollectiveBegin(w_, nullptr, begin));
        return did(OTF2_EvtWriter_MpiCollectiveEnd(w_, nullptr, end, op, comm, root, sent, received));
    }
    Events& collective_request(std::uint64_t t, std::uint64_t request, OTF2_AttributeList* attributes = nullptr) {
        return did(OTF2_EvtWriter_NonBlockingCollectiveRequest(w_, attributes, t, request));
    }
    Events& collective_complete(std::uint64_t t, OTF2_CollectiveOp op, std::uint32_t comm, std::uint64_t request,
                                std::uint64_t sent = 8, std::uint64_t received = 8) {
        return did(OTF2_EvtWriter_NonBlockingCollectiveComplete(w_, nullptr, t, op, comm, OTF2_UNDEFINED_UINT32, sent,
                                                                received, request));
    }
    Events& measurement(std::uint64_t t, OTF2_MeasurementMode mode) {
        return did(OTF2_EvtWriter_MeasurementOnOff(w_, nullptr, t, mode));
    }
    Events& flush(std::uint64_t t, std::uint64_t until) {
        return did(OTF2_EvtWriter_BufferFlush(w_, nullptr, t, until));
    }
    Events& put(std::uint64_t t, std::uint32_t window, std::uint32_t to, std::uint64_t bytes,
                std::uint64_t matching = 0) {
        return did(OTF2_EvtWriter_RmaPut(w_, nullptr, t, window, to, bytes, matching));
    }
    Events& completed(std::uint64_t t, std::uint32_t window, std::uint64_t matching) {
        return did(OTF2_EvtWriter_RmaOpCompleteNonBlocking(w_, nullptr, t, window, matching));
    }
    Events& completed_remotely(std::uint64_t t, std::uint32_t window, std::uint64_t matching) {
        return did(OTF2_EvtWriter_RmaOpCompleteRemote(w_, nullptr, t, window, matching));
    }
    Events& rma_collective(std::uint64_t begin, std::uint64_t end, OTF2_CollectiveOp op, std::uint32_t window,
                           OTF2_RmaSyncLevel level = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY) {
        did(OTF2_EvtWriter_RmaCollectiveBegin(w_, nullptr, begin));
        return did(OTF2_EvtWriter_RmaCollectiveEnd(w_, nullptr, end, op, level, window, OTF2_UNDEFINED_UINT32, 0, 0));
    }
    Events& group_sync(std::uint64_t t, std::uint32_t window, std::uint32_t group) {
        return did(OTF2_EvtWriter_RmaGroupSync(w_, nullptr, t, OTF2_RMA_SYNC_LEVEL_PROCESS, window, group));
    }
    Events& request_lock(std::uint64_t t, std::uint32_t window, std::uint32_t to, OTF2_LockType type) {
        return did(OTF2_EvtWriter_RmaRequestLock(w_, nullptr, t, window, to, 0, type));
    }
    Events& acquire_lock(std::uint64_t t, std::uint32_t window, std::uint32_t to, OTF2_LockType type) {
        return did(OTF2_EvtWriter_RmaAcquireLock(w_, nullptr, t, window, to, 0, type));
    }
    Events& release_lock(std::uint64_t t, std::uint32_t window, std::uint32_t to) {
        return did(OTF2_EvtWriter_RmaReleaseLock(w_, nullptr, t, window, to, 0));
    }
    Events& get(std::uint64_t t, std::uint32_t window, std::uint32_t from, std::uint64_t bytes,
                std::uint64_t matching = 0) {
        return did(OTF2_EvtWriter_RmaGet(w_, nullptr, t, window, from, bytes, matching));
    }
    Events& fork(std::uint64_t t, std::uint32_t threads) {
        return did(OTF2_EvtWriter_ThreadFork(w_, nullptr, t, OTF2_PARADIGM_OPENMP, threads));
    }
    Events& join(std::uint64_t t) { return did(OTF2_EvtWriter_ThreadJoin(w_, nullptr, t, OTF2_PARADIGM_OPENMP)); }
    Events& team_begin(std::uint64_t t, std::uint32_t team) {
        return did(OTF2_EvtWriter_ThreadTeamBegin(w_, nullptr, t, team));
    }
    Events& team_end(std::uint64_t t, std::uint32_t team) {
        return did(OTF2_EvtWriter_ThreadTeamEnd(w_, nullptr, t, team));
    }
    Events& context_sample(std::uint64_t t, std::uint32_t context, OTF2_AttributeList* attributes = nullptr) {
        return did(OTF2_EvtWriter_CallingContextSample(w_, attributes, t, context, OTF2_UNDEFINED_UINT32, 0));
    }
    Events& context_enter(std::uint64_t t, std::uint32_t context) {
        return did(OTF2_EvtWriter_CallingContextEnter(w_, nullptr, t, context, 1));
    }
    Events& context_leave(std::uint64_t t, std::uint32_t context) {
        return did(OTF2_EvtWriter_CallingContextLeave(w_, nullptr, t, context));
    }

  private:
    Events& did(OTF2_ErrorCode status) {
        if (status != OTF2_SUCCESS) {
            throw std::runtime_error(std::string("cannot write an event: ") + OTF2_Error_GetDescription(status));
        }
        return *this;
    }
    OTF2_EvtWriter* w_;
};

/// An archive in the making. Definitions are collected and written by `finish`. One process per location unless said;
/// the string, group and communicator numbers are the builder's.
class ArchiveBuilder {
  public:
    /// Bytes of a chunk of events and of one of definitions. libotf2 takes and clears one for each file that it writes
    /// or reads: most of the time that a small archive takes.
    struct Chunks {
        std::uint64_t events = 1 << 20;
        std::uint64_t definitions = 4 << 20;
    };
    static constexpr Chunks kSmallest{OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_MIN};

    explicit ArchiveBuilder(const std::filesystem::path& directory, const char* name = "traces")
        : ArchiveBuilder(directory, Chunks{}, name) {}
    ArchiveBuilder(const std::filesystem::path& directory, Chunks chunks, const char* name = "traces")
        : directory_(directory), name_(name) {
        archive_ = OTF2_Archive_Open(directory.c_str(), name, OTF2_FILEMODE_WRITE, chunks.events, chunks.definitions,
                                     OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        if (archive_ == nullptr) {
            throw std::runtime_error("cannot open the archive for writing");
        }
        OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
        static const OTF2_FlushCallbacks kFlush = {flush, nullptr};
        OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr);
        OTF2_Archive_OpenEvtFiles(archive_);
        OTF2_Archive_OpenDefFiles(archive_);
        text("");
    }
    ~ArchiveBuilder() { finish(); }
    ArchiveBuilder(const ArchiveBuilder&) = delete;
    ArchiveBuilder& operator=(const ArchiveBuilder&) = delete;

    std::uint64_t ticks_per_second = 1'000'000'000;  // one tick is 1000 ps
    std::uint64_t global_offset = 0;
    /// What the definitions become before they are written, such as some that make no sense.
    std::function<void(std::vector<Definition>&)> change_definitions;

    std::uint32_t text(const std::string& value) {
        const auto [at, fresh] = texts_.emplace(value, static_cast<std::uint32_t>(texts_.size()));
        return at->second;
    }

    /// A region; the number is given or the next one.
    std::uint32_t region(const std::string& name, OTF2_Paradigm paradigm = OTF2_PARADIGM_MPI, std::int64_t ref = -1,
                         OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION) {
        const auto number = ref >= 0 ? static_cast<std::uint32_t>(ref) : static_cast<std::uint32_t>(regions_.size());
        regions_.push_back({number, text(name), paradigm, role});
        return number;
    }

    /// A process with one location. `node` is the name of its system tree node.
    void location(std::uint64_t ref, const std::string& node = "n0", std::int64_t declared_events = -1) {
        locations_.push_back({ref, node, declared_events, static_cast<std::uint32_t>(locations_.size())});
    }
    /// A further location in the process of the location defined last.
    void thread(std::uint64_t ref) {
        locations_.push_back({ref, locations_.back().node, -1, locations_.back().process});
        locations_.back().is_thread = true;
    }
    /// The same, of any process that is defined.
    void thread_of(std::uint64_t process, std::uint64_t ref) {
        const auto of = std::ranges::find(locations_, process, &LocationRow::ref);
        locations_.push_back({ref, of->node, -1, of->process, true});
    }
    /// A stream of an accelerator in the process of the location defined last.
    void stream(std::uint64_t ref) {
        thread(ref);
        locations_.back().type = OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
    }
    void cores(const std::string& node, std::uint32_t cores) { cores_[node] = cores; }
    void cpu_binding(std::uint64_t location, const std::string& binding) { bindings_[location] = binding; }

    /// A group that numbers the locations of a paradigm.
    void numbering(OTF2_Paradigm paradigm, std::vector<std::uint64_t> locations) {
        group(OTF2_GROUP_TYPE_COMM_LOCATIONS, paradigm, std::move(locations));
    }
    std::uint32_t group(OTF2_GroupType type, OTF2_Paradigm paradigm, std::vector<std::uint64_t> members) {
        groups_.push_back({static_cast<std::uint32_t>(groups_.size()), type, paradigm, std::move(members)});
        return groups_.back().ref;
    }
    /// A further group under the id of another one.
    void group_again(std::uint32_t ref, OTF2_GroupType type, OTF2_Paradigm paradigm,
                     std::vector<std::uint64_t> members) {
        groups_.push_back({ref, type, paradigm, std::move(members)});
    }
    /// A communicator of `members` (ranks in MPI's numbering). Returns its number.
    std::uint32_t communicator(std::vector<std::uint64_t> members, std::uint32_t ref, const std::string& name = "") {
        const auto g = group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, std::move(members));
        communicators_.push_back({ref, text(name), g, OTF2_UNDEFINED_GROUP});
        return ref;
    }
    std::uint32_t communicator_of_group(std::uint32_t group, std::uint32_t ref) {
        communicators_.push_back({ref, text(""), group, OTF2_UNDEFINED_GROUP});
        return ref;
    }
    std::uint32_t self_communicator(std::uint32_t ref) {
        return communicator_of_group(group(OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, {}), ref);
    }
    std::uint32_t inter_communicator(std::vector<std::uint64_t> a, std::vector<std::uint64_t> b, std::uint32_t ref) {
        const auto ga = group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, std::move(a));
        const auto gb = group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, std::move(b));
        communicators_.push_back({ref, text(""), ga, gb});
        return ref;
    }
    std::uint32_t window(std::uint32_t communicator, std::uint32_t ref) {
        windows_.emplace_back(ref, communicator);
        return ref;
    }
    std::uint32_t calling_context(std::uint32_t region,
                                  std::uint32_t source_location = OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
                                  std::uint32_t parent = OTF2_UNDEFINED_CALLING_CONTEXT) {
        contexts_.push_back({region, source_location, parent});
        return static_cast<std::uint32_t>(contexts_.size() - 1);
    }
    std::uint32_t source_location(const std::string& file, std::uint32_t line) {
        source_locations_.emplace_back(text(file), line);
        return static_cast<std::uint32_t>(source_locations_.size() - 1);
    }
    std::uint32_t attribute(const std::string& name, OTF2_Type type) {
        attributes_.emplace_back(text(name), type);
        return static_cast<std::uint32_t>(attributes_.size() - 1);
    }

    /// MPI ranks 0..n-1 on locations 0..n-1, one node, and MPI_COMM_WORLD as communicator 0.
    void world(std::uint32_t n) {
        std::vector<std::uint64_t> members;
        for (std::uint32_t i = 0; i < n; ++i) {
            location(i);
            members.push_back(i);
        }
        numbering(OTF2_PARADIGM_MPI, members);
        communicator(members, 0, "MPI_COMM_WORLD");
    }

    /// Local definitions of one location; call before or after its events.
    void local(std::uint64_t location, const std::vector<std::pair<std::uint64_t, std::int64_t>>& clock_offsets,
               const std::map<std::uint64_t, std::uint64_t>& regions = {},
               OTF2_MappingType type = OTF2_MAPPING_REGION) {
        OTF2_DefWriter* w = OTF2_Archive_GetDefWriter(archive_, location);
        if (!regions.empty()) {
            OTF2_IdMap* map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, regions.size());
            for (const auto& [from, to] : regions) {
                OTF2_IdMap_AddIdPair(map, from, to);
            }
            OTF2_DefWriter_WriteMappingTable(w, type, map);
            OTF2_IdMap_Free(map);
        }
        for (const auto& [time, offset] : clock_offsets) {
            OTF2_DefWriter_WriteClockOffset(w, time, offset, 0.0);
        }
        OTF2_Archive_CloseDefWriter(archive_, w);
        with_local_[location] = true;
    }

    void events(std::uint64_t location, const std::function<void(Events&)>& write) {
        OTF2_EvtWriter* w = OTF2_Archive_GetEvtWriter(archive_, location);
        Events events(w);
        write(events);
        std::uint64_t n = 0;
        OTF2_EvtWriter_GetNumberOfEvents(w, &n);
        written_[location] = n;
        OTF2_Archive_CloseEvtWriter(archive_, w);
    }

    /// Writes the definitions and closes; returns the anchor file.
    std::filesystem::path finish() {
        auto anchor = directory_ / (name_ + ".otf2");
        if (archive_ == nullptr) {
            return anchor;
        }
        for (const auto& l : locations_) {
            if (!with_local_[l.ref]) {
                local(l.ref, {});
            }
        }
        OTF2_Archive_CloseEvtFiles(archive_);
        OTF2_Archive_CloseDefFiles(archive_);
        write_definitions();
        OTF2_Archive_Close(archive_);
        archive_ = nullptr;
        return anchor;
    }

  private:
    struct RegionRow {
        std::uint32_t ref, name;
        OTF2_Paradigm paradigm;
        OTF2_RegionRole role;
    };
    struct LocationRow {
        std::uint64_t ref;
        std::string node;
        std::int64_t declared;
        std::uint32_t process;
        bool is_thread = false;
        OTF2_LocationType type = OTF2_LOCATION_TYPE_CPU_THREAD;
    };
    struct GroupRow {
        std::uint32_t ref;
        OTF2_GroupType type;
        OTF2_Paradigm paradigm;
        std::vector<std::uint64_t> members;
    };
    struct CommunicatorRow {
        std::uint32_t ref, name, group_a, group_b;
    };

    static OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

    void write_definitions() {
        std::vector<Definition> rows;
        const auto define = [&](const char* kind, const auto&... fields) {
            rows.push_back({kind, {Field(fields)...}});
        };
        define("ClockProperties", ticks_per_second, global_offset, 1000, OTF2_UNDEFINED_TIMESTAMP);
        std::map<std::string, std::uint32_t> nodes;
        for (const auto& l : locations_) {
            nodes.emplace(l.node, static_cast<std::uint32_t>(nodes.size()) + 1);
            text(l.node);
        }
        const auto machine = text("machine"), node_class = text("node"), master = text("Master thread"),
                   cores_name = text("logpost:cores"), binding_name = text("logpost:cpu_binding");
        for (const auto& [location, binding] : bindings_) {
            text(binding);
        }
        for (const auto& [value, ref] : texts_) {
            define("String", ref, value.c_str());
        }
        for (std::uint32_t i = 0; i < attributes_.size(); ++i) {
            define("Attribute", i, attributes_[i].first, text(""), attributes_[i].second);
        }
        define("SystemTreeNode", 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
        for (const auto& [node, ref] : nodes) {
            define("SystemTreeNode", ref, text(node), node_class, 0);
            if (cores_.contains(node)) {
                OTF2_AttributeValue value;
                value.uint32 = cores_[node];
                define("SystemTreeNodeProperty", ref, cores_name, OTF2_TYPE_UINT32, value);
            }
        }
        for (const auto& l : locations_) {
            if (!l.is_thread) {
                define("LocationGroup", l.process, master, OTF2_LOCATION_GROUP_TYPE_PROCESS, nodes[l.node],
                       OTF2_UNDEFINED_LOCATION_GROUP);
            }
            const auto declared = l.declared >= 0 ? static_cast<std::uint64_t>(l.declared) : written_[l.ref];
            define("Location", l.ref, master, l.type, declared, l.process);
            if (bindings_.contains(l.ref)) {
                OTF2_AttributeValue value;
                value.stringRef = text(bindings_[l.ref]);
                define("LocationProperty", l.ref, binding_name, OTF2_TYPE_STRING, value);
            }
        }
        for (const auto& r : regions_) {
            define("Region", r.ref, r.name, r.name, 0, r.role, r.paradigm, OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING,
                   0, 0);
        }
        for (const auto& g : groups_) {
            define("Group", g.ref, text(""), g.type, g.paradigm, OTF2_GROUP_FLAG_NONE, g.members.size(), g.members);
        }
        for (const auto& c : communicators_) {
            if (c.group_b == OTF2_UNDEFINED_GROUP) {
                define("Comm", c.ref, c.name, c.group_a, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
            } else {
                define("InterComm", c.ref, c.name, c.group_a, c.group_b, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
            }
        }
        for (const auto& [ref, communicator] : windows_) {
            define("RmaWin", ref, text(""), communicator, OTF2_RMA_WIN_FLAG_NONE);
        }
        for (std::uint32_t i = 0; i < source_locations_.size(); ++i) {
            define("SourceCodeLocation", i, source_locations_[i].first, source_locations_[i].second);
        }
        for (std::uint32_t i = 0; i < contexts_.size(); ++i) {
            const auto& c = contexts_[i];
            define("CallingContext", i, c.region, c.source_location, c.parent);
        }
        if (change_definitions) {
            change_definitions(rows);
        }
        OTF2_GlobalDefWriter* w = OTF2_Archive_GetGlobalDefWriter(archive_);
        for (const auto& row : rows) {
            write_row(w, row);
        }
        OTF2_Archive_CloseGlobalDefWriter(archive_, w);
    }

    std::filesystem::path directory_;
    std::string name_;
    OTF2_Archive* archive_ = nullptr;
    std::map<std::string, std::uint32_t> texts_;
    std::vector<RegionRow> regions_;
    std::vector<LocationRow> locations_;
    std::vector<GroupRow> groups_;
    std::vector<CommunicatorRow> communicators_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> windows_;
    struct Context {
        std::uint32_t region, source_location, parent;
    };
    std::vector<Context> contexts_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> source_locations_;
    std::vector<std::pair<std::uint32_t, OTF2_Type>> attributes_;
    std::map<std::string, std::uint32_t> cores_;
    std::map<std::uint64_t, std::string> bindings_;
    std::map<std::uint64_t, std::uint64_t> written_;
    std::map<std::uint64_t, bool> with_local_;
};

}  // namespace logpost::tests
