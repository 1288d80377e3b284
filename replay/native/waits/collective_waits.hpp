#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "replay/native/collectives/givers.hpp"
#include "replay/native/program/ids.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// Until when each rank of a collective had to wait, from the recorded enters.
class CollectiveWaits {
  public:
    explicit CollectiveWaits(const Program& program);
    /// How long the member waited for others, within [begin, end]; 0 for operations without such a wait.
    [[nodiscard]] std::int64_t wait(const Collective& operation, std::size_t location) const;
    /// Likewise of each of a location's operations.
    [[nodiscard]] std::vector<std::int64_t> waits_of(std::size_t location) const;
    /// Members that left an operation before another, for which they had to wait, began it: the clocks disagree. Fences
    /// are not looked at: those with assertions need not synchronize.
    [[nodiscard]] std::uint64_t early_ends() const;

    /// When a member entered, and by which call of which location.
    struct Member {
        std::int64_t begin = INT64_MIN;
        Location location = kNoLocation;
        std::uint32_t call = kNone;
    };
    /// The last one that a member needed; without location where it needed none, or none known.
    [[nodiscard]] Member needed(const Collective& operation, std::size_t location) const;

    struct Instance {
        Member latest, latest_giver;
        Member root;
        std::int64_t earliest_non_root = INT64_MAX;  ///< of those that give the root something, or get it
        std::int64_t earliest_end = INT64_MAX;
    };
    /// Whether those that the operation synchronizes were in it concurrently: all, or, where an inter-communicator
    /// moves data, each member of one group with each of the other.
    [[nodiscard]] bool met(const Collective& operation) const;
    [[nodiscard]] const Instance& instance(std::uint32_t i) const noexcept { return instances_[i]; }
    [[nodiscard]] bool is_root(const Collective& operation, std::size_t location) const;
    /// Which group of the operation's communicator a member belongs to.
    [[nodiscard]] std::size_t group_of(const Collective& operation, std::size_t location) const;

  private:
    /// Of an inter-communicator.
    struct Group {
        Member latest, latest_giver;
        std::int64_t earliest_begin = INT64_MAX;
        std::int64_t earliest_end = INT64_MAX;
    };
    struct Groups {
        std::array<Group, 2> both;
        std::size_t of_root = 2;  // 2: no root is known
    };
    void add_givers();
    void add_to_group(const Collective& operation, std::size_t location, const Member& member);
    /// When the last of those that the member waits for began.
    [[nodiscard]] std::int64_t until(const Collective& operation, std::size_t location) const;
    /// A member's; of others one more than the last rank.
    [[nodiscard]] Rank rank_of(const Collective& operation, Location location) const;
    /// Of those that the operation's definition makes the member need, the last one, and the last that gives something.
    struct Needed {
        Member any, giver;
    };
    [[nodiscard]] Needed defined(const Collective& operation, std::size_t location) const;
    /// Whether the operation has no use for the member.
    [[nodiscard]] bool is_onlooker(const Collective& operation, std::size_t location) const;

    const Program& program_;
    std::vector<Instance> instances_;
    std::map<std::uint32_t, std::vector<Member>> scans_;  // the latest up to each rank, for Scan and Exscan only
    std::map<std::uint32_t, Groups> groups_;              // by instance, of inter-communicators only
    /// By instance, the givers of each group, the earliest first: where members may skip others, and one left before
    /// the last giver entered.
    std::map<std::uint32_t, std::array<Givers<Member>, 2>> givers_;
};

}  // namespace logpost::replay
