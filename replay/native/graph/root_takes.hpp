#pragma once

/// Whether the processor of a root takes the messages of a gather g apart, or as fast as it can.
///
/// LogP's g lies between receptions by a processor; most NICs hand over in the order of arrival what has come
/// meanwhile. The two differ where the root enters late: its messages are there, and it takes each after o_r, or after
/// g. Which one a program ran on is a fact of its trace: the first member that the root answers leaves accordingly.
/// What more of the operations did is taken for all.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/graph/draft.hpp"

namespace logpost::replay {

class RootTakes {
  public:
    /// A member of an operation whose messages the first one takes and answers as they come.
    struct Member {
        std::int32_t location;
        std::int64_t enter_ps, leave_ps;
    };

    explicit RootTakes(Draft& draft) : draft_(draft) {}

    /// Looks at one operation. Members by rank, the root first.
    void see(std::span<const Member> members, std::uint64_t bytes) {
        if (members.size() < 2) {
            return;
        }
        const auto& root = members.front();
        std::vector<std::int64_t> come;
        std::int64_t answered = INT64_MAX;  // when the root was done at the latest, by who left first
        std::int64_t o_r = 0;
        std::int64_t gap = 0;
        for (const auto& one : members.subspan(1)) {
            const auto& cost = draft_.cost(draft_.message_class(one.location, root.location, bytes));
            come.push_back(one.enter_ps + cost.o_s + cost.l_mw + cost.L + cost.serialization);
            answered = std::min(answered, one.leave_ps - cost.o_s - cost.l_mw - cost.L - cost.serialization - cost.o_r);
            o_r = std::max(o_r, cost.o_r);
            gap = std::max(gap, cost.service);
        }
        if (gap <= o_r) {
            return;  // no difference
        }
        std::ranges::sort(come);
        auto handed = come.front();
        for (const auto at : come) {
            handed = std::max(handed + gap, at);
        }
        const auto messages = static_cast<std::int64_t>(come.size());
        const auto at_once = std::max(handed + o_r, root.enter_ps + messages * o_r);
        const auto apart = root.enter_ps + (messages - 1) * gap + o_r;
        if (apart > at_once + gap) {
            ++(answered > at_once + (apart - at_once) / 2 ? apart_ : at_once_);
        }
    }

    [[nodiscard]] bool spaced() const noexcept { return apart_ > at_once_; }

  private:
    Draft& draft_;
    std::uint64_t apart_ = 0;
    std::uint64_t at_once_ = 0;
};

}  // namespace logpost::replay
