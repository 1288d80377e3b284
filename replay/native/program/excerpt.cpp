#include "replay/native/program/excerpt.hpp"

#include <algorithm>
#include <vector>

namespace logpost::replay {
namespace {

/// Rows [begin, end) of a location's lists that are kept.
struct Kept {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    [[nodiscard]] bool contains(std::uint32_t row) const noexcept { return row >= begin && row < end; }
    [[nodiscard]] std::uint32_t moved(std::uint32_t row) const noexcept { return contains(row) ? row - begin : kNone; }
};

struct KeptLocation {
    Kept calls, sends, receives;
};

/// The rows of a list sorted by call whose call is kept.
template <class Rows>
Kept of_calls(const Rows& rows, const Kept& calls) {
    const auto first = [&](std::uint32_t call) {
        return static_cast<std::uint32_t>(rows.partition_point([&](const auto& row) { return row.call < call; }));
    };
    return {first(calls.begin), first(calls.end)};
}

Span middle(const Program& program, std::size_t messages) {
    std::size_t total = 0;
    const Timeline* busiest = nullptr;
    for (const auto& timeline : program.timelines) {
        total += timeline.receives.size();
        if (busiest == nullptr || timeline.receives.size() > busiest->receives.size()) {
            busiest = &timeline;
        }
    }
    const auto n = busiest == nullptr ? 0 : busiest->receives.size();
    const auto share =
        std::min(1.0, static_cast<double>(messages) / static_cast<double>(std::max<std::size_t>(1, total)));
    const auto kept = static_cast<std::size_t>(static_cast<double>(n) * share);
    if (busiest == nullptr || kept == 0 || kept == n) {
        return {};
    }
    const auto begin = (n - kept) / 2;
    return {busiest->calls[busiest->receives[begin].call].enter_ps,
            busiest->calls[busiest->receives[begin + kept].call].enter_ps};
}

KeptLocation keep(const Timeline& timeline, const Span& span) {
    const auto first = [&](std::int64_t time) {
        return static_cast<std::uint32_t>(
            timeline.calls.partition_point([&](const Call& call) { return call.enter_ps < time; }));
    };
    KeptLocation kept;
    kept.calls = {first(span.begin_ps), first(span.end_ps)};
    kept.sends = of_calls(timeline.sends, kept.calls);
    kept.receives = of_calls(timeline.receives, kept.calls);
    return kept;
}

/// One end of a message; whether it and its partner are whole in the excerpt is `matched`.
MessageEnd moved(const MessageEnd& end, const KeptLocation& here, const Kept& partners, bool matched) {
    auto copy = end;
    copy.call = here.calls.moved(end.call);
    copy.complete_call = end.complete_call == kNone ? kNone : here.calls.moved(end.complete_call);
    copy.match = matched ? partners.moved(end.match) : kNone;
    return copy;
}

}  // namespace

Program excerpt(const Program& program, std::size_t messages) {
    const auto span = middle(program, messages);
    const auto locations = program.timelines.size();
    std::vector<KeptLocation> kept(locations);
    for (std::size_t i = 0; i < locations; ++i) {
        kept[i] = keep(program.timelines[i], span);
    }
    // Both ends are kept, and so is what completes them.
    const auto whole = [&](std::size_t location, const MessageEnd& end) {
        const auto& calls = kept[location].calls;
        return calls.contains(end.call) && (end.complete_call == kNone || calls.contains(end.complete_call));
    };
    const auto matched = [&](std::size_t location, const MessageEnd& end, bool sent) {
        if (end.match == kNone || !whole(location, end)) {
            return false;
        }
        const auto there = index(end.peer);
        const auto& peer = program.timelines[there];
        return (sent ? kept[there].receives : kept[there].sends).contains(end.match) &&
               whole(there, sent ? peer.receives[end.match] : peer.sends[end.match]);
    };

    Program result;
    result.ticks_per_second = program.ticks_per_second;
    result.length_ps = program.length_ps;
    result.callers = program.callers;
    result.kinds = program.kinds;
    result.layouts = program.layouts;
    result.members = program.members;
    result.first_group = program.first_group;
    result.placement = program.placement;
    result.network = program.network;
    result.accounted = program.accounted;
    result.collective_instances = program.collective_instances;
    result.spans.resize(locations);
    result.timelines.resize(locations);
    for (std::size_t i = 0; i < locations; ++i) {
        const auto& from = program.timelines[i];
        auto& to = result.timelines[i];
        const auto& rows = kept[i];
        for (auto row = rows.calls.begin; row < rows.calls.end; ++row) {
            to.calls.push_back(from.calls[row]);
        }
        if (!to.calls.empty()) {
            to.first_ps = to.calls[0].enter_ps;
            to.last_ps = to.calls.back().leave_ps;
        }
        result.spans[i] = {to.first_ps, to.last_ps};
        for (auto row = rows.sends.begin; row < rows.sends.end; ++row) {
            const auto& end = from.sends[row];
            const bool both = matched(i, end, true);
            to.sends.push_back(moved(end, rows, both ? kept[index(end.peer)].receives : Kept{}, both));
        }
        for (auto row = rows.receives.begin; row < rows.receives.end; ++row) {
            const auto& end = from.receives[row];
            const bool both = matched(i, end, false);
            to.receives.push_back(moved(end, rows, both ? kept[index(end.peer)].sends : Kept{}, both));
        }
        for (std::size_t row = 0; row < from.layouts.size(); ++row) {
            if (rows.sends.contains(from.layouts[row].send)) {
                to.layouts.push_back({rows.sends.moved(from.layouts[row].send), from.layouts[row].layout});
            }
        }
        for (std::size_t row = 0; row < from.collectives.size(); ++row) {
            auto operation = from.collectives[row];
            const bool ends = operation.complete_call == kNone || rows.calls.contains(operation.complete_call);
            if (rows.calls.contains(operation.call) && ends) {
                operation.call = rows.calls.moved(operation.call);
                operation.complete_call =
                    operation.complete_call == kNone ? kNone : rows.calls.moved(operation.complete_call);
                to.collectives.push_back(operation);
            }
        }
    }
    return result;
}

}  // namespace logpost::replay
