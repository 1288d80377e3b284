#pragma once

/// What the reader leaves of an archive: the communication calls, the two ends of every message, the collective
/// operations, and a folded profile. User-region events are not kept.
///
/// Times are picoseconds (int64) from the start of the trace; ids are dense (0..n-1).

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "column.hpp"

namespace logpost::analyzer {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int32_t kUndefined = -1;

/// What a communication region does, derived from its name (never from its paradigm alone: writers get that wrong).
enum class RegionKind : std::uint8_t {
    user,                 // not a communication region
    send,                 // blocking send in any mode: Send, Ssend, Bsend, Rsend
    send_synchronous,     // Ssend, Issend: completes only after the match
    send_buffered,        // Bsend, Ibsend
    send_nonblocking,     // Isend, Irsend, Start of a send, ...
    receive,              // Recv, Mrecv
    receive_nonblocking,  // Irecv, Imrecv, Recv_init, ...
    send_receive,         // Sendrecv, Sendrecv_replace
    start,                // Start, Startall
    wait,                 // Wait
    wait_multi,           // Waitall, Waitany, Waitsome
    test,                 // Test, Testall, Testany, Testsome
    probe,                // Probe, Iprobe, Mprobe, Improbe
    barrier,
    collective,  // every other blocking collective
    collective_nonblocking,
    one_sided,  // Put, Get, Accumulate, Win_*, shmem_*
    init_finalize,
    io,
    other,  // communicator and datatype management, everything else of the library
};

struct Region {
    std::string name;
    std::string file;
    std::uint32_t line = 0;
    std::uint8_t role = 0;      // OTF2_RegionRole
    std::uint8_t paradigm = 0;  // OTF2_Paradigm
    RegionKind kind = RegionKind::user;
};

struct Location {
    std::uint64_t ref = 0;  // the archive's id
    std::string name;
    std::uint8_t type = 0;            // OTF2_LocationType
    std::int32_t group = kUndefined;  // process; dense
    std::int32_t node = kUndefined;   // dense id of the system tree node of class "node" above it, or the nearest
    std::int32_t rank = kUndefined;   // rank in the paradigm's COMM_LOCATIONS group; kUndefined: not a rank
    std::string cpu_binding;          // the property logpost:cpu_binding; empty: the archive does not say
};

struct Node {
    std::string name;
    std::string class_name;
    std::int32_t parent = kUndefined;
    std::int32_t cores = 0;  // 0: the archive does not say
};

struct Communicator {
    std::uint64_t ref = 0;
    std::string name;
    std::vector<std::int32_t> locations;         // dense location of rank i (local group), kUndefined where absent
    std::vector<std::int32_t> remote_locations;  // inter-communicators only
    std::int32_t parent = kUndefined;
    bool is_self = false;
};

/// A node of the calling-context tree. Parents come before children; the order does not depend on the threads.
struct Callpath {
    std::int32_t parent = kUndefined;
    std::int32_t region = kUndefined;
};

/// One outermost communication call on one location. 24 bytes.
struct Call {
    std::int64_t enter_ps;
    std::int64_t leave_ps;
    std::int32_t region;
    std::int32_t callpath;
};

/// One end of a message. 32 bytes. Sends stand in program order, receives in the order of their *requests*.
struct Endpoint {
    std::uint32_t call;           // the call that made the request: Send, Isend, Start; Recv, Irecv
    std::uint32_t complete_call;  // the call that completed it (== call if blocking); kNone: never completed
    std::uint64_t bytes;
    std::int32_t peer;  // dense location of the other end; kUndefined: absent or never known
    std::int32_t comm;  // dense communicator; kUndefined: an undefined reference, or a receive never completed
    std::int32_t tag;
    std::uint32_t match;  // index of the other end in its location's list; kNone: unmatched
};

/// The layout of a message's data, where the archive states it, keyed by the send's index. Sorted by `send`.
struct SendLayout {
    std::uint32_t send;
    std::int32_t layout;  // index into Trace::layouts
};

struct Layout {
    std::uint64_t blocks = 1;
    std::uint64_t block_bytes = 0;
    std::int64_t stride_bytes = 0;
    std::uint64_t extent_bytes = 0;
    std::string text;  // as the archive gives it
};

/// One rank's part in a collective operation.
struct Collective {
    std::int64_t begin_ps;  // enter of the call
    std::int64_t end_ps;    // the MpiCollectiveEnd record (completion, if nonblocking)
    std::uint64_t bytes_sent;
    std::uint64_t bytes_received;
    std::uint32_t call;           // the call (the request, if nonblocking)
    std::uint32_t complete_call;  // kNone: not completed
    std::int32_t comm;            // kUndefined: an undefined reference, or a nonblocking one never completed
    std::int32_t root;            // rank in comm; kUndefined: none
    std::uint32_t instance;       // dense, over the whole trace; kNone: the other members are missing
    std::uint8_t operation;       // OTF2_CollectiveOp
};

struct ProfileRow {
    std::int32_t callpath;
    std::uint64_t visits;
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

struct LocationTrace {
    std::int64_t first_ps = 0;  // first and last event of the location
    std::int64_t last_ps = 0;
    std::uint64_t events = 0;                // all events read
    std::uint64_t communication_events = 0;  // those of communication calls: their Enter, Leave and records
    Column<Call> calls;
    Column<Endpoint> sends;
    Column<Endpoint> receives;
    Column<Collective> collectives;
    Column<SendLayout> layouts;
    std::vector<ProfileRow> profile;
    OneSidedTotals one_sided;
};

struct Trace {
    Trace() = default;
    Trace(Trace&&) = default;
    Trace& operator=(Trace&&) = default;
    Trace(const Trace&) = delete;  // its columns are not copied
    Trace& operator=(const Trace&) = delete;
    ~Trace() = default;

    std::uint64_t ticks_per_second = 0;
    std::int64_t length_ps = 0;                                    // from the earliest to the latest event
    std::vector<std::string> properties_names, properties_values;  // the archive's own properties
    std::vector<Region> regions;
    std::vector<Node> nodes;
    std::vector<Location> locations;
    std::vector<Communicator> communicators;
    std::vector<Callpath> callpaths;
    std::vector<Layout> layouts;
    std::vector<LocationTrace> traces;  // one per location
    std::uint32_t collective_instances = 0;
    std::vector<std::uint64_t> quality;               // by Quality
    std::vector<std::string> quality_names_affected;  // files and locations that a counter speaks of, "counter: name"
};

}  // namespace logpost::analyzer
