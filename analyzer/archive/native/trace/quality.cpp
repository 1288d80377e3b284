#include "analyzer/archive/native/trace/quality.hpp"

namespace logpost::analyzer {

using enum Quality;
using enum Severity;
using enum Blame;

const std::array<QualityInfo, kQualityCount> kQuality = {{
    {event_file_missing, "event_file_missing", data_loss, trace,
     "locations whose event file is missing; they have no events here"},
    {event_file_damaged, "event_file_damaged", data_loss, trace,
     "locations whose event file is damaged; only events before the damage are used"},
    {event_file_not_defined, "event_file_not_defined", data_loss, trace,
     "event files on disk that belong to no defined location; they were not read"},
    {event_count_differs, "event_count_differs", info, trace,
     "locations whose number of events differs from the definitions"},
    {location_without_events, "location_without_events", info, trace, "locations without events"},
    {host_not_named, "host_not_named", info, trace,
     "nodes that the writer numbered by process (\"node 3\") instead of naming hosts; which processes share one is not "
     "known, and messages between them count as between nodes"},
    {duplicate_definition, "duplicate_definition", error, trace,
     "definitions under an id that an earlier one has; the earlier one is used"},
    {undefined_reference, "undefined_reference", error, trace,
     "references of definitions to something that the archive does not define: a name is empty, a parent is none, a "
     "location is a separate process, a region is \"(undefined region)\", a communicator or group has no members"},
    {cyclic_reference, "cyclic_reference", error, trace,
     "definitions whose parents lead back to themselves (calling contexts, system tree nodes, communicators); the last "
     "one of the cycle, counted from the first in the file, has no parent"},
    {duplicate_group, "duplicate_group", info, trace,
     "further groups that number a paradigm's locations; the first one with members is used"},
    {duplicate_member, "duplicate_member", error, trace, "members that a group has twice; the later ones are left out"},
    {empty_communicator, "empty_communicator", info, trace, "communicators whose group has no members"},
    {undefined_member, "undefined_member", error, trace,
     "members of communicators that refer to an undefined location"},
    {undefined_region, "undefined_region", error, trace, "events that refer to an undefined region"},
    {undefined_communicator, "undefined_communicator", error, trace,
     "communication records that refer to an undefined communicator; they stay unmatched"},
    {undefined_peer, "undefined_peer", error, trace,
     "message records whose partner is not in their communicator; they stay unmatched"},
    {time_backwards, "time_backwards", error, trace,
     "events earlier than the previous event of their location; they were moved to its time"},
    {bytes_out_of_range, "bytes_out_of_range", error, trace,
     "sizes of messages, collectives and transfers of 16 TiB and more, which no process holds; they count as 0 bytes"},
    {leave_mis_nested, "leave_mis_nested", error, trace,
     "Leave events of a region that was not the innermost one; the regions inside were closed with it"},
    {leave_without_enter, "leave_without_enter", error, trace,
     "Leave events of a region that was not open; they were ignored"},
    {region_open_at_end, "region_open_at_end", error, trace,
     "regions without a Leave; they were closed at the last event of their location"},
    {nested_communication, "nested_communication", info, trace,
     "communication regions inside another communication call; they belong to the outer call"},
    {record_outside_call, "record_outside_call", error, trace,
     "communication records outside of any communication call; each was given a call of no duration"},
    {request_unknown, "request_unknown", error, trace,
     "completions of an unknown nonblocking request; a receive is placed where it completed"},
    {request_reused, "request_reused", error, trace,
     "nonblocking requests made under an id that was still pending; the older one stays incomplete"},
    {request_never_completed, "request_never_completed", info, trace,
     "nonblocking operations that never completed in the trace"},
    {request_left, "request_left", info, program,
     "nonblocking operations whose end no call saw, in a recording that is whole: the program freed their requests, or "
     "ended with them"},
    {request_cancelled, "request_cancelled", info, trace, "cancelled nonblocking operations; they are left out"},
    {request_of_other_thread, "request_of_other_thread", info, analysis,
     "nonblocking operations that another thread completed than began them; such a receive counts as posted by the "
     "call that completed it, such a send, collective operation or one-sided transfer as not waited for"},
    {send_end_not_recorded, "send_end_not_recorded", info, trace,
     "sends of nonblocking calls that are recorded without a request; which call completed them is not known, and they "
     "count as not waited for"},
    {receive_post_not_recorded, "receive_post_not_recorded", info, trace,
     "receives that are recorded without a request, in a call that only completes (MPI_Wait); when they were posted is "
     "not known, and they count as posted in time: they show no Late Receiver"},
    {send_unmatched, "send_unmatched", error, trace, "sends without a matching receive"},
    {receive_unmatched, "receive_unmatched", error, trace, "receives that ended without a matching send"},
    {send_not_received, "send_not_received", info, program,
     "sends that no receive took, in a recording that is whole: the program ended without one, as with announcements "
     "that "
     "no receive waits for (an image of OpenCoarrays notifies the others that it stops), or its receive failed, or the "
     "receive's request was freed"},
    {bytes_differ, "bytes_differ", info, trace, "messages whose send and receive records state different sizes"},
    {receive_before_send, "receive_before_send", error, trace,
     "messages whose receive ended before their send began: the clocks disagree even after correction"},
    {collective_ended_early, "collective_ended_early", error, trace,
     "members that left a collective before another member, which they wait for, arrived: the clocks disagree"},
    {collective_inconsistent, "collective_inconsistent", error, trace,
     "collective operations whose members disagree on the operation or the root; their records are not grouped"},
    {collective_incomplete, "collective_incomplete", error, trace,
     "collective operations with missing members; their records are not grouped"},
    {collective_lacks_members, "collective_lacks_members", data_loss, trace,
     "collective operations of whose members some have no record in the trace; the others wait for those at least that "
     "it has"},
    {collective_call_without_record, "collective_call_without_record", info, trace,
     "collective calls for which the writer left no collective record"},
    {collective_outside_communicator, "collective_outside_communicator", error, trace,
     "collective records of locations outside their communicator; they are not grouped"},
    {one_sided_call_without_record, "one_sided_call_without_record", info, trace,
     "calls that move data one-sidedly, in an archive without a record of any: its writer records none, and no "
     "transfer "
     "is counted here"},
    {measurement_off, "measurement_off", info, trace,
     "times at which the measurement was switched off; the trace lacks what happened until it was on again"},
    {message_while_off, "message_while_off", info, trace,
     "sends and receives without their other half, of processes of which one had its measurement switched off"},
    {collective_while_off, "collective_while_off", info, trace,
     "collective operations whose members' records do not agree, where one had its measurement switched off; they are "
     "not grouped"},
    {flush_in_call, "flush_in_call", info, trace,
     "times at which the tracer wrote its buffer within a call, whose duration contains that"},
    {device_transfer, "device_transfer", info, analysis,
     "transfers between host and accelerator; they are not communication between processes"},
    {unknown_record, "unknown_record", info, analysis, "records of a type unknown to this libotf2"},
    {layout_unreadable, "layout_unreadable", error, trace, "message layouts that could not be parsed"},
}};

void note(Trace& trace, Quality what, const std::string& name) {
    // Enough to find them; the counter says how many there are.
    constexpr std::size_t kMostNames = 100;
    if (trace.quality_names_affected.size() < kMostNames) {
        trace.quality_names_affected.push_back(std::string(kQuality[static_cast<std::size_t>(what)].name) + ": " +
                                               name);
    }
}

}  // namespace logpost::analyzer
