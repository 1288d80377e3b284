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

    /// The wait of a message that arrives at `arrival_ps` and needs `service_ps`.
    std::int64_t wait(std::int64_t arrival_ps, std::int64_t service_ps) noexcept {
        if (!queues_) {
            return 0;
        }
        const std::int64_t start = std::max(arrival_ps, free_at_);
        const std::int64_t wait = start - arrival_ps;
        free_at_ = arrival_ps + std::min(wait + service_ps, kMostWaitPs);
        return wait;
    }

    /// It serves others until then.
    void occupy(std::int64_t until_ps) noexcept {
        if (queues_) {
            free_at_ = std::max(free_at_, until_ps);
        }
    }

    /// No wait is longer than 80 hours: waits of extreme services, on top of a time below 2^62, fit.
    static constexpr std::int64_t kMostWaitPs = std::int64_t{1} << 58;

    void reset() noexcept { free_at_ = INT64_MIN; }

  private:
    std::int64_t free_at_ = INT64_MIN;
    bool queues_;
};

}  // namespace logpost::replay
