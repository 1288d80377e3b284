#pragma once

// Programs written in code: which rank called what from when to when, and which calls a message's ends belong to.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "replay/native/cost/parameters.hpp"
#include "replay/native/program/phases.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::tests {

using replay::CallKind;

/// Times are picoseconds; the clock ticks once a picosecond.
class ProgramStory {
  public:
    ProgramStory() {
        program_.ticks_per_second = 1'000'000'000'000;
        for (std::size_t kind = 0; kind < replay::kCallKinds; ++kind) {
            program_.kinds.push_back(static_cast<CallKind>(kind));
        }
        program_.callers.assign(replay::kCallKinds, replay::kUndefined);  // a callpath per kind, without callers
    }

    /// A rank on a node that lasts from `first_ps` to `last_ps`.
    std::int32_t rank(std::int32_t node, std::int64_t last_ps, std::int64_t first_ps = 0) {
        const auto id = static_cast<std::int32_t>(places_.size());
        places_.push_back({.process = id, .node = node, .rank = replay::Rank{id}});
        auto& timeline = program_.timelines.emplace_back();
        timeline.first_ps = first_ps;
        timeline.last_ps = last_ps;
        program_.accounted.push_back(1);
        program_.length_ps = std::max(program_.length_ps, last_ps);
        return id;
    }

    /// A further thread of a rank.
    std::int32_t thread(std::int32_t of, std::int64_t last_ps, std::int64_t first_ps) {
        const auto process = places_[static_cast<std::size_t>(of)];
        const auto id = rank(process.node, last_ps, first_ps);
        places_.back() = process;
        places_.back().rank = replay::kNoRank;
        return id;
    }

    /// `callpath`: that of its kind, unless given.
    std::uint32_t call(std::int32_t rank, CallKind kind, std::int64_t enter_ps, std::int64_t leave_ps,
                       std::optional<std::int32_t> callpath = {}) {
        auto& calls = timeline(rank).calls;
        calls.push_back(
            {enter_ps, leave_ps, static_cast<std::int32_t>(kind), callpath.value_or(static_cast<std::int32_t>(kind))});
        return static_cast<std::uint32_t>(calls.size() - 1);
    }

    /// A message that blocking calls sent and received, or others completed.
    void message(std::int32_t from, std::uint32_t send, std::int32_t to, std::uint32_t receive, std::uint64_t bytes,
                 std::optional<std::uint32_t> send_complete = {}, std::optional<std::uint32_t> receive_complete = {}) {
        auto& sends = timeline(from).sends;
        auto& receives = timeline(to).receives;
        const auto sent = static_cast<std::uint32_t>(sends.size());
        const auto received = static_cast<std::uint32_t>(receives.size());
        sends.push_back({send, send_complete.value_or(send), bytes, replay::Location{to}, 0, 0, received});
        receives.push_back({receive, receive_complete.value_or(receive), bytes, replay::Location{from}, 0, 0, sent});
    }

    /// A send without a receive, to a rank that the trace does not state.
    void lost_send(std::int32_t from, std::uint32_t send, std::uint64_t bytes) {
        timeline(from).sends.push_back({send, send, bytes, replay::kNoLocation, 0, 0, replay::kNone});
    }

    void collective(std::int32_t rank, std::uint32_t call, replay::Operation operation, std::int32_t root = -1,
                    std::uint32_t instance = 0, std::optional<std::uint32_t> complete = {}) {
        const auto& calls = timeline(rank).calls;
        const auto end = complete.value_or(call);
        timeline(rank).collectives.push_back(
            {calls[call].enter_ps, calls[end].leave_ps, 8, 8, call, end, 0, replay::Rank{root}, instance, operation});
        program_.collective_instances = std::max(program_.collective_instances, instance + 1);
    }

    /// The operation added last has nothing to do with those of other ranks.
    void takes_no_part(std::int32_t rank) { timeline(rank).collectives.back().instance = replay::kNone; }
    /// What the rank gives and gets in the operation added last; 8 bytes of each, unless set.
    void gives_and_gets(std::int32_t rank, std::uint64_t sent, std::uint64_t received) {
        auto& operation = timeline(rank).collectives.back();
        operation.bytes_sent = sent;
        operation.bytes_received = received;
    }

    /// A put that `call` starts and `complete` completes, at the origin or (`remotely`) at both ends.
    void put(std::int32_t from, std::uint32_t call, std::uint32_t complete, std::int32_t to, std::uint64_t bytes,
             bool remotely = true) {
        timeline(from).transfers.push_back({bytes, call, complete, remotely ? complete : replay::kNone,
                                            replay::Location{to}, 0, replay::Transfer::Kind::put});
    }

    /// A get that `call` starts and completes.
    void get(std::int32_t from, std::uint32_t call, std::int32_t to, std::uint64_t bytes) {
        timeline(from).transfers.push_back(
            {bytes, call, call, call, replay::Location{to}, 0, replay::Transfer::Kind::get});
    }

    /// The data of the transfer added last are 3 blocks of 17 B, one every 64 B, at its ends that are named.
    void has_gaps(std::int32_t rank, bool origin, bool target) {
        const auto row = layout();
        auto& transfer = timeline(rank).transfers.back();
        transfer.layout = origin ? row : replay::kUndefined;
        transfer.target_layout = target ? row : replay::kUndefined;
    }

