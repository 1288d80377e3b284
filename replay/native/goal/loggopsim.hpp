#pragma once

/// A schedule under LogGOPSim's rules (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010; github.com/spcl/LogGOPSim).
///
/// * A send takes the processor for o and the NIC for g + (s - 1) G, once both are free.
/// * A message is there o + L after its send started. It takes the receiver's processor for o + (s - 1) G and its NIC
///   for g + (s - 1) G, once both are free: also before its receive is posted.
/// * A receive lasts nothing: it is done with its message, or at once where that was there before.
/// * A rendezvous (s above the eager limit): the send is done where its message and receive meet; the reply lasts
///   nothing.
/// * Computation takes the processor.
///
/// Our own replay differs in what arrives: a message takes the NIC alone, and its receive takes the processor.

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "replay/native/goal/schedule.hpp"

namespace logpost::replay {

/// What a message of a size costs from one rank to another; ps.
struct GoalCost {
    std::int64_t L = 0, o_s = 0, o_r = 0;
    std::int64_t serialization = 0;  ///< (s - 1) G
    std::int64_t g = 0;
    bool rendezvous = false;
};

/// Messages without receives, or the other way round.
class UnmatchedError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// When each rank's processors are free for good; ps. `unit_ps`: of the schedule's times. Throws UnmatchedError.
std::vector<std::int64_t> loggopsim_times(
    const GoalSchedule& schedule, std::int64_t unit_ps,
    const std::function<GoalCost(std::uint32_t from, std::uint32_t to, std::uint64_t bytes)>& cost_of);

}  // namespace logpost::replay
