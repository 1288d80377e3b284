#pragma once

/// Sends that wait in their calls for their turn at the NIC.
///
/// LogP's g holds a processor up: who sends again within max(g, B G) of the message before waits in the call until that
/// one has left. Libraries with a queue in front of the NIC return at once instead. Which one a program ran on is a
/// fact of its trace: a send whose call the NIC was still busy for ended when it was free, or with its overhead. What
/// more of them did is taken for all, between nodes and within each by themselves.

#include <array>
#include <cstdint>
#include <vector>

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
    /// `classes`: of the messages, by location and send; kNone: it goes nowhere. What is given must outlive this.
    Turns(const Program& program, const Draft& draft, const std::vector<std::vector<std::uint32_t>>& classes)
        : program_(program), draft_(draft), classes_(classes) {
        std::array<std::uint64_t, 2> stayed{};
        std::array<std::uint64_t, 2> returned{};
        for (std::size_t l = 0; l < classes.size(); ++l) {
            for_each_pair(l, [&](const Turn& turn, std::size_t far) {
                const auto& calls = program.timelines[l].calls;
                const auto& cost = draft.cost(turn.message);
                const auto free = calls[turn.before].leave_ps + cost.service;
                const auto ready = calls[turn.call].enter_ps + cost.o_s + cost.l_mw / 2;
                if (free > ready) {
                    const bool waited = calls[turn.call].leave_ps - ready > (free - ready) / 2;  // whatever its clock
                    ++(waited ? stayed : returned)[far];
                }
            });
        }
        for (std::size_t far = 0; far < wait_.size(); ++far) {
            wait_[far] = stayed[far] > returned[far];
        }
    }

    /// Calls `body` for each send of a location that waits for the one before, or would.
    template <class Body>
    void for_each(std::size_t location, Body&& body) const {
        for_each_pair(location, [&](const Turn& turn, std::size_t far) {
            if (wait_[far]) {
                body(turn);
            }
        });
    }

  private:
    /// Eager messages alone: those of rendezvous leave when they are asked for. Calls that start several messages are
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
                    body(Turn{timeline.sends[before].call, timeline.sends[i].call, other}, far ? 1 : 0);
                }
            }
            before = i;
        }
    }

    const Program& program_;
    const Draft& draft_;
    const std::vector<std::vector<std::uint32_t>>& classes_;
    std::array<bool, 2> wait_{};  // within nodes, between them
};

}  // namespace logpost::replay
