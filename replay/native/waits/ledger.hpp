#pragma once

/// Sums of delay costs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/native/program/wide.hpp"
#include "replay/native/waits/delays.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// Sums of costs by location, place, kind and callpath of the waits.
class Ledger {
  public:
    explicit Ledger(std::size_t locations) : books_(locations) {}

    struct Sum {
        double short_term = 0;
        double long_term = 0;
    };
    /// Until the next sum is needed.
    Sum& at(std::size_t location, std::uint32_t place, WaitKind kind, std::int32_t wait_callpath);
    /// In whole picoseconds; what is not explained makes each kind's sum that of its waits.
    [[nodiscard]] std::vector<DelayCost> rows(const std::array<WidePs, kWaitKinds>& waits) const;

  private:
    struct Entry {
        std::uint64_t key = kFree;
        Sum sum;
    };
    /// The entries of one location, at the place that their key has or behind it; at most three quarters are taken.
    struct Book {
        std::vector<Entry> entries;
        std::size_t taken = 0;
    };
    static constexpr auto kFree = UINT64_MAX;  // no key: there are fewer places
    static void grow(Book& book);

    std::vector<Book> books_;  // by location
};

}  // namespace logpost::replay
