#include "samples.hpp"

#include <algorithm>
#include <unordered_map>

#include "message_facts.hpp"

namespace logpost::analyzer {
namespace {

void add(SampleColumn& column, std::uint64_t bytes, std::int64_t time) {
    column.bytes.push_back(bytes);
    column.time_ps.push_back(time);
}

bool is_multi(RegionKind kind) noexcept {
    return kind == RegionKind::wait_multi || kind == RegionKind::test || kind == RegionKind::send_receive;
}

/// Whether a call is looked at, when one in `stride` is to be. By a hash: a pattern of calls that repeats must not beat
/// against the stride.
bool chosen(std::uint32_t call, std::size_t stride) noexcept {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
    return ((call * kOdd) >> 32U) % stride == 0;
}

}  // namespace

std::array<LocalitySamples, replay::kLocalities> samples(const Trace& trace, std::size_t limit) {
    const Places places(trace);
    std::size_t total = 0;
    for (const auto& location : trace.traces) {
        total += location.receives.size();
    }
    const std::size_t stride = total / std::max<std::size_t>(1, limit) + 1;
    std::array<LocalitySamples, replay::kLocalities> result;
    std::unordered_map<std::uint32_t, std::int64_t> latest;  // by call: the latest send among what it completed
    for (std::size_t location = 0; location < trace.traces.size(); ++location) {
        const auto& mine = trace.traces[location];
        const auto wanted = [&](const Endpoint& end) {
            return end.match != kNone && chosen(end.complete_call, stride);
        };
        latest.clear();
        for (std::uint32_t i = 0; i < mine.receives.size(); ++i) {
            if (wanted(mine.receives[i])) {
                const auto sent = measured_times(trace, {static_cast<std::int32_t>(location), i}).s0;
                const auto [place, added] = latest.try_emplace(mine.receives[i].complete_call, sent);
                place->second = std::max(place->second, sent);
            }
        }
        for (std::uint32_t i = 0; i < mine.receives.size(); ++i) {
            const auto& received = mine.receives[i];
            if (!wanted(received)) {
                continue;
            }
            const MessageId id{static_cast<std::int32_t>(location), i};
            const auto t = measured_times(trace, id);
            auto& into = result[static_cast<std::size_t>(places.between(received.peer, id.location))];
            ++into.messages;
            if (t.violates_causality()) {
                continue;
            }
            const auto& sender = trace.traces[static_cast<std::size_t>(received.peer)];
            const auto& sent = sender.sends[received.match];
            const auto kind_of = [&](const LocationTrace& where, std::uint32_t call) {
                return trace.regions[static_cast<std::size_t>(where.calls[call].region)].kind;
            };
            const bool single = !is_multi(kind_of(mine, received.complete_call));
            const bool synchronous = kind_of(sender, sent.call) == RegionKind::send_synchronous;
            // Of several messages that one call completed, only the last one sent says how long a message takes.
            if (t.rw0 <= t.s0 && t.s0 == latest[received.complete_call]) {
                add(into.end_to_end, sent.bytes, t.rw1 - t.s0);
            }
            if (sent.complete_call == kNone || synchronous || is_multi(kind_of(sender, sent.complete_call))) {
                continue;
            }
            const auto completed = completion_of_send(trace, id).leave;
            if (completed <= t.r0) {
                add(into.early_complete, sent.bytes, t.r0 - completed);
                add(into.send_call, sent.bytes, t.s1 - t.s0);
                // The payload had left; where it was on its way for long enough, the receive only had to take it.
                if (single && t.rw0 - completed > t.s1 - t.s0) {
                    add(into.receive_call, sent.bytes, t.rw1 - t.rw0);
                }
            } else if (t.s0 < t.r0) {
                add(into.late_complete, sent.bytes, completed - t.r0);
            }
        }
    }
    return result;
}

}  // namespace logpost::analyzer
