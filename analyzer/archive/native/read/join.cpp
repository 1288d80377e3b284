// What blocks need of all others is numbered, each block gets it, and one trace is made of all.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/archive/native/events/epochs.hpp"
#include "analyzer/archive/native/match/collectives.hpp"
#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/operation_blocks.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "analyzer/archive/native/read/stages.hpp"
#include "analyzer/archive/native/trace/error.hpp"
#include "analyzer/archive/native/trace/otf2_errors.hpp"
#include "replay/native/memory/spill.hpp"
#include "replay/native/memory/threads.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

/// Calls `visit(process, locations)` for the processes of a block, in their order; of those without collective
/// operations, too, with no locations.
void for_each_process(const Common& common, std::vector<LocationTrace*> locations, auto&& visit) {
    std::vector<std::pair<replay::Location, std::size_t>> all;  // process, place of its location in the block
    for (std::size_t i = 0; i < common.processes.size(); ++i) {
        all.emplace_back(common.processes[i], i);
    }
    std::ranges::sort(all);
    for (std::size_t i = 0; i < all.size();) {
        const auto process = all[i].first;
        std::vector<LocationTrace*> mine;
        for (; i < all.size() && all[i].first == process; ++i) {
            if (!locations[all[i].second]->collectives.empty()) {
                mine.push_back(locations[all[i].second]);
            }
        }
        visit(index(process), std::span<LocationTrace* const>(mine));
    }
}

std::vector<LocationTrace*> pointers_to(auto& locations, auto&& trace_of) {
    std::vector<LocationTrace*> found;
    for (auto& location : locations) {
        found.push_back(&trace_of(location));
    }
    return found;
}

/// A match of an epoch on a location of a block.
struct EpochMatch {
    replay::Location location{};
    std::uint32_t epoch = 0;
    std::uint32_t match = 0;
};

/// What one block needs of all others.
struct OfBlock {
    std::vector<std::vector<std::int32_t>> callpath_of;  // by tree of the block
    std::vector<std::pair<CollectiveGroups::Sequence, std::vector<CollectiveGroups::Number>>> sequences;
    std::uint32_t first_alone = 0;
    std::vector<EpochMatch> epochs;

    void put(SegmentBytes& out) const {
        out.put(std::uint64_t{callpath_of.size()});
        for (const auto& callpaths : callpath_of) {
            out.put_all(callpaths);
        }
        out.put(std::uint64_t{sequences.size()});
        for (const auto& [sequence, numbers] : sequences) {
            out.put(sequence);
            out.put(std::uint64_t{numbers.size()});
            std::int64_t before = 0;
            for (const auto& [instance, root] : numbers) {
                out.put_small(std::int64_t{instance} - before);
                out.put_small(replay::number(root));
                before = instance;
            }
        }
        out.put(first_alone);
        out.put_all(epochs);
    }
    static OfBlock get(SegmentView in) {
        OfBlock of;
        of.callpath_of.resize(in.get<std::uint64_t>());
        for (auto& callpaths : of.callpath_of) {
            in.get_all(callpaths);
        }
        of.sequences.resize(in.get<std::uint64_t>());
        for (auto& [sequence, numbers] : of.sequences) {
            sequence = in.get<CollectiveGroups::Sequence>();
            numbers.resize(in.get<std::uint64_t>());
            std::int64_t instance = 0;
            for (auto& number : numbers) {
                instance += in.get_small();
                number = {static_cast<std::uint32_t>(instance),
                          replay::Rank{static_cast<std::int32_t>(in.get_small())}};
            }
        }
        of.first_alone = in.get<std::uint32_t>();
        in.get_all(of.epochs);
        return of;
    }
};

/// Calls `visit` for the pairs of sends of one block and receives of another one.
void for_each_pair(const SegmentReader& matched, std::uint32_t from, auto&& visit) {
    auto segment = matched.segment(kFromBlocks + from);
    for (Pair pair; !segment.at_end();) {
        get_record(segment, kPairFields, pair);
        visit(pair);
    }
}

/// One end of a pair.
void set_match(const TraceOf& traces, replay::Location here, bool receives, std::uint32_t end, replay::Location there,
               std::uint32_t other, const Shards& shards) {
    auto* const trace = index(here) < traces.size() ? traces[index(here)] : nullptr;
    if (trace == nullptr || index(there) >= traces.size()) {
        do_not_fit(shards);
    }
    auto& ends = receives ? trace->receives : trace->sends;
    if (end >= ends.size()) {
        do_not_fit(shards);
    }
    ends[end].match = other;
    ends[end].peer = there;
}

}  // namespace

