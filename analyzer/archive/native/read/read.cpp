#include "analyzer/archive/native/read/read.hpp"

#include <otf2/otf2.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <ranges>
#include <string>
#include <system_error>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "analyzer/archive/native/definitions/local_definitions.hpp"
#include "analyzer/archive/native/definitions/region_kind.hpp"
#include "analyzer/archive/native/events/damage.hpp"
#include "analyzer/archive/native/events/decode.hpp"
#include "analyzer/archive/native/events/epochs.hpp"
#include "analyzer/archive/native/events/requests_of_threads.hpp"
#include "analyzer/archive/native/events/thread_spans.hpp"
#include "analyzer/archive/native/match/collectives.hpp"
#include "analyzer/archive/native/match/match.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "analyzer/archive/native/read/stages.hpp"
#include "analyzer/archive/native/trace/otf2_errors.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/program/settle.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

/// libotf2 takes and gives back a chunk of megabytes for every location. Returned to the system each time, its fresh
/// pages cost more than decoding, and threads wait for each other in the kernel: with 4096 locations two threads were
/// 1.55 times as fast as one, without 1.85. The setting holds for the whole process from then on; malloc_trim returns
/// what is free after an analysis.
void keep_freed_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

struct CloseReader {
    void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
};
using Reader = std::unique_ptr<OTF2_Reader, CloseReader>;

// One block of events between two looks at `cancel`; a watchdog sees progress at least this often.
constexpr std::uint64_t kEventsPerBlock = 1U << 16;

Reader open(const fs::path& anchor) {
    Reader reader(OTF2_Reader_Open(anchor.c_str()));
    if (!reader) {
        throw ArchiveError(anchor.string() + ": not a readable OTF2 anchor file (" + take_otf2_errors() +
                           "); give the .otf2 file or its directory");
    }
    OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
    // libotf2 allocates and clears a chunk for every file it opens, whatever size a damaged anchor file states.
    std::uint64_t events = 0;
    std::uint64_t definitions = 0;
    OTF2_Reader_GetChunkSize(reader.get(), &events, &definitions);
    for (const auto size : {events, definitions}) {
        if (size < OTF2_CHUNK_SIZE_MIN || size > OTF2_CHUNK_SIZE_MAX) {
            throw ArchiveError(anchor.string() + ": states a chunk size of " + std::to_string(size) +
                               " bytes, outside " + std::to_string(OTF2_CHUNK_SIZE_MIN) + " to " +
                               std::to_string(OTF2_CHUNK_SIZE_MAX) + "; the anchor file is damaged, copy it again");
        }
    }
    return reader;
}

void read_properties(OTF2_Reader* reader, Trace& trace) {
    std::uint32_t n = 0;
    char** names = nullptr;
    if (OTF2_Reader_GetPropertyNames(reader, &n, &names) != OTF2_SUCCESS) {
        take_otf2_errors();
        return;
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        char* value = nullptr;
        if (OTF2_Reader_GetProperty(reader, names[i], &value) == OTF2_SUCCESS) {
            trace.properties_names.emplace_back(names[i]);
            trace.properties_values.emplace_back(value);
            std::free(value);
        }
    }
    // libotf2 allocates the names in one piece with the array of pointers.
    std::free(static_cast<void*>(names));
}

bool is_plain(OTF2_Reader* reader) {
    OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
    return OTF2_Reader_GetFileSubstrate(reader, &substrate) == OTF2_SUCCESS && substrate == OTF2_SUBSTRATE_POSIX;
}

