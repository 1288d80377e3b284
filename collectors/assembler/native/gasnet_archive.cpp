#include "gasnet_archive.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>
#include <stdexcept>

#include "archive.hpp"
#include "gasnet_events.hpp"
#include "gasnet_names.hpp"
#include "gasnet_survey.hpp"
#include "json.hpp"

namespace logpost::assembler::gasnet {
namespace {

constexpr std::uint64_t resolution = 1'000'000;  // ticks per second: a file has microseconds

const ProcessSurvey* of_rank(const Survey& run, std::uint32_t rank) {
    const auto at =
        std::ranges::lower_bound(run.processes, rank, {}, [](const ProcessSurvey& p) { return *p.header.rank; });
    return at != run.processes.end() && *at->header.rank == rank ? &*at : nullptr;
}

std::string name_of(const std::string& program) {
    return program.substr(program.find_last_of('/') + 1);
}

std::string conduit_of(const std::string& config) {
    const auto field = [&](const std::string& key) {
        const auto at = config.find(key);
        return at == std::string::npos
                   ? std::string()
                   : config.substr(at + key.size(), config.find_first_of(",(", at) - at - key.size());
    };
    const std::string release = field("RELEASE=");
    return "GASNet" + (release.empty() ? "" : " " + release) + ", conduit " + field("CONDUIT=");
}

double worst_error(const Survey& run) {
    double worst = 0;
    for (const auto& process : run.processes) {
        for (const Offset& offset : process.offsets) {
            worst = std::max(worst, offset.error_us);
        }
    }
    return worst;
}

std::uint64_t unaligned(const Survey& run) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(run.processes, [](const auto& p) { return p.offsets.empty(); }));
}

void set_properties(OTF2_Archive* archive, const Survey& run) {
    const Header& first = run.processes.front().header;
    std::string clock = "GASNet trace, 1000000 ticks per second (1 us); ";
    if (run.processes.size() == 1) {
        clock += "one process";
    } else {
        clock += "offsets from " + std::to_string(run.pairs) + " active messages, error at most " +
                 std::to_string(static_cast<std::int64_t>(std::ceil(worst_error(run)))) + " us";
    }
    if (const auto count = unaligned(run); count != 0) {
        clock += "; " + std::to_string(count) + " processes not aligned";
    }
    check(OTF2_Archive_SetCreator(archive, "logpost import gasnet"), "creator");
    check(OTF2_Archive_SetDescription(archive, first.command.c_str()), "description");
    check(OTF2_Archive_SetMachineName(archive, first.host.c_str()), "machine name");
    set_property(archive, "LOGPOST::CLOCK", clock);
    set_property(archive, "LOGPOST::GASNET", conduit_of(first.config));
    set_property(archive, "LOGPOST::GASNET_TRACEMASK", first.mask);
}

// A process without a file.
LocationEvents missing_rank(OTF2_Archive* archive, std::uint32_t rank) {
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, location_of(rank, 0));
    if (writer == nullptr) {
        throw std::runtime_error("cannot open the events of process " + std::to_string(rank));
    }
    check(OTF2_EvtWriter_MeasurementOnOff(writer, nullptr, 0, OTF2_MEASUREMENT_OFF), "MeasurementOnOff");
    check(OTF2_Archive_CloseEvtWriter(archive, writer), "closing events");
    return {location_of(rank, 0), rank, 0, 1};
}

// What is added to own ticks to have the archive's.
std::int64_t added(const Survey& run, const Offset& offset) {
    return run.shift_us - std::llround(offset.ahead_us);
}

std::int64_t in_archive(const Survey& run, const ProcessSurvey& process, std::uint64_t us) {
    return static_cast<std::int64_t>(us) + added(run, process.offsets.empty() ? Offset{} : process.offsets.front());
}

void write_offsets(OTF2_Archive* archive, const Survey& run, const std::vector<LocationEvents>& locations) {
    check(OTF2_Archive_OpenDefFiles(archive), "opening local definitions");
    for (const LocationEvents& l : locations) {
        OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive, l.location);
        if (writer == nullptr) {
            throw std::runtime_error("cannot open local definitions");
        }
        if (const auto* process = of_rank(run, l.rank); process != nullptr) {
            // Readers correct times between two records: a single value is written at both ends.
            auto offsets = process->offsets;
            if (offsets.empty() && run.shift_us != 0) {
                offsets.push_back({});
            }
            if (offsets.size() == 1) {
                offsets.push_back(offsets.front());
                offsets.front().at_us = process->first_us;
                offsets.back().at_us = process->last_us + 1;
            }
            for (const Offset& offset : offsets) {
                check(OTF2_DefWriter_WriteClockOffset(writer, offset.at_us, added(run, offset), offset.error_us),
                      "clock offset");
            }
        }
        check(OTF2_Archive_CloseDefWriter(archive, writer), "closing local definitions");
    }
    check(OTF2_Archive_CloseDefFiles(archive), "closing local definitions");
}

