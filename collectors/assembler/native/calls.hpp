// The whole calls of one thread's log, with the records that precede them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model.hpp"

namespace logpost::assembler {

class Calls {
  public:
    explicit Calls(const Thread& thread) : thread_(&thread) { advance(); }

    // Moves to the next whole call; false at the end of the log.
    bool advance();

    // The call at hand, or where recording went off or on; nothing at the end of the log.
    const std::optional<Record>& call() const { return call_; }
    // Parts of that call: requests that it started, tested or completed.
    const std::vector<Record>& parts() const { return parts_; }
    // Windows moved while that call was being noted: they come after it.
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

// Visits the number of the thread whose next call ended first, until no thread has one.
template <class Visit>
void for_each_in_order(std::vector<Calls>& threads, Visit&& visit) {
    for (;;) {
        std::size_t next = threads.size();
        for (std::size_t i = 0; i < threads.size(); ++i) {
            if (threads[i].call() &&
                (next == threads.size() || threads[i].call()->head.leave < threads[next].call()->head.leave)) {
                next = i;
            }
        }
        if (next == threads.size()) {
            return;
        }
        visit(next);
        threads[next].advance();
    }
}

}  // namespace logpost::assembler