EventFiles list_event_files(OTF2_Reader* reader, const fs::path& anchor) {
    EventFiles files;
    files.plain = is_plain(reader);
    files.directory = anchor.parent_path() / anchor.stem();
    if (!files.plain) {
        return files;
    }
    std::error_code error;
    for (fs::directory_iterator it(files.directory, error), end; !error && it != end; it.increment(error)) {
        const auto name = it->path().filename().string();
        const auto dot = name.find('.');
        std::uint64_t ref = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + std::min(dot, name.size()), ref);
        if (dot != std::string::npos && name.compare(dot, 4, ".evt") == 0 && parsed.ec == std::errc{} &&
            parsed.ptr == name.data() + dot) {
            files.refs.insert(ref);
        }
    }
    return files;
}

/// Empty where event files are no plain files.
fs::path event_file(const Archive& archive, std::size_t location) {
    const auto& files = archive.parts.files;
    return files.plain ? files.directory / (std::to_string(archive.parts.trace.locations[location].ref) + ".evt")
                       : fs::path();
}

/// What a thread needs to decode locations: its own OTF2_Reader (they share nothing) and a decoder.
class Worker {
  public:
    Worker(const fs::path& anchor, const Definitions& definitions, const Trace& trace,
           const ClockCorrection& correction, const std::vector<std::size_t>& locations)
        : decoder(definitions, trace, correction), reader_(open(anchor)) {
        for (const auto location : locations) {
            OTF2_Reader_SelectLocation(reader_.get(), trace.locations[location].ref);
        }
        has_definitions_ = OTF2_Reader_OpenDefFiles(reader_.get()) == OTF2_SUCCESS;
        has_events_ = OTF2_Reader_OpenEvtFiles(reader_.get()) == OTF2_SUCCESS;
        take_otf2_errors();
        definition_callbacks_.reset(Decoder::local_definition_callbacks());
        event_callbacks_.reset(Decoder::event_callbacks());
    }

    /// Empty if all went well; else what was wrong. `file` is empty where event files are no plain files.
    std::string read(const Trace& trace, std::size_t location, const fs::path& file, LocationTrace& out,
                     const ReadOptions& options) {
        const auto ref = trace.locations[location].ref;
        decoder.begin(replay::location_at(location), out);
        if (!read_local_definitions(ref, file)) {
            decoder.begin_events();
            decoder.end(0);
            return "not read, because its local definitions are truncated and its ids and times have no meaning "
                   "without them";
        }
        decoder.begin_events();
        std::string problem;
        std::uint64_t trusted = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t most = trusted;
        if (!file.empty()) {
            // No event takes less than a byte: more events than bytes means that libotf2 loops.
            std::error_code no_size;
            const auto size = fs::file_size(file, no_size);
            most = no_size ? most : std::uint64_t{size};
            if (!ends_properly(file)) {
                if (const auto intact = intact_events(reader_.get(), ref, options.events_read)) {
                    trusted = *intact;
                    problem = "the file is truncated or its end is damaged";
                }
            }
        }
        OTF2_EvtReader* reader = has_events_ ? OTF2_Reader_GetEvtReader(reader_.get(), ref) : nullptr;
        std::uint64_t events = 0;
        if (reader == nullptr) {
            problem = take_otf2_errors();
        } else {
            OTF2_EvtReader_ApplyMappingTables(reader, false);
            OTF2_EvtReader_ApplyClockOffsets(reader, false);
            OTF2_Reader_RegisterEvtCallbacks(reader_.get(), reader, event_callbacks_.get(), decoder.user_data());
            std::uint64_t n = 0;
            do {
                const auto block = std::min(kEventsPerBlock, trusted - events);
                n = 0;
                const auto status =
                    block == 0 ? OTF2_SUCCESS : OTF2_Reader_ReadLocalEvents(reader_.get(), reader, block, &n);
                events += n;
                if (options.events_read != nullptr) {
                    options.events_read->fetch_add(n, std::memory_order_relaxed);
                }
                if (decoder.out_of_memory()) {
                    throw std::bad_alloc();
                }
                if (status == OTF2_ERROR_INTERRUPTED_BY_CALLBACK) {
                    problem = "its records become invalid";
                    break;
                }
                if (status != OTF2_SUCCESS) {
                    problem = take_otf2_errors();
                    break;
                }
                if (events > most) {
                    problem = "it yields more events than it has bytes";
                    break;
                }
            } while (n == kEventsPerBlock && !(options.cancel != nullptr && *options.cancel));
            OTF2_Reader_CloseEvtReader(reader_.get(), reader);
        }
        decoder.end(events);
        take_otf2_errors();
        return problem;
    }

