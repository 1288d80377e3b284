#include "replay/native/program/phases.hpp"

#include <algorithm>
#include <limits>

namespace logpost::replay {
namespace {

/// Whether a call of this kind says nothing of the program having begun: queries and management precede and follow it.
bool surrounds(CallKind kind) noexcept {
    return kind == CallKind::initialize || kind == CallKind::finalize || kind == CallKind::other ||
           kind == CallKind::not_recorded;
}

constexpr Span kNoCommunication{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};

/// The calls by which a location does more than to begin or end: from the enter of the first to the leave of the last.
Span communication_of(const Program& program, const Timeline& location) {
    const auto communicates = [&](const Call& call) { return !surrounds(program.kind(call)); };
    const auto& calls = location.calls;
    std::size_t first = 0;
    while (first < calls.size() && !communicates(calls[first])) {
        ++first;
    }
    auto last = calls.size();
    while (last > first && !communicates(calls[last - 1])) {
        --last;
    }
    return first == last ? kNoCommunication : Span{calls[first].enter_ps, calls[last - 1].leave_ps};
}

/// The program of a location whose process communicates within `communication`.
Span span_of(const Program& program, const Timeline& location, Span communication) {
    Span span{location.first_ps, location.last_ps};
    const auto kind = [&](std::size_t call) { return program.kind(location.calls[call]); };
    const std::size_t calls = location.calls.size();
    std::size_t first = 0;
    for (std::size_t c = 0; c < calls && surrounds(kind(c)) && location.calls[c].enter_ps <= communication.begin_ps;
         ++c) {
        if (kind(c) == CallKind::initialize || kind(c) == CallKind::not_recorded) {
            span.begin_ps = location.calls[c].leave_ps;
            first = c + 1;
        }
    }
    for (std::size_t c = calls;
         c > first && surrounds(kind(c - 1)) && location.calls[c - 1].leave_ps >= communication.end_ps; --c) {
        if (kind(c - 1) == CallKind::finalize || kind(c - 1) == CallKind::not_recorded) {
            span.end_ps = location.calls[c - 1].enter_ps;
        }
    }
    return span;
}

}  // namespace

std::vector<Span> program_spans(const Program& program) {
    const std::size_t locations = program.timelines.size();
    const auto group = [&](std::size_t l) { return static_cast<std::size_t>(program.placement[l].process); };
    std::vector<Span> communication(locations);  // of each location, then of its process
    std::vector<Span> of_process;
    std::vector<std::int32_t> rank_of_group;
    for (std::size_t l = 0; l < locations; ++l) {
        communication[l] = communication_of(program, program.timelines[l]);
        if (program.placement[l].process != kUndefined) {
            of_process.resize(std::max(of_process.size(), group(l) + 1), kNoCommunication);
            rank_of_group.resize(of_process.size(), kUndefined);
            auto& all = of_process[group(l)];
            all.begin_ps = std::min(all.begin_ps, communication[l].begin_ps);
            all.end_ps = std::max(all.end_ps, communication[l].end_ps);
            if (program.placement[l].rank != kNoRank) {
                rank_of_group[group(l)] = static_cast<std::int32_t>(l);
            }
        }
    }
    std::vector<Span> spans(locations);
    for (std::size_t l = 0; l < locations; ++l) {
        const bool alone = program.placement[l].process == kUndefined;
        spans[l] = span_of(program, program.timelines[l], alone ? communication[l] : of_process[group(l)]);
    }
    for (std::size_t l = 0; l < locations; ++l) {
        if (program.placement[l].rank != kNoRank || program.placement[l].process == kUndefined ||
            rank_of_group[group(l)] == kUndefined) {
            continue;
        }
        const auto& process = spans[static_cast<std::size_t>(rank_of_group[group(l)])];
        const auto& own = program.timelines[l];
        spans[l].begin_ps = std::clamp(process.begin_ps, own.first_ps, own.last_ps);
        spans[l].end_ps = std::clamp(process.end_ps, spans[l].begin_ps, own.last_ps);
    }
    return spans;
}

std::size_t start_up_calls(const Program& program, std::size_t location) {
    const auto& calls = program.timelines[location].calls;
    std::size_t found = 0;
    while (found < calls.size() && calls[found].leave_ps <= program.spans[location].begin_ps &&
           surrounds(program.kind(calls[found]))) {
        ++found;
    }
    return found;
}

PhaseLine::PhaseLine(Span program, Span interest, std::span<const Span> off) {
    const auto from = std::clamp(interest.begin_ps, program.begin_ps, program.end_ps);
    const auto until = std::clamp(interest.end_ps, from, program.end_ps);
    pieces_ = {{program.begin_ps, Phase::start_up}, {from, Phase::outside}};
    for (const auto& span : off) {
        if (span.begin_ps < until && span.end_ps > from) {
            pieces_.push_back({std::max(span.begin_ps, from), Phase::program});
            pieces_.push_back({std::min(span.end_ps, until), Phase::outside});
        }
    }
    pieces_.push_back({until, Phase::program});
    pieces_.push_back({program.end_ps, Phase::outside});
    pieces_.push_back({std::numeric_limits<std::int64_t>::max(), Phase::shut_down});
}

std::vector<Span> times_off(const Program& program, const Timeline& location) {
    std::vector<Span> found;
    if (program.has_times_off()) {
        for (std::size_t c = 0; c < location.calls.size(); ++c) {
            const auto& call = location.calls[c];
            if (program.kind(call) == CallKind::not_recorded) {
                found.push_back({call.enter_ps, call.leave_ps});
            }
        }
    }
    return found;
}

}  // namespace logpost::replay
