#include "analyzer/archive/native/read/operation_blocks.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/archive/native/read/program.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
#include "analyzer/archive/native/read/stages.hpp"
#include "analyzer/archive/native/trace/otf2_errors.hpp"
#include "replay/native/waits/collective_waits.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

using replay::CollectiveMembers;
using replay::CollectiveSplit;

constexpr std::size_t kInstances = 0;  // segments of `met-B`
constexpr std::size_t kParts = 1;
constexpr std::size_t kSlots = 2;
constexpr std::size_t kSums = 0;         // segments of `operated-B`
constexpr std::size_t kOfLocations = 1;  // the first of a block of locations: what it uses, and then the parts of each
constexpr std::size_t kEach = 2;

/// A location's part in an operation, with what a replay needs of the calls around it.
struct Part : Collective {
    std::int64_t left_ps = INT64_MIN;  // of the call before, its leave
    std::int64_t enter_ps = 0;         // of the call that completes it
    std::int64_t leave_ps = 0;
    std::int64_t next_ps = INT64_MAX;  // of the call after that one, its enter
};
constexpr std::tuple kPartFields{&Part::begin_ps,
                                 &Part::end_ps,
                                 &Part::bytes_sent,
                                 &Part::bytes_received,
                                 &Part::call,
                                 &Part::complete_call,
                                 &Part::comm,
                                 &Part::root,
                                 &Part::instance,
                                 &Part::operation,
                                 &Part::rma_window,
                                 &Part::layout,
                                 &Part::received_layout,
                                 &Part::left_ps,
                                 &Part::enter_ps,
                                 &Part::leave_ps,
                                 &Part::next_ps};

/// In how many operations of a block a location is.
struct PartCount {
    std::uint32_t location;
    std::uint32_t count;
};

/// A request to the NIC of a location.
struct Use : replay::NicUse {
    replay::Location location{};
};
constexpr std::tuple kUseFields{&Use::location,  &Use::from_ps, &Use::service_ps, &Use::between_nodes,
                                &Use::receiving, &Use::queues,  &Use::processor};

fs::path members_file(const Shards& shards, std::uint32_t block) {
    return file_of(shards, "members", block);
}
fs::path met_file(const Shards& shards, std::uint32_t block) {
    return file_of(shards, "met", block);
}
fs::path operated_file(const Shards& shards, std::uint32_t block) {
    return file_of(shards, "operated", block);
}

Part part_of(const Collective& one, const LocationTrace& trace) {
    Part part{one};
    part.left_ps = one.call == 0 ? part.left_ps : trace.calls[one.call - 1].leave_ps;
    if (one.complete_call != kNone) {
        const auto next = std::size_t{one.complete_call} + 1;
        part.enter_ps = trace.calls[one.complete_call].enter_ps;
        part.leave_ps = trace.calls[one.complete_call].leave_ps;
        part.next_ps = next == trace.calls.size() ? part.next_ps : trace.calls[next].enter_ps;
    }
    return part;
}

/// Adds a part to a timeline of nothing else: its calls are the one before, its own, and the one after.
void add_part(replay::Timeline& to, const Part& part) {
    Collective one = part;
    to.calls.push_back({part.left_ps, part.left_ps, kUndefined, kUndefined});
    if (one.call != one.complete_call) {
        to.calls.push_back({part.begin_ps, part.begin_ps, kUndefined, kUndefined});
    }
    one.call = static_cast<std::uint32_t>(to.calls.size() - (one.call == one.complete_call ? 0 : 1));
    if (one.complete_call != kNone) {
        one.complete_call = static_cast<std::uint32_t>(to.calls.size());
        to.calls.push_back({part.enter_ps, part.leave_ps, kUndefined, kUndefined});
    }
    to.calls.push_back({part.next_ps, part.next_ps, kUndefined, kUndefined});
    to.collectives.push_back(one);
}

/// The definitions of an archive, as a program without events.
replay::Program definitions_of(const fs::path& path) {
    const Otf2Errors errors;
    take_otf2_errors();
    auto archive = open_archive(path, {});
    auto& trace = archive.parts.trace;
    trace.traces.resize(trace.locations.size());
    take_program(trace);
    return std::move(trace.program);
}

/// Of all blocks.
std::vector<CollectiveMembers::Instance> all_instances(const Shards& shards) {
    std::vector<std::vector<CollectiveMembers::Instance>> of(shards.blocks);
    std::size_t count = 0;
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        SegmentReader(met_file(shards, block), shards.plan).segment(kInstances).get_all(of[block]);
        count += of[block].size();
    }
    std::vector<CollectiveMembers::Instance> instances(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto& mine = of[shards.block_of(i)];
        if (shards.number_in_block(i) >= mine.size()) {
            do_not_fit(shards);
        }
        instances[i] = mine[shards.number_in_block(i)];
    }
    return instances;
}