class Definitions {
  public:
    Definitions(const Survey& run, Strings& strings, const Names& names, const std::vector<LocationEvents>& locations)
        : run_(run), strings_(strings), names_(names), locations_(locations) {}

    void write(OTF2_GlobalDefWriter* writer) {
        gather();
        std::int64_t first = INT64_MAX;
        std::int64_t last = INT64_MIN;
        for (const auto& process : run_.processes) {
            first = std::min(first, in_archive(run_, process, process.first_us));
            last = std::max(last, in_archive(run_, process, process.last_us));
        }
        const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(last - first + 1, 0));
#if OTF2_VERSION_MAJOR >= 3
        check(OTF2_GlobalDefWriter_WriteClockProperties(writer, resolution, static_cast<std::uint64_t>(first), length,
                                                        OTF2_UNDEFINED_TIMESTAMP),
              "clock");
#else
        check(OTF2_GlobalDefWriter_WriteClockProperties(writer, resolution, static_cast<std::uint64_t>(first), length),
              "clock");
#endif
        for (std::size_t i = 0; i < strings_.all().size(); ++i) {
            check(OTF2_GlobalDefWriter_WriteString(writer, static_cast<OTF2_StringRef>(i), strings_.all()[i].c_str()),
                  "string");
        }
        check(OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_UPC, strings_("GASNet"),
                                                 OTF2_PARADIGM_CLASS_PROCESS),
              "paradigm");
        write_places(writer);
        names_.write(writer, strings_, program());
        write_comm(writer);
    }

  private:
    std::string program() const { return name_of(run_.processes.front().header.program); }

    std::string host_of(std::uint32_t rank) const {
        const auto* process = of_rank(run_, rank);
        return process != nullptr ? process->header.host : "unknown host";
    }

    static std::string thread_name(std::uint32_t thread) {
        return thread == 0 ? "Master thread" : "Thread " + std::to_string(thread);
    }

    void gather() {
        for (const char* text :
             {"", "GASNet", "GASNet processes", "GASNet segment", "machine", "node", "Linux", "not recorded"}) {
            strings_(text);
        }
        strings_(program());
        for (std::uint32_t rank = 0; rank < run_.size; ++rank) {
            strings_("GASNet process " + std::to_string(rank));
            strings_(host_of(rank));
            hosts_.insert(host_of(rank));
        }
        for (const LocationEvents& l : locations_) {
            strings_(thread_name(l.thread));
        }
        names_.gather(strings_);
    }

    void write_places(OTF2_GlobalDefWriter* writer) {
        check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, strings_("Linux"), strings_("machine"),
                                                       OTF2_UNDEFINED_SYSTEM_TREE_NODE),
              "machine");
        check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE), "machine");
        OTF2_SystemTreeNodeRef node = 0;
        for (const std::string& host : hosts_) {
            check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, ++node, strings_(host), strings_("node"), 0),
                  "node");
            check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer, node, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY),
                  "node");
        }
        for (std::uint32_t rank = 0; rank < run_.size; ++rank) {
            const auto on =
                static_cast<OTF2_SystemTreeNodeRef>(1 + std::distance(hosts_.begin(), hosts_.find(host_of(rank))));
            const auto name = strings_("GASNet process " + std::to_string(rank));
#if OTF2_VERSION_MAJOR >= 3
            check(OTF2_GlobalDefWriter_WriteLocationGroup(writer, rank, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, on,
                                                          OTF2_UNDEFINED_LOCATION_GROUP),
                  "location group");
#else
            check(OTF2_GlobalDefWriter_WriteLocationGroup(writer, rank, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, on),
                  "location group");
#endif
        }
        for (const LocationEvents& l : locations_) {
            check(OTF2_GlobalDefWriter_WriteLocation(
                      writer, l.location,
                      strings_(of_rank(run_, l.rank) != nullptr ? thread_name(l.thread) : "not recorded"),
                      OTF2_LOCATION_TYPE_CPU_THREAD, l.events, l.rank),
                  "location");
        }
    }

    void write_comm(OTF2_GlobalDefWriter* writer) {
        std::vector<std::uint64_t> places;
        std::vector<std::uint64_t> ranks;
        for (std::uint32_t rank = 0; rank < run_.size; ++rank) {
            places.push_back(location_of(rank, 0));
            ranks.push_back(rank);
        }
        check(OTF2_GlobalDefWriter_WriteGroup(writer, 0, strings_(""), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                              OTF2_PARADIGM_UPC, OTF2_GROUP_FLAG_NONE, run_.size, places.data()),
              "group");
        check(OTF2_GlobalDefWriter_WriteGroup(writer, 1, strings_(""), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_UPC,
                                              OTF2_GROUP_FLAG_NONE, run_.size, ranks.data()),
              "group");
#if OTF2_VERSION_MAJOR >= 3
        check(OTF2_GlobalDefWriter_WriteComm(writer, all_processes, strings_("GASNet processes"), 1,
                                             OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE),
              "communicator");
        check(OTF2_GlobalDefWriter_WriteRmaWin(writer, segment, strings_("GASNet segment"), all_processes,
                                               OTF2_RMA_WIN_FLAG_NONE),
              "window");
#else
        check(
            OTF2_GlobalDefWriter_WriteComm(writer, all_processes, strings_("GASNet processes"), 1, OTF2_UNDEFINED_COMM),
            "communicator");
        check(OTF2_GlobalDefWriter_WriteRmaWin(writer, segment, strings_("GASNet segment"), all_processes), "window");
#endif
    }

    const Survey& run_;
    Strings& strings_;
    const Names& names_;
    const std::vector<LocationEvents>& locations_;
    std::set<std::string> hosts_;
};