    Decoder decoder;

  private:
    /// False: the file is damaged. A missing one is none: writers without mappings leave it out.
    bool read_local_definitions(std::uint64_t ref, fs::path file) {
        std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
        if (!file.empty()) {
            std::error_code missing;
            most = fs::file_size(file.replace_extension(".def"), missing);
            if (missing) {
                return true;
            }
            const auto bytes = small_file(file);
            if (const auto definitions = bytes ? parse_local_definitions(*bytes) : std::nullopt) {
                decoder.take(*definitions);
                return true;
            }
            if (!ends_properly(file)) {
                return false;
            }
        }
        OTF2_DefReader* reader = has_definitions_ ? OTF2_Reader_GetDefReader(reader_.get(), ref) : nullptr;
        bool intact = true;
        if (reader != nullptr) {
            OTF2_Reader_RegisterDefCallbacks(reader_.get(), reader, definition_callbacks_.get(), decoder.user_data());
            std::uint64_t n = 0;
            // No definition takes less than a byte.
            intact = OTF2_Reader_ReadLocalDefinitions(reader_.get(), reader, most, &n) == OTF2_SUCCESS && n < most;
            OTF2_Reader_CloseDefReader(reader_.get(), reader);
        }
        take_otf2_errors();
        return intact;
    }

    struct DeleteCallbacks {
        void operator()(OTF2_DefReaderCallbacks* callbacks) const { OTF2_DefReaderCallbacks_Delete(callbacks); }
        void operator()(OTF2_EvtReaderCallbacks* callbacks) const { OTF2_EvtReaderCallbacks_Delete(callbacks); }
    };
    Reader reader_;
    bool has_definitions_ = false;
    bool has_events_ = false;
    std::unique_ptr<OTF2_DefReaderCallbacks, DeleteCallbacks> definition_callbacks_;
    std::unique_ptr<OTF2_EvtReaderCallbacks, DeleteCallbacks> event_callbacks_;
};

}  // namespace

unsigned decoding_threads(const ReadOptions& options, std::size_t locations) {
    const auto threads = options.threads != 0 ? options.threads : std::max(std::thread::hardware_concurrency(), 1U);
    return static_cast<unsigned>(std::min<std::size_t>(threads, std::max<std::size_t>(locations, 1)));
}

namespace {

/// The regions that stand for what the archive does not name become real ones, as far as call paths use them.
void add_synthetic_regions(Trace& trace) {
    std::int32_t last = kUndefined;
    for (const auto& callpath : trace.callpaths) {
        last = std::max(last, callpath.region);
    }
    // In the order of Definitions::undefined_region, outside_region, off_region, flush_region.
    static constexpr std::pair<const char*, CallKind> kSynthetic[] = {
        {"(undefined region)", CallKind::user},
        {"(communication outside any call)", CallKind::other},
        {"(measurement off)", CallKind::not_recorded},
        {"(trace buffer flush)", CallKind::other},
    };
    const auto defined = trace.regions.size();
    while (static_cast<std::int64_t>(trace.regions.size()) <= last) {
        const auto& [name, kind] = kSynthetic[trace.regions.size() - defined];
        Region region;
        region.name = name;
        region.kind = kind;
        trace.regions.push_back(region);
    }
}

}  // namespace

