#pragma once

/// Every collective operation of a program, divided (docs/split.md, section 14).

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/parts.hpp"
#include "replay/native/collectives/replay.hpp"
#include "replay/native/memory/arena.hpp"
#include "replay/native/program/wide.hpp"
#include "replay/native/split/collective_members.hpp"
#include "replay/native/split/nic_use.hpp"
#include "replay/native/waits/collective_waits.hpp"

namespace logpost::replay {

/// The parts of one member's time in an operation, by CollectivePart.
using CollectiveSums = std::array<std::int64_t, kCollectiveParts>;

/// Operations of one kind, size class and communicator. All have the algorithm that the library's profile selects; else
/// the one whose replay is nearest to their measured ends.
struct CollectiveKind {
    Operation operation = Operation::unknown;
    std::int32_t comm = kUndefined;
    std::uint32_t members = 0;
    std::uint64_t least_bytes = UINT64_MAX, most_bytes = 0;  ///< of a member's part
    Algorithm algorithm = Algorithm::not_known;
    Algorithm second = Algorithm::not_known;  ///< the next best; not_known: there was no other
    /// |replayed - measured end|: mean over the members, of each operation at least a hundredth of its duration and the
    /// clock's tick; geometric mean over the sampled operations.
    double error_ps = 0, second_error_ps = 0;
    bool blocking = true;  ///< all of them
    std::uint64_t operations = 0;
    WidePs measured_ps = 0;   ///< of all members, after those that the operation's definition makes them wait for
    WidePs predicted_ps = 0;  ///< likewise, as replayed
    WidePs residual_ps = 0;   ///< sum of what was measured beyond the prediction
    WidePs deficit_ps = 0;    ///< sum of what was predicted beyond the measurement
};

class CollectiveSplit {
  public:
    struct Replayed;
    /// Program, parameters and waits must outlive it. `replayed`: null where none has.
    CollectiveSplit(const Program& program, const Parameters& parameters, const CollectiveWaits& waits,
                    unsigned threads, const Replayed* replayed = nullptr);

    /// Whether the operation is divided.
    [[nodiscard]] bool divides(std::size_t location, std::uint32_t operation) const noexcept;
    /// The replayed part of the member's time in the call that completes the operation: what decides where a
    /// call completes several.
    [[nodiscard]] double wanted(std::size_t location, std::uint32_t operation) const noexcept;
    /// Divides the last `duration_ps` of the member's time in it. All are >= 0 and they add up to it.
    [[nodiscard]] CollectiveSums parts(std::size_t location, std::uint32_t operation,
                                       std::int64_t duration_ps) const noexcept;
    /// Divides the call that starts a nonblocking operation.
    [[nodiscard]] CollectiveSums start(std::int64_t duration_ps) const noexcept;

    [[nodiscard]] const std::vector<CollectiveKind>& kinds() const noexcept { return kinds_; }
    /// The kind of an operation; none where it is not divided.
    [[nodiscard]] std::optional<std::uint32_t> kind_of(const Collective& operation) const noexcept;

    /// What the operations' messages ask of NICs whose locations are outside of them. Gives it away.
    [[nodiscard]] NicUses take_nic_uses() noexcept { return std::move(nic_uses_); }

    /// One member's path through an operation, replayed again: in the order of time, from when it waits for no member
    /// that the operation's definition names, to its replayed end.
    struct Step {
        CollectivePart part;
        std::int64_t begin_ps, end_ps;
    };
    [[nodiscard]] std::vector<Step> way(std::size_t location, std::uint32_t operation) const;

    /// The kinds of operations whose members are known.
    static std::vector<CollectiveKind> kinds_of(const Program& program, const Parameters& parameters,
                                                CollectiveMembers& members);
    /// Replays operations whose members and kinds are known; `parts`: in how many of them each location is. All must
    /// outlive it.
    CollectiveSplit(const Program& program, const Parameters& parameters, CollectiveMembers& members,
                    std::vector<CollectiveKind> kinds, const std::vector<std::uint32_t>& parts);
    /// What such a replay has found of the members, by location and their operations.
    using Wanted = std::array<float, kReplayedParts>;
    [[nodiscard]] std::span<Wanted> wanted() const noexcept { return wanted_; }

    /// What others have found of all operations.
    struct Replayed {
        std::vector<CollectiveMembers::Instance> instances;
        std::vector<CollectiveKind> kinds;
        std::vector<std::uint32_t> block_of;  ///< by location
        /// Of the locations of block b in operations i in `wanted[b][i % size]`, by location and in the order of its
        /// operations; empty: not known.
        std::vector<std::vector<std::span<const Wanted>>> wanted;

        [[nodiscard]] bool knows(std::size_t location) const noexcept {
            return block_of[location] < wanted.size() && !wanted[block_of[location]].empty();
        }
    };

  private:
    using Instance = CollectiveMembers::Instance;
    using Slot = CollectiveMembers::Slot;
    static constexpr std::uint32_t kNoKind = CollectiveMembers::kNoKind;
    struct Buffer;

    CollectiveSplit(const Program& program, const Parameters& parameters, CollectiveMembers& members);
    CollectiveSplit(const Program& program, const Parameters& parameters, std::unique_ptr<CollectiveMembers> members);
    void take(const Replayed& replayed);
    void make_room(const std::vector<std::size_t>& operations);
    void classify();
    [[nodiscard]] double least_distance(std::span<const Slot> slots) const;
    [[nodiscard]] double distance(const Buffer& buffer, const Instance& instance, std::span<const Slot> slots) const;
    [[nodiscard]] std::optional<Algorithm> stated(const CollectiveKind& kind) const noexcept;
    void choose(unsigned threads);
    void replay_all(unsigned threads);
    struct NicRequest {
        Location location;
        NicUse use;
    };
    /// Adds a replayed operation's requests to its members' NICs before they enter, and what it leaves for them.
    void use_nics(const Buffer& buffer, const Instance& instance, std::span<const Slot> slots,
                  std::vector<NicRequest>& uses) const;
    /// Replays an operation whose members are in the order of ranks.
    void replay(Buffer& buffer, const Instance& instance, std::span<const Slot> slots, Algorithm algorithm) const;

    const Program& program_;
    const Parameters& parameters_;
    const CollectiveWaits* waits_ = nullptr;
    CollectiveEndpoints endpoints_;
    std::unique_ptr<CollectiveMembers> own_;
    CollectiveMembers& members_;
    std::vector<CollectiveKind> kinds_;
    std::vector<std::size_t> offset_;  // by location
    Arena wanted_memory_;
    std::span<Wanted> wanted_;         // by location and operation; the first < 0: not divided
    std::int64_t start_ps_ = 0;        // o_s of the smallest message
    std::vector<std::uint8_t> alone_;  // by location: none other has its NIC
    NicUses nic_uses_;
};

}  // namespace logpost::replay
