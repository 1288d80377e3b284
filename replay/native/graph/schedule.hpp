#pragma once

/// Nodes in the order of time, where that order depends on their times.
///
/// A node has its time once all that it waits for have theirs. Where it depends on which message arrives first (at a
/// server, at a receive of any sender, on a link that messages share), an event happens at an instant: the earliest one
/// first, and of two at one instant the smaller one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "replay/native/graph/graph.hpp"

namespace logpost::replay {

/// The edges that leave each node, and how many enter it.
struct Followers {
    Followers() = default;

    /// Of the edges 0 .. edges - 1: `ends(edge)` are its source and its target; the source is kNone where it has none.
    template <class Ends>
    Followers(std::uint32_t nodes, std::uint32_t edges, Ends&& ends) : first(nodes + 1, 0), sources(nodes, 0) {
        for (std::uint32_t edge = 0; edge < edges; ++edge) {
            if (const auto [source, target] = ends(edge); source != kNone) {
                ++first[source + 1];
                ++sources[target];
            }
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        outs.resize(first.back());
        auto next = first;
        for (std::uint32_t edge = 0; edge < edges; ++edge) {
            if (const auto source = ends(edge).first; source != kNone) {
                outs[next[source]++] = edge;
            }
        }
    }

    /// Calls `visit(edge)` for the edges that leave a node.
    template <class Visit>
    void for_each(std::uint32_t node, Visit&& visit) const {
        for (auto k = first[node]; k < first[node + 1]; ++k) {
            visit(outs[k]);
        }
    }

    [[nodiscard]] std::size_t numbers() const noexcept { return first.size() + outs.size() + sources.size(); }

    std::vector<std::uint32_t> first;    ///< by node, nodes + 1
    std::vector<std::uint32_t> outs;     ///< edges by source
    std::vector<std::uint32_t> sources;  ///< by node
};

template <class Event>
class Schedule {
  public:
    /// `waits`: by node, how many others it waits for.
    explicit Schedule(std::vector<std::uint32_t> waits) : waits_(std::move(waits)) {}

    [[nodiscard]] std::uint32_t waits(std::uint32_t node) const noexcept { return waits_[node]; }
    /// One of those that it waits for has its time. Whether that was the last one.
    bool arrive(std::uint32_t node) noexcept { return --waits_[node] == 0; }
    /// It waits for nothing more.
    void ready(std::uint32_t node) { ready_.push_back(node); }
    void at(Event event) { events_.push(std::move(event)); }

    /// `settle(node)` of a node that is ready, `happen(event)` of an event. `sooner(event)` makes what is neither
    /// happen before the next event (none: nullptr), and returns whether there was something. Returns how many nodes
    /// have their times; with fewer than all, events would have to be before themselves.
    template <class Settle, class Happen, class Sooner>
    std::uint32_t run(Settle&& settle, Happen&& happen, Sooner&& sooner) {
        std::uint32_t settled = 0;
        for (;;) {
            if (!ready_.empty()) {
                const auto node = ready_.back();
                ready_.pop_back();
                ++settled;
                settle(node);
            } else if (!sooner(events_.empty() ? nullptr : &events_.top())) {
                if (events_.empty()) {
                    return settled;
                }
                const auto event = events_.top();
                events_.pop();
                happen(event);
            }
        }
    }
    template <class Settle, class Happen>
    std::uint32_t run(Settle&& settle, Happen&& happen) {
        return run(settle, happen, [](const Event*) { return false; });
    }

  private:
    std::vector<std::uint32_t> waits_;
    std::vector<std::uint32_t> ready_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

/// Serves one message at a time, for as long as its service lasts.
struct Server {
    /// When a message that arrives at `time` is served. One that is served in no time delays no other.
    std::int64_t serve(std::uint32_t message, std::int64_t time, std::int64_t service) noexcept {
        const auto start = time > free ? time : free;
        if (service > 0) {
            free = start + service;
            last = message;
        }
        return start;
    }

    std::int64_t free = INT64_MIN;
    std::uint32_t last = kNone;  ///< message (node) that it has served last
};

}  // namespace logpost::replay
