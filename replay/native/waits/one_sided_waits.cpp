#include "replay/native/waits/one_sided_waits.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "replay/native/waits/permissions.hpp"

namespace logpost::replay {
namespace {

WaitKind kind_of(const Epoch& epoch) noexcept {
    if (epoch.locks()) {
        return WaitKind::lock;
    }
    return epoch.kind == Epoch::Kind::access ? WaitKind::late_post : WaitKind::late_complete;
}

}  // namespace

OneSidedWaits::OneSidedWaits(const Program& program) {
    if (std::ranges::all_of(program.timelines, [](const Timeline& one) { return one.epochs.empty(); })) {
        return;
    }
    waits_.resize(program.timelines.size());
    add_permissions(program);
    add_changes(program);
    for (auto& waits : waits_) {
        std::ranges::stable_sort(waits, {}, &Wait::call);
    }
}

/// Of an epoch, the call that waited is the one that lasted until it was permitted: its first one, or one that
/// completes.
void OneSidedWaits::add_permissions(const Program& program) {
    const Permissions permissions(program);
    for (std::size_t l = 0; l < waits_.size(); ++l) {
        const auto& timeline = program.timelines[l];
        const auto& calls = timeline.calls;
        for (std::uint32_t i = 0; i < timeline.epochs.size(); ++i) {
            const auto& epoch = timeline.epochs[i];
            const auto& permission = permissions.of(l, i);
            if (permission.by == kNoLocation || permission.call == kNone || permission.by == location_at(l)) {
                continue;
            }
            const auto at = permission.at_ps;
            const auto entered = calls.partition_point([&](const Call& call) { return call.enter_ps < at; });
            const auto call = static_cast<std::uint32_t>(entered) - 1;
            if (entered > epoch.begin_call && call <= epoch.end_call && at <= calls[call].leave_ps &&
                program.kind(calls[call]) == CallKind::one_sided) {
                waits_[l].push_back({at, call, permission.by, permission.call, kind_of(epoch)});
            }
        }
    }
}

void OneSidedWaits::add_changes(const Program& program) {
    struct Start {
        std::int64_t at;
        Location origin;
        std::uint32_t call;
    };
    // Of locations that wait for a change, by window.
    std::map<std::pair<Location, std::int32_t>, std::vector<Start>> starts;
    for (std::size_t l = 0; l < waits_.size(); ++l) {
        program.timelines[l].epochs.for_each([&](std::size_t, const Epoch& epoch) {
            if (epoch.kind == Epoch::Kind::change) {
                starts[{location_at(l), epoch.rma_window}];
            }
        });
    }
    for (std::size_t l = 0; l < waits_.size() && !starts.empty(); ++l) {
        const auto here = location_at(l);
        const auto& timeline = program.timelines[l];
        timeline.transfers.for_each([&](std::size_t, const Transfer& transfer) {
            if (transfer.kind != Transfer::Kind::get && transfer.target != here) {
                if (const auto to = starts.find({transfer.target, transfer.rma_window}); to != starts.end()) {
                    to->second.push_back({timeline.calls[transfer.call].enter_ps, here, transfer.call});
                }
            }
        });
    }
    for (auto& [to, list] : starts) {
        std::ranges::stable_sort(list, {}, &Start::at);
    }
    for (std::size_t l = 0; l < waits_.size() && !starts.empty(); ++l) {
        const auto& timeline = program.timelines[l];
        timeline.epochs.for_each([&](std::size_t, const Epoch& epoch) {
            if (epoch.kind != Epoch::Kind::change) {
                return;
            }
            const auto& list = starts.at({location_at(l), epoch.rma_window});
            const auto& call = timeline.calls[epoch.begin_call];
            const auto after = std::ranges::lower_bound(list, call.leave_ps, {}, &Start::at);
            if (after != list.begin() && std::prev(after)->at > call.enter_ps) {
                const auto& last = *std::prev(after);
                waits_[l].push_back({last.at, epoch.begin_call, last.origin, last.call, WaitKind::late_change});
            }
        });
    }
}

}  // namespace logpost::replay