/// The parts of the locations of blocks `first` to `last` - 1 in the operations of all blocks; `visit` gets the file of
/// each of these.
void take_wanted(const Shards& shards, std::uint32_t first, std::uint32_t last, const replay::Program& program,
                 CollectiveSplit::Replayed& replayed, std::vector<std::shared_ptr<const void>>& files, auto&& visit) {
    std::vector<std::size_t> parts(std::size_t{shards.blocks} * shards.blocks);
    const auto row = [&](std::uint32_t block, std::uint32_t of) { return std::size_t{block} * shards.blocks + of; };
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        const auto block = replayed.block_of[location];
        if (first <= block && block < last) {
            program.timelines[location].collectives.for_each([&](std::size_t, const Collective& one) {
                parts[row(block, shards.block_of(one.instance))] += one.instance == kNone ? 0 : 1;
            });
        }
    }
    replayed.wanted.resize(shards.blocks);
    for (std::uint32_t of = 0; of < shards.blocks; ++of) {
        SegmentReader operated(operated_file(shards, of), shards.split);
        files.push_back(operated.map());
        for (auto block = first; block < last; ++block) {
            std::span<CollectiveSplit::Wanted> found;
            SegmentView(operated.mapped(kOfLocations + kEach * block + 1), operated.file().string()).get_mapped(found);
            if (found.size() != parts[row(block, of)]) {
                do_not_fit(shards);
            }
            replayed.wanted[block].emplace_back(found);
        }
        visit(operated);
    }
}

}  // namespace

bool has_members(const Shards& shards, std::uint32_t block) {
    return SegmentReader::whole(members_file(shards, block), shards.plan, shards.progress);
}

void write_members(const Shards& shards, std::uint32_t block, const std::vector<StoredLocation>& locations) {
    std::vector<SegmentBytes> segments(shards.blocks);
    std::vector<std::vector<Part>> parts(shards.blocks);  // of one location
    for (const auto& [location, tree, damage, trace] : locations) {
        trace.collectives.for_each([&](std::size_t, const Collective& one) {
            if (one.instance != kNone) {
                parts[shards.block_of(one.instance)].push_back(part_of(one, trace));
            }
        });
        for (std::size_t to = 0; to < parts.size(); ++to) {
            if (parts[to].empty()) {
                continue;
            }
            segments[to].put(location);
            segments[to].put(!trace.receives.empty());
            segments[to].put_small(static_cast<std::int64_t>(parts[to].size()));
            Part before{};
            for (const auto& part : parts[to]) {
                put_record(segments[to], kPartFields, part, before);
            }
            parts[to].clear();
        }
    }
    SegmentWriter writer(members_file(shards, block), shards.plan, segments.size(), name_of(block, shards),
                         shards.progress);
    for (const auto& segment : segments) {
        writer.add(segment);
    }
    writer.finish();
}

bool meet_block(const fs::path& path, const Shards& shards, std::uint32_t block) {
    const auto file = met_file(shards, block);
    if (SegmentReader::whole(file, shards.plan, shards.progress)) {
        return false;
    }
    auto program = definitions_of(path);
    const auto whole = Whole::get(SegmentReader(file_of(shards, "numbered", 0), shards.plan).segment(kWhole));
    program.collective_instances = shards.count_in_block(whole.instances, block);
    for (std::uint32_t from = 0; from < shards.blocks; ++from) {
        auto segment = SegmentReader(members_file(shards, from), shards.plan).segment(block);
        while (!segment.at_end()) {
            const auto location = index(segment.get<replay::Location>());
            if (location >= program.timelines.size()) {
                do_not_fit(shards);
            }
            auto& timeline = program.timelines[location];
            if (segment.get<bool>()) {
                timeline.receives.push_back({});  // that there are some
            }
            Part part{};
            for (auto n = segment.get_small(); n > 0; --n) {
                get_record(segment, kPartFields, part);
                auto mine = part;
                mine.instance = shards.number_in_block(part.instance);
                if (mine.instance >= program.collective_instances) {
                    do_not_fit(shards);
                }
                add_part(timeline, mine);
            }
        }
        progressed(shards);
    }
    const replay::CollectiveWaits waits(program);
    const CollectiveMembers members(program, waits);
    std::vector<PartCount> parts;
    for (std::uint32_t location = 0; location < program.timelines.size(); ++location) {
        if (const auto count = program.timelines[location].collectives.size(); count != 0) {
            parts.push_back({location, static_cast<std::uint32_t>(count)});
        }
    }
    SegmentWriter writer(file, shards.plan, kSlots + 1, name_of(block, shards), shards.progress);
    SegmentBytes instances;
    instances.put_all(members.instances());
    writer.add(instances);
    SegmentBytes counts;
    counts.put_all(parts);
    writer.add(counts);
    SegmentBytes slots;
    slots.put_mapped(members.all());
    writer.add(slots);
    writer.finish();
    return true;
}

std::vector<replay::CollectiveKind> choose_kinds(const Shards& shards, const replay::Program& program,
                                                 const replay::Parameters& parameters) {
    std::vector<std::shared_ptr<const void>> files;
    std::vector<std::span<const CollectiveMembers::Slot>> parts;
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        SegmentReader met(met_file(shards, block), shards.plan);
        files.push_back(met.map());
        std::span<CollectiveMembers::Slot> slots;
        SegmentView(met.mapped(kSlots, false), met.file().string()).get_mapped(slots);
        parts.emplace_back(slots);
        progressed(shards);
    }
    CollectiveMembers members(program, all_instances(shards), std::move(parts));
    return CollectiveSplit::kinds_of(program, parameters, members);
}

