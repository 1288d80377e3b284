#pragma once

/// A collective operation, replayed as its messages from the measured enters of its members.
///
/// Each member carries out its part of the algorithm's schedule in order: a send occupies its processor for o_s, a
/// receive for o_r from when the message is there; on the path are the NICs of both ends, L and (B - 1) G, and a
/// handshake where the machine says so. The path from a member's end backwards, along what it waited for, has a label
/// at every instant.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/parts.hpp"
#include "replay/native/cost/cost.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// Where messages queue: the NIC of each location between nodes, its own end of the memory within one.
struct CollectiveEndpoints {
    explicit CollectiveEndpoints(const Program& program, const Parameters& parameters);
    std::vector<std::uint32_t> nic;  // by location
    std::uint32_t nics = 0;
};

class CollectiveReplay {
  public:
    struct Member {
        std::int64_t enter_ps;
        Location location;
        Blocks gives = {};  ///< the layout of the data that it sends
        Blocks gets = {};   ///< of those that it receives
    };

    /// A message at an endpoint before all members that share it have entered.
    struct Early {
        std::int64_t ready_ps, service_ps;
        std::uint32_t member;
        bool between_nodes, receiving;
    };

    CollectiveReplay(const Program& program, const Parameters& parameters, const CollectiveEndpoints& endpoints);

    /// Replays one operation. `members` are numbered as `visit_schedule` does.
    void run(const Pattern& pattern, Algorithm algorithm, std::span<const Member> members);
    /// The early messages of the operation replayed last.
    [[nodiscard]] const std::vector<Early>& early() const noexcept { return early_; }
    /// When a member has what the operation gives it.
    [[nodiscard]] std::int64_t end(std::uint32_t member) const noexcept { return nodes_[at_[member]].t; }
    /// For how long a member's processor works without a pause until then.
    [[nodiscard]] std::int64_t last_work(std::uint32_t member) const noexcept;
    /// Until when the operation's messages keep a member's NIC busy, or its own end of its node's memory; INT64_MIN
    /// where there are none.
    [[nodiscard]] std::int64_t busy_until(std::uint32_t member, bool between_nodes, bool receiving) const noexcept {
        if (sending_.empty()) {
            return INT64_MIN;
        }
        const auto location = index(members_[member].location);
        const auto endpoint = between_nodes ? endpoints_.nic[location] : endpoints_.nics + location;
        return (receiving ? receiving_ : sending_)[endpoint].end;
    }
    /// Visits (part, begin, end) from the member's end back to `from_ps`, without gap.
    template <class Visit>
    void back(std::uint32_t member, std::int64_t from_ps, Visit&& visit) const;
    using Parts = std::array<std::int64_t, kReplayedParts>;
    /// The sum of each part on that path. Members with the same `from_ps` share what their paths have in common.
    [[nodiscard]] Parts parts(std::uint32_t member, std::int64_t from_ps);

    // The visitor of a schedule.
    [[nodiscard]] std::int64_t ready(std::uint32_t member) const noexcept { return end(member); }
    void message(std::uint32_t from, std::uint32_t to, std::uint64_t bytes);
    template <class Source>
    void round(std::uint32_t count, Source&& source, std::uint64_t bytes, std::uint32_t repeat) {
        source_.resize(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            source_[i] = source(i);
        }
        exchange(count, bytes, repeat);
    }
    void burst(std::uint32_t count, std::uint32_t rounds, std::uint64_t bytes);
    void combines(bool now) noexcept { combining_ = reduces_ && now; }

  private:
    /// What the time since the node before consists of.
    enum class Path : std::uint8_t {
        enter,     // there is none before
        copied,    // data with gaps, of the member to itself
        sent,      // o_s, `run` times
        served,    // the message was there: o_r, `run` times, after the member's sends
        received,  // o_s .. o_r of a message whose sender is before
        answered,  // rendezvous: the same, from the sender's o_s on
        cleared,   // rendezvous: the same, from the receiver's answer on
        left,      // rendezvous: from the sender's o_s to the payload's last byte
        let_go,    // rendezvous: from the receiver's answer to the payload's last byte
    };
    struct Node {
        std::int64_t t;
        std::uint32_t before;
        std::uint32_t cost;
        std::uint32_t run;  // how many pieces of work of the path's kind
        Path path;
    };
    struct Busy {
        std::int64_t begin = INT64_MIN, end = INT64_MIN;
    };
    struct Stretch {
        CollectivePart part;
        std::int64_t length;
    };
    /// The way from a node back to `summed_from_`.
    struct Sum {
        Parts parts{};
        std::uint32_t steps = 0;
        std::uint32_t node = kNone;
    };
    static constexpr std::size_t kMostStretches = 12;
    /// After so many messages in a row, what is before them is labelled in their proportions.
    static constexpr std::uint32_t kMostSteps = 256;
    /// Sums are kept so many messages apart.
    static constexpr std::uint32_t kStepsApart = 4;

