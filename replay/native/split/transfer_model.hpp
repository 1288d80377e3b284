#pragma once

/// Every one-sided transfer of a program under a machine: its measured times, what had to permit it, the model's
/// stages, and from these its partition (docs/split.md, section 13).

#include <cstdint>
#include <vector>

#include "replay/native/cost/cost.hpp"
#include "replay/native/cost/parameters.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/split/transfer_partition.hpp"
#include "replay/native/waits/collective_waits.hpp"
#include "replay/native/waits/permissions.hpp"

namespace logpost::replay {

/// What brings a transfer's data; an atomic costs what a message does.
[[nodiscard]] constexpr Carried carried(const Transfer& transfer) noexcept {
    switch (transfer.kind) {
        case Transfer::Kind::put:
            return Carried::put;
        case Transfer::Kind::get:
            return Carried::get;
        default:
            return Carried::message;
    }
}

class TransferModel {
  public:
    /// Program, parameters and waits must outlive the model. `asynchronous`: stated, or seen in the messages.
    TransferModel(const Program& program, const Parameters& parameters, const CollectiveWaits& collectives,
                  bool asynchronous);

    /// A transfer until its origin knew it complete, or (`remotely`) until a later call made sure of its target, too.
    [[nodiscard]] TransferPartition partition(std::size_t location, std::uint32_t transfer,
                                              bool remotely = false) const;
    /// When an epoch could begin: the late post of an access, the release by the previous holder of the lock, the start
    /// of the transfer that changed the memory. Of an exposure: when the last access of it was ended.
    [[nodiscard]] Permission permission(std::size_t location, std::uint32_t epoch) const noexcept {
        return permissions_.of(location, epoch);
    }
    /// The epoch that a transfer belongs to; kNone: none.
    [[nodiscard]] std::uint32_t epoch_of(std::size_t location, std::uint32_t transfer) const noexcept {
        return permissions_.epoch_of(location, transfer);
    }
    /// Since when a transfer waits for its target: its request, or its last byte, is there, or the target left it with
    /// more to do.
    [[nodiscard]] std::int64_t pending(std::size_t location, std::uint32_t transfer, bool remotely) const;
    /// The collective that a call took part in; nullptr: none.
    [[nodiscard]] const Collective* collective_of(std::size_t location, std::uint32_t call) const noexcept;
    /// The cost of a notice from one process to another.
    [[nodiscard]] std::int64_t notice_ps(Location from, Location to) const;
    /// The cost of passing a lock: from the process that gave it up (kNoLocation: the request itself) to its memory,
    /// and from there to the process that gets it. 0 where the lock is of all memory.
    [[nodiscard]] std::int64_t grant_ps(const Epoch& lock, Location from, Location to) const;
    /// Whether targets serve transfers without their processors: stated, or proven by the trace.
    [[nodiscard]] bool asynchronous() const noexcept { return asynchronous_; }

  private:
    struct Plan;
    [[nodiscard]] Cost cost(std::size_t location, const Transfer& transfer) const;
    /// Half of l_mw, of the origin's data or the target's.
    [[nodiscard]] std::int64_t middleware(std::size_t location, const Transfer& transfer, std::int32_t layout) const;
    [[nodiscard]] std::int64_t left_pending(std::size_t target, const Plan& plan, std::int64_t reply) const noexcept;
    [[nodiscard]] Plan plan(std::size_t location, std::uint32_t transfer, bool remotely) const;
    void queue();
    void permit_changes();
    [[nodiscard]] bool serves_unattended() const;
    [[nodiscard]] std::int64_t attends(std::size_t location, std::int64_t time, std::int64_t limit) const noexcept;

    const Program& program_;
    const Parameters& parameters_;
    const CollectiveWaits& collectives_;
    bool asynchronous_;
    Permissions permissions_;
    std::vector<std::vector<std::int64_t>> queued_;  // [location][transfer]: wait for the origin's endpoint
};

}  // namespace logpost::replay
