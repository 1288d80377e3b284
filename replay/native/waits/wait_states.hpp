#pragma once

/// Wait states with the definitions of Scalasca's trace analyser, so that its users find the figures they know.

#include <array>
#include <cstdint>
#include <span>

#include "replay/native/program/program.hpp"
#include "replay/native/waits/call_operations.hpp"
#include "replay/native/waits/collective_waits.hpp"
#include "replay/native/waits/message_waits.hpp"

namespace logpost::replay {

enum class WaitState : std::uint8_t {
    late_sender,
    late_receiver,
    wait_at_barrier,
    wait_at_nxn,
    late_broadcast,
    early_reduce,
    wait_at_fence,
    wait_at_creation,
};
inline constexpr std::size_t kWaitStates = 8;

struct WaitTotal {
    std::int64_t wait_ticks = 0;  ///< of the archive's clock: sums of picoseconds would keep each time's rounding
    std::uint64_t count = 0;
};
using WaitTotals = std::array<WaitTotal, kWaitStates>;

/// The wait states of the calls that one location entered in `interest`.
///
/// Late Sender of a message: min(enter(send), leave(receive-completing call)) - enter(receive-completing call), at the
/// receiver; MPI_Test* does not count, a multi-completion counts its largest, once.
/// Late Receiver: enter(receive request) - enter(send-completing call), at the sender, if positive and the
/// send-completing call is left after the request; a multi-completion counts its largest, and none if it had a Late
/// Sender candidate. Wait at Barrier, NxN and Fence: min(latest begin, own end) - own begin. Late Broadcast: min(root's
/// begin, own end) - own begin on the others. Early Reduce: min(earliest begin of another, own end) - own begin on the
/// root. Scalasca has no Wait at Creation: min(latest begin, own end) - own begin of operations that create or release
/// a handle, where all members were in one concurrently.
class WaitStates {
  public:
    WaitStates(const Program& program, const CollectiveWaits& collectives, std::size_t location, Span interest);

    /// Adds those of a call of the location, which waited so for messages and did these operations.
    void add(const Call& call, const MessageWaitStates& waits, std::span<const CallOperation> done) noexcept;
    [[nodiscard]] const WaitTotals& totals() const noexcept { return totals_; }

  private:
    void add(const Collective& operation) noexcept;
    void count(WaitState state, std::int64_t from_ps, std::int64_t until_ps) noexcept;
    [[nodiscard]] std::int64_t ticks(std::int64_t ps) const noexcept;

    const Program& program_;
    const CollectiveWaits& collectives_;
    std::size_t location_;
    Span interest_;
    WaitTotals totals_{};
};

}  // namespace logpost::replay
