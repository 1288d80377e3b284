#pragma once

/// What the reader leaves of an archive: the communication calls, the two ends of every message, the collective
/// operations, and a folded profile. User-region events are not kept.
///
/// Times are picoseconds (int64) from the start of the trace; ids are dense (0..n-1).

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/archive/native/trace/requests.hpp"
#include "analyzer/archive/native/trace/thread_role.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::analyzer {

using replay::Call;
using replay::CallKind;
using replay::Collective;
using replay::Column;
using replay::Epoch;
using replay::kNoLocation;
using replay::kNone;
using replay::kNoRank;
using replay::kUndefined;
using replay::Layout;
using replay::MessageEnd;
using replay::Operation;
using replay::SendLayout;
using replay::Transfer;

class MappedColumns;  // read/block_files.hpp

struct Region {
    std::string name;
    std::string file;
    std::uint32_t line = 0;
    std::uint8_t role = 0;      // OTF2_RegionRole
    std::uint8_t paradigm = 0;  // OTF2_Paradigm
    CallKind kind = CallKind::user;
};

struct Location {
    std::uint64_t ref = 0;  // the archive's id
    std::string name;
    std::uint8_t type = 0;                // OTF2_LocationType
    std::int32_t group = kUndefined;      // process; dense
    std::int32_t node = kUndefined;       // dense id of the system tree node of class "node" above it, or the nearest
    replay::Rank rank = replay::kNoRank;  // in the paradigm's COMM_LOCATIONS group; kNoRank: not a rank
    std::int32_t socket = kUndefined;     // within the node
    std::string cpu_binding;              // the property logpost:cpu_binding; empty: the archive does not say
};

struct Node {
    std::string name;
    std::string class_name;
    std::int32_t parent = kUndefined;
    std::int32_t cores = 0;  // 0: the archive does not say
};

/// Memory that processes open to each other. `comm` says whose; a transfer names its target by the rank there.
struct RmaWindow {
    std::uint64_t ref = 0;
    std::string name;
    std::int32_t comm = kUndefined;  // dense communicator
    bool device = false;             // connects a host and its accelerator, no processes
};

struct Communicator {
    std::uint64_t ref = 0;
    std::string name;
    std::vector<replay::Location> locations;         // by rank (local group); kNoLocation where absent
    std::vector<replay::Location> remote_locations;  // inter-communicators only

    // Of an inter-communicator those of both groups, the first one's first.
    [[nodiscard]] std::vector<replay::Location> members() const {
        auto all = locations;
        all.insert(all.end(), remote_locations.begin(), remote_locations.end());
        return all;
    }
    // How many of these the first group has; 0: it is no inter-communicator.
    [[nodiscard]] std::uint32_t first_group() const noexcept {
        return remote_locations.empty() ? 0 : static_cast<std::uint32_t>(locations.size());
    }
    std::int32_t parent = kUndefined;
    bool is_self = false;
};

/// A node of the calling-context tree. Parents are before children; the order does not depend on the threads.
struct Callpath {
    std::int32_t parent = kUndefined;
    std::int32_t region = kUndefined;
    std::int32_t site = 0;  // place of the call in the parent: index into Trace::sites
};

/// A place in the source.
struct Site {
    std::string file;
    std::uint32_t line = 0;  // 0: unknown
};

/// A call that set the level of detail (MPI_Pcontrol).
struct DetailLevel {
    std::uint32_t call;
    std::int32_t level;
};

/// A call that its process was in when it ended, and what it waited for, as the collector words it.
struct OpenCall {
    std::uint32_t call;
    std::string waits_for;
};

/// The code that a location was in at an instant between its communication calls.
struct Sample {
    std::int64_t at_ps;
    std::int32_t callpath;
    std::uint32_t line;     // in its region's file; 0: unknown
    std::uint32_t periods;  // of the sampler since the sample before
};

/// A call that reaches a file, outside of any communication call.
struct FileCall {
    std::int64_t enter_ps;
    std::int64_t leave_ps;
    std::int32_t callpath;
    std::int32_t reserved = 0;
};

struct ProfileRow {
    std::int32_t callpath;
    std::uint64_t visits;
    std::int64_t first_ps;  // first enter
    std::int64_t last_ps;   // last leave
    std::int64_t inclusive_ps;
    std::int64_t exclusive_ps;
};

/// Everything unusual is a named counter; the names, severities and sentences are declared once in quality.hpp.
enum class Quality : std::uint8_t;

struct OneSidedTotals {
    std::uint64_t puts = 0, put_bytes = 0;
    std::uint64_t gets = 0, get_bytes = 0;
    std::uint64_t atomics = 0, atomic_bytes = 0;
};

/// The end of a nonblocking operation that its location did not begin.
struct RequestEnd {
    enum class What : std::uint32_t { send, receive, collective, cancelled };
    std::uint64_t id;
    What what;
    Collective collective;  // what the record says
};

