#pragma once

#include <cstddef>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/lanes.hpp"
#include "replay/native/memory/huge_array.hpp"

namespace logpost::replay {

/// The times of a replay by slot: that of `Graph::kNoSource` is 0, the others are written before they are read. From
/// 2 MiB on in huge pages: two threads that touch fresh small ones take turns in the kernel.
template <std::size_t Lanes>
class SlotTimes {
  public:
    explicit SlotTimes(const Graph& graph) {
        if (graph.slots_needed * sizeof(LaneTimes<Lanes>) >= kHuge) {
            large_ = HugeArray<LaneTimes<Lanes>>(graph.slots_needed);
            times_ = large_.data();
            times_[Graph::kNoSource] = {};
        } else {
            small_.resize(graph.slots_needed);
            times_ = small_.data();
        }
    }
    [[nodiscard]] LaneTimes<Lanes>* data() noexcept { return times_; }
    [[nodiscard]] LaneTimes<Lanes>& operator[](std::size_t slot) noexcept { return times_[slot]; }

  private:
    static constexpr std::size_t kHuge = std::size_t{2} << 20U;
    std::vector<LaneTimes<Lanes>> small_;
    HugeArray<LaneTimes<Lanes>> large_;
    LaneTimes<Lanes>* times_ = nullptr;
};

}  // namespace logpost::replay
