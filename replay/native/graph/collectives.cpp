/// Collective operations as the messages of the algorithms that explain their measured ends, or of their usual ones:
/// each message crosses the distance of its two members, queues at the NICs of both ends, and a member leaves when it
/// has what its part of the algorithm gives it. A member that enters last finds messages of the others there: they cost
/// it overheads, no latency. What the algorithm does not explain stays as measured.

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <unordered_map>
#include <utility>

#include "replay/native/collectives/every_message.hpp"
#include "replay/native/collectives/replay.hpp"
#include "replay/native/collectives/schedule.hpp"
#include "replay/native/graph/carried_out.hpp"
#include "replay/native/graph/draft.hpp"
#include "replay/native/graph/root_receives.hpp"
#include "replay/native/program/shape.hpp"

namespace logpost::replay {
namespace {

constexpr std::uint8_t kRound = kTermSend | kTermLatency | kTermSerialization | kTermReceive;
constexpr std::uint8_t kOwn = kTermSend | kTermReceive;
/// Messages of long algorithms (pairwise exchange) that are single ones in a whole program. Where there would be
/// more, equal parts of the rounds are one round each, no fewer than other algorithms have.
constexpr std::uint64_t kSingleMessages = 1U << 18U;

/// Whether two algorithms send the same messages, as most do of two members.
[[nodiscard]] bool are_same(const Pattern& one, Algorithm a, Algorithm b) {
    if (one.size > 2) {
        return false;
    }
    const auto first = every_message(one, a);
    const auto second = every_message(one, b);
    return first.from == second.from && first.to == second.to && first.bytes == second.bytes &&
           first.step == second.step;
}

/// Whether a root may take the messages of such an operation as they arrive.
[[nodiscard]] constexpr bool may_collect(Operation operation) noexcept {
    return operation == Operation::barrier || operation == Operation::allreduce;
}

struct Member {
    const Collective* operation;
    std::uint32_t enter, leave;  // nodes; leave kNone: never completed
    Location location;
    Rank rank;  // in the communicator; kNoRank: not known
};

class Instance {
  public:
    /// `most_rounds`: of long algorithms, so many are separate.
    Instance(Draft& draft, const Program& program, CollectiveReplay& replay, MessagesAtNics& nics,
             std::uint32_t most_rounds, std::vector<Member> members)
        : draft_(draft),
          program_(program),
          replay_(replay),
          nics_(nics),
          most_rounds_(most_rounds),
          members_(std::move(members)) {}

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
            case Shape::agreement:
            case Shape::none:
                unknown();
                break;
        }
    }

    /// Whether the library's algorithms make a difference: what its profile selects, else what fits as well as another.
    void observe(Decided& collectives) {
        auto one = pattern();
        one.bytes = one.operation == Operation::barrier ? 0 : one.bytes;
        const auto& first = *members_.front().operation;
        if (collectives.stated) {
            const bool blocking = first.call == first.complete_call;
            const bool groups = program_.has_groups(first.comm);
            collectives.places +=
                !groups && selected(static_cast<Collectives>(collectives.value), one, blocking) ? 1 : 0;
            return;
        }
        const auto nearest = carried_out_by(program_, first, one, most_rounds_, Collectives::nearest);
        const auto second = carried_out_by(program_, first, one, most_rounds_, Collectives::second);
        if (nearest != second && !are_same(one, nearest, second)) {
            ++collectives.places;
            collectives.see(allows(Collectives::nearest) | allows(Collectives::second));
        }
    }

    /// Of operations whose root receives messages as they arrive: how fast it did.
    void observe(RootReceivesObserved& root) {
        const auto operation = members_.front().operation->operation;
        auto one = pattern();
        one.bytes = operation == Operation::barrier ? 0 : one.bytes;
        const auto by = algorithm(one);
        const bool collects =
            (operation == Operation::barrier && by == Algorithm::linear) || by == Algorithm::linear_then_tree;
        if (!collects || std::ranges::any_of(members_, [](const Member& member) { return member.leave == kNone; })) {
            return;
        }
        std::ranges::sort(members_, {}, &Member::rank);
        std::vector<RootReceivesObserved::Member> seen;
        std::ranges::transform(members_, std::back_inserter(seen), [&](const Member& member) {
            return RootReceivesObserved::Member{member.location, draft_.measured[member.enter],
                                                draft_.measured[member.leave]};
        });
        root.see(seen, one.bytes);
    }

