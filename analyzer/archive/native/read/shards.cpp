// Blocks are decoded, and messages between them paired.
#include "analyzer/archive/native/read/shards.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/archive/native/match/channels.hpp"
#include "analyzer/archive/native/match/concurrent_pairs.hpp"
#include "analyzer/archive/native/match/lacking_sends.hpp"
#include "analyzer/archive/native/match/match.hpp"
#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/stages.hpp"
#include "analyzer/archive/native/trace/otf2_errors.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

/// The first process of each stretch that one block must have. Ranks of a node share its NICs: they stay together
/// where they follow each other and there is a node for every block.
std::vector<std::uint8_t> begins_of_stretches(const Archive& archive, std::uint32_t blocks) {
    const auto& owner = archive.parts.definitions.owner;
    const auto& locations = archive.parts.trace.locations;
    std::vector<std::uint8_t> all(owner.size(), 1);
    std::vector<std::uint8_t> begins(owner.size(), 1);
    std::vector<std::uint8_t> seen(archive.parts.trace.nodes.size(), 0);
    std::uint32_t stretches = 0;
    std::int32_t before = kUndefined;
    for (std::size_t p = 0; p < owner.size(); ++p) {
        if (index(owner[p]) != p) {
            begins[p] = 0;
            continue;
        }
        const auto node = locations[p].node;
        begins[p] = node == kUndefined || node != before ? 1 : 0;
        stretches += begins[p];
        if (node != kUndefined && begins[p] != 0 && std::exchange(seen[static_cast<std::size_t>(node)], 1) != 0) {
            return all;
        }
        before = node;
    }
    return stretches >= blocks ? begins : all;
}

/// The block of each location, by the events that the archive declares.
std::vector<std::uint32_t> blocks_of(const Archive& archive, std::uint32_t blocks) {
    const auto& definitions = archive.parts.definitions;
    const auto& owner = definitions.owner;
    std::vector<std::uint64_t> events(owner.size(), 0);  // by process
    for (std::size_t l = 0; l < owner.size(); ++l) {
        events[index(owner[l])] += definitions.declared_events[l] + 1;
    }
    const auto begins = begins_of_stretches(archive, blocks);
    const auto total = std::accumulate(events.begin(), events.end(), std::uint64_t{0});
    std::vector<std::uint32_t> of_process(owner.size(), 0);
    std::uint64_t before = 0;
    for (std::size_t p = 0; p < owner.size();) {
        auto end = p + 1;
        auto mine = events[p];
        for (; end < owner.size() && begins[end] == 0; ++end) {
            mine += events[end];
        }
        const auto middle = static_cast<double>(before) + static_cast<double>(mine) / 2;
        const auto block = static_cast<std::uint32_t>(middle / static_cast<double>(total) * blocks);
        std::fill(of_process.begin() + static_cast<std::ptrdiff_t>(p),
                  of_process.begin() + static_cast<std::ptrdiff_t>(end), std::min(block, blocks - 1));
        before += mine;
        p = end;
    }
    std::vector<std::uint32_t> of(owner.size());
    for (std::size_t l = 0; l < owner.size(); ++l) {
        of[l] = of_process[index(owner[l])];
    }
    return of;
}

/// A send to another block, as it crosses.
struct Crossing {
    replay::Location process{};  // its target
    replay::Location sender{};   // process
    replay::Location location{};
    std::uint32_t index = 0;
    std::int32_t comm = 0;
    std::int32_t tag = 0;
    std::uint64_t bytes = 0;
    std::int64_t enter_ps = 0;
    std::uint32_t block = 0;  // that it comes from; its file says so
};

constexpr std::tuple kCrossingFields{&Crossing::process, &Crossing::sender, &Crossing::location, &Crossing::index,
                                     &Crossing::comm,    &Crossing::tag,    &Crossing::bytes,    &Crossing::enter_ps};

/// A send to another block, as long as its block is in memory.
struct Leaving {
    replay::Location location;
    std::uint32_t index;
};

/// The sends of this block that end in others, by the process they go to; in program order for each sender.
struct Departures {
    std::vector<std::size_t> begin;  // by process, one more at the end
    std::vector<Leaving> sends;
    [[nodiscard]] std::span<Leaving> to(std::size_t process) {
        return {sends.data() + begin[process], begin[process + 1] - begin[process]};
    }
};

