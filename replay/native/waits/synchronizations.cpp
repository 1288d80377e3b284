#include "replay/native/waits/synchronizations.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "replay/native/memory/gallop.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/program/shape.hpp"

namespace logpost::replay {
namespace {

/// The members of each communicator, of an inter-communicator those of its first group, then the second groups of all;
/// each sorted.
std::vector<std::vector<replay::Location>> groups_of(const Program& program) {
    const auto count = program.members.size();
    auto groups = program.members;
    groups.resize(2 * count);
    for (std::size_t comm = 0; comm < count; ++comm) {
        if (program.has_groups(static_cast<std::int32_t>(comm))) {
            const auto second = groups[comm].begin() + program.first_group[comm];
            groups[count + comm].assign(second, groups[comm].end());
            groups[comm].erase(second, groups[comm].end());
        }
    }
    for (auto& members : groups) {
        std::ranges::sort(members);
        members.erase(std::ranges::unique(members).begin(), members.end());  // absent ones have one number
    }
    return groups;
}

/// Whether one call waits for one other; else for a call of an operation of all.
bool of_two(WaitKind kind) noexcept {
    switch (kind) {
        case WaitKind::late_sender:
        case WaitKind::late_receiver:
        case WaitKind::late_post:
        case WaitKind::late_complete:
        case WaitKind::late_change:
        case WaitKind::lock:
            return true;
        default:
            return false;
    }
}

}  // namespace

Synchronizations::Synchronizations(const Program& program, const CollectiveWaits& collectives, const Waits& waits,
                                   unsigned threads)
    : memory_(program.spill.get()),
      locations_(program.timelines.size()),
      groups_(groups_of(program)),
      program_(program) {
    const auto& timelines = program.timelines;
    // As many as there can be.
    std::vector<std::size_t> most(timelines.size());
    for (std::size_t location = 0; location < timelines.size(); ++location) {
        most[location] += 1 + timelines[location].collectives.size() + waits.of(location).size();
        for (const auto& wait : waits.of(location)) {
            ++most[index(wait.cause)];
        }
    }
    for (std::size_t location = 0; location < timelines.size(); ++location) {
        locations_[location].all = memory_.take<Synchronization>(most[location]);
        most[location] = 0;
    }
    auto& count = most;  // of those that are there
    const auto add = [&](std::size_t location, const Synchronization& one) {
        locations_[location].all[count[location]++] = one;
    };
    for (std::size_t location = 0; location < timelines.size(); ++location) {
        const auto& here = timelines[location];
        const auto& start_up = waits.start_up();
        if (!start_up.calls.empty() && start_up.calls[location] != kNone) {
            const auto call = start_up.calls[location];
            add(location, {call, Synchronization::kEverybody,
                           std::max<std::int64_t>(0, here.calls[call].leave_ps - start_up.earliest_end)});
        }
        for (std::size_t i = 0; i < here.collectives.size(); ++i) {
            const auto& operation = here.collectives[i];
            if (operation.instance != kNone && operation.comm >= 0 && operation.call == operation.complete_call &&
                synchronizes_all(shape(operation.operation)) && collectives.met(operation)) {
                const bool with_second =
                    program.has_groups(operation.comm) && collectives.group_of(operation, location) == 0;
                const auto group =
                    operation.comm + (with_second ? static_cast<std::int32_t>(program.members.size()) : 0);
                add(location, {operation.call, -2 - group,
                               operation.end_ps - collectives.instance(operation.instance).earliest_end});
            }
        }
        for (const auto& wait : waits.of(location)) {
            const auto leave = here.calls[wait.call].leave_ps;
            const auto& there = timelines[index(wait.cause)].calls[wait.cause_call];
            const auto after = of_two(wait.kind) ? leave - there.leave_ps : 0;
            add(location, {wait.call, number(wait.cause), std::max<std::int64_t>(0, after)});
            add(index(wait.cause),
                {wait.cause_call, static_cast<std::int32_t>(location), std::max<std::int64_t>(0, -after)});
        }
        Spill::look();
    }
    for_each_parallel(locations_.size(), threads, 1, [&](std::size_t location, unsigned) {
        auto& all = locations_[location].all;
        all = all.first(count[location]);
        thread_local std::vector<Partner> partners;
        partners.clear();
        std::ranges::sort(
            all, [](const auto& a, const auto& b) { return a.with != b.with ? a.with < b.with : a.call < b.call; });
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            if (i == 0 || all[i].with != all[i - 1].with) {
                partners.push_back({all[i].with, i, i, i});
            }
            partners.back().end = partners.back().answered = i + 1;
        }
        locations_[location].partners = memory_.copy(partners);
    });
}

bool Synchronizations::holds(std::int32_t group, replay::Location location) const noexcept {
    if (group == Synchronization::kEverybody) {
        return program_.placement[index(location)].rank != kNoRank;
    }
    const auto& members = groups_[static_cast<std::size_t>(-2 - group)];
    if (members.empty() || location < members.front() || location > members.back()) {
        return false;
    }
    // All between the first and the last one, as in MPI_COMM_WORLD.
    const auto between = index(members.back()) - index(members.front()) + 1;
    return members.size() == between || std::ranges::binary_search(members, location);
}

Synchronization Synchronizations::before(std::size_t location, std::uint32_t call, replay::Location other) noexcept {
    auto& [all, partners] = locations_[location];
    Synchronization last;
    const auto offer = [&](Partner& partner) {
        // The next question is about a call near the last one, most often.
        const std::atomic_ref answered(partner.answered);
        const auto at = static_cast<std::uint32_t>(
            partition_point_near(partner.begin, partner.end, answered.load(std::memory_order_relaxed),
                                 [&](std::size_t i) { return all[i].call < call; }));
        answered.store(at, std::memory_order_relaxed);
        if (at != partner.begin && (last.call == kNone || all[at - 1].call > last.call)) {
            last = all[at - 1];
        }
    };
    auto partner = partners.begin();
    for (; partner != partners.end() && partner->with < 0; ++partner) {
        if (holds(partner->with, other)) {
            offer(*partner);
        }
    }
    partner = std::ranges::lower_bound(partner, partners.end(), number(other), {}, &Partner::with);
    if (partner != partners.end() && partner->with == number(other)) {
        offer(*partner);
    }
    return last;
}

}  // namespace logpost::replay
