#include "replay/native/program/program_tables.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "replay/native/memory/spill.hpp"
#include "replay/native/program/phases.hpp"
#include "replay/native/program/settle.hpp"

namespace logpost::replay {
namespace {

/// An id as an index below `limit`.
std::size_t index(std::int32_t id, std::size_t limit, const char* what) {
    if (id < 0 || static_cast<std::size_t>(id) >= limit) {
        throw std::invalid_argument(std::string(what) + " " + std::to_string(id) + " does not exist");
    }
    return static_cast<std::size_t>(id);
}

void check_optional(std::int32_t id, std::size_t limit, const char* what) {
    if (id != kUndefined) {
        index(id, limit, what);
    }
}

constexpr MessageEnd kEmpty{kNone, kNone, 0, kNoLocation, kUndefined, kUndefined, kNone};

void check_whole(const Column<MessageEnd>& ends) {
    ends.for_each([](std::size_t number, const MessageEnd& end) {
        if (end.call == kNone) {
            throw std::invalid_argument("message end " + std::to_string(number) + " is missing");
        }
    });
}

}  // namespace

ProgramFiller::ProgramFiller(Program& program, const LocationColumns& locations, std::size_t most_ends)
    : program_(program),
      locations_(locations.process.size()),
      most_ends_(most_ends),
      first_call_(locations_),
      layouts_(locations_) {
    std::vector<Place> places;
    program_.timelines.resize(locations_);
    for (std::size_t l = 0; l < locations_; ++l) {
        places.push_back({locations.process[l], locations.socket[l], locations.node[l], Rank{locations.rank[l]}});
        program_.timelines[l].first_ps = locations.first_ps[l];
        program_.timelines[l].last_ps = locations.last_ps[l];
    }
    program_.placement = Placement(std::move(places));
    program_.accounted.assign(locations.accounted.begin(), locations.accounted.end());
}

void ProgramFiller::calls(const CallColumns& rows) {
    for (std::size_t i = 0; i < rows.location.size(); ++i, ++read_calls_) {
        const auto location = index(rows.location[i], locations_, "location");
        index(rows.region[i], program_.kinds.size(), "region");
        index(rows.callpath[i], program_.callpaths(), "callpath");
        auto& calls = program_.timelines[location].calls;
        if (calls.empty()) {
            first_call_[location] = read_calls_;
        } else if (first_call_[location] + calls.size() != read_calls_ || calls.back().enter_ps > rows.enter_ps[i]) {
            throw std::invalid_argument("calls are not in the order of location and time");
        }
        calls.push_back({rows.enter_ps[i], rows.leave_ps[i], rows.region[i], rows.callpath[i]});
    }
}

/// A call of the run as one of its location.
std::uint32_t ProgramFiller::call(std::int32_t id, std::size_t location) const {
    const auto& calls = program_.timelines[location].calls;
    const auto own = static_cast<std::int64_t>(id) - static_cast<std::int64_t>(first_call_[location]);
    if (own < 0 || own >= static_cast<std::int64_t>(calls.size())) {
        throw std::invalid_argument("call " + std::to_string(id) + " does not belong to location " +
                                    std::to_string(location));
    }
    return static_cast<std::uint32_t>(own);
}

std::uint32_t ProgramFiller::optional_call(std::int32_t id, std::size_t location) const {
    return id == kUndefined ? kNone : call(id, location);
}

/// The end of this number, which no other row has filled.
MessageEnd& ProgramFiller::free_end(Column<MessageEnd>& ends, std::int32_t number) const {
    const auto at = index(number, most_ends_, "message end");
    while (ends.size() <= at) {
        ends.push_back(kEmpty);
    }
    auto& end = ends[at];
    if (end.call != kNone) {
        throw std::invalid_argument("message end " + std::to_string(number) + " is there twice");
    }
    return end;
}

void ProgramFiller::all_calls_read() {
    for (auto& timeline : program_.timelines) {
        timeline.calls.trim();
        if (program_.spill) {
            settle_calls(timeline, *program_.spill);
        }
    }
}

void ProgramFiller::messages(const MessageColumns& rows) {
    for (std::size_t i = 0; i < rows.send_location.size(); ++i) {
        const auto from = index(rows.send_location[i], locations_, "location");
        const auto to = index(rows.recv_location[i], locations_, "location");
        check_optional(rows.comm[i], program_.members.size(), "communicator");
        free_end(program_.timelines[from].sends, rows.send_number[i]) = {
            call(rows.send_call[i], from),
            optional_call(rows.send_complete_call[i], from),
            rows.bytes[i],
            Location{rows.recv_location[i]},
            rows.comm[i],
            rows.tag[i],
            static_cast<std::uint32_t>(rows.recv_number[i])};
        free_end(program_.timelines[to].receives, rows.recv_number[i]) = {
            call(rows.recv_post_call[i], to),
            call(rows.recv_call[i], to),
            rows.recv_bytes[i],
            Location{rows.send_location[i]},
            rows.comm[i],
            rows.tag[i],
            static_cast<std::uint32_t>(rows.send_number[i])};
        if (rows.layout[i] != kUndefined) {
            index(rows.layout[i], program_.layouts.size(), "layout");
            layouts_[from].push_back({static_cast<std::uint32_t>(rows.send_number[i]), rows.layout[i]});
        }
    }
}

void ProgramFiller::unmatched(const UnmatchedColumns& rows) {
    for (std::size_t i = 0; i < rows.location.size(); ++i) {
        const auto at = index(rows.location[i], locations_, "location");
        auto& timeline = program_.timelines[at];
        check_optional(rows.peer[i], locations_, "location");
        free_end(rows.direction[i] != 0 ? timeline.receives : timeline.sends, rows.number[i]) = {
            call(rows.call[i], at),
            optional_call(rows.complete_call[i], at),
            rows.bytes[i],
            Location{rows.peer[i]},
            rows.comm[i],
            rows.tag[i],
            kNone};
    }
}

void ProgramFiller::collectives(const CollectiveColumns& rows) {
    for (std::size_t i = 0; i < rows.location.size(); ++i) {
        const auto location = index(rows.location[i], locations_, "location");
        check_optional(rows.comm[i], program_.members.size(), "communicator");
        for (const auto row : {rows.layout[i], rows.received_layout[i]}) {
            check_optional(row, program_.layouts.size(), "layout");
        }
        program_.timelines[location].collectives.push_back(
            {rows.enter_ps[i], rows.leave_ps[i], rows.bytes_sent[i], rows.bytes_received[i],
             call(rows.call[i], location), optional_call(rows.complete_call[i], location), rows.comm[i],
             Rank{rows.root[i]}, rows.instance[i] == kUndefined ? kNone : static_cast<std::uint32_t>(rows.instance[i]),
             static_cast<Operation>(rows.operation[i]), rows.rma_window[i], rows.layout[i], rows.received_layout[i]});
        program_.collective_instances =
            std::max(program_.collective_instances, static_cast<std::uint32_t>(rows.instance[i] + 1));
    }
}

void ProgramFiller::transfers(const TransferColumns& rows) {
    for (std::size_t i = 0; i < rows.location.size(); ++i) {
        const auto location = index(rows.location[i], locations_, "location");
        check_optional(rows.target[i], locations_, "location");
        for (const auto row : {rows.layout[i], rows.target_layout[i]}) {
            check_optional(row, program_.layouts.size(), "layout");
        }
        program_.timelines[location].transfers.push_back(
            {rows.bytes[i], call(rows.call[i], location), optional_call(rows.complete_call[i], location),
             optional_call(rows.remote_call[i], location), Location{rows.target[i]}, rows.rma_window[i],
             static_cast<Transfer::Kind>(rows.kind[i]), rows.layout[i], rows.target_layout[i]});
    }
}

void ProgramFiller::epochs(const EpochColumns& rows) {
    for (std::size_t i = 0; i < rows.location.size(); ++i) {
        const auto location = index(rows.location[i], locations_, "location");
        check_optional(rows.peer[i], locations_, "location");
        program_.timelines[location].epochs.push_back(
            {rows.acquired_ps[i] < 0 ? Epoch::kNotRecorded : rows.acquired_ps[i], rows.lock[i],
             call(rows.begin_call[i], location), optional_call(rows.end_call[i], location), Location{rows.peer[i]},
             rows.rma_window[i], rows.match[i] == kUndefined ? kNone : static_cast<std::uint32_t>(rows.match[i]),
             static_cast<Epoch::Kind>(rows.kind[i])});
    }
}

void ProgramFiller::finish() {
    for (const auto& timeline : program_.timelines) {
        timeline.epochs.for_each([&](std::size_t, const Epoch& epoch) {
            if (epoch.match != kNone) {
                const auto& peer = program_.timelines[index(number(epoch.peer), locations_, "location")];
                index(static_cast<std::int32_t>(epoch.match), peer.epochs.size(), "epoch");
            }
        });
    }
    for (std::size_t l = 0; l < locations_; ++l) {
        auto& timeline = program_.timelines[l];
        check_whole(timeline.sends);
        check_whole(timeline.receives);
        std::ranges::sort(layouts_[l], {}, &SendLayout::send);
        for (const auto& layout : layouts_[l]) {
            timeline.layouts.push_back(layout);
        }
        timeline.sends.trim();
        timeline.receives.trim();
        timeline.collectives.trim();
        if (program_.spill) {
            settle_all_but_calls(timeline, *program_.spill);
        }
    }
    program_.spans = program_spans(program_);
}

}  // namespace logpost::replay
