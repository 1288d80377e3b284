#include "analyzer/archive/native/read/account_blocks.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/block_program.hpp"
#include "analyzer/archive/native/read/operation_blocks.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
#include "analyzer/archive/native/read/split_blocks.hpp"
#include "replay/native/program/phases.hpp"
#include "replay/native/split/collective_split.hpp"
#include "replay/native/split/message_model.hpp"
#include "replay/native/split/packed_rows.hpp"
#include "replay/native/split/transfer_model.hpp"
#include "replay/native/waits/collective_waits.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

using replay::index;
using replay::location_at;

constexpr std::size_t kFound = 0;    // segments of `waited-0`
constexpr std::size_t kWaitsOf = 1;  // the first of a block
/// Segments of each location in `accounted-B`: exposed times of its calls, and the rest of its account. The last
/// segment of the file has its `RowCounts`.
constexpr std::size_t kOfAccounts = 2;

fs::path waited_file(const Shards& shards) {
    return file_of(shards, "waited", 0);
}

/// What the accounts of a location need of all blocks' recorded times, and its calls' waits.
struct LocationWaits {
    replay::Location location{};
    replay::Span program{};
    bool accounted = false;
    std::span<const replay::Span> on_path;
    std::span<const std::uint32_t> calls;
    std::span<const std::int64_t> until_ps;
    std::span<const std::int64_t> met;  // in its collective operations

    void put(SegmentBytes& out) const {
        out.put(location);
        out.put(program);
        out.put(accounted);
        out.put_mapped(on_path);
        out.put_mapped(calls);
        out.put_mapped(until_ps);
        out.put_mapped(met);
    }
    static LocationWaits get(SegmentView& in) {
        LocationWaits of;
        of.location = in.get<replay::Location>();
        of.program = in.get<replay::Span>();
        of.accounted = in.get<bool>();
        in.get_mapped(of.on_path);
        in.get_mapped(of.calls);
        in.get_mapped(of.until_ps);
        in.get_mapped(of.met);
        return of;
    }
    [[nodiscard]] replay::WaitEnds wait_ends() const { return {calls, until_ps}; }
};

/// Accounts a location: the exposed times of its calls, and what else its account has.
void put_account(SegmentBytes& calls, SegmentBytes& rest, replay::Location location, replay::LocationAccount account) {
    std::vector<std::uint64_t> exposed;
    while (!account.done()) {
        replay::PackedRows<replay::Exposed>::append(account.next(), exposed);
    }
    account.finish();
    const auto callpaths = replay::PackedRows<replay::CallpathExposure>::pack(account.callpaths());
    calls.put_mapped(std::span(std::as_const(exposed)));
    rest.put(location);
    rest.put(account.position());
    rest.put_mapped(std::span(account.rows()));
    rest.put_mapped(std::span(std::as_const(account.program_cells())));
    rest.put_mapped(std::span(callpaths));
}

std::uint32_t matched_receives(const replay::Timeline& timeline) {
    std::uint32_t matched = 0;
    timeline.receives.for_each([&](std::size_t, const MessageEnd& received) { matched += received.match != kNone; });
    return matched;
}

}  // namespace

fs::path accounted_file(const Shards& shards, std::uint32_t block) {
    return file_of(shards, "accounted", block);
}

bool wait_blocks(const fs::path& archive, const Shards& shards) {
    const auto file = waited_file(shards);
    if (SegmentReader::whole(file, shards.plan, shards.progress)) {
        return false;
    }
    const auto trace = map_blocks(archive, shards);
    const auto& program = trace.program;
    replay::Causes causes(program, {}, 1);
    SegmentBytes found;
    found.put_all(causes.path());
    found.put_all(causes.delays());
    found.put_all(causes.wait_states());
    SegmentWriter writer(file, shards.plan, kWaitsOf + shards.blocks, "what all blocks have in common",
                         shards.progress);
    writer.add(found);
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        const auto common = Common::get(SegmentReader(file_of(shards, "decoded", block), shards.plan).segment(kCommon));
        SegmentBytes bytes;
        for (const auto location : common.locations) {
            const auto l = index(location);
            const auto& [calls, until_ps] = causes.wait_ends()[l];
            const auto met = causes.collectives().waits_of(l);
            LocationWaits{.location = location,
                          .program = program.spans[l],
                          .accounted = program.accounted[l] != 0,
                          .on_path = causes.on_path()[l],
                          .calls = calls,
                          .until_ps = until_ps,
                          .met = met}
                .put(bytes);
        }
        writer.add(bytes);
    }
    writer.finish();
    return true;
}

std::shared_ptr<replay::Causes> found_causes(const Trace& trace, const Shards& shards) {
    if (!trace.mapped) {
        return nullptr;
    }
    SegmentReader waited(waited_file(shards), shards.plan);
    replay::FoundCauses found;
    auto in = waited.segment(kFound);
    in.get_all(found.path);
    in.get_all(found.delays);
    in.get_all(found.wait_states);
    found.file = waited.map();
    found.wait_ends.resize(trace.program.timelines.size());
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        SegmentView all(trace.mapped->keep(waited.mapped(kWaitsOf + block)), waited.file().string());
        while (!all.at_end()) {
            const auto of = LocationWaits::get(all);
            if (index(of.location) >= found.wait_ends.size()) {
                do_not_fit(shards);
            }
            found.wait_ends[index(of.location)] = of.wait_ends();
        }
    }
    if (found.wait_states.size() != found.wait_ends.size()) {
        do_not_fit(shards);
    }
    return std::make_shared<replay::Causes>(trace.program, std::move(found));
}

