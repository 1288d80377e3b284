// What the blocks of an archive hand on to each other, and how one trace is made of them.
#include "analyzer/archive/native/read/shards.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/archive/native/match/channels.hpp"
#include "analyzer/archive/native/match/concurrent_pairs.hpp"
#include "analyzer/archive/native/match/lacking_sends.hpp"
#include "analyzer/archive/native/match/match.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
#include "analyzer/archive/native/read/stages.hpp"
#include "analyzer/archive/native/trace/error.hpp"
#include "analyzer/archive/native/trace/otf2_errors.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/program/settle.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

fs::path file_of(const Shards& shards, const char* kind, std::uint32_t block) {
    return shards.folder / (std::string(kind) + "-" + std::to_string(block));
}

std::string name_of(std::uint32_t block, const Shards& shards) {
    return "block " + std::to_string(block) + " of " + std::to_string(shards.blocks);
}

/// The block of each location, by the events that the archive declares.
std::vector<std::uint32_t> blocks_of(const Definitions& definitions, std::uint32_t blocks) {
    const auto& owner = definitions.owner;
    std::vector<std::uint64_t> events(owner.size(), 0);  // by process
    for (std::size_t l = 0; l < owner.size(); ++l) {
        events[index(owner[l])] += definitions.declared_events[l] + 1;
    }
    const auto total = std::accumulate(events.begin(), events.end(), std::uint64_t{0});
    std::vector<std::uint32_t> of_process(owner.size(), 0);
    std::uint64_t before = 0;
    for (std::size_t p = 0; p < owner.size(); ++p) {
        const auto middle = static_cast<double>(before) + static_cast<double>(events[p]) / 2;
        const auto block = static_cast<std::uint32_t>(middle / static_cast<double>(total) * blocks);
        of_process[p] = std::min(block, blocks - 1);
        before += events[p];
    }
    std::vector<std::uint32_t> of(owner.size());
    for (std::size_t l = 0; l < owner.size(); ++l) {
        of[l] = of_process[index(owner[l])];
    }
    return of;
}

void put_location(SegmentBytes& out, std::size_t location, const LocationTrace& trace, unsigned tree,
                  const std::string& damage) {
    out.put(replay::location_at(location));
    out.put(tree);
    out.put_text(damage);
    out.put(trace.first_ps);
    out.put(trace.last_ps);
    out.put(trace.events);
    out.put(trace.communication_events);
    out.put(trace.one_sided);
    out.put(trace.has_been_off);
    out.put_all(trace.calls);
    out.put_all(trace.sends);
    out.put_all(trace.receives);
    out.put_all(trace.collectives);
    out.put_all(trace.layouts);
    out.put_all(trace.transfers);
    out.put_all(trace.epochs);
    out.put_all(trace.profile);
    out.put_all(trace.samples);
    out.put_all(trace.levels);
    out.put_all(trace.any_source);
    out.put_all(trace.threads);
    out.put(trace.stream);
    out.put(std::uint64_t{trace.open.size()});
    for (const auto& open : trace.open) {
        out.put(open.call);
        out.put_text(open.waits_for);
    }
}

struct StoredLocation {
    replay::Location location;
    unsigned tree;
    std::string damage;
    LocationTrace trace;
};

enum class Parts : std::uint8_t { all, calls_and_receives };

StoredLocation get_location(SegmentView in, Parts parts = Parts::all) {
    StoredLocation stored{in.get<replay::Location>(), in.get<unsigned>(), in.get_text(), {}};
    auto& trace = stored.trace;
    trace.first_ps = in.get<std::int64_t>();
    trace.last_ps = in.get<std::int64_t>();
    trace.events = in.get<std::uint64_t>();
    trace.communication_events = in.get<std::uint64_t>();
    trace.one_sided = in.get<OneSidedTotals>();
    trace.has_been_off = in.get<bool>();
    in.get_all(trace.calls);
    if (parts == Parts::calls_and_receives) {
        in.skip_all<MessageEnd>();
        in.get_all(trace.receives);
        return stored;
    }
    in.get_all(trace.sends);
    in.get_all(trace.receives);
    in.get_all(trace.collectives);
    in.get_all(trace.layouts);
    in.get_all(trace.transfers);
    in.get_all(trace.epochs);
    in.get_all(trace.profile);
    in.get_all(trace.samples);
    in.get_all(trace.levels);
    in.get_all(trace.any_source);
    in.get_all(trace.threads);
    trace.stream = in.get<StreamTotals>();
    for (auto n = in.get<std::uint64_t>(); n != 0; --n) {
        const auto call = in.get<std::uint32_t>();
        trace.open.push_back({call, in.get_text()});
    }
    return stored;
}

