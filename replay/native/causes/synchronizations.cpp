#include "replay/native/causes/synchronizations.hpp"

#include <algorithm>

#include "replay/native/collective_shape.hpp"

namespace logpost::replay {
namespace {

bool of_messages(WaitKind kind) noexcept {
    return kind == WaitKind::late_sender || kind == WaitKind::late_receiver;
}

}  // namespace

Synchronizations::Synchronizations(const Program& program, const CollectiveWaits& collectives, const Waits& waits)
    : locations_(program.timelines.size()), members_(program.members), program_(program) {
    for (auto& members : members_) {
        std::ranges::sort(members);
    }
    const auto& timelines = program.timelines;
    for (std::size_t location = 0; location < timelines.size(); ++location) {
        auto& mine = locations_[location].all;
        const auto& here = timelines[location];
        const auto& start_up = waits.start_up();
        if (!start_up.calls.empty() && start_up.calls[location] != kNone) {
            const auto call = start_up.calls[location];
            mine.push_back({call, Synchronization::kEverybody,
                            std::max<std::int64_t>(0, here.calls[call].leave_ps - start_up.earliest_end)});
        }
        for (std::size_t i = 0; i < here.collectives.size(); ++i) {
            const auto& operation = here.collectives[i];
            if (operation.instance != kNone && operation.comm >= 0 && operation.call == operation.complete_call &&
                shape(operation.operation) == Shape::all_to_all && collectives.instance(operation.instance).met()) {
                mine.push_back({operation.call, -2 - operation.comm,
                                operation.end_ps - collectives.instance(operation.instance).earliest_end});
            }
        }
        for (const auto& wait : waits.of(location)) {
            const auto leave = here.calls[wait.call].leave_ps;
            const auto& there = timelines[static_cast<std::size_t>(wait.cause)].calls[wait.cause_call];
            const auto after = of_messages(wait.kind) ? leave - there.leave_ps : 0;
            mine.push_back({wait.call, wait.cause, std::max<std::int64_t>(0, after)});
            locations_[static_cast<std::size_t>(wait.cause)].all.push_back(
                {wait.cause_call, static_cast<std::int32_t>(location), std::max<std::int64_t>(0, -after)});
        }
    }
    for (auto& location : locations_) {
        auto& all = location.all;
        std::ranges::sort(
            all, [](const auto& a, const auto& b) { return a.with != b.with ? a.with < b.with : a.call < b.call; });
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            if (i == 0 || all[i].with != all[i - 1].with) {
                location.first.push_back(i);
            }
        }
        location.first.push_back(static_cast<std::uint32_t>(all.size()));
    }
}

bool Synchronizations::holds(std::int32_t group, std::int32_t location) const noexcept {
    if (group == Synchronization::kEverybody) {
        return program_.placement[static_cast<std::size_t>(location)].rank != kUndefined;
    }
    return std::ranges::binary_search(members_[static_cast<std::size_t>(-2 - group)], location);
}

Synchronization Synchronizations::before(std::size_t location, std::uint32_t call, std::int32_t other) const noexcept {
    const auto& [all, first] = locations_[location];
    Synchronization last;
    const auto offer = [&](std::size_t partner) {
        const auto begin = all.begin() + first[partner];
        const auto end = all.begin() + first[partner + 1];
        const auto found =
            std::ranges::partition_point(begin, end, [&](const Synchronization& s) { return s.call < call; });
        if (found != begin && (last.call == kNone || (found - 1)->call > last.call)) {
            last = *(found - 1);
        }
    };
    // Groups come first: their numbers are below 0.
    std::size_t partner = 0;
    for (; partner + 1 < first.size() && all[first[partner]].with < 0; ++partner) {
        if (holds(all[first[partner]].with, other)) {
            offer(partner);
        }
    }
    const auto found = std::lower_bound(first.begin() + static_cast<std::ptrdiff_t>(partner), first.end() - 1, other,
                                        [&](std::uint32_t i, std::int32_t with) { return all[i].with < with; });
    if (found != first.end() - 1 && all[*found].with == other) {
        offer(static_cast<std::size_t>(found - first.begin()));
    }
    return last;
}

}  // namespace logpost::replay
