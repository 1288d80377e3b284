#include "replay/native/split/call_operations.hpp"

namespace logpost::replay {
namespace {

/// Calls visit(call, kind, index) for everything that the location's calls started or completed.
template <class Visit>
void for_each_operation(const Timeline& timeline, Visit&& visit) {
    using Kind = CallOperation::Kind;
    for (std::uint32_t i = 0; i < timeline.receives.size(); ++i) {
        const auto call = timeline.receives[i].complete_call;
        if (call != kNone) {
            visit(call, Kind::receive_complete, i);
        }
    }
    for (std::uint32_t i = 0; i < timeline.sends.size(); ++i) {
        const auto& send = timeline.sends[i];
        if (send.complete_call == send.call) {
            visit(send.call, Kind::send_whole, i);
            continue;
        }
        visit(send.call, Kind::send_start, i);
        if (send.complete_call != kNone) {
            visit(send.complete_call, Kind::send_complete, i);
        }
    }
    for (std::uint32_t i = 0; i < timeline.collectives.size(); ++i) {
        const auto& collective = timeline.collectives[i];
        visit(collective.call, Kind::collective, i);
        if (collective.complete_call != kNone && collective.complete_call != collective.call) {
            visit(collective.complete_call, Kind::collective, i);
        }
    }
}

}  // namespace

CallOperations::CallOperations(const Timeline& timeline) : first_(timeline.calls.size() + 2, 0) {
    // Counted at call + 2, summed, then used as write cursors at call + 1: afterwards first_[call] is the row's begin.
    for_each_operation(timeline, [&](std::uint32_t call, CallOperation::Kind, std::uint32_t) { ++first_[call + 2]; });
    for (std::size_t i = 2; i < first_.size(); ++i) {
        first_[i] += first_[i - 1];
    }
    operations_.resize(first_.back());
    for_each_operation(timeline, [&](std::uint32_t call, CallOperation::Kind kind, std::uint32_t index) {
        operations_[first_[call + 1]++] = {.kind = kind, .index = index};
    });
}

}  // namespace logpost::replay
