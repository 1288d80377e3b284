#include "archive.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "regions.hpp"

namespace logpost::assembler {
namespace {

std::string value(const Process& process, const std::string& key) {
    const auto at = process.info.find(key);
    return at != process.info.end() ? at->second : "";
}

void set_properties(OTF2_Archive* archive, const Job& job) {
    const Process& first = *job.processes.front();
    const Clock& clock = job.clocks[first.clock];
    std::ostringstream text;
    text << value(first, "clock") << ", " << job.resolution << " ticks per second";
    if (clock.kind == LP_CLOCK_TSC) {
        text << ", measured against CLOCK_MONOTONIC_RAW over " << clock.base_span_s << " s";
    }
    std::size_t finalized = 0;
    std::size_t stopped = 0;
    for (const auto& process : job.processes) {
        for (const auto& thread : process->threads) {
            finalized += thread->finalized ? 1U : 0U;
            stopped += thread->stopped ? 1U : 0U;
        }
    }
    check(OTF2_Archive_SetCreator(archive, clock.kind == LP_CLOCK_SIMULATED ? "logpost testbed" : "logpost record"),
          "creator");
    check(OTF2_Archive_SetDescription(archive, value(first, "command").c_str()), "description");
    check(OTF2_Archive_SetMachineName(archive, value(first, "host").c_str()), "machine name");
    set_property(archive, "LOGPOST::MPI", value(first, "library"));
    set_property(archive, "LOGPOST::CLOCK", text.str());
    set_property(archive, "LOGPOST::SIMULATION", value(first, "simulation"));
    set_property(archive, "LOGPOST::FINALIZED_RANKS", std::to_string(finalized));
    set_property(archive, "LOGPOST::STOPPED_THREADS", std::to_string(stopped));
    set_property(archive, "LOGPOST::SO_FAR", job.so_far ? "1" : "");
}

// For how long ranks were ready to run and had no processor between start-up and shut-down, and how long that was; by
// their first threads, sums over ranks. Nothing where a rank does not state it.
void set_queued(OTF2_Archive* archive, const Job& job) {
    std::uint64_t queued = 0;
    std::uint64_t of = 0;
    for (const Process* process : job.by_rank) {
        if (process == nullptr || process->threads.front()->queued.size() < 2) {
            return;
        }
        const Queued& from = process->threads.front()->queued.front();
        const Queued& to = process->threads.front()->queued.back();
        queued += to.ns - from.ns;
        of += job.ns(to_archive_ticks(job, *process, to.ticks) - to_archive_ticks(job, *process, from.ticks));
    }
    set_property(archive, "LOGPOST::RUN_QUEUE_NS", std::to_string(queued));
    set_property(archive, "LOGPOST::RUN_QUEUE_OF_NS", std::to_string(of));
}

// What the rings have overwritten, and how much of what is left lacks its other half; nothing where all is there.
void set_overwritten(OTF2_Archive* archive, const Job& job, const Tally& tally) {
    const auto state = [&](const char* name, std::uint64_t number) {
        set_property(archive, name, std::to_string(number));
    };
    const Lost lost = lost_of(job);
    if (lost.ranks == 0) {
        return;
    }
    state("LOGPOST::OVERWRITTEN_RANKS", lost.ranks);
    state("LOGPOST::OVERWRITTEN_CALLS", lost.calls);
    state("LOGPOST::OVERWRITTEN_SENDS", lost.sends);
    state("LOGPOST::OVERWRITTEN_RECEIVES", lost.receives);
    state("LOGPOST::OVERWRITTEN_OPERATIONS", lost.operations);
    state("LOGPOST::OVERWRITTEN_TRANSFERS", lost.transfers);
    state("LOGPOST::OVERWRITTEN_NS", lost.longest_ns);
    state("LOGPOST::OVERWRITTEN_INEXACT", lost.inexact);
    state("LOGPOST::HALVES_LEFT_OUT", tally.halves);
    state("LOGPOST::PARTS_LEFT_OUT", tally.parts_of_operations);
    state("LOGPOST::WHOLE_FROM_NS", lost.whole_from > tally.first ? job.ns(lost.whole_from - tally.first) : 0);
}

// What was not recorded because recording was switched off; nothing where it never was.
void set_off(OTF2_Archive* archive, const Job& job, const Tally& tally) {
    const auto state = [&](const char* name, std::uint64_t number) {
        set_property(archive, name, std::to_string(number));
    };
    if (tally.times_off == 0) {
        return;
    }
    state("LOGPOST::OFF_TIMES", tally.times_off);
    state("LOGPOST::OFF_NS", tally.ns_off);
    state("LOGPOST::OFF_CALLS", tally.off.calls);
    state("LOGPOST::OFF_SENDS", tally.off.sends);
    state("LOGPOST::OFF_RECEIVES", tally.off.receives);
    state("LOGPOST::OFF_OPERATIONS", tally.off.collectives);
    state("LOGPOST::OFF_TRANSFERS", tally.off.transfers);
    state("LOGPOST::OFF_INEXACT", tally.off.inexact);
    if (lost_of(job).ranks != 0) {
        return;  // what lacks its other half lacks it to both, and is stated with what was overwritten
    }
    state("LOGPOST::OFF_HALVES_LEFT_OUT", tally.halves);
    state("LOGPOST::OFF_PARTS_LEFT_OUT", tally.parts_of_operations);
}

// The duration of recording so many calls of a process, measured when the process began; ticks of the archive.
std::uint64_t own_ticks(const Job& job, const Process& process, std::uint64_t calls) {
    const std::string each = value(process, "own_ticks");
    if (each.empty()) {
        return 0;
    }
    const std::uint64_t begin = process.threads.front()->first;
    const auto lasts = static_cast<std::uint64_t>(std::strtod(each.c_str(), nullptr) * static_cast<double>(calls));
    return to_archive_ticks(job, process, begin + lasts) - to_archive_ticks(job, process, begin);
}

// A rank that left no log.
LocationEvents missing_rank(OTF2_Archive* archive, const Job& job, std::uint32_t rank) {
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, location_of(rank, 0));
    if (writer == nullptr) {
        throw std::runtime_error("cannot open the events of rank " + std::to_string(rank));
    }
    const std::uint64_t events = write_nothing(writer, job);
    check(OTF2_Archive_CloseEvtWriter(archive, writer), "closing events");
    return {location_of(rank, 0), rank, 0, events};
}

}  // namespace