/// What a block has in addition to its locations.
struct Common {
    std::vector<replay::Location> owner;      // of all locations
    std::vector<replay::Location> processes;  // by location of the block: its owner
    QualityCounts quality{};
    std::uint64_t pairs = 0;  // of messages within
    std::vector<CallpathTree> trees;

    void put(SegmentBytes& out) const {
        out.put_all(owner);
        out.put_all(processes);
        out.put(quality);
        out.put(pairs);
        out.put(std::uint64_t{trees.size()});
        for (const auto& tree : trees) {
            out.put(std::uint64_t{tree.size()});
            for (std::size_t i = 1; i < tree.size(); ++i) {
                const auto node = static_cast<std::int32_t>(i);
                out.put(tree.parent(node));
                out.put(tree.region(node));
                out.put(tree.site(node));
            }
        }
    }
    static Common get(SegmentView in) {
        Common common;
        in.get_all(common.owner);
        in.get_all(common.processes);
        common.quality = in.get<QualityCounts>();
        common.pairs = in.get<std::uint64_t>();
        common.trees.resize(in.get<std::uint64_t>());
        for (auto& tree : common.trees) {
            const auto nodes = in.get<std::uint64_t>();
            for (std::uint64_t i = 1; i < nodes; ++i) {
                const auto parent = in.get<std::int32_t>();
                const auto region = in.get<std::int32_t>();
                tree.child(parent, region, in.get<std::int32_t>());
            }
        }
        return common;
    }
};

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
};

constexpr std::tuple kCrossingFields{&Crossing::process, &Crossing::sender, &Crossing::location, &Crossing::index,
                                     &Crossing::comm,    &Crossing::tag,    &Crossing::bytes,    &Crossing::enter_ps};

/// A pair as its receiver's block found it.
struct Pair {
    replay::Location location{};  // that received
    std::uint32_t receive = 0;
    replay::Location from{};  // that sent
    std::uint32_t send = 0;
};

constexpr std::tuple kPairFields{&Pair::location, &Pair::receive, &Pair::from, &Pair::send};

std::int64_t difference(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t sum(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Records as differences from the one before: a repeated record needs one byte.
template <class Record, class Fields>
void put_record(SegmentBytes& out, const Fields& fields, const Record& record, Record& before) {
    const auto put = [&](auto field) {
        out.put_small(difference(static_cast<std::int64_t>(record.*field), static_cast<std::int64_t>(before.*field)));
    };
    std::apply([&](auto... field) { (put(field), ...); }, fields);
    before = record;
}
template <class Record, class Fields>
void get_record(SegmentView& in, const Fields& fields, Record& record) {
    const auto get = [&](auto field) {
        auto& value = record.*field;
        value = static_cast<std::remove_reference_t<decltype(value)>>(
            sum(static_cast<std::int64_t>(value), in.get_small()));
    };
    std::apply([&](auto... field) { (get(field), ...); }, fields);
}

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

void apply(Trace& trace, const Pair& pair, const Shards& shards) {
    const auto n = trace.traces.size();
    if (index(pair.location) < n && index(pair.from) < n) {
        auto& receives = trace.traces[index(pair.location)].receives;
        auto& sends = trace.traces[index(pair.from)].sends;
        if (pair.receive < receives.size() && pair.send < sends.size()) {
            receives[pair.receive].match = pair.send;
            receives[pair.receive].peer = pair.from;
            sends[pair.send].match = pair.receive;
            sends[pair.send].peer = pair.location;
            return;
        }
    }
    throw ArchiveError(shards.folder.string() + ": blocks of different analyses; remove it, and run the command again");
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
    const auto block_of = blocks_of(definitions, shards.blocks);
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
    Common common{definitions.owner, {}, decoded.quality, 0, std::move(decoded.trees)};
    common.pairs = pair_messages(traces, definitions.owner, std::max(options.threads, 1U), common.quality);
    for (const auto l : mine) {
        common.processes.push_back(definitions.owner[l]);
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
                                    at.index, send.comm, send.tag, send.bytes, from.calls[send.call].enter_ps},
                           before);
            }
        }
        crossing.add(bytes);
    }
    leaving = {};
    crossing.finish();
    SegmentWriter writer(decoded_file, shards.plan, 1 + mine.size(), name_of(block, shards), shards.progress);
    SegmentBytes first;
    common.put(first);
    writer.add(first);
    for (const auto l : mine) {
        SegmentBytes bytes;
        put_location(bytes, l, *traces[l], decoded.tree_of[l], decoded.damage[l]);
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
    const auto common = Common::get(decoded.segment(0));
    Arriving arriving(shards, block);
    std::vector<std::pair<replay::Location, std::size_t>> segment_of;  // by process
    for (std::size_t i = 0; i < common.processes.size(); ++i) {
        segment_of.emplace_back(common.processes[i], 1 + i);
    }
    std::ranges::sort(segment_of);

    QualityCounts quality{};
    SegmentBytes pairs;
    Pair before;
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
            locations.push_back(get_location(decoded.segment(segment), Parts::calls_and_receives));
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
            const auto& send = sends[i];
            const auto left_ps =
                receive.complete_call == kNone ? send.enter_ps : at.at->trace.calls[receive.complete_call].leave_ps;
            count(quality, Quality::bytes_differ, send.bytes != receive.bytes ? 1 : 0);
            count(quality, Quality::receive_before_send, left_ps < send.enter_ps ? 1 : 0);
            put_record(pairs, kPairFields, Pair{at.at->location, at.index, send.location, send.index}, before);
        }
    }
    SegmentWriter writer(file, shards.plan, 2, name_of(block, shards), shards.progress);
    SegmentBytes counts;
    counts.put(quality);
    writer.add(counts);
    writer.add(pairs);
    writer.finish();
    return true;
}

