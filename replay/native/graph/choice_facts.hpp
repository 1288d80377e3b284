#pragma once

/// What a trace contains of the choices of a graph, before it is replayed in the order of time: which receives are
/// taken by the first message to arrive, by how much requests are complete later than the model says, and which arcs
/// depend on the order.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "replay/native/graph/choices.hpp"
#include "replay/native/graph/replay.hpp"

namespace logpost::replay {

class ChoiceFacts {
  public:
    /// The receives of a row on a communicator.
    struct Channel {
        bool any_sender = true;               ///< they are taken by the first to arrive
        std::vector<std::uint32_t> receives;  ///< choices, in recorded order
    };
    /// Which one a call takes that finds a send and a receive complete: libraries look through the requests in the
    /// order in which the program names them.
    enum class Takes : std::uint8_t { first_complete, sends, receives };
    /// Choices by arc or node: a replay looks up every one of them.
    class Index {
      public:
        void resize(std::size_t size) { of_.assign(size, kNone); }
        /// The first one that is given stays.
        void add(std::uint32_t at, std::uint32_t choice) {
            if (at < of_.size() && of_[at] == kNone) {
                of_[at] = choice;
            }
        }
        /// kNone: none is there.
        [[nodiscard]] std::uint32_t operator[](std::uint32_t at) const noexcept {
            return of_.empty() ? kNone : of_[at];
        }
        [[nodiscard]] bool contains(std::uint32_t at) const noexcept { return (*this)[at] != kNone; }

      private:
        std::vector<std::uint32_t> of_;
    };

    /// `lane` of the weights: the recorded machine, with the times `recorded` of the nodes; empty: none is believed.
    /// `sources`, `targets`: nodes by edge.
    ChoiceFacts(const Graph& graph, const Weights& weights, std::span<const std::uint32_t> sources,
                std::span<const std::uint32_t> targets, Choices&& of, std::span<const std::int64_t> recorded,
                std::size_t lane)
        : choices(std::move(of)),
          graph_(graph),
          weights_(weights),
          sources_(sources),
          targets_(targets),
          recorded_(recorded),
          lane_(lane) {
        find_channels();
        find_late_completions();
        find_arcs();
        find_late_messages();
    }

    const Choices choices;
    std::vector<Channel> channels;
    Takes takes = Takes::first_complete;
    std::vector<std::uint32_t> row_of, channel_of;          ///< by choice
    std::vector<std::uint32_t> posts_in;                    ///< likewise: receives that are posted behind it
    std::vector<std::uint32_t> sends_before;                ///< likewise: of its row, that complete a send
    std::vector<std::int64_t> late_complete, late_message;  ///< likewise
    Index rewired, post_arc;                                ///< choice by arc: into it, or from its post
    Index of_leave, arrival_of;                             ///< choice by node: its leave, its message's arrival
    Index held;                                             ///< likewise: a message that begins at its match
    Index posting;                                          ///< place in `posts_of`, by node that posts their receives
    std::vector<std::vector<std::uint32_t>> posts_of;       ///< choices

    /// Whether its receive is taken by the first to arrive.
    [[nodiscard]] bool matches(std::uint32_t choice) const noexcept {
        return choices.all[choice].receives && channels[channel_of[choice]].any_sender;
    }
    [[nodiscard]] bool is_held(std::uint32_t choice) const {
        const auto arc = choices.all[choice].post_arc;
        return arc != kNone && held.contains(targets_[arc]);
    }
    [[nodiscard]] bool is_last(std::uint32_t choice) const noexcept {
        return choice + 1 == choices.rows[row_of[choice]].end;
    }
    /// The duration of the call itself, behind its enter.
    [[nodiscard]] std::int64_t own(std::uint32_t choice, std::size_t lane) const noexcept {
        std::int64_t most = 0;
        const auto& one = choices.all[choice];
        for_each_edge(one.leave, [&](std::uint32_t i) {
            most = sources_[i] == one.enter ? std::max(most, weights_.weight(i, lane)) : most;
        });
        return most;
    }
    /// The choice behind which a choice's request is started; kNone: before the row.
    [[nodiscard]] std::uint32_t poster(std::uint32_t choice) const noexcept {
        const auto in = choices.all[choice].first_begun;
        return in == 0 ? kNone : choices.rows[row_of[choice]].first + in - 1;
    }

