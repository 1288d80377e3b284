#pragma once

/// Which location waited for which, from recorded times alone: what the critical path and the delay costs follow.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "replay/native/memory/arena.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/waits/collective_waits.hpp"
#include "replay/native/waits/wait_states.hpp"

namespace logpost::replay {

enum class WaitKind : std::uint8_t {
    late_sender,
    late_receiver,
    barrier,
    all_to_all,
    one_to_all,
    all_to_one,
    prefix,
    start_up,       ///< initialization, which all leave after the last has entered
    shut_down,      ///< finalization, likewise
    late_post,      ///< of an access: its target's post
    late_complete,  ///< of an exposure: the end of its last access
    late_change,    ///< of the own memory
    lock,           ///< its release by its holder
    creation,       ///< of a communicator, window or file, or its release: the last member
};
inline constexpr std::size_t kWaitKinds = 14;
/// Names of the kinds, in their order.
inline constexpr std::array<std::string_view, kWaitKinds> kWaitKindNames{
    "late_sender",   "late_receiver", "wait_at_barrier", "wait_at_nxn",     "late_broadcast",
    "early_reduce",  "early_scan",    "start_up",        "shut_down",       "late_post",
    "late_complete", "late_change",   "lock_wait",       "wait_at_creation"};

/// A call that waited, from its enter on, until another location entered a call. 24 bytes.
struct Wait {
    std::int64_t until_ps;
    std::uint32_t call;
    Location cause;
    std::uint32_t cause_call;  ///< its call
    WaitKind kind;
};

/// Until when the calls of one location waited, in the order of calls: all that accounts need. 12 bytes each.
struct WaitEnds {
    std::span<const std::uint32_t> calls;
    std::span<const std::int64_t> until_ps;
};

/// A synchronization of all ranks: initialization or finalization, where all left it after the last had entered.
struct Rendezvous {
    CollectiveWaits::Member latest;
    std::int64_t earliest_end = INT64_MAX;
    std::vector<std::uint32_t> calls = {};  ///< by location; kNone: it took no part
};

/// The waits of every accounted location, in the order of its calls; a call has one at most, the one that ended last.
class Waits {
  public:
    /// `interest` by location; empty: all calls. Only the wait states are of calls entered there.
    Waits(const Program& program, const CollectiveWaits& collectives, const std::vector<Span>& interest,
          unsigned threads);

    [[nodiscard]] std::span<const Wait> of(std::size_t location) const noexcept { return waits_[location]; }
    /// By location; of one that is not accounted, nothing.
    [[nodiscard]] const std::vector<WaitTotals>& states() const noexcept { return states_; }
    [[nodiscard]] const Rendezvous& start_up() const noexcept { return start_up_; }
    [[nodiscard]] const Rendezvous& shut_down() const noexcept { return shut_down_; }

  private:
    Arena memory_;
    std::vector<std::span<const Wait>> waits_;  // by location
    std::vector<WaitTotals> states_;
    Rendezvous start_up_;
    Rendezvous shut_down_;
};

}  // namespace logpost::replay
