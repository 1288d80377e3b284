#include "analyzer/archive/native/read/read_program.hpp"

#include <algorithm>

#include "analyzer/archive/native/read/program.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "replay/native/split/account.hpp"

namespace logpost::analyzer {
namespace {

Trace read_once(const std::filesystem::path& anchor, const ReadOptions& options) {
    auto trace = read_archive(anchor, options);
    take_program(trace);
    auto& left = trace.clocks.left;
    left.messages = trace.quality[static_cast<std::size_t>(Quality::receive_before_send)];
    left.collectives = replay::CollectiveWaits(trace.program).early_ends();
    trace.quality[static_cast<std::size_t>(Quality::collective_ended_early)] = left.collectives;
    trace.clocks.recorded = left;
    return trace;
}

}  // namespace

Trace read_program(const std::filesystem::path& anchor, ReadOptions options, ClockMode mode) {
    options.correction = {.offsets = mode != ClockMode::none};
    auto trace = read_once(anchor, options);
    if (mode != ClockMode::clc || (trace.clocks.left.messages == 0 && trace.clocks.left.collectives == 0)) {
        return trace;
    }
    const auto logical = logical_clock(trace.program, trace.begin_ps);
    const auto recorded = trace.clocks.recorded;
    trace = {};  // two at once would need twice the memory
    options.correction.logical = &logical;
    options.shards = nullptr;  // their times are not corrected
    trace = read_once(anchor, options);
    trace.clocks.recorded = recorded;
    trace.clocks.largest_ps = logical.largest_ps;
    trace.clocks.processes = logical.processes;
    std::ranges::copy(logical.least_transit_ps, trace.clocks.transit_ps);
    return trace;
}

}  // namespace logpost::analyzer
