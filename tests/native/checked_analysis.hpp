#pragma once

// The analysis of an archive that is made by chance, and what must hold of it unless the archive is refused: the parts
// of a message add up to its envelope, the messages of two locations to their pair, the categories of a location to its
// time.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "analyzer/archive/native/read/read_program.hpp"
#include "random_archive.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/split/samples.hpp"

namespace logpost::tests {

using analyzer::kNoLocation;
using analyzer::kUndefined;

inline void require(bool holds, const char* what) {
    if (!holds) {
        throw std::logic_error(what);
    }
}

inline replay::Parameters machine(RandomArchive& random) {
    static constexpr double kTimes[] = {0, 1, 1e3, 1e6, 1e12};  // ps: a second at most
    static constexpr double kGaps[] = {0, 1, 100, 1e6};
    replay::Parameters parameters;
    for (auto& locality : parameters.localities) {
        for (const std::uint64_t up_to : {std::uint64_t{1024}, UINT64_MAX}) {
            locality.ranges.push_back({.up_to_bytes = up_to,
                                       .L = random.one_of(kTimes),
                                       .o_s = random.one_of(kTimes),
                                       .o_s_per_byte = random.one_of(kGaps),
                                       .o_r = random.one_of(kTimes),
                                       .g = random.one_of(kTimes),
                                       .G = random.one_of(kGaps)});
        }
        locality.eager_limit = 8192;
    }
    parameters.nics_per_node = 1 + random.below(2);
    parameters.asynchronous_progress = random.below(2) == 0;
    return parameters;
}

/// What tables refer to by number exists, and parents are before their children.
inline void check_definitions(const analyzer::Trace& trace) {
    const auto below = [](std::int32_t number, std::size_t count) {
        return number >= 0 && static_cast<std::size_t>(number) < count;
    };
    for (std::size_t i = 0; i < trace.callpaths.size(); ++i) {
        const auto& callpath = trace.callpaths[i];
        require(below(callpath.region, trace.regions.size()), "a call path has no region");
        require(below(callpath.site, trace.sites.size()), "a call path has no site");
        require(callpath.parent < static_cast<std::int32_t>(i), "a call path is before its parent");
    }
    for (const auto& location : trace.locations) {
        require(location.group >= 0, "a location has no process");
        require(location.node < static_cast<std::int32_t>(trace.nodes.size()), "a location's node does not exist");
    }
    // Longer than all of them: a circle.
    const auto ends = [](const auto& rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::size_t steps = 0;
            for (auto at = rows[i].parent; at != kUndefined && steps <= rows.size(); ++steps) {
                at = rows[static_cast<std::size_t>(at)].parent;
            }
            require(steps <= rows.size(), "parents lead back to their child");
        }
    };
    ends(trace.nodes);
    ends(trace.communicators);
    for (const auto& communicator : trace.communicators) {
        std::set<replay::Location> members;
        for (const auto location : communicator.locations) {
            require(location == kNoLocation || members.insert(location).second, "a member is in its group twice");
        }
    }
}

inline void check_messages(replay::Analysis& analysis) {
    using replay::MessageRows;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> envelopes;
    MessageRows rows;
    while (analysis.next_messages(1000, rows)) {
        for (std::size_t i = 0; i < rows.bytes.size(); ++i) {
            std::int64_t sum = 0;
            for (std::size_t part = 0; part < replay::kParts; ++part) {
                const auto length = rows.times[MessageRows::first_part + part][i];
                require(length >= 0, "a part of a message is negative");
                sum += length;
            }
            require(sum == rows.times[MessageRows::envelope][i], "parts are not their message's envelope");
            require(rows.times[MessageRows::deficit][i] >= 0, "a deficit is negative");
            envelopes[{rows.ids[MessageRows::send_location][i], rows.ids[MessageRows::recv_location][i]}] += sum;
        }
    }
    const auto& pairs = analysis.pairs();
    for (std::size_t receiver = 0; receiver < pairs.size(); ++receiver) {
        for (const auto& pair : pairs[receiver]) {
            const auto messages = envelopes[{number(pair.sender), static_cast<std::int32_t>(receiver)}];
            require(messages == pair.envelope_ps, "a pair is not the sum of its messages");
        }
    }
}

inline void check_locations(replay::Analysis& analysis) {
    replay::CallRows calls;
    for (std::size_t block = 0; block < analysis.call_blocks(); ++block) {
        while (analysis.next_calls(block, 1000, calls)) {
            for (std::size_t i = 0; i < calls.enter.size(); ++i) {
                std::int64_t sum = 0;
                for (std::size_t category = 0; category < calls.exposed.size(); ++category) {
                    require(calls.exposed_ps(category, i) >= 0, "a category of a call is negative");
                    sum += calls.exposed_ps(category, i);
                }
                require(sum == calls.leave[i] - calls.enter[i], "categories are not their call's time");
            }
        }
    }
    const auto& accounts = analysis.accounts();
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        const auto& timeline = analysis.program().timelines[analysis.accounted()[i]];
        std::int64_t wall = 0;
        for (const auto& row : accounts[i]) {
            require(row.exposed_ps > 0, "an exposed time is not positive");
            wall += row.exposed_ps;
        }
        require(wall == timeline.last_ps - timeline.first_ps, "categories are not their location's time");
    }
}

inline void check_causes(replay::Analysis& analysis) {
    const auto& path = analysis.path();
    for (std::size_t i = 0; i < path.size(); ++i) {
        require(path[i].end_ps >= path[i].begin_ps, "a stretch of the critical path is negative");
        require(i == 0 || path[i].begin_ps == path[i - 1].end_ps, "the critical path has a gap");
    }
    for (const auto& cost : analysis.delays()) {
        require(cost.short_term_ps >= 0 && cost.long_term_ps >= 0, "a delay cost is negative");
    }
}

/// How far an archive got: the events that were decoded, and whether it was split into parts whose sums hold.
struct Reached {
    std::uint64_t events = 0;
    bool analyzed = false;
};

/// Writes an archive, reads it with any correction of clocks and splits it under a machine; how far it got.
/// Throws std::logic_error, which says what does not hold.
inline Reached analyze_random(RandomArchive& random, const std::filesystem::path& place) {
    const auto anchor = random.write(place);
    std::atomic<std::uint64_t> events{0};
    try {
        analyzer::ReadOptions options;
        options.events_read = &events;
        // A second thread costs an analysis under a sanitizer ten times its own time: seldom.
        options.threads = random.below(32) == 0 ? 2 : 1;
        static constexpr analyzer::ClockMode kModes[] = {analyzer::ClockMode::clc, analyzer::ClockMode::offsets,
                                                         analyzer::ClockMode::none};
        const auto trace = analyzer::read_program(anchor, options, random.one_of(kModes));
        check_definitions(trace);
        replay::samples(trace.program, 100);
        const auto parameters = machine(random);
        replay::Analysis analysis(trace.program, parameters, {}, options.threads);
        check_messages(analysis);
        replay::TransferRows transfers;
        while (analysis.next_transfers(1000, transfers)) {
        }
        check_locations(analysis);
        check_causes(analysis);
        return {events, true};
    } catch (const analyzer::ArchiveError&) {
        return {events, false};
    }
}

}  // namespace logpost::tests
