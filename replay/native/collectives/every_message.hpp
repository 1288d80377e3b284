#pragma once

/// The messages of a collective operation one by one, for programs that replay them without knowing collectives.

#include <cstdint>
#include <vector>

#include "replay/native/collectives/algorithm.hpp"

namespace logpost::replay {

/// Messages in an order in which everything that one depends on is before it. Within a step, each member first
/// sends all it sends, and then takes what it gets, each in this order. Members are numbered as visit_schedule does.
struct EveryMessage {
    std::vector<std::int32_t> from, to, step;
    std::vector<std::uint64_t> bytes;
};

/// The algorithm that the what-if replay takes: dissemination for barriers, recursive doubling for allreduce, the
/// binomial tree where there is a root, pairwise exchange for alltoall; else the libraries' first choice.
[[nodiscard]] Algorithm usual(const Pattern& pattern) noexcept;

/// All messages of an operation; none where it has no schedule.
[[nodiscard]] EveryMessage every_message(const Pattern& pattern, Algorithm algorithm);

}  // namespace logpost::replay
