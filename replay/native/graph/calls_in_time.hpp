#pragma once

/// The calls of all locations in the order of their enters.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "replay/native/memory/huge_column.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// Which of several arrives first, and which after that: a tree in which each node has the earlier of the two
/// below it. Of equal times, the smaller number.
class FirstOf {
  public:
    static constexpr std::int64_t kGone = std::numeric_limits<std::int64_t>::max();

    explicit FirstOf(std::size_t players)
        : leaves_(std::bit_ceil(std::max<std::size_t>(players, 2))), times_(leaves_, kGone), first_(2 * leaves_) {}

    void set(std::uint32_t player, std::int64_t time) noexcept { times_[player] = time; }
    /// After all were set.
    void begin() noexcept {
        for (std::uint32_t player = 0; player < leaves_; ++player) {
            first_[leaves_ + player] = player;
        }
        for (auto node = leaves_; node-- > 1;) {
            decide(node);
        }
    }
    [[nodiscard]] std::uint32_t first() const noexcept { return first_[1]; }
    [[nodiscard]] bool none() const noexcept { return times_[first()] == kGone; }
    /// The first one arrives at `time` next.
    void next(std::int64_t time) noexcept {
        const auto player = first();
        times_[player] = time;
        for (auto node = (leaves_ + player) / 2; node > 0; node /= 2) {
            decide(node);
        }
    }

  private:
    void decide(std::size_t node) noexcept {
        const auto left = first_[2 * node];
        const auto right = first_[2 * node + 1];
        first_[node] = times_[right] < times_[left] ? right : left;
    }

    std::size_t leaves_;
    std::vector<std::int64_t> times_;   // by player
    std::vector<std::uint32_t> first_;  // by node of the tree, its root 1
};

/// All calls of the locations that have an account by the time of their enters, so that what happens at about the same
/// time lies together in memory.
class CallsInTime {
  public:
    CallsInTime() = default;
    explicit CallsInTime(const Program& program) : timelines_(program.timelines.size()) {
        std::size_t all = 0;
        std::vector<std::uint32_t> next(timelines_);  // call, by location
        FirstOf order(timelines_);
        const auto time = [&](std::size_t l) {
            const auto& calls = program.timelines[l].calls;
            return next[l] < calls.size() ? calls[next[l]].enter_ps : FirstOf::kGone;
        };
        for (std::uint32_t l = 0; l < timelines_; ++l) {
            if (program.accounted[l] != 0) {
                order.set(l, time(l));
                all += program.timelines[l].calls.size();
            }
        }
        locations_.reserve(all);
        for (order.begin(); !order.none();) {
            const auto l = order.first();
            ++next[l];
            order.next(time(l));
            locations_.push_back(l);
        }
    }

    /// Calls `body(location, call)` for each of them.
    template <class Body>
    void for_each(Body&& body) const {
        std::vector<std::uint32_t> next(timelines_);
        for (const auto l : locations_) {
            body(static_cast<std::size_t>(l), next[l]++);
        }
    }

  private:
    std::size_t timelines_ = 0;
    HugeColumn<std::uint32_t> locations_;  // by call
};

}  // namespace logpost::replay
