#pragma once

/// Numbers of a program's calls in the whole run.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

class CallNumbers {
  public:
    CallNumbers() = default;
    /// `first`: by location, how many calls the accounted locations before it have.
    explicit CallNumbers(std::vector<std::size_t> first) : first_(std::move(first)) {}

    /// kUndefined for kNone.
    [[nodiscard]] std::int32_t of(std::size_t location, std::uint32_t call) const noexcept {
        return call == kNone ? kUndefined : static_cast<std::int32_t>(first_[location] + call);
    }

  private:
    std::vector<std::size_t> first_;
};

}  // namespace logpost::replay