fs::path find_anchor(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        std::vector<fs::path> anchors;
        for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
            if (it->path().extension() == ".otf2") {
                anchors.push_back(it->path());
            }
        }
        if (anchors.size() == 1) {
            return anchors.front();
        }
        throw ArchiveError(
            path.string() +
            (anchors.empty() ? ": no .otf2 file in this directory" : ": more than one .otf2 file in this directory") +
            "; give the anchor file itself");
    }
    if (!fs::exists(path, error)) {
        throw ArchiveError(path.string() + ": no such file or directory");
    }
    return path;
}

Archive open_archive(const fs::path& path, const ReadOptions& options) {
    keep_freed_memory();
    Archive archive;
    archive.anchor = find_anchor(path);
    const auto& anchor = archive.anchor;
    auto& [trace, quality, definitions, files, order] = archive.parts;
    trace.spill = options.spill;
    {
        const auto reader = open(anchor);
        read_properties(reader.get(), trace);
        // libotf2 would loop forever in a truncated file.
        const auto file = fs::path(anchor).replace_extension(".def");
        std::error_code error;
        if (is_plain(reader.get()) && fs::exists(file, error) && !ends_properly(file)) {
            throw ArchiveError(file.string() +
                               ": the global definitions are truncated, and nothing can be read without them; copy or "
                               "record the archive again");
        }
        definitions = read_definitions(reader.get(), anchor.string(), trace, quality);
        files = list_event_files(reader.get(), anchor);
    }
    const auto n = trace.locations.size();
    if (options.declared_events != nullptr) {
        *options.declared_events +=
            std::accumulate(definitions.declared_events.begin(), definitions.declared_events.end(), std::uint64_t{0});
    }

    for (std::size_t l = 0; l < n; ++l) {
        if (files.plain && !files.refs.contains(trace.locations[l].ref)) {
            if (definitions.declared_events[l] != 0) {
                count(quality, Quality::event_file_missing);
                note(trace, Quality::event_file_missing, event_file(archive, l).string());
            }
            continue;
        }
        order.push_back(l);
    }
    if (order.empty()) {
        throw ArchiveError(anchor.string() + ": none of the " + std::to_string(n) + " event files exists (" +
                           (files.directory / (std::to_string(trace.locations[0].ref) + ".evt")).string() +
                           ", ...), and the definitions alone hold no events; copy that directory, too");
    }
    for (const auto& location : trace.locations) {
        files.refs.erase(location.ref);
    }
    std::vector<std::uint64_t> undefined(files.refs.begin(), files.refs.end());
    std::sort(undefined.begin(), undefined.end());
    for (const auto ref : undefined) {
        count(quality, Quality::event_file_not_defined);
        note(trace, Quality::event_file_not_defined, (files.directory / (std::to_string(ref) + ".evt")).string());
    }

    return archive;
}

void largest_first(const Archive& archive, std::vector<std::size_t>& locations) {
    const auto& [trace, quality, definitions, files, order] = archive.parts;
    if (!files.plain) {
        return;
    }
    std::vector<std::pair<std::uintmax_t, std::size_t>> sized;
    for (const auto l : locations) {
        std::error_code no_size;
        const auto size = fs::file_size(event_file(archive, l), no_size);
        sized.emplace_back(no_size ? 0 : size, l);
    }
    std::ranges::stable_sort(sized, std::ranges::greater{}, [](const auto& of) { return of.first; });
    std::ranges::copy(sized | std::views::values, locations.begin());
}