Tally write_archive(const std::filesystem::path& directory, Job& job) {
    std::size_t most_threads = 0;
    for (const auto& process : job.processes) {
        most_threads = std::max(most_threads, process->threads.size());
    }
    OpenArchive open(directory, most_threads);
    OTF2_Archive* archive = open.get();
    set_properties(archive, job);
    set_queued(archive, job);

    Strings strings;
    strings("");
    Contexts contexts(job);
    number_regions(job, contexts);
    Tally tally;
    tally.regions.assign(job.functions.size(), program_region);
    std::vector<LocationEvents> locations;
    const Overwritten overwritten(job);
    check(OTF2_Archive_OpenEvtFiles(archive), "opening events");
    std::uint64_t recording = 0;
    for (std::uint32_t rank = 0; rank < job.by_rank.size(); ++rank) {
        if (job.by_rank[rank] != nullptr) {
            const std::uint64_t before = tally.calls;
            write_events(archive, job, *job.by_rank[rank], strings, tally, contexts, overwritten, locations);
            recording += own_ticks(job, *job.by_rank[rank], tally.calls - before);
        } else {
            locations.push_back(missing_rank(archive, job, rank));
        }
    }
    if (job.has_unknown_members()) {
        locations.push_back(missing_rank(archive, job, static_cast<std::uint32_t>(job.by_rank.size())));
    }
    check(OTF2_Archive_CloseEvtFiles(archive), "closing events");
    write_definitions(archive, job, strings, tally, contexts, locations);
    const std::uint64_t each = 1000 * job.ns(recording) / std::max<std::uint64_t>(1, tally.calls);
    set_overwritten(archive, job, tally);
    set_off(archive, job, tally);
    for (const auto& [name, number] :
         {std::pair("LOGPOST::REGION_ENDS_LEFT_OUT", tally.ends_alone),
          std::pair("LOGPOST::CUT_CALL_PATHS", tally.cut_call_paths),
          std::pair("LOGPOST::UNNAMED_CALLERS", tally.unnamed_callers),
          std::pair("LOGPOST::SAMPLES_LOST", tally.samples_lost),
          std::pair("LOGPOST::FILE_CALLS_LOST", tally.file_calls_lost), std::pair("LOGPOST::CALL_RECORDING_PS", each),
          std::pair("LOGPOST::RECORDING_NS", job.ns(recording + tally.moving))}) {
        if (number != 0) {
            set_property(archive, name, std::to_string(number));
        }
    }
    open.finish();
    return tally;
}

}  // namespace logpost::assembler
