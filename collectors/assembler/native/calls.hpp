// The whole calls of one thread's log, with the records that precede them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "model.hpp"

namespace logpost::assembler {

class Calls {
  public:
    explicit Calls(const Thread& thread) : thread_(&thread) { advance(); }

    // Moves to the next whole call; false at the end of the log.
    bool advance();

    // The call at hand, or where recording went off or on, or another thread took the log over; nothing at the end of
    // the log.
    const std::optional<Record>& call() const { return call_; }
    // Parts of that call: requests that it started, tested or completed.
    const std::vector<Record>& parts() const { return parts_; }
    // Windows moved while that call was being noted: they follow it.
    const std::vector<Record>& windows() const { return windows_; }
    const Thread& thread() const { return *thread_; }
    const std::string& path() const { return thread_->log.path(); }

  private:
    const Thread* thread_;
    std::size_t offset_ = 0;
    std::vector<Record> parts_;
    std::vector<Record> windows_;
    std::optional<Record> call_;
    bool off_ = false;
};

// Visits the number of the thread whose next call ended first, until no thread has one. Of calls that ended at the
// same time that of the thread with the smaller number is first.
template <class Visit>
void for_each_in_order(std::vector<Calls>& threads, Visit&& visit) {
    using Next = std::pair<std::uint64_t, std::size_t>;  // when its call ended, and the thread
    std::priority_queue<Next, std::vector<Next>, std::greater<>> order;
    const auto wait = [&](std::size_t thread) {
        if (threads[thread].call()) {
            order.emplace(threads[thread].call()->head.leave, thread);
        }
    };
    for (std::size_t i = 0; i < threads.size(); ++i) {
        wait(i);
    }
    while (!order.empty()) {
        const std::size_t thread = order.top().second;
        order.pop();
        visit(thread);
        threads[thread].advance();
        wait(thread);
    }
}

}  // namespace logpost::assembler
