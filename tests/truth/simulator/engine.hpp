#pragma once

/// Simulated time: events in the order of their times; of equal times, in the order in which they were scheduled.

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "machine.hpp"

namespace logpost::truth {

class Engine {
  public:
    [[nodiscard]] Time now() const noexcept { return now_; }

    void at(Time time, std::function<void()> action) { events_.push({time, next_++, std::move(action)}); }

    void run() {
        while (!events_.empty()) {
            auto event = events_.top();
            events_.pop();
            now_ = event.time;
            event.action();
        }
    }

  private:
    struct Event {
        Time time;
        std::uint64_t order;
        std::function<void()> action;
        bool operator<(const Event& other) const noexcept {
            return time != other.time ? time > other.time : order > other.order;
        }
    };
    std::priority_queue<Event> events_;
    std::uint64_t next_ = 0;
    Time now_ = 0;
};

}  // namespace logpost::truth