  private:
    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members_.size()); }

    /// Bytes of one message: what a member contributes to each other one.
    [[nodiscard]] std::uint64_t chunk() const noexcept {
        const auto moved = [](const Collective& one) { return std::max(one.bytes_sent, one.bytes_received); };
        if (shape(members_.front().operation->operation) == Shape::all_to_all) {
            std::uint64_t all = 0;  // of operations whose members give differently: the mean
            for (const auto& member : members_) {
                all += moved(*member.operation) / size();
            }
            return all / size();
        }
        std::uint64_t least = UINT64_MAX;  // the root moves what all others move
        for (const auto& member : members_) {
            least = std::min(least, moved(*member.operation));
        }
        return least;
    }

    /// The terms of `count` messages of one class in a row.
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
        const auto one = pattern();
        switch (one.operation) {
            case Operation::barrier:
            case Operation::fence:
                return by_rounds({one.operation, one.size, 0}, false);
            case Operation::alltoallv:
            case Operation::alltoallw:
            case Operation::allgatherv:
            case Operation::reduce_scatter:
                return by_rounds(one, true);
            default:
                return by_rounds(one, false);
        }
    }

    struct End {
        std::uint32_t node;
        Location location;
    };
    /// A single message.
    struct Sent {
        std::uint32_t taken;     // node
        std::uint32_t injected;  // node, of one with a handshake; kNone: eager
        std::uint32_t message;   // class
    };

    /// When each member has what it needs, message by message.
    struct Flow {
        Instance& of;
        std::vector<std::uint32_t> at = {};   // node by member
        std::vector<Location> location = {};  // likewise
        std::uint32_t most_rounds = of.most_rounds_;

        void add(const Member& member) {
            at.push_back(member.enter);
            location.push_back(member.location);
        }
        [[nodiscard]] std::int64_t ready(std::uint32_t member) const noexcept {
            return of.draft_.measured[of.members_[member].enter];
        }
        void message(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
            const auto sent = of.taken(end(from), end(to), bytes, kTermReceive);
            at[to] = sent.taken;
            const auto node = of.draft_.add_node();
            of.draft_.add_edge(at[from], node,
                               of.repeated(of.draft_.message_class(location[from], location[to], bytes), 1, kTermSend));
            of.let_go(sent, node);
            at[from] = node;
        }
        /// Where the NIC hands messages over no faster than the processor takes them, none waits for the processor,
        /// whatever their order on another machine: the last one ends it.
        void collect(const std::vector<std::uint32_t>& order, std::uint64_t bytes) {
            const auto message = of.draft_.message_class(location[order.front()], location[0], bytes);
            const auto& cost = of.draft_.cost(message);
            if (cost.o_r > cost.service) {
                std::ranges::for_each(order, [&](std::uint32_t i) { this->message(i, 0, bytes); });
                return;
            }
            const auto root = at[0];
            const auto done = of.draft_.add_node();
            for (const auto i : order) {
                at[0] = root;
                this->message(i, 0, bytes);
                of.draft_.add_edge(at[0], done, Draft::kMeasured);
            }
            const auto count = static_cast<std::uint32_t>(order.size());
            if (cost.service > cost.o_r && count > 1) {
                ++of.draft_.of_library(LibraryProperty::root_receives).places;
            }
            if (of.draft_.library_value<RootReceives>(LibraryProperty::root_receives) == RootReceives::gap) {
                const auto last = of.draft_.add_node();
                of.draft_.add_edge(root, last, of.repeated(message, count - 1, kTermTurn));
                of.draft_.add_edge(last, done, of.repeated(message, 1, kTermReceive));
            } else {
                of.draft_.add_edge(root, done, of.repeated(message, count, kTermReceive));
            }
            at[0] = done;
        }
        template <class From>
        void round(std::uint32_t count, From&& from, std::uint64_t bytes, std::uint32_t repeat) {
            auto next = at;
            std::vector<Sent> sent(count);
            for (std::uint32_t i = 0; i < count; ++i) {
                sent[i] = of.taken(end(from(i)), end(i), bytes, kOwn, repeat);
                next[i] = sent[i].taken;
            }
            for (std::uint32_t i = 0; i < count; ++i) {
                of.let_go(sent[i], next[from(i)]);
            }
            at = std::move(next);
        }
        void burst(std::uint32_t count, std::uint32_t rounds, std::uint64_t bytes) {
            std::vector<std::vector<std::uint32_t>> sends(rounds);  // node by round and member: it can send
            for (auto& of_round : sends) {
                of_round = at;
                for (std::uint32_t i = 0; i < count; ++i) {
                    const auto to = (i + static_cast<std::uint32_t>(&of_round - sends.data()) + 1) % count;
                    const auto node = of.draft_.add_node();
                    const auto message = of.draft_.message_class(location[i], location[to], bytes);
                    of.draft_.add_edge(at[i], node, of.repeated(message, 1, kTermSend));
                    at[i] = node;
                }
            }
            std::vector<std::vector<Sent>> sent(rounds, std::vector<Sent>(count));  // by round and sender
            for (std::uint32_t k = 0; k < rounds; ++k) {
                for (std::uint32_t i = 0; i < count; ++i) {
                    const auto from = (i + count - k - 1) % count;
                    sent[k][from] = of.taken({sends[k][from], location[from]}, end(i), bytes, kTermReceive);
                    at[i] = sent[k][from].taken;
                }
            }
            for (const auto& of_round : sent) {
                for (std::uint32_t i = 0; i < count; ++i) {
                    of.let_go(of_round[i], at[i]);
                }
            }
        }

      private:
        [[nodiscard]] End end(std::uint32_t member) const noexcept { return {at[member], location[member]}; }
    };

    /// The receiver has taken the message, which queues at the NICs of both ends. `own`: terms of the receiver's work
    /// during that time. `repeat`: it stands for so many, one after the other, each of which needs the one before; they
    /// queue at the sender's alone.
    Sent taken(const End& sender, const End& receiver, std::uint64_t bytes, std::uint8_t own,
               std::uint32_t repeat = 1) {
        const auto message = draft_.message_class(sender.location, receiver.location, bytes);
        const bool rendezvous = draft_.cost(message).rendezvous;
        const auto inject = draft_.add_node();
        if (rendezvous) {
            // Both sides are in the operation, and answer at once.
            const auto match = draft_.add_node();
            draft_.add_edge(sender.node, match, repeated(message, 1, kTermSend | kTermLatency | kTermControl));
            draft_.add_edge(receiver.node, match, repeated(message, 1, (own & kTermSend) | kTermControl));
            draft_.add_edge(match, inject, repeated(message, 1, kTermLatency | kTermControl));
        } else {
            draft_.add_edge(sender.node, inject, repeated(message, 1, kTermSend));
        }
        auto& queue = nics_.sending[index(sender.location)];
        auto last = inject;  // of those it stands for
        if (repeat > 1) {
            last = draft_.add_node();
            draft_.add_edge(inject, last, Draft::kMeasured);
            queue.push_back(draft_.at_nic(inject, message, repeat - 1));
        }
        queue.push_back(draft_.at_nic(last, message));
        // Links carry the bytes of all that it stands for.
        const auto carried = draft_.contention && repeat > 1
                                 ? draft_.message_class(sender.location, receiver.location, bytes * repeat)
                                 : message;
        const auto first_byte = draft_.add_node();
        draft_.add_message(last, first_byte, repeated(carried, 1, kTermLatency), sender.location, receiver.location);
        if (repeat == 1) {
            nics_.receiving[index(receiver.location)].push_back(draft_.at_nic(first_byte, message));
        }
        const auto node = draft_.add_node();
        draft_.add_edge(first_byte, node, repeated(carried, 1, kTermSerialization | kTermReceive));
        draft_.add_edge(receiver.node, node, repeated(message, repeat, own));
        if (repeat > 1) {
            draft_.add_edge(rendezvous ? inject : sender.node, node, repeated(message, repeat, kRound));
        }
        return {node, rendezvous ? last : kNone, message};
    }

    /// The sender of a message that needs a handshake continues when the message has left.
    void let_go(const Sent& sent, std::uint32_t node) {
        if (sent.injected != kNone) {
            draft_.add_edge(sent.injected, node, repeated(sent.message, 1, kTermSerialization));
        }
    }

    /// The members by their ranks, through the algorithm. `may_leave_early`: a member that gets nothing from the
    /// last one need not wait for it.
    void by_rounds(const Pattern& one, bool may_leave_early) {
        std::ranges::sort(members_, {}, &Member::rank);
        Flow flow{*this};
        std::ranges::for_each(members_, [&](const Member& member) { flow.add(member); });
        visit_schedule(one, algorithm(one), flow);
        const auto latest = latest_enter();
        for (std::uint32_t i = 0; i < size(); ++i) {
            const auto& member = members_[i];
            const bool early = may_leave_early && member.leave != kNone && draft_.measured[member.leave] < latest;
            if (flow.at[i] != member.enter && !early) {
                wait(member, flow.at[i], Draft::kMeasured);
            }
        }
    }

    [[nodiscard]] const Member* root() const noexcept {
        const auto at = std::ranges::find_if(members_, [](const Member& member) {
            return member.rank != kNoRank && member.rank == member.operation->root;
        });
        return at == members_.end() ? nullptr : &*at;
    }

    /// The members by their distance from the root, that of the binomial tree; empty where a rank is not known.
    [[nodiscard]] std::vector<const Member*> from_root() const {
        const auto* first = root();
        std::vector<const Member*> result(first == nullptr ? 0 : size(), nullptr);
        for (const auto& member : members_) {
            if (first == nullptr || index(member.rank) >= size()) {
                return {};
            }
            result[(index(member.rank) + size() - index(first->rank)) % size()] = &member;
        }
        return std::ranges::find(result, nullptr) == result.end() ? result : std::vector<const Member*>{};
    }
    [[nodiscard]] Pattern pattern() const noexcept { return {members_.front().operation->operation, size(), chunk()}; }

    [[nodiscard]] Collectives collectives() const noexcept {
        return draft_.library_value<Collectives>(LibraryProperty::collectives);
    }
    [[nodiscard]] Algorithm algorithm(const Pattern& one) const noexcept {
        return carried_out_by(program_, *members_.front().operation, one, most_rounds_, collectives());
    }

    void one_to_all() {
        const auto tree = from_root();
        const auto one = pattern();
        const auto by = algorithm(one);
        Flow flow{*this};
        std::ranges::for_each(tree, [&](const Member* member) { flow.add(*member); });
        std::vector<std::int64_t> since(tree.size(), INT64_MIN);  // the last enter on the way to a member
        from_root_down({one.operation, static_cast<std::uint32_t>(tree.size()), one.bytes}, by,
                       [&](std::uint32_t parent, std::uint32_t child) {
                           since[parent] = std::max(since[parent], draft_.measured[tree[parent]->enter]);
                           since[child] = since[parent];
                           flow.message(parent, child, carried(one, by, child));
                       });
        for (std::uint32_t r = 0; r < tree.size(); ++r) {
            const auto& member = *tree[r];
            since[r] = std::max(since[r], draft_.measured[member.enter]);
            // What left before its data can have arrived on this way took another one, or needed none.
            const bool waits = r == 0 || (member.leave != kNone && draft_.measured[member.leave] >= since[r]);
            if (waits && flow.at[r] != member.enter) {
                wait(member, flow.at[r], Draft::kMeasured);
            } else if (r != 0 && member.leave != kNone &&
                       draft_.measured[member.leave] >= draft_.measured[tree[0]->enter]) {
                const auto message = draft_.message_class(tree[0]->location, member.location, one.bytes);
                const auto steps = by == Algorithm::linear ? 1 : static_cast<std::uint32_t>(std::popcount(r));
                wait(member, tree[0]->enter, repeated(message, steps, kRound));
            }
        }
    }

    void all_to_one() {
        const auto tree = from_root();
        const auto count = static_cast<std::uint32_t>(tree.size());
        const auto one = pattern();
        const auto by = algorithm(one);
        std::vector<std::uint32_t> ready;  // node: the member has what is below it
        std::ranges::transform(tree, std::back_inserter(ready), [](const Member* member) { return member->enter; });
        std::vector<std::int64_t> since;  // the last enter of those
        std::ranges::transform(ready, std::back_inserter(since), [&](auto node) { return draft_.measured[node]; });
        std::vector<Sent> sent(count);  // by child
        up_to_root({one.operation, count, one.bytes}, by, [&](std::uint32_t child, std::uint32_t parent) {
            sent[child] = taken({ready[child], tree[child]->location}, {ready[parent], tree[parent]->location},
                                carried(one, by, child), kTermReceive);
            ready[parent] = sent[child].taken;
            since[parent] = std::max(since[parent], since[child]);
        });
        for (std::uint32_t r = 0; r < count; ++r) {
            const auto& member = *tree[r];
            // What left before all below it had entered waited for no rank: its data took another route.
            if (member.leave == kNone || draft_.measured[member.leave] < since[r]) {
                continue;
            }
            if (r != 0) {
                let_go(sent[r], member.leave);
            }
            if (ready[r] != member.enter) {
                wait(member, ready[r], r == 0 ? Draft::kMeasured : repeated(sent[r].message, 1, kTermSend));
            }
        }
    }

    /// A member needs what those before it give.
    void prefix() {
        std::ranges::sort(members_, {}, &Member::rank);
        Flow flow{*this};
        std::ranges::for_each(members_, [&](const Member& member) { flow.add(member); });
        const auto one = pattern();
        visit_schedule(one, algorithm(one), flow);
        auto since = INT64_MIN;  // the last enter so far
        for (std::uint32_t i = 0; i < size(); ++i) {
            const auto& member = members_[i];
            since = std::max(since, draft_.measured[member.enter]);
            if (flow.at[i] != member.enter && member.leave != kNone && draft_.measured[member.leave] >= since) {
                wait(member, flow.at[i], Draft::kMeasured);
            }
        }
    }

    /// How much longer the members are in the operation than an algorithm has them, as a sum; nothing where it does not
    /// explain more than half of their time.
    [[nodiscard]] std::optional<double> unexplained(const Pattern& one, Algorithm by) {
        std::vector<CollectiveReplay::Member> entered;
        std::ranges::transform(members_, std::back_inserter(entered), [&](const Member& member) {
            return CollectiveReplay::Member{draft_.measured[member.enter], member.location};
        });
        replay_.run(one, by, entered);
        double off = 0;
        double whole = 0;
        for (std::uint32_t i = 0; i < size(); ++i) {
            const auto left = draft_.measured[members_[i].leave];
            off += std::abs(static_cast<double>(left - replay_.end(i)));
            whole += static_cast<double>(left - entered[i].enter_ps);
        }
        return off < whole / 2 ? std::optional(off) : std::nullopt;
    }

    /// Members of a communicator that is made agree on its number: the first one sends it (SMPI), or all reduce it
    /// (Open MPI, MPICH). By the library's rules; else whether the measured times show which.
    bool agree() {
        constexpr std::uint64_t kNumber = 4;
        if (members_.front().operation->operation != Operation::create_handle || size() < 2 ||
            std::ranges::any_of(members_,
                                [](const Member& one) { return one.leave == kNone || one.rank == kNoRank; })) {
            return false;
        }
        std::ranges::sort(members_, {}, &Member::rank);
        const Pattern down{Operation::bcast, size(), kNumber};
        const Pattern reduce{Operation::allreduce, size(), kNumber};
        const auto by = collectives();
        const bool reduces = by == Collectives::openmpi || by == Collectives::mpich;
        const auto broadcast = reduces ? std::nullopt : unexplained(down, Algorithm::binomial);
        const auto reduced =
            by == Collectives::simgrid ? std::nullopt : unexplained(reduce, Algorithm::recursive_doubling);
        if (!broadcast && !reduced) {
            return false;
        }
        const bool tree = broadcast && (!reduced || *broadcast < *reduced);
        std::vector<std::int64_t> since(size(), latest_enter());  // the last enter on the way to a member
        if (tree) {
            since[0] = draft_.measured[members_[0].enter];
            down_the_tree(size(), [&](std::uint32_t parent, std::uint32_t child) {
                since[child] = std::max(since[parent], draft_.measured[members_[child].enter]);
            });
        }
        Flow flow{*this};
        std::ranges::for_each(members_, [&](const Member& member) { flow.add(member); });
        visit_schedule(tree ? down : reduce, tree ? Algorithm::binomial : Algorithm::recursive_doubling, flow);
        for (std::uint32_t i = 0; i < size(); ++i) {
            if (draft_.measured[members_[i].leave] >= since[i]) {
                wait(members_[i], flow.at[i], Draft::kMeasured);
            }
        }
        return true;
    }

    /// Creation of communicators and the like: taken as synchronizing where the measured times say that it was.
    void unknown() {
        if (agree()) {
            return;
        }
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
    CollectiveReplay& replay_;
    MessagesAtNics& nics_;
    std::uint32_t most_rounds_;
    std::vector<Member> members_;
};

