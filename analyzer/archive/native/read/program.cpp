#include "analyzer/archive/native/read/program.hpp"

#include <utility>

#include "replay/native/program/phases.hpp"

namespace logpost::analyzer {

void take_program(Trace& trace) {
    auto& program = trace.program;
    program.spill = trace.spill;
    program.ticks_per_second = trace.ticks_per_second;
    program.length_ps = trace.length_ps;
    for (const auto& callpath : trace.callpaths) {
        program.callers.push_back(callpath.parent);
    }
    for (const auto& region : trace.regions) {
        program.kinds.push_back(region.kind);
    }
    program.layouts = trace.layouts;
    for (const auto& communicator : trace.communicators) {
        program.members.push_back(communicator.members());
        program.first_group.push_back(communicator.first_group());
    }
    program.collective_instances = trace.collective_instances;
    std::vector<replay::Place> places;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        const auto& location = trace.locations[l];
        auto& events = trace.traces[l];
        places.push_back({location.group, location.socket, location.node, location.rank});
        program.accounted.push_back(events.events > 0 && (location.rank != kNoRank || !events.calls.empty()) ? 1 : 0);
        auto& timeline = program.timelines.emplace_back();
        timeline = std::move(static_cast<replay::Timeline&>(events));
        events.first_ps = timeline.first_ps;
        events.last_ps = timeline.last_ps;
    }
    program.placement = replay::Placement(std::move(places));
    program.spans = replay::program_spans(program);
}

}  // namespace logpost::analyzer