Trace gather(const fs::path& path, const Shards& shards, const ReadOptions& options) {
    auto archive = open_archive(path, options);
    largest_first(archive, archive.parts.order);
    auto& trace = archive.parts.trace;
    const auto n = trace.locations.size();
    trace.traces.resize(n);
    Decoded decoded;
    decoded.tree_of.assign(n, 0);
    decoded.damage.resize(n);
    std::uint64_t pairs = 0;
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        const SegmentReader reader(file_of(shards, "decoded", block), shards.plan);
        auto common = Common::get(reader.segment(0));
        const auto first_tree = static_cast<unsigned>(decoded.trees.size());
        std::ranges::move(common.trees, std::back_inserter(decoded.trees));
        pairs += common.pairs;
        for (std::size_t i = 0; i < kQualityCount; ++i) {
            decoded.quality[i] += common.quality[i];
        }
        replay::for_each_parallel(reader.segments() - 1, options.threads, 1, [&](std::size_t i, unsigned) {
            auto stored = get_location(reader.segment(1 + i));
            const auto l = index(stored.location);
            decoded.tree_of[l] = first_tree + stored.tree;
            decoded.damage[l] = std::move(stored.damage);
            if (options.events_read != nullptr) {
                options.events_read->fetch_add(stored.trace.events, std::memory_order_relaxed);
            }
            if (options.spill) {
                replay::settle(stored.trace, *options.spill);
            }
            trace.traces[l] = std::move(stored.trace);
        });
    }
    if (options.cancel != nullptr && *options.cancel) {
        throw ArchiveError(archive.anchor.string() + ": reading was cancelled");
    }
    return finish_trace(std::move(archive), decoded, options,
                        [&](Trace& whole, const auto& owner, unsigned, QualityCounts& quality) {
                            for (std::uint32_t block = 0; block < shards.blocks; ++block) {
                                const SegmentReader reader(file_of(shards, "matched", block), shards.plan);
                                const auto counts = reader.segment(0).get<QualityCounts>();
                                for (std::size_t i = 0; i < kQualityCount; ++i) {
                                    quality[i] += counts[i];
                                }
                                auto segment = reader.segment(1);
                                for (Pair pair; !segment.at_end(); ++pairs) {
                                    get_record(segment, kPairFields, pair);
                                    apply(whole, pair, shards);
                                }
                            }
                            count_unmatched(whole, owner, pairs, quality);
                        });
}

}  // namespace logpost::analyzer
