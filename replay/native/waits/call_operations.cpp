#include "replay/native/waits/call_operations.hpp"

namespace logpost::replay {
namespace {

/// Calls visit(call, kind, index) for everything that the location's calls started or completed.
template <class Visit>
void for_each_operation(const Timeline& timeline, Visit&& visit) {
    using Kind = CallOperation::Kind;
    const auto each = [](const auto& column, auto&& take) {
        column.for_each([&](std::size_t i, const auto& one) { take(static_cast<std::uint32_t>(i), one); });
    };
    each(timeline.receives, [&](std::uint32_t i, const MessageEnd& receive) {
        if (receive.complete_call != kNone) {
            visit(receive.complete_call, Kind::receive_complete, i);
        }
    });
    each(timeline.sends, [&](std::uint32_t i, const MessageEnd& send) {
        if (send.complete_call == send.call) {
            visit(send.call, Kind::send_whole, i);
            return;
        }
        visit(send.call, Kind::send_start, i);
        if (send.complete_call != kNone) {
            visit(send.complete_call, Kind::send_complete, i);
        }
    });
    each(timeline.collectives, [&](std::uint32_t i, const Collective& collective) {
        visit(collective.call, Kind::collective, i);
        if (collective.complete_call != kNone && collective.complete_call != collective.call) {
            visit(collective.complete_call, Kind::collective, i);
        }
    });
    each(timeline.transfers, [&](std::uint32_t i, const Transfer& transfer) {
        if (transfer.complete_call != transfer.call) {
            visit(transfer.call, Kind::transfer_start, i);
        }
        if (transfer.complete_call != kNone) {
            visit(transfer.complete_call, Kind::transfer_complete, i);
        }
        if (transfer.remote_call != kNone && transfer.remote_call != transfer.complete_call) {
            visit(transfer.remote_call, Kind::transfer_remote, i);
        }
    });
    each(timeline.epochs, [&](std::uint32_t i, const Epoch& epoch) {
        visit(epoch.begin_call, Kind::epoch, i);
        if (epoch.end_call != kNone && epoch.end_call != epoch.begin_call) {
            visit(epoch.end_call, Kind::epoch, i);
        }
    });
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