bool account_block(const Shards& shards, std::uint32_t block) {
    const auto file = accounted_file(shards, block);
    if (SegmentReader::whole(file, shards.split, shards.progress)) {
        return false;
    }
    const SegmentReader chosen(file_of(shards, "chosen", 0), shards.split);
    auto outline = Outline::get(chosen.segment(kProgram));
    if (!outline.accounted) {
        return true;
    }
    BlockProgram part(shards, block, chosen, std::move(outline));
    part.set_callpaths(
        Whole::get(SegmentReader(file_of(shards, "numbered", 0), shards.plan).segment(kWhole)).callpaths.size());
    const auto& program = part.program();
    auto parameters = part.setting().parameters;
    auto messages = found_messages(shards, chosen, part.outline(), program, nullptr);
    for (auto& found : messages.found) {
        found.loads = {};
    }
    const replay::MessageModel model(program, parameters, part.setting().windows, {}, 1, messages);
    const replay::Program nothing;
    const replay::CollectiveWaits no_waits(nothing);
    const replay::TransferModel no_transfers(nothing, parameters, no_waits, model.asynchronous_progress());
    std::vector<std::shared_ptr<const void>> files;
    const auto operations = operations_of_block(shards, block, program, part.outline().block_of, files);
    const replay::CollectiveSplit divided(program, parameters, no_waits, 1, &operations);
    SegmentReader waited(waited_file(shards), shards.plan);
    files.push_back(waited.map());
    SegmentView waits(waited.mapped(kWaitsOf + block), waited.file().string());
    const auto& locations = part.locations();
    SegmentWriter writer(file, shards.split, kOfAccounts * locations.size() + 1, name_of(block, shards),
                         shards.progress);
    std::vector<RowCounts> counts;
    for (const auto location : locations) {
        const auto of = LocationWaits::get(waits);
        const auto& timeline = program.timelines[location];
        if (index(of.location) != location || of.met.size() != timeline.collectives.size()) {
            do_not_fit(shards);
        }
        SegmentBytes calls;
        SegmentBytes rest;
        if (of.accounted) {
            const auto ends = of.wait_ends();
            put_account(calls, rest, of.location,
                        {model,
                         no_transfers,
                         divided,
                         location,
                         {of.met.begin(), of.met.end()},
                         replay::PhaseLine(of.program, of.program, replay::times_off(program, timeline)),
                         of.on_path,
                         ends});
        }
        writer.add(calls);
        writer.add(rest);
        counts.push_back({.location = of.location,
                          .calls = of.accounted ? static_cast<std::uint32_t>(timeline.calls.size()) : kNone,
                          .messages = matched_receives(timeline)});
    }
    SegmentBytes bytes;
    bytes.put_all(counts);
    writer.add(bytes);
    writer.finish();
    return true;
}

std::vector<RowCounts> row_counts(const Shards& shards, std::size_t locations) {
    std::vector<RowCounts> all(locations);
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        const SegmentReader accounted(accounted_file(shards, block), shards.split);
        std::vector<RowCounts> of;
        accounted.segment(accounted.segments() - 1).get_all(of);
        for (const auto& counts : of) {
            if (index(counts.location) >= locations) {
                do_not_fit(shards);
            }
            all[index(counts.location)] = counts;
        }
        progressed(shards);
    }
    return all;
}

std::span<const std::uint64_t> found_calls(const SegmentReader& accounted, std::uint32_t segment) {
    std::span<const std::uint64_t> calls;
    SegmentView(accounted.mapped(kOfAccounts * segment), accounted.file().string()).get_mapped(calls);
    return calls;
}

std::vector<replay::FoundAccount> found_accounts(const Shards& shards, const Outline& outline, const Trace& trace,
                                                 std::vector<std::shared_ptr<const void>>& files) {
    const auto& program = trace.program;
    std::vector<replay::FoundAccount> all(program.timelines.size());
    files.push_back(trace.mapped);
    std::vector<std::vector<std::size_t>> wanted(shards.blocks);
    for (std::size_t location = 0; location < all.size(); ++location) {
        if (program.accounted[location] != 0 && outline.block_of[location] < shards.blocks) {
            wanted[outline.block_of[location]].push_back(location);
        }
    }
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        SegmentReader accounted(accounted_file(shards, block), shards.split);
        files.push_back(accounted.map());
        for (const auto location : wanted[block]) {
            SegmentView in(trace.mapped->keep(accounted.mapped(kOfAccounts * outline.segment_of[location] + 1)),
                           accounted.file().string());
            const auto here = in.get<replay::Location>();
            if (index(here) != location || in.get<std::uint32_t>() != program.timelines[location].calls.size()) {
                do_not_fit(shards);
            }
            auto& found = all[location];
            in.get_mapped(found.rows);
            in.get_mapped(found.program_cells);
            in.get_mapped(found.callpaths);
        }
    }
    return all;
}

}  // namespace logpost::analyzer