bool has_operated(const Shards& shards, std::uint32_t block) {
    return SegmentReader::whole(operated_file(shards, block), shards.split, shards.progress);
}

void operate_block(const fs::path& path, const Shards& shards, std::uint32_t block,
                   const replay::Parameters& parameters, const replay::Placement& placement,
                   std::vector<replay::CollectiveKind> kinds, const std::vector<std::uint32_t>& block_of) {
    auto program = definitions_of(path);
    program.placement = placement;
    SegmentReader met(met_file(shards, block), shards.plan);
    const auto mapped = met.map();
    std::vector<CollectiveMembers::Instance> instances;
    met.segment(kInstances).get_all(instances);
    std::span<CollectiveMembers::Slot> slots;
    SegmentView(met.mapped(kSlots), met.file().string()).get_mapped(slots);
    CollectiveMembers members(program, std::move(instances), {slots});
    std::vector<PartCount> of;
    met.segment(kParts).get_all(of);
    std::vector<std::uint32_t> parts(program.timelines.size());
    for (const auto& [location, count] : of) {
        if (location >= parts.size()) {
            do_not_fit(shards);
        }
        parts[location] = count;
    }
    CollectiveSplit split(program, parameters, members, std::move(kinds), parts);
    SegmentWriter writer(operated_file(shards, block), shards.split, kOfLocations + kEach * shards.blocks,
                         name_of(block, shards), shards.progress);
    SegmentBytes sums;
    sums.put_all(split.kinds());
    writer.add(sums);
    const auto uses = split.take_nic_uses();
    std::vector<SegmentBytes> segments(shards.blocks);
    std::vector<Use> before(shards.blocks);
    std::vector<std::vector<CollectiveSplit::Wanted>> wanted(shards.blocks);
    auto left = split.wanted();
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        const auto to = block_of[location];
        if (to >= shards.blocks) {
            if (parts[location] != 0) {
                do_not_fit(shards);
            }
            continue;
        }
        for (const auto& use : uses.of[location]) {
            put_record(segments[to], kUseFields, Use{use, replay::location_at(location)}, before[to]);
        }
        const auto mine = left.first(parts[location]);
        wanted[to].insert(wanted[to].end(), mine.begin(), mine.end());
        left = left.subspan(parts[location]);
    }
    for (std::uint32_t to = 0; to < shards.blocks; ++to) {
        writer.add(segments[to]);
        SegmentBytes bytes;
        bytes.put_mapped(std::span(wanted[to]));
        writer.add(bytes);
    }
    writer.finish();
}

void take_uses(const Shards& shards, std::uint32_t block, std::vector<std::vector<replay::NicUse>>& of) {
    for (std::uint32_t from = 0; from < shards.blocks; ++from) {
        auto segment = SegmentReader(operated_file(shards, from), shards.split).segment(kOfLocations + kEach * block);
        for (Use use{}; !segment.at_end();) {
            get_record(segment, kUseFields, use);
            if (index(use.location) >= of.size()) {
                do_not_fit(shards);
            }
            of[index(use.location)].push_back(use);
        }
        progressed(shards);
    }
    for (auto& uses : of) {
        std::ranges::sort(uses);
    }
}

CollectiveSplit::Replayed operations_of_block(const Shards& shards, std::uint32_t block, const replay::Program& program,
                                              const std::vector<std::uint32_t>& block_of,
                                              std::vector<std::shared_ptr<const void>>& files) {
    CollectiveSplit::Replayed replayed{{}, {}, block_of, {}};
    take_wanted(shards, block, block + 1, program, replayed, files, [](const SegmentReader&) {});
    return replayed;
}

CollectiveSplit::Replayed replayed_operations(const Shards& shards, const replay::Program& program,
                                              std::vector<replay::CollectiveKind> kinds,
                                              const std::vector<std::uint32_t>& block_of,
                                              std::vector<std::shared_ptr<const void>>& files) {
    CollectiveSplit::Replayed replayed{all_instances(shards), std::move(kinds), block_of, {}};
    take_wanted(shards, 0, shards.blocks, program, replayed, files, [&](const SegmentReader& operated) {
        std::vector<replay::CollectiveKind> sums;
        operated.segment(kSums).get_all(sums);
        if (sums.size() != replayed.kinds.size()) {
            do_not_fit(shards);
        }
        for (std::size_t kind = 0; kind < sums.size(); ++kind) {
            replayed.kinds[kind].measured_ps += sums[kind].measured_ps;
            replayed.kinds[kind].predicted_ps += sums[kind].predicted_ps;
            replayed.kinds[kind].residual_ps += sums[kind].residual_ps;
            replayed.kinds[kind].deficit_ps += sums[kind].deficit_ps;
        }
    });
    return replayed;
}

}  // namespace logpost::analyzer
