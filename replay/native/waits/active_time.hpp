#pragma once

/// What a location did between two of its calls, by place in the code, without its waits.

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/program/program.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// A place in the code: in the calls of a callpath, or the computation before them.
struct CodePlace {
    std::int32_t callpath;  ///< kUndefined: computation after the last call
    bool in_call;

    /// 0..count - 1, of as many callpaths.
    [[nodiscard]] std::uint32_t code() const noexcept {
        return 2 * static_cast<std::uint32_t>(callpath + 1) + (in_call ? 1 : 0);
    }
    static CodePlace of(std::uint32_t code) noexcept {
        return {static_cast<std::int32_t>(code / 2) - 1, code % 2 != 0};
    }
    static std::size_t count(std::size_t callpaths) noexcept { return 2 * (callpaths + 1); }
};

/// Picoseconds by place, of which few are not 0.
class PlaceTimes {
  public:
    explicit PlaceTimes(std::size_t places) : times_(places, 0) {}

    void add(std::uint32_t place, std::int64_t length) {
        if (length != 0) {
            if (times_[place] == 0) {
                touched_.push_back(place);
            }
            times_[place] += length;
        }
    }
    void clear() noexcept {
        for (const auto place : touched_) {
            times_[place] = 0;
        }
        touched_.clear();
    }
    [[nodiscard]] std::int64_t operator[](std::uint32_t place) const noexcept { return times_[place]; }
    /// Places that have time; one may be listed twice after its time was taken back to 0.
    [[nodiscard]] const std::vector<std::uint32_t>& places() const noexcept { return touched_; }

  private:
    std::vector<std::int64_t> times_;
    std::vector<std::uint32_t> touched_;
};

/// The active time of one location. Long spans are read from sums that are kept every so many calls.
class ActiveTime {
  public:
    /// Its arrays are in the arena.
    ActiveTime(const Timeline& timeline, std::span<const Wait> waits, std::size_t callpaths, Arena& arena);

    /// What a span has in addition to its active time.
    struct Spent {
        std::int64_t in_first_ps;  ///< of the first call: its length without its wait; from the begin: 0
        std::int64_t waited_ps;    ///< of the calls after the first one; from the location's begin: of all
    };
    /// Adds the active time from the enter of call `from` (kNone: from the location's begin) to the enter of call `to`.
    Spent collect(std::uint32_t from, std::uint32_t to, PlaceTimes& times) const;
    [[nodiscard]] std::uint32_t place_of(std::uint32_t call) const noexcept {
        return CodePlace{timeline_.calls[call].callpath, true}.code();
    }

  private:
    /// Adds the calls from..to - 1, each with the computation after it, one by one. `wait`: the first one of `from` or
    /// later; returns that of `to`.
    template <class Add>
    std::size_t scan(std::uint32_t from, std::uint32_t to, std::size_t wait, Add&& add) const;
    [[nodiscard]] std::size_t first_wait(std::uint32_t call) const noexcept;

    const Timeline& timeline_;
    std::span<const Wait> waits_;
    std::span<std::int64_t> waited_;     // before each wait, and at last in all
    std::vector<std::uint32_t> places_;  // those of this location
    std::uint32_t step_ = 0;             // calls from one sum to the next; 0: there are none
    std::span<std::int64_t> sums_;       // (multiple of step_, place)
};

}  // namespace logpost::replay