    [[nodiscard]] std::uint32_t add(std::int64_t t, std::uint32_t before, std::uint32_t cost, Path path,
                                    std::uint32_t run);
    /// What a member gives itself has gaps: it is packed and unpacked.
    void copy_own(const Pattern& pattern);
    [[nodiscard]] std::uint32_t add_work(std::int64_t t, std::uint32_t before, std::uint32_t cost, Path path);
    /// The cost of a message, and of packing and unpacking it where it has gaps. The sender of a rendezvous is busy
    /// until its receiver has unpacked.
    struct MessageCost : Cost {
        std::int64_t pack = 0, unpack = 0;
        std::int64_t reduction = 0;  // of what is received with what is there
        [[nodiscard]] std::int64_t start() const noexcept { return o_s + pack; }
        [[nodiscard]] std::int64_t finish() const noexcept { return unpack + o_r + reduction; }
    };
    /// Index of the cost of a message between two members.
    [[nodiscard]] std::uint32_t cost(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t repeat);
    static std::int64_t queue(Busy& busy, std::int64_t ready, std::int64_t service) noexcept;
    struct Way {
        std::int64_t left, arrived;  // last byte, at both ends
    };
    [[nodiscard]] Way transfer(std::uint32_t from, std::uint32_t to, const Cost& cost, std::int64_t ready);
    void exchange(std::uint32_t count, std::uint64_t bytes, std::uint32_t repeat);
    [[nodiscard]] std::size_t stretches(const Node& node, std::int64_t since,
                                        std::array<Stretch, kMostStretches>& found) const noexcept;
    /// Visits (part, begin, end) from a node back to the one before it, or to `from_ps`.
    template <class Visit>
    void label(const Node& node, std::int64_t from_ps, Visit&& visit) const;

    const Program& program_;
    const Parameters& parameters_;
    const CollectiveEndpoints& endpoints_;
    std::vector<Busy> sending_, receiving_;  // NICs, then locations
    std::vector<std::int64_t> entered_;      // likewise: by then all members there have
    std::vector<Early> early_;
    struct CostKey {
        std::uint64_t bytes;
        std::int32_t hops;
        std::uint32_t repeat;
        Locality locality;
        Blocks gives, gets;
        bool combines;
        bool operator==(const CostKey&) const = default;
    };
    std::vector<CostKey> keys_;
    std::vector<MessageCost> costs_;
    std::array<std::uint32_t, kLocalities> recent_{};
    std::span<const Member> members_;
    bool reduces_ = false, combining_ = false;  // the operation; the messages at hand
    std::vector<Node> nodes_;
    std::vector<Sum> sums_;
    std::vector<std::uint32_t> sum_of_;  // by node: its place in sums_, where that names the node
    std::vector<std::uint32_t> way_;     // nodes that are not summed yet
    std::int64_t summed_from_ = 0;
    std::vector<std::uint32_t> at_, next_, source_, target_, cost_;
    std::vector<std::int64_t> sent_;
    std::vector<std::uint32_t> left_;  // of an exchange: node, the own payload has left; kNone: eager
};

template <class Visit>
void CollectiveReplay::label(const Node& node, std::int64_t from_ps, Visit&& visit) const {
    if (node.path == Path::enter) {
        visit(CollectivePart::late_members, from_ps, node.t);
        return;
    }
    std::array<Stretch, kMostStretches> found;
    const auto before = nodes_[node.before].t;
    const auto since = std::max(before, from_ps);
    auto until = node.t;
    for (auto i = stretches(node, before, found); i-- > 0 && until > since;) {
        const auto begin = i == 0 ? since : std::max(until - found[i].length, since);
        if (begin < until) {
            visit(found[i].part, begin, until);
        }
        until = begin;
    }
}

template <class Visit>
void CollectiveReplay::back(std::uint32_t member, std::int64_t from_ps, Visit&& visit) const {
    auto at = at_[member];
    Parts sums{};
    const auto whole = static_cast<double>(nodes_[at].t - from_ps);
    for (std::uint32_t step = 0; nodes_[at].t > from_ps && step < kMostSteps; ++step) {
        label(nodes_[at], from_ps, [&](CollectivePart part, std::int64_t begin, std::int64_t end) {
            sums[static_cast<std::size_t>(part)] += end - begin;
            visit(part, begin, end);
        });
        if (nodes_[at].path == Path::enter) {
            return;
        }
        at = nodes_[at].before;
    }
    const auto rest = nodes_[at].t - from_ps;
    auto until = nodes_[at].t;
    for (std::size_t part = 0; part < kReplayedParts && rest > 0; ++part) {
        const auto share = static_cast<double>(sums[part]) / (whole - static_cast<double>(rest));
        const auto length = static_cast<std::int64_t>(static_cast<double>(rest) * share);
        const auto begin = part + 1 == kReplayedParts ? from_ps : std::max(from_ps, until - length);
        visit(static_cast<CollectivePart>(part), begin, until);
        until = begin;
    }
}

}  // namespace logpost::replay