Departures departures(const TraceOf& traces, const std::vector<std::size_t>& locations,
                      const std::vector<replay::Location>& owner, const std::vector<std::uint32_t>& block_of,
                      std::uint32_t block) {
    const auto for_each = [&](auto&& visit) {
        for (const auto l : locations) {
            traces[l]->sends.for_each([&](std::size_t i, const MessageEnd& send) {
                if (send.match == kNone && send.peer != kNoLocation && send.comm != kUndefined) {
                    const auto process = index(owner[index(send.peer)]);
                    if (block_of[process] != block) {
                        visit(process, Leaving{replay::location_at(l), static_cast<std::uint32_t>(i)});
                    }
                }
            });
        }
    };
    // A counting sort: sends to one process keep the order of their locations, and that of each location.
    Departures found{std::vector<std::size_t>(owner.size() + 1, 0), {}};
    auto& begin = found.begin;
    for_each([&](std::size_t process, Leaving) { ++begin[process + 1]; });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    found.sends.resize(begin.back());
    auto next = begin;
    for_each([&](std::size_t process, Leaving send) { found.sends[next[process]++] = send; });
    return found;
}

/// The sends of all other blocks to this one, process by process.
class Arriving {
  public:
    Arriving(const Shards& shards, std::uint32_t block) {
        for (std::uint32_t source = 0; source < shards.blocks; ++source) {
            if (source != block) {
                sources_.push_back(
                    {SegmentReader(file_of(shards, "crossing", source), shards.plan).segment(block), {}, true});
                sources_.back().first.block = source;
                next(sources_.back());
            }
        }
    }

    /// Those to the next process: sources after each other, each in program order. Empty: there are no more.
    const std::vector<Crossing>& next() {
        sends_.clear();
        replay::Location process{std::numeric_limits<std::int32_t>::max()};
        for (const auto& source : sources_) {
            process = source.more ? std::min(process, source.first.process) : process;
        }
        for (auto& source : sources_) {
            for (; source.more && source.first.process == process; next(source)) {
                sends_.push_back(source.first);
            }
        }
        return sends_;
    }

  private:
    struct Source {
        SegmentView segment;
        Crossing first;  // that is not taken
        bool more;
    };
    static void next(Source& source) {
        source.more = !source.segment.at_end();
        if (source.more) {
            get_record(source.segment, kCrossingFields, source.first);
        }
    }

    std::vector<Source> sources_;
    std::vector<Crossing> sends_;
};

/// Receives of a process that wait for other blocks, those of a location in the order of their requests.
struct Waiting {
    const StoredLocation* at;
    std::uint32_t index;
    [[nodiscard]] const MessageEnd& end() const { return at->trace.receives[index]; }
};

std::vector<Waiting> waiting(const std::vector<StoredLocation>& locations) {
    std::vector<Waiting> all;
    for (const auto& location : locations) {
        location.trace.receives.for_each([&](std::size_t i, const MessageEnd& receive) {
            if (receive.match == kNone && receive.peer != kNoLocation && receive.comm != kUndefined) {
                all.push_back({&location, static_cast<std::uint32_t>(i)});
            }
        });
    }
    return all;
}

/// For each receive the first send of its channel that is left, unless `lost(next, receive)`: its own is not there.
std::vector<std::uint32_t> in_order(const std::vector<Crossing>& sends, const std::vector<Waiting>& receives,
                                    const std::vector<replay::Location>& owner, Channels& channels, const auto& lost) {
    const auto n = static_cast<std::uint32_t>(sends.size());
    channels.reset(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        channels.push(i, sends[i].comm, sends[i].sender, sends[i].tag);
    }
    std::vector<std::uint32_t> found;
    for (const auto& at : receives) {
        const auto& receive = at.end();
        const auto sender = owner[index(receive.peer)];
        const auto next = channels.first(receive.comm, sender, receive.tag);
        found.push_back(next == kNone || lost(next, at) ? kNone : channels.pop(receive.comm, sender, receive.tag));
    }
    return found;
}

