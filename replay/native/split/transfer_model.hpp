#pragma once

/// Every one-sided transfer of a program under a machine: its measured times, what had to permit it, the model's
/// stages, and from these its partition (docs/split.md, section 13).

#include <cstdint>
#include <vector>

#include "replay/native/cost.hpp"
#include "replay/native/parameters.hpp"
#include "replay/native/program.hpp"
#include "replay/native/split/collective_waits.hpp"
#include "replay/native/split/transfer_partition.hpp"

namespace logpost::replay {

/// A wait that recorded enters and leaves prove: until when, for what, and for whom.
struct Permission {
    std::int64_t at_ps = INT64_MIN;  ///< INT64_MIN: none was needed, or none is known
    std::uint8_t category = kResidual;
    std::int32_t by = kUndefined;  ///< the location that was waited for
    std::uint32_t last = kNone;    ///< the last transfer that it had started in its epoch; kNone: none
    std::uint32_t call = kNone;    ///< its call that was waited for: until its enter; of a lock, until its leave
    std::uint32_t change = kNone;  ///< the transfer that was waited for
};

class TransferModel {
  public:
    /// Program, parameters and waits must outlive the model. `asynchronous`: stated, or seen in the messages.
    TransferModel(const Program& program, const Parameters& parameters, const CollectiveWaits& collectives,
                  bool asynchronous);

    /// A transfer until its origin knew it complete, or (`remotely`) until a later call made sure of its target, too.
    [[nodiscard]] TransferPartition partition(std::size_t location, std::uint32_t transfer,
                                              bool remotely = false) const;
    /// When an epoch could begin: the late post of an access, the release of whoever held the lock before, the start
    /// of the transfer that changed the memory. Of an exposure: when the last access of it was ended.
    [[nodiscard]] Permission permission(std::size_t location, std::uint32_t epoch) const noexcept {
        return permissions_[location][epoch];
    }
    /// The epoch that a transfer belongs to; kNone: none.
    [[nodiscard]] std::uint32_t epoch_of(std::size_t location, std::uint32_t transfer) const noexcept {
        return epochs_[location][transfer];
    }
    /// Since when a transfer waits for its target: its request, or its last byte, is there, or the target left it with
    /// more to do.
    [[nodiscard]] std::int64_t pending(std::size_t location, std::uint32_t transfer, bool remotely) const;
    /// The collective that a call took part in; nullptr: none.
    [[nodiscard]] const Collective* collective_of(std::size_t location, std::uint32_t call) const noexcept;
    /// What a notice from one process to another takes.
    [[nodiscard]] std::int64_t notice_ps(std::int32_t from, std::size_t to) const;
    /// What a lock's way takes: from whoever gave it up (kUndefined: the request itself) to its memory, and from there
    /// to whoever gets it. 0 where the lock is of all memory.
    [[nodiscard]] std::int64_t grant_ps(const Epoch& lock, std::int32_t from, std::size_t to) const;
    /// Whether targets serve transfers without their processors: stated, or proven by the trace.
    [[nodiscard]] bool asynchronous() const noexcept { return asynchronous_; }

  private:
    struct Plan;
    [[nodiscard]] Cost cost(std::size_t location, const Transfer& transfer) const;
    [[nodiscard]] std::int64_t left_pending(std::size_t target, const Plan& plan, std::int64_t reply) const noexcept;
    [[nodiscard]] Plan plan(std::size_t location, std::uint32_t transfer, bool remotely) const;
    void find_epochs();
    void queue();
    void permit_accesses();
    void permit_locks();
    void permit_changes();
    /// When somebody had a lock at the latest: the first call that completed a transfer under it.
    [[nodiscard]] std::int64_t held_by(std::size_t location, std::uint32_t epoch) const noexcept;
    [[nodiscard]] bool serves_unattended() const;
    [[nodiscard]] std::int64_t attends(std::size_t location, std::int64_t time, std::int64_t limit) const noexcept;

    const Program& program_;
    const Parameters& parameters_;
    const CollectiveWaits& collectives_;
    bool asynchronous_;
    std::vector<std::vector<std::uint32_t>> epochs_;         // [location][transfer]
    std::vector<std::vector<std::int64_t>> queued_;          // [location][transfer]: wait for the origin's endpoint
    std::vector<std::vector<std::int64_t>> first_complete_;  // [location][epoch]: leave of its first completing call
    std::vector<std::vector<std::uint32_t>> last_started_;   // [location][epoch]: its last transfer
    std::vector<std::vector<Permission>> permissions_;       // [location][epoch]
};

}  // namespace logpost::replay
