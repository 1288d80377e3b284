#pragma once

/// Since when the epochs of one-sided communication could begin, as recorded times prove it (docs/split.md, section
/// 13).

#include <cstdint>
#include <vector>

#include "replay/native/cost/categories.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// A wait that recorded enters and leaves prove: until when, for what, and for which location.
struct Permission {
    std::int64_t at_ps = INT64_MIN;  ///< INT64_MIN: none was needed, or none is known
    std::uint8_t category = kResidual;
    Location by = kNoLocation;     ///< that was waited for
    std::uint32_t last = kNone;    ///< the last transfer that it had started in its epoch; kNone: none
    std::uint32_t call = kNone;    ///< its call that was waited for: until its enter; of a lock, until its leave
    std::uint32_t change = kNone;  ///< the transfer that was waited for
};

/// What permitted the accesses, exposures and locks of a program. What a wait for a change waited for is not known
/// here.
class Permissions {
  public:
    explicit Permissions(const Program& program);

    /// When an epoch could begin: the late post of an access, the release of the lock's holder before. Of an
    /// exposure: when the last access of it was ended.
    [[nodiscard]] const Permission& of(std::size_t location, std::uint32_t epoch) const noexcept {
        return permissions_[location][epoch];
    }
    [[nodiscard]] Permission& of(std::size_t location, std::uint32_t epoch) noexcept {
        return permissions_[location][epoch];
    }
    /// The epoch that a transfer belongs to: the latest that was open to its target, or to all, when it was started;
    /// kNone: none.
    [[nodiscard]] std::uint32_t epoch_of(std::size_t location, std::uint32_t transfer) const noexcept {
        return epochs_[location][transfer];
    }

  private:
    /// By [location][epoch].
    struct Found {
        std::vector<std::vector<std::int64_t>> first_complete;  // leave of its first completing call
        std::vector<std::vector<std::uint32_t>> last_started;   // its last transfer
    };
    [[nodiscard]] Found find_epochs(const Program& program);
    void permit_accesses(const Program& program, const Found& found);
    void permit_locks(const Program& program, const Found& found);

    std::vector<std::vector<std::uint32_t>> epochs_;    // [location][transfer]
    std::vector<std::vector<Permission>> permissions_;  // [location][epoch]
};

}  // namespace logpost::replay
