#pragma once

/// Schedules in the text form of GOAL, as LogGOPSim's txt2bin reads it.

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace logpost::replay {

/// The file is no such schedule. The message has its line.
class GoalError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct GoalOperation {
    enum class Kind : std::uint8_t { send = 1, receive = 2, compute = 3 };  // in the order in which they start
    Kind kind = Kind::compute;
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint32_t waits = 0;  ///< for how many others
    std::uint64_t value = 0;  ///< bytes, or time in the schedule's unit
};

/// Which operation waits for which, of one rank.
struct GoalEdge {
    std::uint32_t from, to;
};

struct GoalRank {
    std::vector<GoalOperation> operations;
    std::vector<GoalEdge> on_start, on_end;  ///< `irequires`, `requires`; by `from`, of one in the order of the text
};

struct GoalSchedule {
    std::vector<GoalRank> ranks;
    std::uint32_t cpus = 1, nics = 1;  ///< of a rank
};

/// Throws GoalError.
GoalSchedule read_goal(const std::filesystem::path& file);

}  // namespace logpost::replay
