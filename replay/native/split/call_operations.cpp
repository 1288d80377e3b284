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
    for (std::uint32_t i = 0; i < timeline.transfers.size(); ++i) {
        const auto& transfer = timeline.transfers[i];
        if (transfer.complete_call != transfer.call) {
            visit(transfer.call, Kind::transfer_start, i);
        }
        if (transfer.complete_call != kNone) {
            visit(transfer.complete_call, Kind::transfer_complete, i);
        }
        if (transfer.remote_call != kNone && transfer.remote_call != transfer.complete_call) {
            visit(transfer.remote_call, Kind::transfer_remote, i);
        }
    }
    for (std::uint32_t i = 0; i < timeline.epochs.size(); ++i) {
        const auto& epoch = timeline.epochs[i];
        visit(epoch.begin_call, Kind::epoch, i);
        if (epoch.end_call != kNone && epoch.end_call != epoch.begin_call) {
            visit(epoch.end_call, Kind::epoch, i);
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
