#pragma once

#include <algorithm>
#include <cstdint>

namespace logpost::replay {

/// A FIFO server: Lindley's recursion, W_i = max(0, W_{i-1} + S_{i-1} - (A_i - A_{i-1})).
///
/// A NIC serves max(g, B G) per message, a receiving processor o_r. Feed arrivals in ascending order. One that does not
/// queue serves everybody at once: that of a model without this wait.
class FifoServer {
  public:
    explicit FifoServer(bool queues = true) noexcept : queues_(queues) {}

    /// The wait of a customer that arrives at `arrival_ps` and needs `service_ps`.
    std::int64_t wait(std::int64_t arrival_ps, std::int64_t service_ps) noexcept {
        if (!queues_) {
            return 0;
        }
        const std::int64_t start = std::max(arrival_ps, free_at_);
        free_at_ = start + service_ps;
        return start - arrival_ps;
    }

    void reset() noexcept { free_at_ = INT64_MIN; }

  private:
    std::int64_t free_at_ = INT64_MIN;
    bool queues_;
};

}  // namespace logpost::replay
