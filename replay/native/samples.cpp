#include "replay/native/samples.hpp"

#include <algorithm>
#include <unordered_map>

#include "replay/native/split/message_facts.hpp"

namespace logpost::replay {
namespace {

void add(SampleColumn& column, std::uint64_t bytes, std::int64_t time) {
    column.bytes.push_back(bytes);
    column.time_ps.push_back(time);
}

bool is_multi(CallKind kind) noexcept {
    return kind == CallKind::wait_multi || kind == CallKind::test || kind == CallKind::send_receive;
}

/// Whether a call is looked at, when one in `stride` is to be. By a hash: a pattern of calls that repeats must not beat
/// against the stride.
bool chosen(std::uint32_t call, std::size_t stride) noexcept {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
    return ((call * kOdd) >> 32U) % stride == 0;
}

}  // namespace

std::array<LocalitySamples, kLocalities> samples(const Program& program, std::size_t limit) {
    std::size_t total = 0;
    for (const auto& location : program.timelines) {
        total += location.receives.size();
    }
    const std::size_t stride = total / std::max<std::size_t>(1, limit) + 1;
    std::array<LocalitySamples, kLocalities> result;
    std::unordered_map<std::uint32_t, std::int64_t> latest;  // by call: the latest send among what it completed
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        const auto& mine = program.timelines[location];
        const auto wanted = [&](const MessageEnd& end) {
            return end.match != kNone && chosen(end.complete_call, stride);
        };
        latest.clear();
        for (std::uint32_t i = 0; i < mine.receives.size(); ++i) {
            if (wanted(mine.receives[i])) {
                const auto sent = measured_times(program, {static_cast<std::int32_t>(location), i}).s0;
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
            const auto t = measured_times(program, id);
            auto& into = result[static_cast<std::size_t>(program.placement.between(received.peer, id.location))];
            ++into.messages;
            if (t.violates_causality()) {
                continue;
            }
            const auto& sender = program.timelines[static_cast<std::size_t>(received.peer)];
            const auto& sent = sender.sends[received.match];
            const auto kind_of = [&](const Timeline& where, std::uint32_t call) {
                return program.kind(where.calls[call]);
            };
            const bool single = !is_multi(kind_of(mine, received.complete_call));
            const bool synchronous = kind_of(sender, sent.call) == CallKind::send_synchronous;
            // Of several messages that one call completed, only the last one sent says how long a message takes.
            if (t.rw0 <= t.s0 && t.s0 == latest[received.complete_call]) {
                add(into.end_to_end, sent.bytes, t.rw1 - t.s0);
            }
            if (sent.complete_call == kNone || synchronous || is_multi(kind_of(sender, sent.complete_call))) {
                continue;
            }
            const auto completed = completion_of_send(program, id).leave;
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

}  // namespace logpost::replay
