#pragma once

/// A cure: a transformation of a recorded program's edges, and its replay.
///
/// The weights are the calibrated ones, so that the graph without a transformation gives back every measured time. A
/// server (a NIC, a location's own end of the memory) serves messages in the order of their arrival; a message that was
/// recorded later than the model has it stays as late. Times in ps.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/replay.hpp"

namespace logpost::replay {

/// How a message is sent.
enum class Sent : std::uint8_t {
    as_recorded,
    never,  ///< it is part of another message, or is no longer sent
    eager,  ///< its data leaves at once, and its sender waits for no receive
};

/// What differs from the run. By call and by message, of the whole program; an empty column: nothing.
struct Transformation {
    // By call.
    std::span<const std::int64_t> longer_ps = {};  ///< how much longer the code before it is
    std::span<const std::int64_t> lasts_ps = {};   ///< its duration, whatever arrives; -1: as recorded
    std::span<const std::uint8_t> permitted = {};  ///< 1: an epoch of accesses that it begins is permitted at once
    // By location.
    std::span<const std::int64_t> longer_at_end_ps = {};  ///< how much longer the code behind its last call is
    // By message, as Graph::steps.
    std::span<const std::uint8_t> sent = {};         ///< Sent
    std::span<const std::int32_t> send_as = {};      ///< the message of the same sender in whose calls it is sent
    std::span<const std::int32_t> receive_as = {};   ///< likewise of its receiver
    std::span<const std::int32_t> sent_from = {};    ///< the call at whose enter its sender starts it
    std::span<const std::int32_t> posted_by = {};    ///< the call at whose enter its receive is posted, and answered
    std::span<const std::int32_t> received_by = {};  ///< the call that waits for it
    std::span<const std::uint8_t> as_modelled = {};  ///< 1: its steps take what the machine says, at most
    std::span<const std::int64_t> shorter_send_ps = {};     ///< by which its sender handles it sooner
    std::span<const std::int64_t> shorter_receive_ps = {};  ///< likewise its receiver
    std::span<const std::int64_t> more_latency_ps = {};
    std::span<const std::int64_t> more_service_ps = {};   ///< of both its servers
    std::span<const std::int64_t> more_received_ps = {};  ///< from its first byte to its end at the receiver
    std::span<const std::int64_t> more_handled_ps = {};   ///< of its receiver's processor
    /// At its receiver, another server than the recorded one: a further one, by number; -2 - k: that of message k.
    std::span<const std::int32_t> arrives_through = {};
    // Further edges between calls: 2 c is the enter of call c, 2 c + 1 its leave, 2 calls + k the k-th further node.
    std::span<const std::uint32_t> from = {}, to = {};
    std::span<const std::int64_t> weight_ps = {};
    std::uint32_t further_nodes = 0;

    static constexpr std::int64_t kAsRecorded = -1;
};

/// What a stretch of the critical path is.
enum class CuredStretch : std::uint8_t {
    code,  ///< before a call
    work,  ///< a call that waits for no other
    wait,  ///< from another call to this one's end: a message, or members that meet
};

/// The program under a transformation.
struct CuredTimes {
    struct OnPath {
        std::uint32_t call;  ///< where it ends
        CuredStretch what;
        std::int64_t begin_ps, end_ps;
    };
    std::vector<std::int64_t> enter_ps, leave_ps;  ///< by call
    std::int64_t program_ps = 0;                   ///< the longest program of a location
    std::vector<OnPath> path;  ///< where requested: what that program's end follows from, first stretch first
};

/// A graph with steps of its messages, ready for many transformations. What is given must outlive this.
class Cures {
  public:
    /// Throws std::invalid_argument where contention is replayed.
    Cures(const Graph& graph, const Parameters& machine);

    [[nodiscard]] const std::vector<MessageSteps>& messages() const noexcept { return graph_.steps; }

    /// The program under a transformation; none where events would have to be before themselves. Throws
    /// std::invalid_argument where a column does not fit.
    [[nodiscard]] std::optional<CuredTimes> replay(const Transformation& change, bool with_path = false) const;

  private:
    class Pass;

    [[nodiscard]] bool queues(std::uint32_t edge) const noexcept { return queue_[edge] != 0; }

    const Graph& graph_;
    HugeColumn<std::uint32_t> sources_;  // by edge
    std::vector<std::int64_t> weights_;  // likewise
    std::vector<std::uint8_t> queue_;    // likewise: orders a server's messages
    std::vector<std::uint8_t> compute_;  // likewise: code before a call
    std::vector<std::uint32_t> server_;  // by node; kNone: it is at none
    std::vector<std::int64_t> service_;  // by node: its service time
    std::vector<std::int64_t> late_;     // by node
    std::uint32_t servers_ = 0;
};

}  // namespace logpost::replay
