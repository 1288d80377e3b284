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

#include "replay/native/collectives/schedule.hpp"
#include "replay/native/collectives/shape.hpp"
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
    Instance(Draft& draft, std::vector<Customers>& sending, std::vector<Member> members)
        : draft_(draft), sending_(sending), members_(std::move(members)) {}

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

    /// How far apart the members are at most.
    [[nodiscard]] Locality locality(const Placement& placement) const noexcept {
        auto farthest = Locality::self;
        for (const auto& member : members_) {
            farthest = std::max(farthest, placement.between(members_.front().location, member.location));
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

    /// The terms of `count` messages of `bytes` in a row, as far as members are apart at most.
    [[nodiscard]] std::uint32_t rounds(std::uint32_t count, std::uint64_t bytes, std::uint8_t terms = kRound) {
        const MessageClass farthest{.bytes = bytes,
                                    .layout = {},
                                    .recorded = {.locality = locality(draft_.recorded)},
                                    .planned = {.locality = locality(draft_.planned)}};
        return count == 0 ? Draft::kMeasured : repeated(draft_.message_class(farthest), count, terms);
    }
    /// Those of `count` messages of one class.
    [[nodiscard]] std::uint32_t repeated(std::uint32_t message, std::uint32_t count, std::uint8_t terms) {
        return draft_.model({.kind = EdgeModel::Kind::collective,
                             .terms = terms,
                             .count = static_cast<std::uint16_t>(std::min(count, 65535U)),
                             .message = message});
    }

    /// A node where the members meet.
    std::uint32_t meet() {
        const auto node = draft_.add_node();
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
        std::uint32_t count = doublings(size());
        std::uint64_t bytes = chunk();
        bool may_leave_early = false;  // a member that gets nothing from the last one need not wait for it
        switch (members_.front().operation->operation) {
            case Operation::barrier:
            case Operation::fence:
                by_rounds(Algorithm::dissemination, 0);
                return;
            case Operation::allreduce:
                by_rounds(Algorithm::recursive_doubling, bytes);
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

    /// When each member has what it needs, message by message.
    struct Flow {
        Instance& of;
        std::vector<std::uint32_t> at;            // node by member
        std::vector<std::int32_t> location = {};  // likewise

        void add(const Member& member) {
            at.push_back(member.enter);
            location.push_back(member.location);
        }
        void message(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
            at[to] = of.taken({at[from], location[from]}, {at[to], location[to]}, bytes, kTermReceive);
            const auto sent = of.draft_.add_node();
            of.draft_.add_edge(at[from], sent,
                               of.repeated(of.draft_.message_class(location[from], location[to], bytes), 1, kTermSend));
            at[from] = sent;
        }
        static constexpr bool kEveryRound = true;
        template <class From>
        void round(std::uint32_t count, From&& from, std::uint64_t bytes, std::uint32_t /*repeat*/) {
            auto next = at;
            for (std::uint32_t i = 0; i < count; ++i) {
                const auto sender = from(i);
                next[i] = of.taken({at[sender], location[sender]}, {at[i], location[i]}, bytes, kOwn);
            }
            at = std::move(next);
        }
        void burst(std::uint32_t /*count*/, std::uint32_t /*rounds*/, std::uint64_t /*bytes*/) {}  // alltoall only
    };
    struct End {
        std::uint32_t node;
        std::int32_t location;
    };
    /// A node: the receiver has taken the message, which queues at its sender's NIC. In which order messages of
    /// different members come to a receiver's NIC depends on the machine, and is not kept. `own`: terms of the
    /// receiver's work meanwhile.
    std::uint32_t taken(const End& sender, const End& receiver, std::uint64_t bytes, std::uint8_t own) {
        const auto message = draft_.message_class(sender.location, receiver.location, bytes);
        const auto inject = draft_.add_node();
        draft_.add_edge(sender.node, inject, repeated(message, 1, kTermSend));
        const auto first_byte = draft_.add_node();
        draft_.add_message(inject, first_byte, repeated(message, 1, kTermLatency), sender.location, receiver.location);
        const auto node = draft_.add_node();
        draft_.add_edge(first_byte, node, repeated(message, 1, kTermSerialization | kTermReceive));
        draft_.add_edge(receiver.node, node, repeated(message, 1, own));
        sending_[static_cast<std::size_t>(sender.location)].push_back(draft_.at_nic(inject, message));
        return node;
    }

    void by_rounds(Algorithm algorithm, std::uint64_t bytes) {
        std::ranges::sort(members_, {}, &Member::rank);
        Flow flow{*this, {}};
        std::ranges::for_each(members_, [&](const Member& member) { flow.add(member); });
        visit_schedule({members_.front().operation->operation, size(), bytes}, algorithm, flow);
        for (std::uint32_t i = 0; i < size(); ++i) {
            if (flow.at[i] != members_[i].enter) {
                wait(members_[i], flow.at[i], Draft::kMeasured);
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
            const auto node = draft_.add_node();
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
    [[nodiscard]] Pattern pattern() const noexcept { return {members_.front().operation->operation, size(), chunk()}; }

    void one_to_all() {
        const auto tree = from_root();
        const auto one = pattern();
        Flow flow{*this, {}};
        std::ranges::for_each(tree, [&](const Member* member) { flow.add(*member); });
        std::vector<std::int64_t> since(tree.size(), INT64_MIN);  // the last enter on the way to a member
        down_the_tree(static_cast<std::uint32_t>(tree.size()), [&](std::uint32_t parent, std::uint32_t child) {
            since[parent] = std::max(since[parent], draft_.measured[tree[parent]->enter]);
            since[child] = since[parent];
            flow.message(parent, child, schedule::of_subtree(one, child));
        });
        for (std::uint32_t r = 0; r < tree.size(); ++r) {
            const auto& member = *tree[r];
            since[r] = std::max(since[r], draft_.measured[member.enter]);
            // What left before its data can have come on this way took another one, or needed none.
            const bool waits = r == 0 || (member.leave != kNone && draft_.measured[member.leave] >= since[r]);
            if (waits && flow.at[r] != member.enter) {
                wait(member, flow.at[r], Draft::kMeasured);
            } else if (r != 0 && member.leave != kNone &&
                       draft_.measured[member.leave] >= draft_.measured[tree[0]->enter]) {
                wait(member, tree[0]->enter, rounds(static_cast<std::uint32_t>(std::popcount(r)), one.bytes));
            }
        }
    }

    void all_to_one() {
        const auto tree = from_root();
        const auto count = static_cast<std::uint32_t>(tree.size());
        const auto one = pattern();
        std::vector<std::uint32_t> ready;  // node: the member has what is below it
        std::ranges::transform(tree, std::back_inserter(ready), [](const Member* member) { return member->enter; });
        std::vector<std::int64_t> since;  // the last enter of those
        std::ranges::transform(ready, std::back_inserter(since), [&](auto node) { return draft_.measured[node]; });
        up_the_tree(count, [&](std::uint32_t child, std::uint32_t parent) {
            ready[parent] = taken({ready[child], tree[child]->location}, {ready[parent], tree[parent]->location},
                                  schedule::of_subtree(one, child), kTermReceive);
            since[parent] = std::max(since[parent], since[child]);
        });
        for (std::uint32_t r = 0; r < count; ++r) {
            const auto& member = *tree[r];
            // What left before all below it had entered waited for nobody: its data went another way.
            if (ready[r] != member.enter && member.leave != kNone && draft_.measured[member.leave] >= since[r]) {
                wait(member, ready[r], r == 0 ? Draft::kMeasured : rounds(1, schedule::of_subtree(one, r), kTermSend));
            }
        }
    }

    void prefix() {
        std::ranges::sort(members_, {}, &Member::rank);
        const auto cost = rounds(doublings(size()), chunk());
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
    std::vector<Customers>& sending_;
    std::vector<Member> members_;
};

}  // namespace

void add_collectives(Draft& draft, const Program& program, std::span<const std::vector<std::uint32_t>> enters,
                     std::span<const std::vector<std::uint32_t>> leaves, std::vector<Customers>& sending) {
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
            Instance(draft, sending, std::move(members)).add();
        }
    }
}

}  // namespace logpost::replay
