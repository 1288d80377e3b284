/// Collective operations as synchronization: each member's leave waits for the enters that its operation needs, and
/// then takes the rounds of the usual algorithm (dissemination, recursive doubling, binomial tree, pairwise exchange).
/// What that algorithm does not explain stays as measured.

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "replay/native/collective_shape.hpp"
#include "replay/native/whatif/draft.hpp"

namespace logpost::replay {
namespace {

constexpr int kRound = kTermSend | kTermLatency | kTermSerialization | kTermReceive;

struct Member {
    const Collective* operation;
    std::uint32_t enter, leave;  // nodes; leave kNone: never completed
    std::int32_t location;
    std::int32_t rank;  // in the communicator; -1: not known
};

class Instance {
  public:
    Instance(Draft& draft, const Program& program, std::vector<Member> members)
        : draft_(draft), program_(program), members_(std::move(members)) {}

    void add() {
        switch (shape(members_.front().operation->operation)) {
            case Shape::all_to_all:
                all_to_all();
                break;
            case Shape::one_to_all:
                one_to_all();
                break;
            case Shape::all_to_one:
                all_to_one();
                break;
            case Shape::prefix:
                prefix();
                break;
            case Shape::none:
                unknown();
                break;
        }
    }

  private:
    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members_.size()); }
    [[nodiscard]] static std::uint32_t rounds_of(std::uint32_t size) noexcept {
        return size < 2 ? 0 : static_cast<std::uint32_t>(std::bit_width(size - 1));
    }

    /// How far apart the members are at most.
    [[nodiscard]] Locality locality() const noexcept {
        auto farthest = Locality::self;
        for (const auto& member : members_) {
            farthest = std::max(farthest, program_.placement.between(members_.front().location, member.location));
        }
        return farthest;
    }

    /// Bytes of one message: what a member contributes to each other one.
    [[nodiscard]] std::uint64_t chunk() const noexcept {
        const auto moved = [](const Collective& one) { return std::max(one.bytes_sent, one.bytes_received); };
        if (shape(members_.front().operation->operation) == Shape::all_to_all) {
            return moved(*members_.front().operation) / std::max(1U, size());
        }
        std::uint64_t least = UINT64_MAX;  // the root moves what all others move
        for (const auto& member : members_) {
            least = std::min(least, moved(*member.operation));
        }
        return least;
    }

    /// `count` rounds of a message of `bytes`.
    [[nodiscard]] std::uint32_t rounds(std::uint32_t count, std::uint64_t bytes) {
        if (count == 0) {
            return Draft::kMeasured;
        }
        return draft_.model({.kind = EdgeModel::Kind::collective,
                             .terms = kRound,
                             .count = static_cast<std::uint16_t>(std::min(count, 65535U)),
                             .message = draft_.message_class({.bytes = bytes, .layout = {}, .locality = locality()})});
    }

    /// A node where the members meet.
    std::uint32_t meet() {
        const auto node = draft_.add_node(kUnobserved);
        for (const auto& member : members_) {
            draft_.add_edge(member.enter, node, Draft::kMeasured);
        }
        return node;
    }
    [[nodiscard]] std::int64_t latest_enter() const noexcept {
        std::int64_t latest = INT64_MIN;
        for (const auto& member : members_) {
            latest = std::max(latest, draft_.measured[member.enter]);
        }
        return latest;
    }
    void wait(const Member& member, std::uint32_t source, std::uint32_t model) {
        if (member.leave != kNone) {
            draft_.add_edge(source, member.leave, model);
        }
    }

    void all_to_all() {
        std::uint32_t count = rounds_of(size());
        std::uint64_t bytes = chunk();
        bool may_leave_early = false;  // a member that gets nothing from the last one need not wait for it
        switch (members_.front().operation->operation) {
            case Operation::barrier:
                bytes = 0;
                break;
            case Operation::allreduce:
                // Those beyond a power of two are folded in before, and told after.
                count = std::has_single_bit(size()) ? count : count + 1;
                break;
            case Operation::alltoallv:
            case Operation::alltoallw:
                may_leave_early = true;
                [[fallthrough]];
            case Operation::alltoall:
                count = size() - 1;
                break;
            case Operation::allgatherv:
            case Operation::reduce_scatter:
                may_leave_early = true;
                [[fallthrough]];
            default:
                bytes = count == 0 ? bytes : bytes * (size() - 1) / count;
                break;
        }
        const auto cost = rounds(count, bytes);
        const auto latest = latest_enter();
        const auto node = meet();
        for (const auto& member : members_) {
            if (!may_leave_early || (member.leave != kNone && draft_.measured[member.leave] >= latest)) {
                wait(member, node, cost);
            }
        }
    }

