#pragma once

/// The replay engine's program: communication calls, the two ends of every message, collective operations,
/// one-sided transfers, and where the processes ran. It is independent of trace formats, and filled from an archive
/// or from a run's tables.
///
/// Times are picoseconds (int64) from the start of the trace; ids are dense (0..n-1).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "replay/native/memory/column.hpp"
#include "replay/native/program/ids.hpp"
#include "replay/native/program/locality.hpp"
#include "replay/native/program/network.hpp"
#include "replay/native/program/placement.hpp"
#include "replay/native/program/span.hpp"

namespace logpost::replay {

class Spill;
enum class Algorithm : std::uint8_t;  // collectives/algorithm.hpp

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// What a communication call does.
enum class CallKind : std::uint8_t {
    user,                 // not a communication call
    send,                 // blocking send: Send, Rsend
    send_synchronous,     // Ssend, Issend: completes only after the match
    send_buffered,        // Bsend, Ibsend
    send_nonblocking,     // Isend, Irsend, ...
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
    initialize,
    finalize,
    io,
    other,         // communicator and datatype management, everything else of the library
    not_recorded,  // no call: a time at which recording was switched off or no thread lived
};
inline constexpr std::size_t kCallKinds = 22;

/// Whether calls of a kind only complete what others began.
[[nodiscard]] constexpr bool only_completes(CallKind kind) noexcept {
    return kind == CallKind::wait || kind == CallKind::wait_multi || kind == CallKind::test;
}

/// Whether calls of a kind move data or synchronize: how long they last is up to the network and the library. Probes
/// and tests look at what has arrived, and receives are posted; these last as long without a network.
[[nodiscard]] constexpr bool moves_data(CallKind kind) noexcept {
    switch (kind) {
        case CallKind::user:
        case CallKind::receive_nonblocking:
        case CallKind::test:
        case CallKind::probe:
        case CallKind::initialize:
        case CallKind::finalize:
        case CallKind::io:
        case CallKind::other:
        case CallKind::not_recorded:
            return false;
        default:
            return true;
    }
}

/// Names of the kinds, in their order, as the table `regions` has them.
inline constexpr std::string_view kCallKindNames[kCallKinds] = {"user",
                                                                "send",
                                                                "send_synchronous",
                                                                "send_buffered",
                                                                "send_nonblocking",
                                                                "receive",
                                                                "receive_nonblocking",
                                                                "send_receive",
                                                                "start",
                                                                "wait",
                                                                "wait_multi",
                                                                "test",
                                                                "probe",
                                                                "barrier",
                                                                "collective",
                                                                "collective_nonblocking",
                                                                "one_sided",
                                                                "init_finalize",
                                                                "init_finalize",
                                                                "io",
                                                                "other",
                                                                "not_recorded"};

/// One outermost communication call on one location. 24 bytes.
struct Call {
    std::int64_t enter_ps;
    std::int64_t leave_ps;
    std::int32_t region;
    std::int32_t callpath;
};

/// One end of a message. 32 bytes. Sends are in program order, receives in the order of their *requests*.
struct MessageEnd {
    std::uint32_t call;           // the call that made the request: Send, Isend, Start; Recv, Irecv
    std::uint32_t complete_call;  // the call that completed it (== call if blocking); kNone: never completed
    std::uint64_t bytes;
    Location peer;      // of the other end; kNoLocation: absent or never known
    std::int32_t comm;  // dense communicator; kUndefined: an undefined reference, or a receive never completed
    std::int32_t tag;
    std::uint32_t match;  // index of the other end in its location's list; kNone: unmatched
};

/// The layout of a message's data, where the trace states it, keyed by the send's index. Sorted by `send`.
struct SendLayout {
    std::uint32_t send;
    std::int32_t layout;  // index into Program::layouts
};

struct Layout {
    std::uint64_t blocks = 1;
    std::uint64_t block_bytes = 0;
    std::int64_t stride_bytes = 0;
    std::uint64_t extent_bytes = 0;
};

enum class Operation : std::uint8_t {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    allreduce,
    reduce,
    reduce_scatter,
    scan,
    exscan,
    reduce_scatter_block,
    create_handle,
    destroy_handle,
    allocate,
    deallocate,
    create_and_allocate,
    destroy_and_deallocate,
    fence,  // of a window: MPI_Win_fence
    unknown,
};
inline constexpr std::size_t kOperations = 25;

/// Names of the operations, in their order, as the table `collectives` has them.
inline constexpr std::string_view kOperationNames[kOperations] = {"Barrier",
                                                                  "Bcast",
                                                                  "Gather",
                                                                  "Gatherv",
                                                                  "Scatter",
                                                                  "Scatterv",
                                                                  "Allgather",
                                                                  "Allgatherv",
                                                                  "Alltoall",
                                                                  "Alltoallv",
                                                                  "Alltoallw",
                                                                  "Allreduce",
                                                                  "Reduce",
                                                                  "Reduce_scatter",
                                                                  "Scan",
                                                                  "Exscan",
                                                                  "Reduce_scatter_block",
                                                                  "create handle",
                                                                  "destroy handle",
                                                                  "allocate",
                                                                  "deallocate",
                                                                  "create handle and allocate",
                                                                  "destroy handle and deallocate",
                                                                  "Fence",
                                                                  "unknown"};

/// One location's part in a collective operation.
struct Collective {
    std::int64_t begin_ps;  // enter of the call
    std::int64_t end_ps;    // end of the operation (completion, if nonblocking)
    std::uint64_t bytes_sent;
    std::uint64_t bytes_received;
    std::uint32_t call;           // the call (the request, if nonblocking)
    std::uint32_t complete_call;  // kNone: not completed
    std::int32_t comm;            // kUndefined: an undefined reference, or a nonblocking one never completed
    Rank root;                    // in comm; kNoRank: none
    std::uint32_t instance;       // dense, over the whole program; kNone: the other members are missing
    Operation operation;
    std::int32_t rma_window = kUndefined;       // dense; kUndefined: of a communicator
    std::int32_t layout = kUndefined;           // of what the member gives, as of a transfer's data
    std::int32_t received_layout = kUndefined;  // of what it gets
};

/// A one-sided transfer at its origin. In the order of their starts.
struct Transfer {
    enum class Kind : std::uint8_t { put, get, atomic };
    std::uint64_t bytes;
    std::uint32_t call;           // that started it
    std::uint32_t complete_call;  // that completed it at the origin: flush, fence, unlock, itself; kNone: not known
    std::uint32_t remote_call;    // that made sure that it was complete at the target, too; kNone: none did
    Location target;              // kNoLocation: not known
    std::int32_t rma_window;      // dense
    Kind kind;
    std::int32_t layout = kUndefined;         // of the origin's data: row of Program::layouts; kUndefined: contiguous
    std::int32_t target_layout = kUndefined;  // of the target's
};
inline constexpr std::string_view kTransferKindNames[] = {"put", "get", "atomic"};

/// One process's access to a window of one other, or the other's permission for it. An access and the exposure that
/// permits it are each other's match, as the two ends of a message are.
struct Epoch {
    enum class Kind : std::uint8_t {
        access,          // Win_start .. Win_complete, to the target `peer`
        exposure,        // Win_post .. Win_wait, for the origin `peer`
        lock_shared,     // Win_lock .. Win_unlock; peer kNoLocation: of all targets (Win_lock_all)
        lock_exclusive,  //
        change,          // a wait for a change of the own memory: shmem_wait_until
    };
    static constexpr std::int64_t kNotRecorded = std::numeric_limits<std::int64_t>::min();
    std::int64_t acquired_ps;  // of a lock, where the trace says it
    std::uint64_t lock;        // which lock of the window
    std::uint32_t begin_call;
    std::uint32_t end_call;  // kNone: not ended
    Location peer;           // kNoLocation: of none, or of all
    std::int32_t rma_window;
    std::uint32_t match;  // index of the other side in the peer's epochs; kNone: none
    Kind kind;