  private:
    void find_channels() {
        const auto count = choices.all.size();
        row_of.resize(count);
        late_complete.assign(count, 0);
        late_message.assign(count, 0);
        channel_of.assign(count, kNone);
        posts_in.assign(count, 0);
        sends_before.assign(count, 0);
        for (std::uint32_t r = 0; r < choices.rows.size(); ++r) {
            const auto [first, end] = choices.rows[r];
            std::uint32_t sends = 0;
            std::unordered_map<std::int32_t, std::uint32_t> of_comm;
            for (auto c = first; c < end; ++c) {
                row_of[c] = r;
                sends_before[c] = sends;
                sends += choices.all[c].receives ? 0 : 1;
                if (choices.all[c].receives) {
                    const auto [known, added] =
                        of_comm.try_emplace(choices.all[c].comm, static_cast<std::uint32_t>(channels.size()));
                    if (added) {
                        channels.emplace_back();
                        channels.back().any_sender = !recorded_.empty();
                    }
                    channel_of[c] = known->second;
                    channels[known->second].receives.push_back(c);
                }
            }
            if (recorded_.empty()) {
                continue;
            }
            for (auto c = first; c < end; ++c) {
                judge(c);
            }
        }
    }
    /// By how much requests are complete later than the model says: not before those that were taken before them,
    /// though they would have been taken first.
    void find_late_completions() {
        if (recorded_.empty()) {
            return;
        }
        std::vector<std::int64_t> complete(choices.all.size());
        for (std::uint32_t c = 0; c < complete.size(); ++c) {
            complete[c] = recorded_complete(c);
        }
        takes = recorded_takes(complete);
        for (const auto& [first, end] : choices.rows) {
            std::array<std::int64_t, 2> latest{INT64_MIN, INT64_MIN};  // of sends, of receives
            for (auto c = first; c < end; ++c) {
                const auto& one = choices.all[c];
                if (complete[c] == INT64_MIN) {
                    continue;
                }
                auto& of_kind = latest[one.receives ? 1 : 0];
                of_kind = std::max(of_kind, complete[c]);
                late_complete[c] = of_kind - complete[c];
                if (takes == Takes::first_complete || of_kind > recorded_[one.enter]) {
                    latest.fill(std::max(latest[0], latest[1]));  // it was waited for: no other one was complete
                } else if (one.receives == (takes == Takes::sends)) {
                    auto& preferred = latest[one.receives ? 0 : 1];
                    preferred = std::max(preferred, recorded_[one.enter] + 1);  // one that was complete would go first
                }
            }
        }
    }
    /// What calls did that found a send and a receive complete, as more of them did than else. `complete`: by choice.
    [[nodiscard]] Takes recorded_takes(std::span<const std::int64_t> complete) const {
        std::array<std::uint64_t, 2> first{};   // taken: a send, a receive, that was complete before the other one
        std::array<std::uint64_t, 2> second{};  // likewise, behind it
        for (const auto& [begin, end] : choices.rows) {
            std::array<std::uint32_t, 2> next{kNone, kNone};  // the send, and the receive, that is taken next
            for (auto c = end; c-- > begin;) {
                const std::size_t kind = choices.all[c].receives ? 1 : 0;
                const auto other = next[1 - kind];
                if (other != kNone && choices.all[other].first_begun <= c - begin &&
                    complete[other] <= recorded_[choices.all[c].enter] &&
                    complete[c] <= recorded_[choices.all[c].enter]) {
                    ++(complete[other] < complete[c] ? second : first)[kind];
                }
                next[kind] = c;
            }
        }
        const auto against_order = second[0] + second[1];
        const auto against_sends = first[1] + second[1];
        const auto against_receives = first[0] + second[0];
        if (against_order <= std::min(against_sends, against_receives)) {
            return Takes::first_complete;
        }
        return against_sends < against_receives ? Takes::sends : Takes::receives;
    }
    void find_arcs() {
        const auto count = choices.all.size();
        if (count == 0) {
            return;
        }
        for (auto* by_arc : {&rewired, &post_arc}) {
            by_arc->resize(graph_.arcs.size());
        }
        for (auto* by_node : {&of_leave, &arrival_of, &held, &posting}) {
            by_node->resize(graph_.nodes());
        }
        std::vector<bool> leaves(graph_.nodes());
        for (const auto node : graph_.leaves) {
            if (node != kNone) {
                leaves[node] = true;
            }
        }
        for (std::uint32_t c = 0; c < count; ++c) {
            const auto& one = choices.all[c];
            rewired.add(one.into, c);
            of_leave.add(one.leave, c);
            if (!matches(c)) {
                continue;
            }
            if (!posting.contains(one.posted)) {
                posting.add(one.posted, static_cast<std::uint32_t>(posts_of.size()));
                posts_of.emplace_back();
            }
            posts_of[posting[one.posted]].push_back(c);
            arrival_of.add(one.arrival, c);
            if (const auto in = poster(c); in != kNone) {
                ++posts_in[in];
            }
            if (one.post_arc != kNone) {
                post_arc.add(one.post_arc, c);
                const auto target = targets_[one.post_arc];
                if (!leaves[target]) {
                    held.add(target, c);  // the message's own beginning waits for the match
                }
            }
        }
    }
    void find_late_messages() {
        for (const auto& channel : channels) {
            auto by_post = channel.receives;
            std::ranges::sort(by_post, {}, [&](std::uint32_t c) { return choices.all[c].posted; });
            auto latest = INT64_MIN;
            for (auto c = by_post.begin(); channel.any_sender && c != by_post.end(); ++c) {
                const auto at = recorded_arrival(*c);
                latest = std::max(latest, at);
                late_message[*c] = latest - at;
            }
        }
    }
    /// When its request is complete, of the recorded times; INT64_MIN: that was not waited for.
    [[nodiscard]] std::int64_t recorded_complete(std::uint32_t choice) const {
        const auto& one = choices.all[choice];
        auto latest = INT64_MIN;
        for_each_edge(one.leave, [&](std::uint32_t i) {
            if (sources_[i] != one.enter && sources_[i] != kNone) {
                latest = std::max(latest, recorded_[sources_[i]] + weights_.weight(i, lane_));
            }
        });
        return latest == INT64_MIN ? latest : latest - own(choice, lane_);
    }

