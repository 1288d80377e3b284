#pragma once

/// Whether the root of a gather receives messages that have arrived with gap g between them, or one per o_r
/// (LibraryProperty::root_receives): what a trace shows of it.
///
/// LogP's g separates receptions by a processor; most NICs deliver in the order of arrival. The two differ where the
/// root enters late and its messages have arrived. The first member that the root replies to leaves accordingly.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/cost/library.hpp"
#include "replay/native/graph/draft.hpp"

namespace logpost::replay {

class RootReceivesObserved {
  public:
    /// A member of an operation whose messages the first one receives and replies to as they arrive.
    struct Member {
        Location location;
        std::int64_t enter_ps, leave_ps;
    };

    explicit RootReceivesObserved(Draft& draft) : draft_(draft) {}

    /// Observes one operation. Members by rank, the root first.
    void see(std::span<const Member> members, std::uint64_t bytes) {
        if (members.size() < 2) {
            return;
        }
        const auto& root = members.front();
        std::vector<std::int64_t> arrivals;
        std::int64_t answered = INT64_MAX;  // when the root was done at the latest, by the member that left first
        std::int64_t o_r = 0;
        std::int64_t gap = 0;
        for (const auto& one : members.subspan(1)) {
            const auto& cost = draft_.cost(draft_.message_class(one.location, root.location, bytes));
            arrivals.push_back(one.enter_ps + cost.o_s + cost.l_mw + cost.L + cost.serialization);
            answered = std::min(answered, one.leave_ps - cost.o_s - cost.l_mw - cost.L - cost.serialization - cost.o_r);
            o_r = std::max(o_r, cost.o_r);
            gap = std::max(gap, cost.service);
        }
        if (gap <= o_r) {
            return;  // no difference
        }
        std::ranges::sort(arrivals);
        auto handed = arrivals.front();
        for (const auto at : arrivals) {
            handed = std::max(handed + gap, at);
        }
        const auto messages = static_cast<std::int64_t>(arrivals.size());
        const auto without_gaps = std::max(handed + o_r, root.enter_ps + messages * o_r);
        const auto apart = root.enter_ps + (messages - 1) * gap + o_r;
        if (apart > without_gaps + gap) {
            const bool with_gaps = answered > without_gaps + (apart - without_gaps) / 2;
            draft_.of_library(LibraryProperty::root_receives)
                .see(allows(with_gaps ? RootReceives::gap : RootReceives::overhead));
        }
    }

  private:
    Draft& draft_;
};

}  // namespace logpost::replay
