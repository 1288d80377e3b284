/// Collective operations as synchronization: each member's leave waits for the enters that its operation needs, and
/// takes what the usual algorithm costs: rounds of messages where everybody waits for everybody (dissemination,
/// recursive doubling, pairwise exchange), a binomial tree where there is a root. A member that enters last finds the
/// messages of the others there: its own rounds cost overheads, no latency.
/// What that algorithm does not explain stays as measured.

#include <algorithm>
#include <bit>
#include <iterator>
#include <ranges>
#include <span>
#include <unordered_map>
#include <utility>

#include "replay/native/collective_shape.hpp"
#include "replay/native/whatif/draft.hpp"

namespace logpost::replay {
namespace {

constexpr std::uint8_t kRound = kTermSend | kTermLatency | kTermSerialization | kTermReceive;
constexpr std::uint8_t kOwn = kTermSend | kTermReceive;

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

    /// The terms of `count` messages of `bytes` in a row.
    [[nodiscard]] std::uint32_t rounds(std::uint32_t count, std::uint64_t bytes, std::uint8_t terms = kRound) {
        if (count == 0) {
            return Draft::kMeasured;
        }
        return draft_.model({.kind = EdgeModel::Kind::collective,
                             .terms = terms,
                             .count = static_cast<std::uint16_t>(std::min(count, 65535U)),
                             .message = draft_.message_class({.bytes = bytes, .layout = {}, .locality = locality()})});
    }
    /// The one message of a tree.
    [[nodiscard]] std::uint32_t message(std::uint64_t bytes, std::uint8_t terms) { return rounds(1, bytes, terms); }

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
            case Operation::fence:
                by_dissemination();
                return;
            case Operation::allreduce:
                by_recursive_doubling(bytes);
                return;
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
        const auto own = rounds(count, bytes, kOwn);
        const auto latest = latest_enter();
        const auto before = latest_of_others(members_);
        std::ranges::reverse(members_);
        auto after = latest_of_others(members_);
        std::ranges::reverse(members_);
        std::ranges::reverse(after);
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const auto& member = members_[i];
            if (may_leave_early && (member.leave == kNone || draft_.measured[member.leave] < latest)) {
                continue;
            }
            wait(member, member.enter, own);
            for (const auto others : {before[i], after[i]}) {
                if (others != kNone) {
                    wait(member, others, cost);
                }
            }
        }
    }

    /// Members that exchange with another one in each round: when each has what it needs.
    struct Exchange {
        std::vector<std::uint32_t> at;  // node by member
        std::uint32_t both, own;        // models: the other's message; both overheads
    };
    [[nodiscard]] Exchange exchange(std::uint64_t bytes) {
        Exchange result{{}, message(bytes, kRound), message(bytes, kOwn)};
        std::ranges::transform(members_, std::back_inserter(result.at), &Member::enter);
        return result;
    }
    /// One round: member i of the first `count` gets the message of `from(i)`.
    template <class From>
    void round(Exchange& exchange, std::uint32_t count, From&& from) {
        auto next = exchange.at;
        for (std::uint32_t i = 0; i < count; ++i) {
            next[i] = draft_.add_node(kUnobserved);
            draft_.add_edge(exchange.at[from(i)], next[i], exchange.both);
            draft_.add_edge(exchange.at[i], next[i], exchange.own);
        }
        exchange.at = std::move(next);
    }

    void by_dissemination() {
        std::ranges::sort(members_, {}, &Member::rank);
        auto state = exchange(0);
        for (std::uint32_t distance = 1; distance < size(); distance *= 2) {
            round(state, size(), [&](std::uint32_t i) { return (i + size() - distance) % size(); });
        }
        for (std::uint32_t i = 0; i < size(); ++i) {
            if (state.at[i] != members_[i].enter) {
                wait(members_[i], state.at[i], Draft::kMeasured);
            }
        }
    }

    /// Members beyond a power of two hand their part to one below it before, and are told the result after.
    void by_recursive_doubling(std::uint64_t bytes) {
        std::ranges::sort(members_, {}, &Member::rank);
        auto state = exchange(bytes);
        const auto power = std::bit_floor(size());
        const auto rest = size() - power;
        for (std::uint32_t i = 0; i < rest; ++i) {
            const auto folded = draft_.add_node(kUnobserved);
            draft_.add_edge(state.at[power + i], folded, state.both);
            draft_.add_edge(state.at[i], folded, message(bytes, kTermReceive));
            state.at[i] = folded;
        }
        for (std::uint32_t distance = 1; distance < power; distance *= 2) {
            round(state, power, [&](std::uint32_t i) { return i ^ distance; });
        }
        for (std::uint32_t i = 0; i < power; ++i) {
            if (i < rest) {
                wait(members_[i], state.at[i], message(bytes, kTermSend));
                wait(members_[power + i], state.at[i], state.both);
            } else if (state.at[i] != members_[i].enter) {
                wait(members_[i], state.at[i], Draft::kMeasured);
            }
        }
    }

    /// For each member, when the last of those before it has entered.
    std::vector<std::uint32_t> latest_of_others(std::span<const Member> members) {
        std::vector<std::uint32_t> result;
        auto latest = kNone;
        for (const auto& member : members) {
            result.push_back(latest);
            if (latest == kNone) {
                latest = member.enter;
                continue;
            }
            const auto node = draft_.add_node(kUnobserved);
            draft_.add_edge(latest, node, Draft::kMeasured);
            draft_.add_edge(member.enter, node, Draft::kMeasured);
            latest = node;
        }
        return result;
    }

    [[nodiscard]] const Member* root() const noexcept {
        const auto at = std::ranges::find_if(
            members_, [](const Member& member) { return member.rank >= 0 && member.rank == member.operation->root; });
        return at == members_.end() ? nullptr : &*at;
    }

    /// The members by their distance from the root, that of the binomial tree; empty where a rank is not known.
    [[nodiscard]] std::vector<const Member*> from_root() const {
        const auto* first = root();
        std::vector<const Member*> result(first == nullptr ? 0 : size(), nullptr);
        for (const auto& member : members_) {
            if (first == nullptr || member.rank < 0 || member.rank >= static_cast<std::int32_t>(size())) {
                return {};
            }
            result[static_cast<std::size_t>(member.rank - first->rank + static_cast<std::int32_t>(size())) % size()] =
                &member;
        }
        return std::ranges::find(result, nullptr) == result.end() ? result : std::vector<const Member*>{};
    }
    /// The distances of a member's children in the tree, next to it first: r + 1, r + 2, r + 4, ... below r's lowest
    /// bit.
    template <class Visit>
    void for_each_child(std::uint32_t relative, Visit&& visit) const {
        for (std::uint32_t bit = 1; (relative & bit) == 0 && relative + bit < size(); bit *= 2) {
            visit(relative + bit, std::min(bit, size() - relative - bit));
        }
    }
    /// Bytes of a tree's message to or from a member with `below` members in its part of the tree, itself among them.
    [[nodiscard]] std::uint64_t of_subtree(std::uint64_t bytes, std::uint32_t below) const noexcept {
        switch (members_.front().operation->operation) {
            case Operation::scatter:
            case Operation::scatterv:
            case Operation::gather:
            case Operation::gatherv:
                return bytes * below;
            default:
                return bytes;
        }
    }

    void one_to_all() {
        const auto tree = from_root();
        const auto bytes = chunk();
        std::vector<std::uint32_t> got(tree.size(), kNone);       // node: the member has its data
        std::vector<std::int64_t> since(tree.size(), INT64_MIN);  // the last enter on the way to it
        for (std::uint32_t r = 0; r < tree.size(); ++r) {
            const auto& member = *tree[r];
            auto ready = r == 0 ? member.enter : got[r];
            since[r] = std::max(since[r], draft_.measured[member.enter]);
            // What left before its data can have come on this way took another one, or needed none.
            const bool waits = r == 0 || (member.leave != kNone && draft_.measured[member.leave] >= since[r]);
            std::vector<std::pair<std::uint32_t, std::uint32_t>> children;
            for_each_child(r, [&](std::uint32_t child, std::uint32_t below) { children.emplace_back(child, below); });
            for (const auto& [child, below] : std::views::reverse(children)) {
                const auto size = of_subtree(bytes, below);
                since[child] = since[r];
                got[child] = draft_.add_node(kUnobserved);
                draft_.add_edge(ready, got[child], message(size, kRound));
                draft_.add_edge(tree[child]->enter, got[child], message(size, kTermReceive));
                const auto sent = draft_.add_node(kUnobserved);
                draft_.add_edge(ready, sent, message(size, kTermSend));
                ready = sent;
            }
            if (waits && ready != member.enter) {
                wait(member, ready, Draft::kMeasured);
            } else if (r != 0 && member.leave != kNone &&
                       draft_.measured[member.leave] >= draft_.measured[tree[0]->enter]) {
                wait(member, tree[0]->enter, rounds(static_cast<std::uint32_t>(std::popcount(r)), bytes));
            }
        }
    }

    void all_to_one() {
        const auto tree = from_root();
        const auto bytes = chunk();
        std::vector<std::uint32_t> ready(tree.size(), kNone);     // node: the member has what is below it
        std::vector<std::int64_t> since(tree.size(), INT64_MIN);  // the last enter of those
        for (auto r = static_cast<std::uint32_t>(tree.size()); r-- > 0;) {
            const auto& member = *tree[r];
            ready[r] = member.enter;
            since[r] = draft_.measured[member.enter];
            for_each_child(r, [&](std::uint32_t child, std::uint32_t below) {
                const auto size = of_subtree(bytes, below);
                const auto taken = draft_.add_node(kUnobserved);
                draft_.add_edge(ready[child], taken, message(size, kRound));
                draft_.add_edge(ready[r], taken, message(size, kTermReceive));
                ready[r] = taken;
                since[r] = std::max(since[r], since[child]);
            });
            // What left before all below it had entered waited for nobody: its data went another way.
            if (ready[r] != member.enter && member.leave != kNone && draft_.measured[member.leave] >= since[r]) {
                wait(member, ready[r], r == 0 ? Draft::kMeasured : message(of_subtree(bytes, subtree(r)), kTermSend));
            }
        }
    }
    /// Members in a member's part of the tree, itself among them.
    [[nodiscard]] std::uint32_t subtree(std::uint32_t relative) const noexcept {
        return std::min(relative & (~relative + 1), size() - relative);
    }

    void prefix() {
        std::ranges::sort(members_, {}, &Member::rank);
        const auto cost = rounds(rounds_of(size()), chunk());
        const auto before = latest_of_others(members_);
        for (std::size_t i = 0; i < members_.size(); ++i) {
            if (before[i] != kNone) {
                wait(members_[i], before[i], cost);
            }
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
