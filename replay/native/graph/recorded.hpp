#pragma once

/// A recorded program as a graph of what waits for what, from measured times and the parts of its messages alone.
///
/// The what-if graph (`Graph`) asks what a machine makes of a program; this one, what a cause costs it. Nodes are the
/// enters and leaves of calls, and where the members of a collective operation meet:
///
///     enter(c) = leave(call before c) + code between the two
///     leave(c) = max(enter(c) + work(c), t + lag for each node at t that c waits for)
///
/// Members of a collective operation wait for those whose data they need: for all, for the root, or, of a reduction or
/// a gather, the root alone for all. Lags are the messages' own parts; what arrives last gets what was measured, so
/// that the graph repeats the run exactly. Queries that poll for a message, in a row or blocking, wait for it as a
/// receive does. Times in ps.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/memory/huge_column.hpp"
#include "replay/native/program/shape.hpp"

namespace logpost::replay {

/// For what a call waits.
enum class Reason : std::uint8_t {
    send,      ///< the sender's call to begin
    post,      ///< the receive to be posted
    attend,    ///< the receiver to attend to an open handshake
    begin,     ///< the sender to attend to it
    member,    ///< the members of its operation to enter
    access,    ///< the target to expose its memory
    exposure,  ///< the origin to end its access
    lock,      ///< the holder of a lock to release it
    change,    ///< the transfer that changes its memory to begin
    target,    ///< the target to attend to its transfer
    itself,    ///< what it takes beside a wait for one of these
};
inline constexpr std::array<std::string_view, 11> kReasonNames{
    "send", "post", "attend", "begin", "member", "access", "exposure", "lock", "change", "target", "itself"};

/// What a call path's calls ask for.
enum class Query : std::uint8_t {
    none,
    query,  ///< whether a message is there: Test, Iprobe
    probe,  ///< for a message, until it is there: Probe
};

/// Calls in the order of location and time; a row each.
struct RecordedCalls {
    std::span<const std::int32_t> location, callpath;
    std::span<const std::int64_t> enter_ps, leave_ps;
    std::span<const std::int64_t> begin_ps;  ///< of the program, on the call's location
    std::span<const std::int64_t> work_ps;   ///< what the call does itself
};

/// Messages by rows of the calls, and their parts.
struct RecordedMessages {
    std::span<const std::int32_t> send_call, complete_call, post_call, recv_call;
    std::span<const std::uint8_t> rendezvous;
    std::span<const std::int64_t> transport_ps;  ///< what it takes once both ends are ready
    std::span<const std::int64_t> latency_ps, serialization_ps;
    std::span<const std::int64_t> received_ps;  ///< of that: the receiver's work once the message has come
};

/// Members of collective operations, by operation.
struct RecordedMembers {
    std::span<const std::int32_t> instance, call;
    std::span<const std::int32_t> complete;   ///< the call that waits: another one where the operation is nonblocking
    std::span<const std::uint8_t> operation;  ///< Operation
    std::span<const std::uint8_t> root;       ///< 1: the operation's root
};

/// Waits of one-sided communication: calls, and those whose enter or leave each of them waits for.
struct RecordedEpochs {
    std::span<const std::int32_t> call, source;
    std::span<const std::uint8_t> leaves;   ///< 1: until the source's leave
    std::span<const std::uint8_t> own;      ///< 1: the rest is its own, which it takes without a wait as well
    std::span<const std::uint8_t> reason;   ///< Reason
    std::span<const std::int64_t> rest_ps;  ///< what the call takes without the wait
};

/// How the polling of a program is told from its work.
struct Polling {
    std::span<const std::uint8_t> query;  ///< by call path: Query
    std::int64_t spin_ps = 0;             ///< code between two queries that is no more than this is waiting, too
};

/// How a query's waits are told.
enum Polled : std::uint8_t {
    kKept,     ///< as those of any call
    kCleared,  ///< none: a later query has them
    kTaken,    ///< for the senders of the messages that it asks for
};

/// A call waits for a node, and then for `lag_ps`.
struct RecordedWait {
    std::uint32_t source;  ///< node
    std::int32_t message;  ///< row of the messages; -1: none
    std::int64_t lag_ps;
    Reason reason;
    std::int64_t cut_ps = 0;  ///< by how much the message's parts are more than there was time for
};

/// The target is not before the source.
struct Dependency {
    std::uint32_t source, target;  ///< nodes
};

class RecordedGraph {
  public:
    struct Ordered {
        HugeColumn<std::uint32_t> order;  ///< all nodes, causes first
        bool cyclic;                      ///< of a cycle the earliest node goes first
    };

    /// Throws std::invalid_argument where columns contradict each other.
    RecordedGraph(const RecordedCalls& calls, const RecordedMessages& messages, const RecordedMembers& members,
                  const RecordedEpochs& epochs, const Polling& polling);