void warn(Survey& run, const Totals& totals) {
    auto& warnings = run.warnings;
    const auto say = [&](std::uint64_t count, const std::string& what) {
        if (count != 0) {
            warnings.push_back(std::to_string(count) + " " + what);
        }
    };
    say(run.size - run.processes.size(),
        "of " + std::to_string(run.size) + " processes have no file here; what was sent to them has no partner");
    say(static_cast<std::uint64_t>(std::ranges::count_if(run.processes, &ProcessSurvey::cut)),
        "files end within a line; those lines are left out");
    say(totals.unknown, "lines of unknown form are left out, the first: " + totals.first_unknown);
    say(totals.peer_unknown, "transfers and messages to teams whose members the trace does not state have no record");
    say(totals.barriers_of_part, "barriers of such teams have no record");
    const std::string& mask = run.processes.front().header.mask;
    if (!mask.empty() && mask.find('S') == std::string::npos) {
        warnings.push_back("GASNET_TRACEMASK " + mask +
                           " is without S: waits are not in the files, their time counts as computation");
    }
    say(totals.without_end, "nonblocking transfers have no end in the files");
    say(totals.guessed_waits, "waits could be for one of several handles; the oldest was taken");
}

}  // namespace

void import(const std::filesystem::path& directory, const std::vector<std::string>& paths, std::ostream& out) {
    Survey run = survey(paths);
    std::size_t most_threads = 0;
    for (const auto& process : run.processes) {
        run.shift_us = std::max(run.shift_us, run.shift_us - in_archive(run, process, process.first_us));
        most_threads = std::max(most_threads, process.threads.size());
    }
    OpenArchive open(directory, most_threads);
    OTF2_Archive* archive = open.get();
    set_properties(archive, run);
    Strings strings;
    strings("");
    Names names;
    Totals totals;
    std::vector<LocationEvents> locations;
    check(OTF2_Archive_OpenEvtFiles(archive), "opening events");
    for (std::uint32_t rank = 0; rank < run.size; ++rank) {
        const auto* process = of_rank(run, rank);
        if (process != nullptr && !process->threads.empty()) {
            write_process(archive, run, *process, strings, names, totals, locations);
        } else {
            locations.push_back(missing_rank(archive, rank));
        }
    }
    check(OTF2_Archive_CloseEvtFiles(archive), "closing events");
    write_offsets(archive, run, locations);
    Definitions(run, strings, names, locations).write(OTF2_Archive_GetGlobalDefWriter(archive));
    open.finish();
    warn(run, totals);
    out << "{\"processes\": " << run.size << ", \"recorded\": " << run.processes.size()
        << ", \"lines\": " << totals.lines << ", \"events\": " << totals.events << ", \"puts\": " << totals.puts
        << ", \"put_bytes\": " << totals.put_bytes << ", \"gets\": " << totals.gets
        << ", \"get_bytes\": " << totals.get_bytes << ", \"atomics\": " << totals.atomics
        << ", \"messages_sent\": " << totals.sent << ", \"message_bytes\": " << totals.sent_bytes
        << ", \"messages_received\": " << totals.received << ", \"barriers\": " << totals.barriers
        << ", \"waits\": " << totals.waits << ", \"clock_pairs\": " << run.pairs
        << ", \"clock_error_us\": " << worst_error(run) << ", \"unaligned\": " << unaligned(run)
        << ", \"unused_lines\": " << totals.unused << ", \"unknown_lines\": " << totals.unknown << ", \"warnings\": [";
    const char* separator = "";
    for (const std::string& warning : run.warnings) {
        out << separator << quoted(warning);
        separator = ", ";
    }
    out << "]}\n";
}

}  // namespace logpost::assembler::gasnet