    /// Data of a message or of a member of an operation: blocks of 17 B, one every 64 B, as elements of `blocks` each.
    std::int32_t layout(std::uint64_t blocks = 3) {
        program_.layouts.push_back({.blocks = blocks, .block_bytes = 17, .stride_bytes = 64});
        return static_cast<std::int32_t>(program_.layouts.size() - 1);
    }
    /// What the rank gives and gets in the operation added last has gaps.
    void gives_and_gets_gaps(std::int32_t rank, std::int32_t given, std::int32_t got) {
        auto& operation = timeline(rank).collectives.back();
        operation.layout = given;
        operation.received_layout = got;
    }
    /// The message that the rank has sent last has such data.
    void sends_gaps(std::int32_t rank, std::int32_t layout) {
        auto& sender = timeline(rank);
        sender.layouts.push_back({static_cast<std::uint32_t>(sender.sends.size() - 1), layout});
    }

    /// An epoch of window 0; returns its number.
    std::uint32_t epoch(std::int32_t rank, replay::Epoch::Kind kind, std::uint32_t begin, std::uint32_t end,
                        std::int32_t peer) {
        auto& epochs = timeline(rank).epochs;
        epochs.push_back({replay::Epoch::kNotRecorded, 0, begin, end, replay::Location{peer}, 0, replay::kNone, kind});
        return static_cast<std::uint32_t>(epochs.size() - 1);
    }
    /// An access and the exposure that permits it.
    void match(std::int32_t origin, std::uint32_t access, std::int32_t target, std::uint32_t exposure) {
        timeline(origin).epochs[access].match = exposure;
        timeline(target).epochs[exposure].match = access;
    }

    /// The rank's socket, of its node.
    void on_socket(std::int32_t rank, std::int32_t socket) { places_[static_cast<std::size_t>(rank)].socket = socket; }

    /// Links between every two places of the network, and the place of each node.
    void hops(std::vector<std::int32_t> hops, std::vector<std::int32_t> place_of_node) {
        hops_ = std::move(hops);
        place_of_node_ = std::move(place_of_node);
    }

    /// The locations of the communicator's ranks, where they are not all.
    void members(std::vector<std::int32_t> members) { members_ = std::move(members); }
    /// Makes the communicator an inter-communicator: so many of its members are the first group.
    void first_group(std::uint32_t members) { program_.first_group = {members}; }

    void network(replay::Network network) { program_.network = std::move(network); }

    /// The finished program; nothing is added afterwards.
    const replay::Program& program() {
        std::vector<replay::Location> members;
        for (std::size_t l = 0; l < (members_.empty() ? places_.size() : members_.size()); ++l) {
            members.push_back(members_.empty() ? replay::location_at(l) : replay::Location{members_[l]});
        }
        program_.members = {members};
        put_ends_in_order();
        program_.placement = replay::Placement(places_);
        program_.placement.set_hops(hops_, place_of_node_);
        program_.spans = replay::program_spans(program_);
        return program_;
    }

  private:
    /// Both ends of messages are sorted by their calls, whatever the order in which they were added.
    void put_ends_in_order() {
        std::vector<std::vector<std::uint32_t>> sent, received;  // new place, by location and old one
        for (auto& timeline : program_.timelines) {
            sent.push_back(put_in_order(timeline.sends));
            received.push_back(put_in_order(timeline.receives));
        }
        for (auto& timeline : program_.timelines) {
            for (auto [ends, places] : {std::pair{&timeline.sends, &received}, std::pair{&timeline.receives, &sent}}) {
                for (std::size_t i = 0; i < ends->size(); ++i) {
                    auto& end = (*ends)[i];
                    end.match = end.match == replay::kNone ? replay::kNone : (*places)[index(end.peer)][end.match];
                }
            }
        }
    }
    template <class Ends>
    static std::vector<std::uint32_t> put_in_order(Ends& ends) {
        std::vector<std::uint32_t> order(ends.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return ends[i].call; });
        Ends sorted;
        std::vector<std::uint32_t> place(ends.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            sorted.push_back(ends[order[i]]);
            place[order[i]] = i;
        }
        ends = std::move(sorted);
        return place;
    }

    replay::Timeline& timeline(std::int32_t rank) { return program_.timelines[static_cast<std::size_t>(rank)]; }

    replay::Program program_;
    std::vector<replay::Place> places_;
    std::vector<std::int32_t> members_;
    std::vector<std::int32_t> hops_;
    std::vector<std::int32_t> place_of_node_;
};

/// Rank 0: Start 100..110, Put 110..120 of 51 B, Complete `completes`..700. Rank 1: Post `posted`.., Wait 500..800.
struct AccessStory : ProgramStory {
    AccessStory(std::int64_t posted, std::int64_t completes, std::int64_t origin_ends = 1000) {
        using replay::CallKind;
        using replay::Epoch;
        rank(0, origin_ends);
        rank(0, 1000);
        const auto start = call(0, CallKind::one_sided, 100, 110);
        const auto transfer = call(0, CallKind::one_sided, 110, 120);
        const auto complete = call(0, CallKind::one_sided, completes, 700);
        const auto post = call(1, CallKind::one_sided, posted, posted + 10);
        const auto wait = call(1, CallKind::one_sided, 500, 800);
        put(0, transfer, complete, 1, 51, false);  // Complete says nothing of the target
        match(0, epoch(0, Epoch::Kind::access, start, complete, 1), 1, epoch(1, Epoch::Kind::exposure, post, wait, 0));
    }
};

/// Of calls, in ps.
using Times = std::vector<std::int64_t>;

/// o_s = 10, L = 100, o_r = 20, G = 1 ps/B at any distance; no gap, no rendezvous.
inline replay::Parameters plain_machine() {
    replay::Parameters parameters;
    for (auto& locality : parameters.localities) {
        locality.ranges = {{.up_to_bytes = UINT64_MAX, .L = 100, .o_s = 10, .o_r = 20, .g = 0, .G = 1}};
    }
    return parameters;
}

}  // namespace logpost::tests