/// For each receive of a process the number of its send, or kNone. `sends`: by sender.
std::vector<std::uint32_t> partners(const std::vector<Crossing>& sends, const std::vector<Waiting>& receives,
                                    bool threads, const std::vector<replay::Location>& owner, Channels& channels) {
    if (threads || std::ranges::any_of(sends, [](const Crossing& send) { return send.location != send.sender; })) {
        std::vector<Sent> sent;
        for (const auto& send : sends) {
            sent.push_back({{send.comm, send.sender, send.tag}, send.location, send.bytes, send.enter_ps});
        }
        std::vector<Posted> posted;
        for (const auto& at : receives) {
            posted.push_back(posted_of(at.at->location, owner, at.end(), at.at->trace.calls));
        }
        return concurrent_pairs(sent, posted);
    }
    const auto too_early = [&](std::uint32_t send, const Waiting& at) {
        const auto& receive = at.end();
        return receive.complete_call != kNone &&
               at.at->trace.calls[receive.complete_call].leave_ps < sends[send].enter_ps;
    };
    auto found = in_order(sends, receives, owner, channels, [](std::uint32_t, const Waiting&) { return false; });
    bool violated = false;
    for (std::size_t r = 0; r < receives.size(); ++r) {
        violated = violated || (found[r] != kNone && too_early(found[r], receives[r]));
    }
    if (!violated || std::ranges::find(found, kNone) == found.end()) {
        return found;
    }
    // As match.cpp does: the writer may have left out sends.
    LackingSends lacking;
    for (const auto& at : receives) {
        lacking.receive(at.end().comm, owner[index(at.end().peer)], at.end().tag);
    }
    for (const auto& send : sends) {
        lacking.send(send.comm, send.sender, send.tag);
    }
    return in_order(sends, receives, owner, channels, [&](std::uint32_t next, const Waiting& at) {
        const auto& receive = at.end();
        const auto sender = owner[index(receive.peer)];
        const bool lost = lacking.at(receive.comm, sender, receive.tag) && too_early(next, at);
        if (lost) {
            lacking.take(receive.comm, sender, receive.tag);
        }
        return lost;
    });
}

}  // namespace

bool decode_block(const fs::path& path, const Shards& shards, std::uint32_t block, const ReadOptions& options) {
    const auto decoded_file = file_of(shards, "decoded", block);
    const auto crossing_file = file_of(shards, "crossing", block);
    if (SegmentReader::whole(decoded_file, shards.plan, shards.progress) &&
        SegmentReader::whole(crossing_file, shards.plan, shards.progress)) {
        return false;
    }
    const Otf2Errors errors;
    take_otf2_errors();
    auto archive = open_archive(path, options);
    const auto& [trace, quality, definitions, files, order] = archive.parts;
    const auto block_of = blocks_of(archive, shards.blocks);
    std::vector<std::size_t> mine;
    std::ranges::copy_if(order, std::back_inserter(mine), [&](std::size_t l) { return block_of[l] == block; });
    largest_first(archive, mine);
    // 2 kB each: of the block's own locations alone, or a worker's memory would grow with those of all.
    std::vector<LocationTrace> found(mine.size());
    LocationTrace none;
    TraceOf traces(trace.locations.size(), &none);
    for (std::size_t i = 0; i < mine.size(); ++i) {
        traces[mine[i]] = &found[i];
    }
    auto decoded = decode_locations(archive, mine, traces, options);
    std::ranges::sort(mine);
    Common common;
    common.owner = definitions.owner;
    common.quality = decoded.quality;
    common.trees = std::move(decoded.trees);
    common.pairs = pair_messages(traces, definitions.owner, std::max(options.threads, 1U), common.quality);
    for (const auto l : mine) {
        common.locations.push_back(replay::location_at(l));
        common.processes.push_back(definitions.owner[l]);
        common.extents.push_back(extent_of(*traces[l]));
        common.off.push_back(traces[l]->has_been_off ? 1 : 0);
    }
    SegmentWriter crossing(crossing_file, shards.plan, shards.blocks, name_of(block, shards), shards.progress);
    auto leaving = departures(traces, mine, definitions.owner, block_of, block);
    std::vector<std::vector<std::size_t>> processes(shards.blocks);
    for (std::size_t p = 0; p < block_of.size(); ++p) {
        processes[block_of[p]].push_back(p);
    }
    for (const auto& there : processes) {
        SegmentBytes bytes;
        Crossing before;
        for (const auto process : there) {
            for (const auto& at : leaving.to(process)) {
                const auto& from = *traces[index(at.location)];
                const auto& send = from.sends[at.index];
                put_record(bytes, kCrossingFields,
                           Crossing{replay::location_at(process), definitions.owner[index(at.location)], at.location,
                                    at.index, send.comm, send.tag, send.bytes, from.calls[send.call].enter_ps, block},
                           before);
            }
        }
        crossing.add(bytes);
    }
    leaving = {};
    crossing.finish();
    SegmentWriter writer(decoded_file, shards.plan, kLocations + mine.size(), name_of(block, shards), shards.progress);
    SegmentBytes first;
    common.put(first);
    writer.add(first);
    SegmentBytes operations;
    for (const auto l : mine) {
        put_operations(operations, *traces[l]);
    }
    writer.add(operations);
    operations = {};
    for (const auto l : mine) {
        SegmentBytes bytes;
        put_decoded(bytes, l, *traces[l], decoded.tree_of[l], decoded.damage[l]);
        *traces[l] = {};
        writer.add(bytes);
    }
    writer.finish();
    return true;
}

