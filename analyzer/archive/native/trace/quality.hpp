#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// Everything unusual found while reading. One row of kQuality per value, in this order.
enum class Quality : std::uint8_t {
    event_file_missing,
    event_file_damaged,
    event_file_not_defined,
    event_count_differs,
    location_without_events,
    host_not_named,
    duplicate_definition,
    undefined_reference,
    cyclic_reference,
    duplicate_group,
    duplicate_member,
    empty_communicator,
    undefined_member,
    undefined_region,
    undefined_communicator,
    undefined_peer,
    time_backwards,
    bytes_out_of_range,
    leave_mis_nested,
    leave_without_enter,
    region_open_at_end,
    nested_communication,
    record_outside_call,
    request_unknown,
    request_reused,
    request_never_completed,
    request_left,
    request_cancelled,
    request_of_other_thread,
    send_end_not_recorded,
    receive_post_not_recorded,
    send_unmatched,
    receive_unmatched,
    send_not_received,
    bytes_differ,
    receive_before_send,
    collective_ended_early,
    collective_inconsistent,
    collective_incomplete,
    collective_lacks_members,
    collective_call_without_record,
    collective_outside_communicator,
    one_sided_call_without_record,
    measurement_off,
    message_while_off,
    collective_while_off,
    flush_in_call,
    device_transfer,
    unknown_record,
    layout_unreadable,
    count_,
};

inline constexpr std::size_t kQualityCount = static_cast<std::size_t>(Quality::count_);

enum class Severity : std::uint8_t { info, error, data_loss };
enum class Blame : std::uint8_t { trace, analysis, program };

struct QualityInfo {
    Quality quality;
    std::string_view name;
    Severity severity;
    Blame blame;
    std::string_view sentence;
};

/// The one declaration of every counter.
extern const std::array<QualityInfo, kQualityCount> kQuality;

using QualityCounts = std::array<std::uint64_t, kQualityCount>;

/// Names a file, a location or a definition that a counter speaks of.
void note(Trace& trace, Quality what, const std::string& name);

inline void count(QualityCounts& counts, Quality what, std::uint64_t by = 1) noexcept {
    counts[static_cast<std::size_t>(what)] += by;
}

}  // namespace logpost::analyzer
