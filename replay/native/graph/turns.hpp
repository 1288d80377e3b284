#pragma once

/// Sends that wait in their calls for the message before them to leave the NIC, where the library's sends do
/// (LibraryProperty::sends_within_nodes, sends_between_nodes).
///
/// LogP's g holds a processor up: a send within max(g, B G) of the message before waits in its call until that one has
/// left. Libraries with a queue in front of the NIC return at once instead. A send whose call the NIC was still busy
/// for is an observation: it ended nearer to the time at which the NIC was free, or nearer to the end of its overhead.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "replay/native/cost/library.hpp"
#include "replay/native/graph/draft.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// A send behind another one of its location.
struct Turn {
    std::uint32_t before;   ///< call of the other one
    std::uint32_t call;     ///< its own
    std::uint32_t message;  ///< class of the other one, whose time at the NIC counts
};

class Turns {
  public:
    /// `classes`: of the messages, by location and send; kNone: it has no receiver. `completions`: receives by location
    /// and call. What is given must outlive this.
    Turns(const Program& program, Draft& draft, const std::vector<std::vector<std::uint32_t>>& classes,
          const std::vector<std::vector<std::uint32_t>>& completions)
        : program_(program), draft_(draft), classes_(classes), completions_(completions) {
        for (std::size_t l = 0; l < classes.size(); ++l) {
            for_each_pair(l, [&](const Turn& turn, LibraryProperty property) { observe(l, turn, property); });
        }
        draft.decide(LibraryProperty::sends_within_nodes);
        draft.decide(LibraryProperty::sends_between_nodes);
        apart_.resize(draft.messages.size(), std::numeric_limits<std::int64_t>::max());
    }

    /// By class of the message before: how far apart two sends end at least, whatever messages arrive; 0 where the NIC
    /// was busy for one of them. Where no code between calls gets shorter, and no overhead, a send waits for none that
    /// the NIC has no longer than that.
    [[nodiscard]] const std::vector<std::int64_t>& apart_ps() const noexcept { return apart_; }

    /// Calls `body` for each send of a location that waits for the one before, or would.
    template <class Body>
    void for_each(std::size_t location, Body&& body) const {
        for_each_pair(location, [&](const Turn& turn, LibraryProperty property) {
            if (draft_.library_value<Sends>(property) == Sends::wait) {
                body(turn);
            }
        });
    }

  private:
    void observe(std::size_t location, const Turn& turn, LibraryProperty property) {
        const auto& calls = program_.timelines[location].calls;
        const auto& cost = draft_.cost(turn.message);
        const auto free = calls[turn.before].leave_ps + cost.service;
        const auto ready = calls[turn.call].enter_ps + cost.o_s + cost.l_mw / 2;
        auto& found = draft_.of_library(property);
        ++found.places;
        auto apart = std::min(calls[turn.call].leave_ps, ready) - calls[turn.call].enter_ps;
        bool known = free < ready;
        for (auto call = turn.before; call < turn.call; ++call) {
            apart += calls[call + 1].enter_ps - calls[call].leave_ps;
            // Of a call that completes several receives, the graph does not say that it ends after its begin.
            known = known && (call == turn.before || completions_[location][call] < 2);
        }
        if (turn.message >= apart_.size()) {
            apart_.resize(turn.message + 1, std::numeric_limits<std::int64_t>::max());
        }
        apart_[turn.message] = std::min(apart_[turn.message], known ? apart : 0);
        if (free > ready) {
            const bool waited = calls[turn.call].leave_ps - ready > (free - ready) / 2;
            found.see(allows(waited ? Sends::wait : Sends::returns));
        }
    }

    /// Eager messages alone: those of rendezvous leave at their CTS. Calls that start several messages are
    /// no turns; nor is a message between nodes behind one within.
    template <class Body>
    void for_each_pair(std::size_t location, Body&& body) const {
        const auto& timeline = program_.timelines[location];
        auto before = kNone;  // the send before
        for (std::uint32_t i = 0; i < classes_[location].size(); ++i) {
            const auto message = classes_[location][i];
            if (message == kNone || draft_.cost(message).rendezvous) {
                before = kNone;
                continue;
            }
            const bool alone = i + 1 == timeline.sends.size() || timeline.sends[i + 1].call != timeline.sends[i].call;
            if (before != kNone && timeline.sends[before].call != timeline.sends[i].call && alone) {
                const auto other = classes_[location][before];
                const bool far = draft_.messages[message].recorded.locality == Locality::other_node;
                if (far == (draft_.messages[other].recorded.locality == Locality::other_node)) {
                    body(Turn{timeline.sends[before].call, timeline.sends[i].call, other},
                         far ? LibraryProperty::sends_between_nodes : LibraryProperty::sends_within_nodes);
                }
            }
            before = i;
        }
    }

    const Program& program_;
    Draft& draft_;
    const std::vector<std::vector<std::uint32_t>>& classes_;
    const std::vector<std::vector<std::uint32_t>>& completions_;
    std::vector<std::int64_t> apart_;
};

}  // namespace logpost::replay