bool number_blocks(const fs::path& path, const Shards& shards) {
    const auto file = file_of(shards, "numbered", 0);
    if (SegmentReader::whole(file, shards.plan, shards.progress)) {
        return false;
    }
    const Otf2Errors errors;
    take_otf2_errors();
    const auto archive = open_archive(path, {});
    const auto& definitions = archive.parts.trace;
    const auto n = definitions.locations.size();
    std::vector<Extent> extents(n);
    std::vector<char> off(n, 0);  // by process
    std::vector<CallpathTree> trees;
    std::vector<std::size_t> first_tree{0};  // by block, one more at the end
    CollectiveGroups groups(definitions);
    EpochPairs pairs;
    Whole whole;
    std::vector<std::vector<std::uint32_t>> touched;  // by block: sequences
    std::vector<OfBlock> blocks(shards.blocks);
    std::vector<std::uint32_t> block_of(n, 0);
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        const SegmentReader decoded(file_of(shards, "decoded", block), shards.plan);
        auto common = Common::get(decoded.segment(kCommon));
        std::ranges::move(common.trees, std::back_inserter(trees));
        first_tree.push_back(trees.size());
        auto operations = decoded.segment(kOperations);
        std::vector<LocationTrace> locations(common.locations.size());
        for (std::size_t i = 0; i < locations.size(); ++i) {
            const auto l = index(common.locations[i]);
            if (l >= n || index(common.processes[i]) >= n) {
                do_not_fit(shards);
            }
            extents[l] = common.extents[i];
            block_of[l] = block;
            off[index(common.processes[i])] |= static_cast<char>(common.off[i]);
            get_operations(operations, locations[i]);
            pairs.add(common.locations[i], locations[i].epochs);
        }
        blocks[block].first_alone = groups.alone();
        for_each_process(common, pointers_to(locations, [](auto& one) -> auto& { return one; }),
                         [&](std::size_t process, auto mine) { groups.add(process, mine, whole.quality); });
        touched.push_back(groups.take_touched());
        progressed(shards);
    }
    std::vector<const CallpathTree*> every;
    for (const auto& tree : trees) {
        every.push_back(&tree);
    }
    auto numbers = global_numbers_of(extents, every, archive);
    groups.number(off, whole.quality);
    whole.begin_ps = numbers.begin_ps;
    whole.length_ps = numbers.length_ps;
    whole.instances = groups.grouped() + groups.alone();
    whole.callpaths = std::move(numbers.callpaths);
    pairs.for_each([&](replay::Location location, std::uint32_t epoch, std::uint32_t match) {
        if (index(location) >= n) {
            do_not_fit(shards);
        }
        blocks[block_of[index(location)]].epochs.push_back({location, epoch, match});
    });
    SegmentWriter writer(file, shards.plan, kOfBlocks + shards.blocks, "what all blocks have in common",
                         shards.progress);
    SegmentBytes first;
    whole.put(first);
    writer.add(first);
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        auto of = std::move(blocks[block]);
        of.first_alone += groups.grouped();
        of.callpath_of.assign(numbers.callpath_of.begin() + static_cast<std::ptrdiff_t>(first_tree[block]),
                              numbers.callpath_of.begin() + static_cast<std::ptrdiff_t>(first_tree[block + 1]));
        for (const auto sequence : touched[block]) {
            of.sequences.emplace_back(groups.sequence(sequence), groups.numbers(sequence));
        }
        SegmentBytes bytes;
        of.put(bytes);
        writer.add(bytes);
    }
    writer.finish();
    return true;
}

