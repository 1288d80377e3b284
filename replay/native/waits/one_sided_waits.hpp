#pragma once

/// Calls of one-sided communication that waited for another process: for its post, the end of its access, its lock, or
/// its change of the own memory.

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/program/program.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// By location, in the order of calls, of which one may have several. Recorded times alone show them: a location that
/// waits for a change of its memory waits for the transfer that was started last before its end (the split knows when
/// it arrives).
class OneSidedWaits {
  public:
    explicit OneSidedWaits(const Program& program);

    [[nodiscard]] std::span<const Wait> of(std::size_t location) const noexcept {
        return waits_.empty() ? std::span<const Wait>() : waits_[location];
    }

  private:
    void add_permissions(const Program& program);
    void add_changes(const Program& program);

    std::vector<std::vector<Wait>> waits_;  // empty: no location has an epoch
};

}  // namespace logpost::replay