Decoded decode_locations(const Archive& archive, const std::vector<std::size_t>& locations, const TraceOf& traces,
                         const ReadOptions& options) {
    const auto& [trace, quality, definitions, files, order] = archive.parts;
    const auto n = trace.locations.size();
    const auto threads = decoding_threads(options, locations.size());
    Decoded decoded;
    decoded.tree_of.assign(n, 0);
    decoded.damage.resize(n);
    std::vector<std::unique_ptr<Worker>> workers(threads);
    std::atomic<std::size_t> next{0};
    replay::on_threads(threads, [&](unsigned thread) {
        workers[thread] = std::make_unique<Worker>(archive.anchor, definitions, trace, options.correction, locations);
        for (;;) {
            const auto i = next.fetch_add(1, std::memory_order_relaxed);
            if (i >= locations.size() || (options.cancel != nullptr && *options.cancel)) {
                return;
            }
            const auto l = locations[i];
            decoded.tree_of[l] = thread;
            // A local one: neighbours in `traces` share cache lines between threads.
            LocationTrace mine;
            const auto file = event_file(archive, l);
            decoded.damage[l] = workers[thread]->read(trace, l, file, mine, options);
            if (options.spill) {
                replay::settle(mine, *options.spill);
            }
            *traces[l] = std::move(mine);
        }
    });
    if (options.cancel != nullptr && *options.cancel) {
        throw ArchiveError(archive.anchor.string() + ": reading was cancelled");
    }
    for (const auto& worker : workers) {
        decoded.trees.push_back(worker->decoder.callpaths());
        for (std::size_t i = 0; i < kQualityCount; ++i) {
            decoded.quality[i] += worker->decoder.quality()[i];
        }
    }
    join_requests(traces, definitions.owner, locations, decoded.quality);
    return decoded;
}

/// Where no transfer is recorded: the calls that made some. Of logpost's own recorder, which records each, calls alone
/// mean that their targets were MPI_PROC_NULL.
void count_unrecorded_transfers(const Trace& trace, QualityCounts& quality) {
    std::vector<char> moves;
    for (const auto& region : trace.regions) {
        moves.push_back(moves_one_sided(region.name, region.kind) ? 1 : 0);
    }
    const auto is_recorded = [](const LocationTrace& location) {
        return !location.transfers.empty() ||
               location.one_sided.puts + location.one_sided.gets + location.one_sided.atomics > 0;
    };
    if (std::ranges::find(moves, 1) == moves.end() || std::ranges::any_of(trace.traces, is_recorded) ||
        std::ranges::any_of(trace.properties_names, [](const auto& name) { return name.starts_with("LOGPOST::"); })) {
        return;
    }
    for (const auto& location : trace.traces) {
        location.calls.for_each([&](std::size_t, const Call& call) {
            count(quality, Quality::one_sided_call_without_record, moves[static_cast<std::size_t>(call.region)]);
        });
    }
}

void renumber(LocationTrace& location, std::int64_t first, const std::vector<std::int32_t>& callpaths) {
    if (location.events != 0) {
        location.first_ps -= first;
        location.last_ps -= first;
    }
    for (auto& row : location.profile) {
        row.callpath = callpaths[static_cast<std::size_t>(row.callpath)];
    }
    std::sort(location.profile.begin(), location.profile.end(),
              [](const ProfileRow& a, const ProfileRow& b) { return a.callpath < b.callpath; });
    for (auto& sample : location.samples) {
        sample.at_ps -= first;
        sample.callpath = callpaths[static_cast<std::size_t>(sample.callpath)];
    }
    for (auto& call : location.file_calls) {
        call.enter_ps -= first;
        call.leave_ps -= first;
        call.callpath = callpaths[static_cast<std::size_t>(call.callpath)];
    }
    location.calls.for_each([&](std::size_t, Call& call) {
        call.enter_ps -= first;
        call.leave_ps -= first;
        call.callpath = callpaths[static_cast<std::size_t>(call.callpath)];
    });
    for (auto& record : location.threads) {
        record.enter_ps -= first;
        record.leave_ps -= first;
        // Roots have no number: a pair of records outside of any region.
        record.callpath = callpaths[static_cast<std::size_t>(record.callpath)];
    }
    location.epochs.for_each(
        [&](std::size_t, Epoch& epoch) { epoch.acquired_ps -= epoch.acquired_ps == Epoch::kNotRecorded ? 0 : first; });
    if (first != 0) {
        location.collectives.for_each([&](std::size_t, Collective& collective) {
            collective.begin_ps -= first;
            collective.end_ps -= first;
        });
    }
}

