#include "samples.hpp"

#include <algorithm>

#include "message_model.hpp"
#include "windows.hpp"

namespace logpost::analyzer {
namespace {

void add(SampleColumn& column, std::uint64_t bytes, std::int64_t time) {
    column.bytes.push_back(bytes);
    column.time_ps.push_back(time);
}

bool is_multi(RegionKind kind) noexcept {
    return kind == RegionKind::wait_multi || kind == RegionKind::test || kind == RegionKind::send_receive;
}

/// Per call of one location: the latest send enter among the messages that it completed.
std::vector<std::int64_t> latest_sends(const MessageModel& model, std::size_t location) {
    const auto& mine = model.trace().traces[location];
    std::vector<std::int64_t> latest(mine.calls.size(), INT64_MIN);
    for (std::uint32_t i = 0; i < mine.receives.size(); ++i) {
        const MessageId id{static_cast<std::int32_t>(location), i};
        if (model.matched(id)) {
            auto& call = latest[mine.receives[i].complete_call];
            call = std::max(call, model.times(id).s0);
        }
    }
    return latest;
}

}  // namespace

std::array<LocalitySamples, replay::kLocalities> samples(const Trace& trace, std::size_t limit) {
    replay::Parameters none;
    for (auto& locality : none.localities) {
        locality.ranges.push_back({.up_to_bytes = UINT64_MAX});
    }
    const MessageModel model(trace, none, Windows{}, 1);
    std::size_t total = 0;
    for (const auto& location : trace.traces) {
        total += location.receives.size();
    }
    const std::size_t stride = total / std::max<std::size_t>(1, limit) + 1;
    std::array<LocalitySamples, replay::kLocalities> result;
    std::size_t position = 0;
    for (std::size_t location = 0; location < trace.traces.size(); ++location) {
        const auto& mine = trace.traces[location];
        const auto latest = latest_sends(model, location);
        for (std::uint32_t i = 0; i < mine.receives.size(); ++i) {
            const MessageId id{static_cast<std::int32_t>(location), i};
            if (position++ % stride != 0 || !model.matched(id)) {
                continue;
            }
            const auto message = model.model(id);
            const auto& t = message.times;
            auto& into = result[static_cast<std::size_t>(message.locality)];
            ++into.messages;
            if (t.violates_causality()) {
                continue;
            }
            const auto& received = mine.receives[i];
            const auto& sent = model.send(id);
            const auto& sender = trace.traces[static_cast<std::size_t>(received.peer)];
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
            if (t.sw1 <= t.r0) {
                add(into.early_complete, sent.bytes, t.r0 - t.sw1);
                add(into.send_call, sent.bytes, t.s1 - t.s0);
                // The payload had left; where it was on its way for long enough, the receive only had to take it.
                if (single && t.rw0 - t.sw1 > t.s1 - t.s0) {
                    add(into.receive_call, sent.bytes, t.rw1 - t.rw0);
                }
            } else if (t.s0 < t.r0) {
                add(into.late_complete, sent.bytes, t.sw1 - t.r0);
            }
        }
    }
    return result;
}

}  // namespace logpost::analyzer
