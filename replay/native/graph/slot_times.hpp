#pragma once

#include <cstddef>
#include <span>

#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/lanes.hpp"
#include "replay/native/memory/arena.hpp"

namespace logpost::replay {

/// The times of a replay by slot: that of `Graph::kNoSource` is 0, the others are written before they are read.
template <std::size_t Lanes>
class SlotTimes {
  public:
    explicit SlotTimes(const Graph& graph) : times_(memory_.take<LaneTimes<Lanes>>(graph.slots_needed)) {
        times_[Graph::kNoSource] = {};
    }
    [[nodiscard]] LaneTimes<Lanes>* data() noexcept { return times_.data(); }
    [[nodiscard]] LaneTimes<Lanes>& operator[](std::size_t slot) noexcept { return times_[slot]; }

  private:
    Arena memory_;
    std::span<LaneTimes<Lanes>> times_;
};

}  // namespace logpost::replay