/// Rounds of long algorithms that are single messages in each operation, so that all of them have kSingleMessages.
std::uint32_t single_rounds(const std::vector<std::vector<Member>>& instances) {
    std::uint64_t of_one_round = 0;
    for (const auto& members : instances) {
        if (!members.empty()) {
            const auto size = static_cast<std::uint32_t>(members.size());
            const bool is_long = usual({members.front().operation->operation, size, 0}) == Algorithm::pairwise;
            of_one_round += is_long ? size : 0;
        }
    }
    return static_cast<std::uint32_t>(kSingleMessages / std::max<std::uint64_t>(1, of_one_round));
}

}  // namespace

void add_collectives(Draft& draft, const Program& program, std::span<const std::vector<std::uint32_t>> enters,
                     std::span<const std::vector<std::uint32_t>> leaves, MessagesAtNics& nics) {
    std::vector<std::vector<Member>> instances(program.collective_instances);
    static const Collective kUnnamed{0, 0, 0, 0, kNone, kNone, kUndefined, kNoRank, kNone, Operation::unknown};
    std::vector<Member> start_up, shut_down;
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        if (enters[location].empty()) {
            continue;
        }
        const auto here = location_at(location);
        const auto& timeline = program.timelines[location];
        std::unordered_map<std::int32_t, Rank> ranks;  // of this location, by communicator
        timeline.collectives.for_each([&](std::size_t, const Collective& operation) {
            if (operation.instance == kNone) {
                return;
            }
            const auto [rank, added] = ranks.try_emplace(operation.comm, kNoRank);
            if (added && operation.comm >= 0) {
                const auto& members = program.members[static_cast<std::size_t>(operation.comm)];
                rank->second = rank_of(members, here).value_or(kNoRank);
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
                members.push_back({&kUnnamed, enters[location][call], leaves[location][call], here, kNoRank});
            }
        }
    }
    instances.push_back(std::move(start_up));
    instances.push_back(std::move(shut_down));
    const auto most_rounds = single_rounds(instances);
    const CollectiveEndpoints endpoints(program, draft.machine);
    CollectiveReplay replay(program, draft.machine, endpoints);
    const auto rounds_of = [&](std::size_t members) {
        return std::max(doublings(static_cast<std::uint32_t>(members)), most_rounds);
    };
    auto& algorithms = draft.of_library(LibraryProperty::collectives);
    draft.decide(LibraryProperty::collectives);
    for (const auto& members : instances) {
        if (!members.empty()) {
            Instance(draft, program, replay, nics, rounds_of(members.size()), members).observe(algorithms);
        }
    }
    RootReceivesObserved root(draft);
    for (const auto& members : instances) {
        if (!members.empty() && may_collect(members.front().operation->operation)) {
            Instance(draft, program, replay, nics, rounds_of(members.size()), members).observe(root);
        }
    }
    draft.decide(LibraryProperty::root_receives);
    for (auto& members : instances) {
        if (!members.empty()) {
            const auto rounds = rounds_of(members.size());
            Instance(draft, program, replay, nics, rounds, std::move(members)).add();
        }
    }
}

}  // namespace logpost::replay