bool join_block(const fs::path& path, const Shards& shards, std::uint32_t block) {
    const auto file = file_of(shards, "joined", block);
    if (SegmentReader::whole(file, shards.plan, shards.progress) && has_members(shards, block)) {
        return false;
    }
    const Otf2Errors errors;
    take_otf2_errors();
    const auto archive = open_archive(path, {});
    const SegmentReader decoded(file_of(shards, "decoded", block), shards.plan);
    const auto common = Common::get(decoded.segment(kCommon));
    const SegmentReader numbered(file_of(shards, "numbered", 0), shards.plan);
    const auto whole = Whole::get(numbered.segment(kWhole));
    const auto of = OfBlock::get(numbered.segment(kOfBlocks + block));
    std::vector<StoredLocation> locations;
    TraceOf traces(archive.parts.trace.locations.size(), nullptr);
    auto operations = decoded.segment(kOperations);
    locations.reserve(common.locations.size());
    for (std::size_t i = 0; i < common.locations.size(); ++i) {
        locations.push_back(get_decoded(decoded.segment(kLocations + i)));
        auto& stored = locations.back();
        if (index(stored.location) >= traces.size() || stored.tree >= of.callpath_of.size()) {
            do_not_fit(shards);
        }
        get_operations(operations, stored.trace);
        renumber(stored.trace, whole.begin_ps, of.callpath_of[stored.tree]);
        traces[index(stored.location)] = &stored.trace;
        progressed(shards);
    }
    const SegmentReader received(file_of(shards, "matched", block), shards.plan);
    std::vector<ReceivedSum> received_sums;
    auto head = received.segment(kReceived);
    static_cast<void>(head.get<QualityCounts>());
    static_cast<void>(head.get<std::uint64_t>());
    head.get_all(received_sums);
    for (std::uint32_t other = 0; other < shards.blocks; ++other) {
        for_each_pair(received, other, [&](const Pair& pair) {
            set_match(traces, pair.location, true, pair.receive, pair.from, pair.send, shards);
        });
        if (other != block) {
            for_each_pair(SegmentReader(file_of(shards, "matched", other), shards.plan), block, [&](const Pair& pair) {
                set_match(traces, pair.from, false, pair.send, pair.location, pair.receive, shards);
            });
        }
    }
    CollectiveGroups groups(archive.parts.trace);
    for (const auto& [sequence, numbers] : of.sequences) {
        groups.set(sequence, numbers);
    }
    groups.set_next_alone(of.first_alone);
    for_each_process(common, pointers_to(locations, [](auto& one) -> auto& { return one.trace; }),
                     [&](std::size_t process, auto mine) { groups.assign(process, mine); });
    for (const auto& [location, epoch, match] : of.epochs) {
        auto* const trace = traces[index(location)];
        if (trace == nullptr || epoch >= trace->epochs.size()) {
            do_not_fit(shards);
        }
        trace->epochs[epoch].match = match;
    }
    // A sender in another block is none of `traces`.
    std::vector<Sums> sums;
    for (const auto& stored : locations) {
        sums.push_back(sums_of(traces, stored.trace));
    }
    for (const auto& [ps, location] : received_sums) {
        const auto at = std::ranges::lower_bound(common.locations, location);
        if (at == common.locations.end() || *at != location) {
            do_not_fit(shards);
        }
        sums[static_cast<std::size_t>(at - common.locations.begin())].messages_ps += ps;
    }
    write_members(shards, block, locations);
    SegmentWriter writer(file, shards.plan, locations.size(), name_of(block, shards), shards.progress);
    for (std::size_t i = 0; i < locations.size(); ++i) {
        SegmentBytes bytes;
        put_joined(bytes, locations[i], sums[i]);
        locations[i].trace = {};
        writer.add(bytes);
    }
    writer.finish();
    return true;
}

Trace gather(const fs::path& path, const Shards& shards, const ReadOptions& options, bool checked) {
    auto archive = open_archive(path, options);
    auto& [trace, quality, definitions, files, order] = archive.parts;
    const auto n = trace.locations.size();
    trace.traces.resize(n);
    Decoded decoded;
    decoded.damage.resize(n);
    QualityCounts matched{};
    std::uint64_t pairs = 0;
    std::vector<Sums> sums(n);
    const auto columns = std::make_shared<MappedColumns>(options.spill);
    trace.mapped = columns;
    // One pointer to both: the files are mapped as long as a program may read them.
    trace.spill = std::shared_ptr<replay::Spill>(columns, options.spill.get());
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        const auto common = Common::get(SegmentReader(file_of(shards, "decoded", block), shards.plan).segment(kCommon));
        add(decoded.quality, common.quality);
        pairs += common.pairs;
        auto received = SegmentReader(file_of(shards, "matched", block), shards.plan).segment(kReceived);
        add(matched, received.get<QualityCounts>());
        pairs += received.get<std::uint64_t>();
        SegmentReader joined(file_of(shards, "joined", block), shards.plan);
        columns->keep_file(joined.map());
        replay::for_each_parallel(joined.segments(), options.threads, 1, [&](std::size_t i, unsigned) {
            Sums of;
            auto stored = get_joined({columns->keep(joined.mapped(i, checked)), joined.file().string()}, of);
            const auto l = index(stored.location);
            if (l >= n) {
                do_not_fit(shards);
            }
            sums[l] = of;
            decoded.damage[l] = std::move(stored.damage);
            if (options.events_read != nullptr) {
                options.events_read->fetch_add(stored.trace.events, std::memory_order_relaxed);
            }
            trace.traces[l] = std::move(stored.trace);
        });
    }
    if (options.cancel != nullptr && *options.cancel) {
        throw ArchiveError(archive.anchor.string() + ": reading was cancelled");
    }
    auto whole = Whole::get(SegmentReader(file_of(shards, "numbered", 0), shards.plan).segment(kWhole));
    count_locations(archive, decoded);
    GlobalNumbers numbers{whole.begin_ps, whole.length_ps, std::move(whole.callpaths), {}};
    take_global_numbers(trace, numbers);
    add(quality, matched);
    count_unmatched(trace, definitions.owner, pairs, quality);
    add(quality, whole.quality);
    trace.collective_instances = whole.instances;
    require_sums_in_range(sums, trace, archive.anchor.string());
    return finished(std::move(archive));
}

}  // namespace logpost::analyzer
