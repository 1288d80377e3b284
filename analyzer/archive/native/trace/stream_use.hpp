#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// What one stream of an accelerator does: kernels are its outermost regions, copies are transfers through a window
/// that it shares with its host. An instant that belongs to two counts for the one that ends first.
class StreamUse {
  public:
    void begin(StreamTotals& out) {
        out_ = &out;
        open_.clear();
        busy_until_ = std::numeric_limits<std::int64_t>::min();
    }

    void kernel(std::int64_t enter, std::int64_t leave) {
        ++out_->kernels;
        out_->kernel_ps += fresh(enter, leave);
    }
    /// `gets`: the accelerator takes from its host.
    void copy_begins(std::int64_t now, std::uint64_t matching, std::uint64_t bytes, bool gets) {
        ++out_->copies;
        (gets ? out_->bytes_to_device : out_->bytes_to_host) += bytes;
        open_.push_back({now, matching});
    }
    void copy_ends(std::int64_t now, std::uint64_t matching) {
        const auto open = std::ranges::find(open_, matching, &Copy::matching);
        if (open != open_.end()) {
            out_->copy_ps += fresh(open->begin, now);
            open_.erase(open);
        }
    }

  private:
    struct Copy {
        std::int64_t begin;
        std::uint64_t matching;
    };

    /// What of a time the stream has not been busy in before.
    std::int64_t fresh(std::int64_t begin, std::int64_t end) {
        const auto from = std::max(begin, busy_until_);
        busy_until_ = std::max(end, busy_until_);
        return std::max(std::int64_t{0}, end - from);
    }

    StreamTotals* out_ = nullptr;
    std::vector<Copy> open_;
    std::int64_t busy_until_ = 0;
};

}  // namespace logpost::analyzer