    [[nodiscard]] std::uint32_t calls() const noexcept { return static_cast<std::uint32_t>(enter_ps.size()); }
    [[nodiscard]] static std::uint32_t enter_node(std::uint32_t call) noexcept { return 2 * call; }
    [[nodiscard]] static std::uint32_t leave_node(std::uint32_t call) noexcept { return 2 * call + 1; }
    [[nodiscard]] std::uint32_t meeting_node(std::size_t operation) const noexcept {
        return 2 * calls() + static_cast<std::uint32_t>(operation);
    }
    /// The call whose enter is this node; where members meet: the last one's.
    [[nodiscard]] std::uint32_t call_of(std::uint32_t node) const noexcept {
        return node < 2 * calls() ? node / 2 : last_member[node - 2 * calls()];
    }
    [[nodiscard]] bool has_before(std::uint32_t call) const noexcept {
        return call > 0 && location[call - 1] == location[call];
    }
    [[nodiscard]] std::span<const RecordedWait> waits_of(std::uint32_t call) const noexcept {
        return {waits.data() + first_wait[call], waits.data() + first_wait[call + 1]};
    }
    [[nodiscard]] std::int64_t length_of(std::uint32_t call) const noexcept { return leave_ps[call] - enter_ps[call]; }
    /// A query that waits does nothing itself, though its clock may show no time at all.
    [[nodiscard]] bool works_all_the_time(std::uint32_t call) const noexcept {
        return polls[call] == 0 && work_ps[call] >= length_of(call);
    }
    /// What a call waits for last; null where its own work lasts longer.
    [[nodiscard]] const RecordedWait* binding(std::uint32_t call) const noexcept;
    /// When a node was.
    [[nodiscard]] std::int64_t time(std::uint32_t node) const noexcept;

    /// All of them, one per pair of nodes and reason.
    [[nodiscard]] std::vector<Dependency> dependencies() const;
    [[nodiscard]] Ordered in_order(const std::vector<Dependency>& edges) const;

    /// Ranks that compute one after the other, each on what the one before it has passed on, from the call's enter
    /// until it has its message.
    [[nodiscard]] std::uint32_t depth(std::uint32_t call) const;

    // By call.
    std::vector<std::int32_t> location;
    std::vector<std::int64_t> enter_ps, leave_ps;
    std::vector<std::int64_t> gap_ps;   ///< code before it since the call before; 0 where that is waiting
    std::vector<std::int64_t> work_ps;  ///< what it does itself; all of its time where nothing explains more
    std::vector<std::uint8_t> polls;    ///< 1: asks for a message that has not come yet
    std::vector<std::uint32_t> first_wait;
    std::vector<RecordedWait> waits;  ///< by the call that waits

    std::vector<std::uint32_t> first_member;  ///< by operation
    std::vector<std::uint32_t> member;        ///< calls
    std::vector<std::uint32_t> completing;    ///< by member: the call that waits
    std::vector<Shape> shapes;                ///< by operation: whom its members need
    std::vector<std::int64_t> root;           ///< by operation: the root's call; -1: none, or not known
    std::vector<std::uint32_t> last_member;   ///< by operation: the call that enters last
    HugeColumn<std::uint32_t> order;          ///< all nodes, causes first

  private:
    struct Pending {
        std::uint32_t call;
        RecordedWait wait;
    };

    void take_calls(const RecordedCalls& calls);
    void take_members(const RecordedMembers& members);
    /// Whether a call's waits for messages are replaced by those for senders, by call.
    [[nodiscard]] std::vector<std::uint8_t> see_through_polls(const RecordedCalls& calls,
                                                              const RecordedMessages& messages, const Polling& polling,
                                                              std::vector<Pending>& pending);
    void wait_for_messages(const RecordedMessages& messages, const std::vector<std::uint8_t>& polled,
                           std::vector<Pending>& pending) const;
    void wait_for_members(std::span<const std::int32_t> callpath, const std::vector<std::uint8_t>& polled,
                          std::vector<Pending>& pending);
    /// Whether data goes to or from a root that is known.
    [[nodiscard]] bool one_way(std::size_t operation) const noexcept;
    /// Of such an operation, whether a member needs no other: the root of Bcast, all but the root of Reduce.
    [[nodiscard]] bool gives(std::size_t operation, std::uint32_t call) const noexcept;
    /// When all are in whom those wait for who take.
    [[nodiscard]] std::uint32_t giver_node(std::size_t operation) const noexcept;
    /// By member of such operations: the shortest stay at its place, in its role, with nobody to wait for; 0: none was.
    [[nodiscard]] std::vector<std::int64_t> stays_alone(std::span<const std::int32_t> callpath) const;
    /// The node that one which gives waited for all the same, as its times show; kNone: it did not.
    [[nodiscard]] std::uint32_t waited_for(std::size_t operation, std::uint32_t call,
                                           std::int64_t alone) const noexcept;
    void wait_for_epochs(const RecordedEpochs& epochs, std::vector<Pending>& pending) const;
    [[nodiscard]] bool is_held(std::uint32_t call, const RecordedWait& wait) const;
    void repeat_the_run(std::vector<Pending>& pending);
    void put_in_order();

    std::vector<std::uint8_t> is_member_;  // by call
};

}  // namespace logpost::replay
