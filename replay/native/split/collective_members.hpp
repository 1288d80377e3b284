#pragma once

/// The members of collective operations, by operation: what a replay needs of each.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/memory/arena.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/waits/collective_waits.hpp"

namespace logpost::replay {

class CollectiveMembers {
  public:
    static constexpr std::uint32_t kNoKind = kNone;
    /// An operation: where its members are listed, and what it is.
    struct Instance {
        std::size_t first = 0;
        std::uint64_t bytes = 0;
        /// Of an inter-communicator: what a member of the other group than the root's gives.
        std::uint64_t other_bytes = 0;
        std::int32_t comm = kUndefined;  ///< kUndefined: it is not divided
        Rank root{0};
        std::uint32_t kind = kNoKind;
        Operation operation = Operation::unknown;
        bool blocking = true;
    };
    /// A member of an operation: what was measured of it.
    struct Slot {
        std::int64_t enter_ps = 0;
        std::int64_t since_ps = 0;  ///< from then on its time is divided
        std::int64_t until_ps = 0;
        std::int64_t left_ps = INT64_MIN;    ///< when it left the call before; INT64_MIN: there was none
        std::int64_t next_ps = INT64_MAX;    ///< when it entered the next one; INT64_MAX: there is none
        Location location = kNoLocation;     ///< kNoLocation: missing
        std::uint32_t index = 0;             ///< of the operation there
        std::int32_t layout = kUndefined;    ///< of what it gives
        std::int32_t received = kUndefined;  ///< of what it gets
        bool rooted = false;                 ///< the member names a root
        bool receives = false;               ///< the location receives messages, too
    };

    /// Of all operations of a program, which must outlive it.
    CollectiveMembers(const Program& program, const CollectiveWaits& waits);
    /// Found elsewhere: operation i has its members in `parts[i % parts.size()]`. The program's definitions and the
    /// parts must outlive it.
    CollectiveMembers(const Program& program, std::vector<Instance> instances,
                      std::vector<std::span<const Slot>> parts = {});

    [[nodiscard]] std::vector<Instance>& instances() noexcept { return instances_; }
    [[nodiscard]] const std::vector<Instance>& instances() const noexcept { return instances_; }
    /// By rank; empty once released.
    [[nodiscard]] std::span<const Slot> slots(std::uint32_t instance) const noexcept {
        const auto& part = parts_[instance % parts_.size()];
        return part.subspan(instances_[instance].first, size_of(instances_[instance]));
    }
    /// Of all operations, where they have one part.
    [[nodiscard]] std::span<const Slot> all() const noexcept { return parts_.front(); }
    /// Frees the members.
    void release() noexcept { memory_.reset(); }

    /// One of a member again.
    [[nodiscard]] static Slot slot(const Program& program, const CollectiveWaits& waits, const Collective& operation,
                                   std::size_t location, std::uint32_t index);
    [[nodiscard]] std::uint32_t size_of(const Instance& instance) const noexcept;
    [[nodiscard]] Pattern pattern(const Instance& instance) const noexcept;
    /// A rank's number in the algorithm.
    [[nodiscard]] std::uint32_t member(const Instance& instance, Rank rank, std::uint32_t size) const noexcept;
    [[nodiscard]] std::optional<Rank> rank_of(std::int32_t comm, Location location) const noexcept;

  private:
    void find_instances();
    void gather(const CollectiveWaits& waits);
    /// How many members the root's group has, of an inter-communicator; 0 of others.
    [[nodiscard]] std::uint32_t group_size(const Instance& instance) const noexcept;
    [[nodiscard]] bool takes_part(const Instance& instance, Rank rank) const noexcept;
    /// How many do.
    [[nodiscard]] std::uint32_t takers(const Instance& instance) const noexcept;
    /// Takes what a member moves into what its operation's parts have.
    void add_bytes(Instance& instance, Rank rank, const Collective& one) const noexcept;

    const Program& program_;
    std::vector<Instance> instances_;
    std::size_t slot_count_ = 0;  // members of all operations
    std::unique_ptr<Arena> memory_;
    std::vector<std::span<const Slot>> parts_;
};

}  // namespace logpost::replay