bool match_block(const Shards& shards, std::uint32_t block) {
    const auto file = file_of(shards, "matched", block);
    if (SegmentReader::whole(file, shards.plan, shards.progress)) {
        return false;
    }
    const SegmentReader decoded(file_of(shards, "decoded", block), shards.plan);
    const auto common = Common::get(decoded.segment(kCommon));
    Arriving arriving(shards, block);
    std::vector<std::pair<replay::Location, std::size_t>> segment_of;  // by process
    for (std::size_t i = 0; i < common.processes.size(); ++i) {
        segment_of.emplace_back(common.processes[i], kLocations + i);
    }
    std::ranges::sort(segment_of);

    QualityCounts quality{};
    std::vector<SegmentBytes> pairs(shards.blocks);  // by the sender's block
    std::vector<Pair> before(shards.blocks);
    std::vector<ReceivedSum> sums;
    std::uint64_t count_of_pairs = 0;
    Channels channels;
    while (true) {
        const auto& sends = arriving.next();
        if (sends.empty()) {
            break;
        }
        if (shards.progress != nullptr) {
            shards.progress->fetch_add(1, std::memory_order_relaxed);
        }
        const auto process = sends.front().process;
        std::vector<StoredLocation> locations;
        for (const auto& [owner, segment] :
             std::ranges::equal_range(segment_of, process, {}, &std::pair<replay::Location, std::size_t>::first)) {
            locations.push_back(get_decoded(decoded.segment(segment), Parts::calls_and_receives));
        }
        const auto receives = waiting(locations);
        const auto found = partners(sends, receives, locations.size() > 1, common.owner, channels);
        for (std::size_t r = 0; r < receives.size(); ++r) {
            const auto& at = receives[r];
            const auto& receive = at.end();
            const auto i = found[r];
            if (i == kNone) {
                continue;
            }
            ++count_of_pairs;
            const auto& send = sends[i];
            const auto left_ps =
                receive.complete_call == kNone ? send.enter_ps : at.at->trace.calls[receive.complete_call].leave_ps;
            count(quality, Quality::bytes_differ, send.bytes != receive.bytes ? 1 : 0);
            count(quality, Quality::receive_before_send, left_ps < send.enter_ps ? 1 : 0);
            put_record(pairs[send.block], kPairFields, Pair{at.at->location, at.index, send.location, send.index},
                       before[send.block]);
            if (sums.empty() || sums.back().location != at.at->location) {
                sums.push_back({0, at.at->location});
            }
            sums.back().ps += message_ps(send.enter_ps, at.at->trace, receive);
        }
    }
    SegmentWriter writer(file, shards.plan, kFromBlocks + shards.blocks, name_of(block, shards), shards.progress);
    SegmentBytes received;
    received.put(quality);
    received.put(count_of_pairs);
    received.put_all(sums);
    writer.add(received);
    for (const auto& from : pairs) {
        writer.add(from);
    }
    writer.finish();
    return true;
}

}  // namespace logpost::analyzer