GlobalNumbers global_numbers_of(const std::vector<Extent>& extents, const std::vector<const CallpathTree*>& trees,
                                const Archive& archive) {
    require_times_in_range(extents, archive.parts.trace, archive.anchor.string());
    const auto whole = whole_of(extents);
    GlobalNumbers numbers{whole.first_ps, whole.last_ps - whole.first_ps, {}, {}};
    numbers.callpaths = merge_callpaths(trees, numbers.callpath_of);
    return numbers;
}

void count_locations(Archive& archive, const Decoded& decoded) {
    auto& [trace, quality, definitions, files, order] = archive.parts;
    add(quality, decoded.quality);
    for (const auto l : order) {
        const auto& location = trace.traces[l];
        if (!decoded.damage[l].empty()) {
            count(quality, Quality::event_file_damaged);
            note(trace, Quality::event_file_damaged,
                 std::to_string(trace.locations[l].ref) + ".evt: " + decoded.damage[l]);
        }
        count(quality, Quality::location_without_events, location.events == 0 ? 1 : 0);
        count(quality, Quality::event_count_differs, location.events != definitions.declared_events[l] ? 1 : 0);
    }
}

void take_global_numbers(Trace& trace, GlobalNumbers& numbers) {
    trace.begin_ps = numbers.begin_ps;
    trace.length_ps = numbers.length_ps;
    trace.callpaths = std::move(numbers.callpaths);
    add_synthetic_regions(trace);
}

Trace finished(Archive archive) {
    auto& [trace, quality, definitions, files, order] = archive.parts;
    count_unrecorded_transfers(trace, quality);
    trace.thread_spans = thread_spans(trace);
    for (auto& location : trace.traces) {
        location.threads = {};
    }
    trace.quality.assign(quality.begin(), quality.end());
    return std::move(trace);
}

Trace read_archive(const fs::path& path, const ReadOptions& options) {
    const Otf2Errors errors;
    const replay::Spill::Registration registration(options.spill.get());
    take_otf2_errors();
    if (options.shards != nullptr) {
        return gather(path, *options.shards, options);
    }
    auto archive = open_archive(path, options);
    largest_first(archive, archive.parts.order);
    auto& trace = archive.parts.trace;
    trace.traces.resize(trace.locations.size());
    const auto decoded = decode_locations(archive, archive.parts.order, traces_of(trace), options);
    const auto& owner = archive.parts.definitions.owner;
    auto& quality = archive.parts.quality;
    const auto threads = decoding_threads(options, archive.parts.order.size());
    count_locations(archive, decoded);
    std::vector<Extent> extents;
    for (const auto& location : trace.traces) {
        extents.push_back(extent_of(location));
    }
    std::vector<const CallpathTree*> trees;
    for (const auto& tree : decoded.trees) {
        trees.push_back(&tree);
    }
    auto numbers = global_numbers_of(extents, trees, archive);
    const auto for_each = [&](auto&& visit) {
        replay::for_each_parallel(trace.traces.size(), threads, 1, [&](std::size_t l, unsigned) { visit(l); });
    };
    for_each(
        [&](std::size_t l) { renumber(trace.traces[l], numbers.begin_ps, numbers.callpath_of[decoded.tree_of[l]]); });
    take_global_numbers(trace, numbers);
    match_messages(trace, owner, threads, quality);
    group_collectives(trace, owner, quality);
    std::vector<Sums> sums(trace.traces.size());
    const auto traces = traces_of(trace);
    for_each([&](std::size_t l) { sums[l] = sums_of(traces, trace.traces[l]); });
    require_sums_in_range(sums, trace, archive.anchor.string());
    match_epochs(trace);
    return finished(std::move(archive));
}

}  // namespace logpost::analyzer