    [[nodiscard]] const Member* root() const noexcept {
        const auto at = std::ranges::find_if(
            members_, [](const Member& member) { return member.rank >= 0 && member.rank == member.operation->root; });
        return at == members_.end() ? nullptr : &*at;
    }

    void one_to_all() {
        const auto* from = root();
        if (from == nullptr) {
            return;
        }
        const auto bytes = chunk();
        for (const auto& member : members_) {
            // A late root's data cannot come before it; a member that left earlier got nothing from it.
            if (&member != from && member.leave != kNone &&
                draft_.measured[member.leave] >= draft_.measured[from->enter]) {
                const auto relative = static_cast<std::uint32_t>(
                    (member.rank - from->rank + static_cast<std::int32_t>(size())) % static_cast<std::int32_t>(size()));
                wait(member, from->enter, rounds(static_cast<std::uint32_t>(std::popcount(relative)), bytes));
            }
        }
    }

    void all_to_one() {
        const auto* to = root();
        if (to != nullptr && to->leave != kNone && draft_.measured[to->leave] >= latest_enter()) {
            wait(*to, meet(), rounds(rounds_of(size()), chunk()));
        }
    }

    void prefix() {
        std::ranges::sort(members_, {}, &Member::rank);
        const auto cost = rounds(rounds_of(size()), chunk());
        auto before = kNone;
        for (const auto& member : members_) {
            const auto node = draft_.add_node(kUnobserved);
            draft_.add_edge(member.enter, node, Draft::kMeasured);
            if (before != kNone) {
                draft_.add_edge(before, node, Draft::kMeasured);
                wait(member, node, cost);
            }
            before = node;
        }
    }

    /// Creation of communicators and the like: taken as synchronizing where the measured times say that it was.
    void unknown() {
        const auto latest = latest_enter();
        if (size() < 2 || std::ranges::any_of(members_, [&](const Member& member) {
                return member.leave == kNone || draft_.measured[member.leave] < latest;
            })) {
            return;
        }
        const auto node = meet();
        for (const auto& member : members_) {
            wait(member, node, Draft::kMeasured);
        }
    }

    Draft& draft_;
    const Program& program_;
    std::vector<Member> members_;
};

}  // namespace

void add_collectives(Draft& draft, const Program& program, std::span<const std::vector<std::uint32_t>> enters,
                     std::span<const std::vector<std::uint32_t>> leaves) {
    std::vector<std::vector<Member>> instances(program.collective_instances);
    static const Collective kUnnamed{0, 0, 0, 0, kNone, kNone, kUndefined, kUndefined, kNone, Operation::unknown};
    std::vector<Member> start_up, shut_down;
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        if (enters[location].empty()) {
            continue;
        }
        const auto here = static_cast<std::int32_t>(location);
        const auto& timeline = program.timelines[location];
        std::unordered_map<std::int32_t, std::int32_t> ranks;  // of this location, by communicator
        timeline.collectives.for_each([&](std::size_t, const Collective& operation) {
            if (operation.instance == kNone) {
                return;
            }
            const auto [rank, added] = ranks.try_emplace(operation.comm, -1);
            if (added && operation.comm >= 0) {
                const auto& members = program.members[static_cast<std::size_t>(operation.comm)];
                const auto at = std::ranges::find(members, here);
                rank->second = at == members.end() ? -1 : static_cast<std::int32_t>(at - members.begin());
            }
            instances[operation.instance].push_back(
                {&operation, enters[location][operation.call],
                 operation.complete_call == kNone ? kNone : leaves[location][operation.complete_call], here,
                 rank->second});
        });
        for (std::size_t call = 0; call < timeline.calls.size(); ++call) {
            const auto kind = program.kind(timeline.calls[call]);
            auto& members = kind == CallKind::initialize ? start_up : shut_down;
            if ((kind == CallKind::initialize || kind == CallKind::finalize) &&
                (members.empty() || members.back().location != here)) {
                members.push_back({&kUnnamed, enters[location][call], leaves[location][call], here, -1});
            }
        }
    }
    instances.push_back(std::move(start_up));
    instances.push_back(std::move(shut_down));
    for (auto& members : instances) {
        if (!members.empty()) {
            Instance(draft, program, std::move(members)).add();
        }
    }
}

}  // namespace logpost::replay