/// What the records of a one-sided transfer have in common: its window and matching id.
struct TransferKey {
    std::int32_t window;
    std::uint64_t matching;
    auto operator<=>(const TransferKey&) const = default;
};

/// When a location was in a region that matters to threads, or between a pair of records that does.
struct ThreadRecord {
    std::int64_t enter_ps;
    std::int64_t leave_ps;
    std::int32_t callpath;  // call path of a pair of records
    std::uint32_t depth;    // larger than that of the enclosing pair, among the records of its location
    ThreadRole role;
};

/// What a thread's time is among that of its process's other threads; the names are in thread_spans.hpp.
enum class ThreadCategory : std::uint8_t {
    parallel,
    imbalance,
    synchronization,
    management,
    communication,
    serial,
    idle_serial,
    idle_communication,
    not_in_team,
};
inline constexpr std::size_t kThreadCategories = 9;

/// A stretch of a thread's time in a parallel region of its process.
struct ThreadSpan {
    std::int64_t begin_ps;
    std::int64_t end_ps;
    replay::Location location;
    std::int32_t instance;  // the execution of the parallel region; -1: its team is not known
    std::int32_t callpath;  // of the parallel region, on the first thread
    std::int32_t place;     // callpath of the barrier, critical section or call; else of the parallel region
    ThreadCategory category;
};

/// What a stream of an accelerator did; ps and bytes. An instant counts once.
struct StreamTotals {
    std::uint64_t kernels = 0;
    std::int64_t kernel_ps = 0;
    std::uint64_t copies = 0, bytes_to_host = 0, bytes_to_device = 0;
    std::int64_t copy_ps = 0;
};

/// What the reader finds on one location: what the replay needs, and what it does not.
struct LocationTrace : replay::Timeline {
    std::uint64_t events = 0;                // all events read
    std::uint64_t communication_events = 0;  // those of communication calls: their Enter, Leave and records
    std::vector<ProfileRow> profile;
    std::vector<Sample> samples;            // in the order of time
    std::vector<FileCall> file_calls;       // in the order of time
    std::vector<DetailLevel> levels;        // in the order of calls
    std::vector<OpenCall> open;             // of its threads; one at most, as a rule
    std::vector<std::uint32_t> any_source;  // receives that named no sender, in the order of their ends
    OneSidedTotals one_sided;
    std::vector<PendingRequests::Entry> begun;  // requests that did not end on this location,
    std::vector<RequestEnd> ended;              // and that did not begin on it; join_requests empties both
    std::vector<TransferKey> open_transfers;    // likewise transfers that nothing completed on this location,
    std::vector<TransferKey> ended_transfers;   // and that did not start on it
    std::vector<ThreadRecord> threads;          // in the order of their ends; until `thread_spans` has divided them
    StreamTotals stream;
    bool has_been_off = false;  // its measurement was switched off at some time
};

/// What the order of causes and effects says of the clocks, and what was done about it.
struct ClockFindings {
    struct Violations {
        std::uint64_t messages = 0;     // received before they were sent
        std::uint64_t collectives = 0;  // members that left one before another, which they wait for, arrived
    };
    Violations recorded;           // before any logical clock
    Violations left;               // in this trace
    std::int64_t largest_ps = 0;   // the largest correction of a time
    std::uint64_t processes = 0;   // whose times were corrected
    std::int64_t transit_ps[2]{};  // least duration of a corrected message: within a node, between two
};

struct Trace {
    Trace() = default;
    Trace(Trace&&) = default;
    Trace& operator=(Trace&&) = default;
    Trace(const Trace&) = delete;  // its columns are not copied
    Trace& operator=(const Trace&) = delete;
    ~Trace() = default;

    std::shared_ptr<replay::Spill> spill;   // see Program::spill
    std::shared_ptr<MappedColumns> mapped;  // of one that others have read; else null
    std::uint64_t ticks_per_second = 0;
    std::int64_t begin_ps = 0;                                     // the earliest event, from the clock's zero
    std::int64_t length_ps = 0;                                    // from the earliest to the latest event
    std::vector<std::string> properties_names, properties_values;  // the archive's own properties
    std::vector<Region> regions;
    std::vector<Node> nodes;
    std::vector<Location> locations;
    std::vector<Communicator> communicators;
    std::vector<RmaWindow> windows;
    std::vector<Callpath> callpaths;
    std::vector<Site> sites;  // the first one stands for an unknown place
    std::vector<Layout> layouts;
    std::int64_t sample_ps = 0;            // processor time of a thread from sample to sample; 0: not known
    std::vector<LocationTrace> traces;     // one per location
    std::vector<ThreadSpan> thread_spans;  // by location, then time
    std::uint32_t collective_instances = 0;
    ClockFindings clocks;                             // of `read_program`
    std::vector<std::uint64_t> quality;               // by Quality
    std::vector<std::string> quality_names_affected;  // files and locations that a counter speaks of, "counter: name"
    replay::Program program;                          // once `take_program` has moved it there
};

}  // namespace logpost::analyzer