    [[nodiscard]] bool locks() const noexcept { return kind == Kind::lock_shared || kind == Kind::lock_exclusive; }
};
inline constexpr std::string_view kEpochKindNames[] = {"access", "exposure", "lock_shared", "lock_exclusive", "change"};

/// What one location did.
struct Timeline {
    std::int64_t first_ps = 0;  // first and last event of the location
    std::int64_t last_ps = 0;
    Column<Call> calls;
    Column<MessageEnd> sends;
    Column<MessageEnd> receives;
    Column<Collective> collectives;
    Column<SendLayout> layouts;
    Column<Transfer> transfers;
    Column<Epoch> epochs;  // in the order of their begins
};

/// The algorithms that fit the measured ends of a kind of collective operations: of a communicator and a size class.
struct CarriedOut {
    Operation operation;
    std::int32_t comm;         // dense
    std::uint32_t size_class;  // std::bit_width of the bytes of a member's part
    Algorithm algorithm;       // the nearest
    Algorithm instead;         // fits as well; not_known: none does
};

struct Program {
    Program() = default;
    Program(Program&&) = default;
    Program& operator=(Program&&) = default;
    Program(const Program&) = delete;  // its columns are not copied
    Program& operator=(const Program&) = delete;
    ~Program() = default;

    std::shared_ptr<Spill> spill;  // where what has no place in memory lies; null: all has
    std::uint64_t ticks_per_second = 1;
    std::int64_t length_ps = 0;                  // from the earliest to the latest event
    std::vector<std::int32_t> callers;           // by callpath: the callpath above it; kUndefined: a root
    std::vector<CallKind> kinds;                 // by region
    std::vector<Layout> layouts;                 //
    std::vector<std::vector<Location>> members;  // by communicator and rank; kNoLocation where absent
    std::vector<std::uint32_t> first_group;      // by communicator: see `group_of`; may be empty: none has two
    Placement placement;                         // of the locations
    Network network;                             // between the nodes
    std::vector<std::uint8_t> accounted;         // by location: gets an account (a rank, or communicates), or 0
    std::vector<Span> spans;                     // by location: the program, between start-up and shut-down
    std::vector<Timeline> timelines;             // by location
    std::uint32_t collective_instances = 0;
    std::vector<CarriedOut> carried_out;  // as measured times show; what is not there is not known

    [[nodiscard]] std::size_t callpaths() const noexcept { return callers.size(); }
    [[nodiscard]] CallKind kind(const Call& call) const noexcept {
        return kinds[static_cast<std::size_t>(call.region)];
    }
    /// Which group of an inter-communicator a member belongs to; always 0 in other communicators.
    [[nodiscard]] std::size_t group_of(std::int32_t comm, Rank member) const noexcept {
        const auto at = static_cast<std::size_t>(comm);
        return at < first_group.size() && first_group[at] != 0 && index(member) >= first_group[at] ? 1 : 0;
    }
    /// Whether a communicator has two groups, each of which gets what the other one gives.
    [[nodiscard]] bool has_groups(std::int32_t comm) const noexcept {
        const auto at = static_cast<std::size_t>(comm);
        return comm >= 0 && at < first_group.size() && first_group[at] != 0;
    }
    /// Whether there may be times without records.
    [[nodiscard]] bool has_times_off() const noexcept {
        return std::ranges::find(kinds, CallKind::not_recorded) != kinds.end();
    }
};

}  // namespace logpost::replay
