#include "analyzer/archive/native/read/range.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analyzer/archive/native/clocks/clock.hpp"
#include "analyzer/archive/native/trace/error.hpp"

namespace logpost::analyzer {
namespace {

using Wide = Sum;

constexpr Wide kPsPerHour = Wide{3600} * 1'000'000'000'000;
constexpr Wide kPsPerDay = 24 * kPsPerHour;
constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();

std::string whole(Wide value) {
    return std::to_string(static_cast<std::int64_t>(std::min(value, kMost)));
}

void require_time(Wide time, const char* what, const Trace& trace, std::size_t location, const std::string& archive) {
    if (time > kMost) {
        throw ArchiveError(
            archive + ": " + what + " of location " + std::to_string(trace.locations[location].ref) + " last " +
            whole(time / kPsPerHour) +
            " hours together; sums of one location's times hold 2562 hours (2^63 ps): record a shorter part of the "
            "program; where --clock none was given, analyze with the archive's clock offsets");
    }
}

}  // namespace

Extent whole_of(const std::vector<Extent>& extents) noexcept {
    Extent whole{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), 0};
    for (const auto& [first, last, events] : extents) {
        if (events != 0) {
            whole = {std::min(whole.first_ps, first), std::max(whole.last_ps, last), whole.events + events};
        }
    }
    return whole.last_ps < whole.first_ps ? Extent{} : whole;
}

Sum message_ps(std::int64_t sent_ps, const LocationTrace& here, const MessageEnd& receive) {
    if (receive.complete_call == kNone) {
        return 0;
    }
    const auto& received = here.calls[receive.complete_call];
    return Sum{received.leave_ps} - std::min(sent_ps, received.enter_ps);
}

Sums sums_of(const TraceOf& traces, const LocationTrace& here) {
    Sums sums;
    here.sends.for_each([&](std::size_t, const MessageEnd& send) { sums.bytes += send.bytes; });
    here.receives.for_each([&](std::size_t, const MessageEnd& receive) {
        sums.bytes += receive.bytes;
        const auto* there = receive.match != kNone ? traces[index(receive.peer)] : nullptr;
        if (there != nullptr) {
            sums.messages_ps += message_ps(there->calls[there->sends[receive.match].call].enter_ps, here, receive);
        }
    });
    here.collectives.for_each([&](std::size_t, const Collective& collective) {
        sums.operations_ps += std::max(Wide{0}, Wide{collective.end_ps} - collective.begin_ps);
        sums.bytes += Wide{collective.bytes_sent} + collective.bytes_received;
    });
    here.transfers.for_each([&](std::size_t, const Transfer& transfer) { sums.bytes += transfer.bytes; });
    return sums;
}

void require_times_in_range(const std::vector<Extent>& extents, const Trace& trace, const std::string& archive) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    std::size_t earliest = 0;
    std::size_t latest = 0;
    for (std::size_t l = 0; l < extents.size(); ++l) {
        const auto& location = extents[l];
        if (location.events == 0) {
            continue;
        }
        if (location.first_ps == -Clock::kSaturated || location.last_ps == Clock::kSaturated) {
            const auto* where = location.first_ps == -Clock::kSaturated ? "before" : "after";
            throw ArchiveError(archive + ": location " + std::to_string(trace.locations[l].ref) +
                               " has an event 53 days (2^62 ps) or more " + where +
                               " the trace's stated beginning; its event file is damaged, or the archive's clock "
                               "properties (resolution, global offset) are wrong: record or copy it again");
        }
        if (location.first_ps < first) {
            first = location.first_ps;
            earliest = l;
        }
        if (location.last_ps > last) {
            last = location.last_ps;
            latest = l;
        }
    }
    if (last > first && Wide{last} - first >= Clock::kSaturated) {
        throw ArchiveError(archive + ": " + whole((Wide{last} - first) / kPsPerDay) +
                           " days lie between the first event of location " +
                           std::to_string(trace.locations[earliest].ref) + " and the last one of location " +
                           std::to_string(trace.locations[latest].ref) +
                           "; times hold 53 days (2^62 ps): an event file is damaged, or the clocks of its machines "
                           "disagree: record or copy it again");
    }
}

void require_sums_in_range(const std::vector<Sums>& of, const Trace& trace, const std::string& archive) {
    Wide bytes = 0;
    for (std::size_t l = 0; l < of.size(); ++l) {
        require_time(of[l].messages_ps, "the received messages", trace, l, archive);
        require_time(of[l].operations_ps, "the collective operations", trace, l, archive);
        bytes += of[l].bytes;
    }
    if (bytes > kMost) {
        throw ArchiveError(
            archive + ": its records state " + whole(bytes >> 60) +
            " EiB of data together; sums hold 8 EiB (2^63 bytes): its event files are damaged, record or "
            "copy them again");
    }
}

}  // namespace logpost::analyzer
