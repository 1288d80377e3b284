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

/// The location with the most receives.
const Timeline* busiest_of(const Program& program) {
    const auto busiest =
        std::ranges::max_element(program.timelines, {}, [](const Timeline& t) { return t.receives.size(); });
    return busiest == program.timelines.end() ? nullptr : &*busiest;
}

/// When a location posts the middle ones of its receives: fewer than all.
Span middle(const Timeline& timeline, std::size_t receives) {
    const auto n = timeline.receives.size();
    const auto begin = (n - receives) / 2;
    return {timeline.calls[timeline.receives[begin].call].enter_ps,
            timeline.calls[timeline.receives[begin + receives].call].enter_ps};
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

/// What of each location is kept.
class Rows {
  public:
    Rows(const Program& program, const Span& span) : program_(program) {
        for (const auto& timeline : program.timelines) {
            kept_.push_back(keep(timeline, span));
        }
    }
    [[nodiscard]] const KeptLocation& of(std::size_t location) const noexcept { return kept_[location]; }
    /// Whether both ends of a message are kept, and so is what completes them.
    [[nodiscard]] bool matched(std::size_t location, const MessageEnd& end, bool sent) const {
        if (end.match == kNone || !is_whole(location, end)) {
            return false;
        }
        const auto there = index(end.peer);
        const auto& peer = program_.timelines[there];
        return (sent ? kept_[there].receives : kept_[there].sends).contains(end.match) &&
               is_whole(there, sent ? peer.receives[end.match] : peer.sends[end.match]);
    }
    /// Whether most of the messages that are received here are cut.
    [[nodiscard]] bool cut_most() const {
        std::size_t received = 0;
        std::size_t whole = 0;
        for (std::size_t location = 0; location < kept_.size(); ++location) {
            const auto& receives = program_.timelines[location].receives;
            const auto& rows = kept_[location].receives;
            for (auto row = rows.begin; row < rows.end; ++row) {
                received += receives[row].match != kNone ? 1 : 0;
                whole += matched(location, receives[row], false) ? 1 : 0;
            }
        }
        return 2 * whole < received;
    }

  private:
    [[nodiscard]] bool is_whole(std::size_t location, const MessageEnd& end) const noexcept {
        const auto& calls = kept_[location].calls;
        return calls.contains(end.call) && (end.complete_call == kNone || calls.contains(end.complete_call));
    }

    const Program& program_;
    std::vector<KeptLocation> kept_;
};

/// The rows of about so many messages; of more, where the span of those is so short that most are cut. Of the least
/// part that can be had, where every part cuts them.
Rows rows_of(const Program& program, std::size_t messages) {
    std::size_t total = 0;
    for (const auto& timeline : program.timelines) {
        total += timeline.receives.size();
    }
    const auto* busiest = busiest_of(program);
    if (busiest == nullptr || total <= messages) {
        return {program, {}};
    }
    const auto n = busiest->receives.size();
    const auto share = static_cast<double>(messages) / static_cast<double>(total);
    // Of more locations than messages, none would have one.
    const auto least = std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(n) * share));
    for (auto receives = least; receives < n; receives *= 2) {
        Rows rows(program, middle(*busiest, receives));
        if (!rows.cut_most()) {
            return rows;
        }
    }
    return {program, middle(*busiest, least)};
}

}  // namespace

Program excerpt(const Program& program, std::size_t messages) {
    const auto chosen = rows_of(program, messages);
    const auto locations = program.timelines.size();

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
        const auto& rows = chosen.of(i);
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
            const bool both = chosen.matched(i, end, true);
            to.sends.push_back(moved(end, rows, both ? chosen.of(index(end.peer)).receives : Kept{}, both));
        }
        for (auto row = rows.receives.begin; row < rows.receives.end; ++row) {
            const auto& end = from.receives[row];
            const bool both = chosen.matched(i, end, false);
            to.receives.push_back(moved(end, rows, both ? chosen.of(index(end.peer)).sends : Kept{}, both));
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