    /// When a message can be matched, of the recorded times.
    [[nodiscard]] std::int64_t recorded_arrival(std::uint32_t choice) const {
        const auto& one = choices.all[choice];
        if (!is_held(choice)) {
            return recorded_[one.arrival];
        }
        auto latest = INT64_MIN;
        for_each_edge(targets_[one.post_arc], [&](std::uint32_t i) {
            if (i != one.post_arc && sources_[i] != kNone && !queues(i)) {
                latest = std::max(latest, recorded_[sources_[i]] + weights_.weight(i, lane_));
            }
        });
        return latest;
    }
    /// Receives that name their senders may be taken in another order than they were posted.
    void judge(std::uint32_t choice) {
        const auto& one = choices.all[choice];
        if (!one.receives) {
            return;
        }
        auto& channel = channels[channel_of[choice]];
        const auto at = recorded_[one.arrival];
        for (auto other = channel.receives.rbegin(); other != channel.receives.rend(); ++other) {
            const auto& before = choices.all[*other];
            if (recorded_[before.arrival] + margin(before) < recorded_[one.posted]) {
                break;  // it was taken before this one was posted; so were those before it
            }
            if (*other != choice && recorded_[before.arrival] + margin(before) < at &&
                recorded_[one.posted] < recorded_[before.posted] &&
                recorded_[before.posted] < recorded_[before.arrival]) {
                channel.any_sender = false;
            }
            if (recorded_[before.arrival] > at + margin(one) && recorded_[before.posted] < recorded_[one.posted] &&
                recorded_[one.posted] < at) {
                channel.any_sender = false;
            }
        }
    }
    /// Times of messages that differ by less are not distinguished: a latency.
    [[nodiscard]] std::int64_t margin(const Choice& one) const noexcept {
        std::int64_t least = 0;
        for_each_edge(one.arrival,
                      [&](std::uint32_t i) { least = queues(i) ? least : std::max(least, weights_.weight(i, lane_)); });
        return least;
    }

    template <class Body>
    void for_each_edge(std::uint32_t node, Body&& body) const {
        for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
            body(i);
        }
    }
    [[nodiscard]] bool queues(std::uint32_t edge) const noexcept {
        return is_queue(graph_.models[graph_.model_of(edge)]);
    }

    const Graph& graph_;
    const Weights& weights_;
    std::span<const std::uint32_t> sources_;  // by edge: node
    std::span<const std::uint32_t> targets_;
    std::span<const std::int64_t> recorded_;  // by node
    std::size_t lane_;
};

}  // namespace logpost::replay
