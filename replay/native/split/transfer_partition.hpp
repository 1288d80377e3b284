#pragma once

/// A one-sided transfer as a labelled partition of its measured time (docs/split.md, section 13): as of a message, but
/// its labels are categories of accounts, because a transfer may wait at a fence or for a lock, too.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "replay/native/cost/categories.hpp"
#include "replay/native/split/partition.hpp"

namespace logpost::replay {

/// What a transfer's time may be, in the order of the table's columns.
inline constexpr std::array<std::uint8_t, 12> kTransferCategories = {
    category_of(Part::send_overhead),
    category_of(Part::middleware),
    kLockWait,
    category_of(Part::late_receiver),
    category_of(Part::endpoint_contention),
    category_of(Part::latency),
    category_of(Part::serialization),
    category_of(Part::processor_queueing),
    category_of(Part::recv_overhead),
    kCollectiveWait,
    kCollective,
    kResidual,
};

class TransferPartition {
  public:
    struct Segment {
        std::int64_t begin;
        std::int64_t end;
        std::uint8_t category;
    };
    static constexpr std::size_t kMaxSegments = 18;

    explicit TransferPartition(std::int64_t begin) noexcept : begin_(begin), cursor_(begin) {}

    /// Appends `category` until `end`; nothing where that has passed.
    void place_until(std::uint8_t category, std::int64_t end) noexcept {
        if (end <= cursor_) {
            return;
        }
        if (size_ == 0 || segments_[size_ - 1].category != category) {
            segments_[size_++] = {cursor_, cursor_, category};
        }
        segments_[size_ - 1].end = end;
        cursor_ = end;
    }

    [[nodiscard]] std::int64_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::int64_t cursor() const noexcept { return cursor_; }
    [[nodiscard]] const Segment* begin_segment() const noexcept { return segments_.data(); }
    [[nodiscard]] const Segment* end_segment() const noexcept { return segments_.data() + size_; }
    [[nodiscard]] std::array<std::int64_t, kTransferCategories.size()> totals() const noexcept {
        std::array<std::int64_t, kTransferCategories.size()> sums{};
        for (const auto* segment = begin_segment(); segment != end_segment(); ++segment) {
            const auto at = std::ranges::find(kTransferCategories, segment->category);
            sums[static_cast<std::size_t>(at - kTransferCategories.begin())] += segment->end - segment->begin;
        }
        return sums;
    }

    std::int64_t deficit_ps = 0;   ///< how much more the model wanted than was measured
    std::int64_t planned_end = 0;  ///< when the model has it complete

  private:
    std::array<Segment, kMaxSegments> segments_;
    std::size_t size_ = 0;
    std::int64_t begin_;
    std::int64_t cursor_;
};

}  // namespace logpost::replay
