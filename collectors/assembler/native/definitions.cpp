// Global and local definitions, written once the events are known.
#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "archive.hpp"

namespace logpost::assembler {
namespace {

OTF2_RegionRole role_named(const std::string& name) {
    static const std::unordered_map<std::string, OTF2_RegionRole> known{
        {"function", OTF2_REGION_ROLE_FUNCTION},     {"point2point", OTF2_REGION_ROLE_POINT2POINT},
        {"barrier", OTF2_REGION_ROLE_BARRIER},       {"one2all", OTF2_REGION_ROLE_COLL_ONE2ALL},
        {"all2one", OTF2_REGION_ROLE_COLL_ALL2ONE},  {"all2all", OTF2_REGION_ROLE_COLL_ALL2ALL},
        {"coll_other", OTF2_REGION_ROLE_COLL_OTHER}, {"rma", OTF2_REGION_ROLE_RMA},
        {"file_io", OTF2_REGION_ROLE_FILE_IO},       {"artificial", OTF2_REGION_ROLE_ARTIFICIAL},
        {"region", OTF2_REGION_ROLE_CODE},
    };
    const auto at = known.find(name);
    return at != known.end() ? at->second : OTF2_RegionRole{OTF2_REGION_ROLE_UNKNOWN};
}

std::string rank_name(const Job& job, std::uint32_t rank) {
    if (rank == job.by_rank.size()) {
        return "not recorded";
    }
    for (std::size_t w = job.worlds.size(); w-- > 0;) {
        if (rank >= job.worlds[w].first_rank) {
            const std::string own = std::to_string(rank - job.worlds[w].first_rank);
            return w == 0 ? "MPI Rank " + own : "MPI Rank " + own + " (world " + std::to_string(w) + ")";
        }
    }
    return "MPI Rank " + std::to_string(rank);
}

class Definitions {
  public:
    Definitions(OTF2_Archive* archive, const Job& job, Strings& strings, const Tally& tally, const Contexts& contexts,
                const std::vector<LocationEvents>& locations)
        : job_(job),
          strings_(strings),
          tally_(tally),
          contexts_(contexts),
          locations_(locations),
          writer_(OTF2_Archive_GetGlobalDefWriter(archive)) {
        if (writer_ == nullptr) {
            throw std::runtime_error("cannot open the global definitions");
        }
    }

    void write() {
        gather_strings();
        std::uint64_t real = 0;
        const std::uint64_t first = std::min(tally_.first, tally_.last);
        if (!job_.processes.front()->syncs.empty()) {
            const lp_sync& sync = job_.processes.front()->syncs.front();
            const double before = static_cast<double>(static_cast<std::int64_t>(sync.ticks - first)) /
                                  static_cast<double>(job_.resolution) * 1e9;
            real = sync.real_ns - static_cast<std::uint64_t>(static_cast<std::int64_t>(std::llround(before)));
        }
#if OTF2_VERSION_MAJOR >= 3
        check(OTF2_GlobalDefWriter_WriteClockProperties(writer_, job_.resolution, first, tally_.last - first + 1, real),
              "clock");
#else
        check(OTF2_GlobalDefWriter_WriteClockProperties(writer_, job_.resolution, first, tally_.last - first + 1),
              "clock");
#endif
        OTF2_StringRef id = 0;
        for (const std::string& text : strings_.all()) {
            check(OTF2_GlobalDefWriter_WriteString(writer_, id++, text.c_str()), "string");
        }
        check(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_MPI, strings_("MPI"),
                                                 OTF2_PARADIGM_CLASS_PROCESS),
              "paradigm");
        if (uses_shmem()) {
            check(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_SHMEM, strings_("OpenSHMEM"),
                                                     OTF2_PARADIGM_CLASS_PROCESS),
                  "paradigm");
        }
        for (const Attribute& one : attributes) {
            check(
                OTF2_GlobalDefWriter_WriteAttribute(writer_, one.ref, strings_(one.name), strings_(one.help), one.type),
                "attribute");
        }
        write_hosts();
        write_locations();
        write_regions();
        write_contexts();
        write_files();
        if (tally_.samples != 0) {
            constexpr std::int64_t nanoseconds = -9;
            check(OTF2_GlobalDefWriter_WriteInterruptGenerator(writer_, sample_generator, strings_(generator_name),
                                                               OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL,
                                                               nanoseconds, tally_.sample_period_ns),
                  "interrupt generator");
        }
        if (tally_.levels != 0) {
            check(OTF2_GlobalDefWriter_WriteParameter(writer_, level_parameter, strings_(level_name),
                                                      OTF2_PARAMETER_TYPE_INT64),
                  "parameter");
        }
        write_comms();
        write_windows();
    }

  private:
    struct Attribute {
        OTF2_AttributeRef ref;
        const char* name;
        const char* help;
        OTF2_Type type;
    };
    // All of them, in their order and without a gap, which otf2-print requires, whether they are used or not.
    static constexpr Attribute attributes[] = {
        {layout_attribute, "logpost:layout",
         "Memory layout of one element of a message's non-contiguous datatype: blocks, bytes per block, distance of "
         "block "
         "starts, extent of the element; irregular=1 when block length and stride are means",
         OTF2_TYPE_STRING},
        {open_attribute, "logpost:open",
         "the process ended within this call, whose LEAVE is at its ENTER: what it waited for", OTF2_TYPE_STRING},
        {context_attribute, "logpost:calling_context",
         "From where the call was made: its calling context, the function with the line of the call above it",
         OTF2_TYPE_CALLING_CONTEXT},
        {target_layout_attribute, "logpost:target_layout",
         "The same of the target's memory in a one-sided access, whose logpost:layout is that of the origin's; of what "
         "a "
         "member of a collective operation gets, whose logpost:layout is that of what it gives",
         OTF2_TYPE_STRING},
        {persistent_attribute, "logpost:persistent",
         "which of its communicator's persistent collective operations was started; the members' k-th starts of one "
         "belong together",
         OTF2_TYPE_UINT32},
        {any_source_attribute, "logpost:any_source",
         "1: the receive named no sender, or the one that a probe of any source had found: the first to arrive",
         OTF2_TYPE_UINT8},
        {periods_attribute, "logpost:periods",
         "periods of the interrupt generator since its sample before: of a clock that is coarser than they are, or "
         "of a thread that had blocked the signal; without it 1",
         OTF2_TYPE_UINT32},
    };
    static constexpr const char* generator_name = "processor time of a thread";
    static constexpr OTF2_IoParadigmRef io_paradigm = 0;
    static constexpr const char* io_identification = "POSIX";
    static constexpr const char* io_name = "POSIX I/O";
    static constexpr const char* level_name = "logpost:pcontrol_level";

    // Every string must be written before it is referred to, so all are gathered beforehand.
    void gather_strings() {
        for (const char* text : {"", "MPI", "machine", "node", "logpost:cores", "logpost:cpu_binding", "not recorded",
                                 "Linux", "Master thread"}) {
            strings_(text);
        }
        for (const Attribute& one : attributes) {
            strings_(one.name);
            strings_(one.help);
        }
        if (tally_.levels != 0) {
            strings_(level_name);
        }
        if (tally_.samples != 0) {
            strings_(generator_name);
        }
        if (tally_.file_calls != 0) {
            strings_(io_identification);
            strings_(io_name);
        }
        for (const std::string& file : job_.files) {
            strings_(file);
        }
        for (const auto& [function, file] : contexts_.functions()) {
            strings_(function);
            strings_(file);
        }
        for (const auto& [file, line] : contexts_.locations()) {
            strings_(file);
        }
        for (const Host& host : job_.hosts) {
            strings_(host.name);
        }
        for (std::uint32_t rank = 0; rank < job_.by_rank.size(); ++rank) {
            strings_(rank_name(job_, rank));
        }
        for (const LocationEvents& l : locations_) {
            strings_(thread_name(l.thread));
            strings_(binding_of(l));
        }
        strings_(program());
        for (const std::uint32_t f : tally_.called) {
            strings_(job_.functions[f].name);
            strings_(job_.functions[f].file);
        }
        if (uses_shmem()) {
            strings_("OpenSHMEM");
        }
        for (const Communicator& comm : job_.comms) {
            strings_(comm.name);
        }
        for (const Window& window : job_.windows) {
            strings_(window.name);
        }
    }

    bool is_shmem(std::uint32_t function) const {
        const std::string& name = job_.functions[function].name;
        return function < job_.off && (name.starts_with("sh") || name == "start_pes");
    }

    OTF2_Paradigm paradigm(std::uint32_t function) const {
        if (function > job_.no_thread) {
            return job_.functions[function].role == "function" ? OTF2_PARADIGM_COMPILER : OTF2_PARADIGM_USER;
        }
        return function >= job_.off ? OTF2_PARADIGM_MEASUREMENT_SYSTEM
               : is_shmem(function) ? OTF2_PARADIGM_SHMEM
                                    : OTF2_PARADIGM_MPI;
    }

    bool uses_shmem() const {
        return std::ranges::any_of(tally_.called, [&](std::uint32_t f) { return is_shmem(f); });
    }

    static std::string thread_name(std::uint32_t thread) {
        return thread == 0 ? "Master thread" : "Thread " + std::to_string(thread);
    }

    const std::string& program() const { return job_.program; }

    std::string binding_of(const LocationEvents& l) const {
        const Process* process = job_.process_of(l.rank);
        if (process == nullptr) {
            return "";
        }
        const auto number = [](const auto& thread) { return thread->log.header().thread; };
        const auto thread = std::ranges::lower_bound(process->threads, l.thread, {}, number);
        if (thread != process->threads.end() && number(*thread) == l.thread && !(*thread)->binding.empty()) {
            return (*thread)->binding;
        }
        const auto at = process->info.find("binding");
        return at != process->info.end() ? at->second : "";
    }

    void write_hosts() {
        check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, strings_("Linux"), strings_("machine"),
                                                       OTF2_UNDEFINED_SYSTEM_TREE_NODE),
              "machine");
        check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE), "machine");
        OTF2_SystemTreeNodeRef node = 0;
        for (const Host& host : job_.hosts) {
            ++node;
            check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, node, strings_(host.name), strings_("node"), 0),
                  "node");
            check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, node, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY),
                  "node");
            OTF2_AttributeValue cores;
            cores.uint64 = host.cores;
            check(OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(writer_, node, strings_("logpost:cores"),
                                                                   OTF2_TYPE_UINT64, cores),
                  "node property");
        }
    }

    void write_locations() {
        const auto ranks = static_cast<std::uint32_t>(job_.by_rank.size());
        for (std::uint32_t rank = 0; rank < ranks + (job_.has_unknown_members() ? 1U : 0U); ++rank) {
            const Process* process = job_.process_of(rank);
            const OTF2_SystemTreeNodeRef node = process != nullptr ? process->host + 1 : 0;
#if OTF2_VERSION_MAJOR >= 3
            check(OTF2_GlobalDefWriter_WriteLocationGroup(writer_, rank, strings_(rank_name(job_, rank)),
                                                          OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
                                                          OTF2_UNDEFINED_LOCATION_GROUP),
                  "location group");
#else
            check(OTF2_GlobalDefWriter_WriteLocationGroup(writer_, rank, strings_(rank_name(job_, rank)),
                                                          OTF2_LOCATION_GROUP_TYPE_PROCESS, node),
                  "location group");
#endif
        }
        for (const LocationEvents& l : locations_) {
            check(OTF2_GlobalDefWriter_WriteLocation(
                      writer_, l.location,
                      strings_(job_.process_of(l.rank) != nullptr ? thread_name(l.thread) : "not recorded"),
                      OTF2_LOCATION_TYPE_CPU_THREAD, l.events, l.rank),
                  "location");
            const std::string binding = binding_of(l);
            if (!binding.empty()) {
                OTF2_AttributeValue value;
                value.stringRef = strings_(binding);
                check(OTF2_GlobalDefWriter_WriteLocationProperty(writer_, l.location, strings_("logpost:cpu_binding"),
                                                                 OTF2_TYPE_STRING, value),
                      "location property");
            }
        }
    }

    void write_regions() {
        check(OTF2_GlobalDefWriter_WriteRegion(writer_, program_region, strings_(program()), strings_(program()),
                                               strings_(""), OTF2_REGION_ROLE_ARTIFICIAL,
                                               OTF2_PARADIGM_MEASUREMENT_SYSTEM, OTF2_REGION_FLAG_NONE,
                                               OTF2_UNDEFINED_STRING, 0, 0),
              "region");
        for (const std::uint32_t f : tally_.called) {
            const Function& function = job_.functions[f];
            const OTF2_StringRef name = strings_(function.name);
            check(OTF2_GlobalDefWriter_WriteRegion(
                      writer_, tally_.regions[f], name, name, strings_(""), role_named(function.role), paradigm(f),
                      OTF2_REGION_FLAG_NONE, function.file.empty() ? OTF2_UNDEFINED_STRING : strings_(function.file),
                      function.line, 0),
                  "region");
        }
    }

    // The user's functions are regions behind those of the table; contexts and their lines.
    void write_contexts() {
        if (contexts_.nodes().empty()) {
            return;
        }
        const auto first = static_cast<OTF2_RegionRef>(tally_.called.size() + 1);
        OTF2_RegionRef region = first;
        for (const auto& [function, file] : contexts_.functions()) {
            const OTF2_StringRef name = strings_(function);
            check(OTF2_GlobalDefWriter_WriteRegion(
                      writer_, region++, name, name, strings_(""), OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER,
                      OTF2_REGION_FLAG_NONE, file.empty() ? OTF2_UNDEFINED_STRING : strings_(file), 0, 0),
                  "region");
        }
        OTF2_SourceCodeLocationRef location = 0;
        for (const auto& [file, line] : contexts_.locations()) {
            check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(writer_, location++, strings_(file), line),
                  "source location");
        }
        OTF2_CallingContextRef context = 0;
        for (const Contexts::Node& node : contexts_.nodes()) {
            check(OTF2_GlobalDefWriter_WriteCallingContext(
                      writer_, context++, node.function != none ? first + node.function : tally_.regions[node.number],
                      node.location != none ? node.location : OTF2_UNDEFINED_SOURCE_CODE_LOCATION, node.parent),
                  "calling context");
        }
    }

    // Handles of files; of pipes, sockets and the like there is a handle alone.
    void write_files() {
        if (tally_.file_calls != 0) {
            check(OTF2_GlobalDefWriter_WriteIoParadigm(writer_, io_paradigm, strings_(io_identification),
                                                       strings_(io_name), OTF2_IO_PARADIGM_CLASS_SERIAL,
                                                       OTF2_IO_PARADIGM_FLAG_OS, 0, nullptr, nullptr, nullptr),
                  "I/O paradigm");
        }
        OTF2_IoHandleRef handle = 0;
        OTF2_IoFileRef number = 0;
        for (const std::string& file : job_.files) {
            const bool regular = file.starts_with("/") && !file.starts_with("/dev/");
            if (regular) {
                check(OTF2_GlobalDefWriter_WriteIoRegularFile(writer_, number, strings_(file), 0), "file");
            }
            check(OTF2_GlobalDefWriter_WriteIoHandle(
                      writer_, handle, strings_(file), regular ? number : OTF2_UNDEFINED_IO_FILE, io_paradigm,
                      OTF2_IO_HANDLE_FLAG_NONE, OTF2_UNDEFINED_COMM, OTF2_UNDEFINED_IO_HANDLE),
                  "file handle");
            ++handle;
            number += regular ? 1U : 0U;
        }
    }

    OTF2_GroupRef group(OTF2_GroupType type, const std::vector<std::uint64_t>& members) {
        const auto [at, fresh] = groups_.try_emplace({type, members}, static_cast<OTF2_GroupRef>(groups_.size()));
        if (fresh) {
            check(OTF2_GlobalDefWriter_WriteGroup(writer_, at->second, strings_(""), type, OTF2_PARADIGM_MPI,
                                                  OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(members.size()),
                                                  members.data()),
                  "group");
        }
        return at->second;
    }

    OTF2_GroupRef members_of(const std::vector<std::uint32_t>& ranks) {
        std::vector<std::uint64_t> members;
        members.reserve(ranks.size());
        for (const std::uint32_t rank : ranks) {
            members.push_back(rank != none ? rank : job_.by_rank.size());  // the last place is that of unknown members
        }
        return group(OTF2_GROUP_TYPE_COMM_GROUP, members);
    }

    void write_comms() {
        std::vector<std::uint64_t> places;
        places.reserve(job_.by_rank.size() + 1);
        for (std::uint32_t rank = 0; rank < job_.by_rank.size(); ++rank) {
            places.push_back(location_of(rank, 0));
        }
        if (job_.has_unknown_members()) {
            places.push_back(location_of(static_cast<std::uint32_t>(job_.by_rank.size()), 0));
        }
        group(OTF2_GROUP_TYPE_COMM_LOCATIONS, places);
        for (const auto& ranks : tally_.groups) {
            members_of(ranks);
        }
        for (OTF2_CommRef ref = 0; ref < job_.comms.size(); ++ref) {
            const Communicator& comm = job_.comms[ref];
            const OTF2_GroupRef first = comm.self ? group(OTF2_GROUP_TYPE_COMM_SELF, {}) : members_of(comm.members[0]);
            const OTF2_CommRef parent = comm.parent != none ? comm.parent : OTF2_UNDEFINED_COMM;
#if OTF2_VERSION_MAJOR >= 3
            const OTF2_CommFlag flags = comm.created ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE;
            if (comm.inter) {
                check(OTF2_GlobalDefWriter_WriteInterComm(writer_, ref, strings_(comm.name), first,
                                                          members_of(comm.members[1]), OTF2_UNDEFINED_COMM, flags),
                      "inter-communicator");
            } else {
                check(OTF2_GlobalDefWriter_WriteComm(writer_, ref, strings_(comm.name), first, parent, flags),
                      "communicator");
            }
#else
            check(OTF2_GlobalDefWriter_WriteComm(writer_, ref, strings_(comm.name), first, parent), "communicator");
#endif
        }
    }

    void write_windows() {
        for (OTF2_RmaWinRef ref = 0; ref < job_.windows.size(); ++ref) {
            const Window& window = job_.windows[ref];
#if OTF2_VERSION_MAJOR >= 3
            check(OTF2_GlobalDefWriter_WriteRmaWin(writer_, ref, strings_(window.name), window.comm,
                                                   OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS),
                  "window");
#else
            check(OTF2_GlobalDefWriter_WriteRmaWin(writer_, ref, strings_(window.name), window.comm), "window");
#endif
        }
    }

    const Job& job_;
    Strings& strings_;
    const Tally& tally_;
    const Contexts& contexts_;
    const std::vector<LocationEvents>& locations_;
    OTF2_GlobalDefWriter* writer_;
    std::map<std::pair<OTF2_GroupType, std::vector<std::uint64_t>>, OTF2_GroupRef> groups_;
};

void write_clock_offsets(OTF2_Archive* archive, const Job& job, const LocationEvents& l) {
    OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive, l.location);
    if (writer == nullptr) {
        throw std::runtime_error("cannot open local definitions");
    }
    const Process* process = job.process_of(l.rank);
    if (process != nullptr) {
        for (const Measurement& m : process->measured) {
            check(OTF2_DefWriter_WriteClockOffset(writer, m.at, std::llround(m.offset), m.error), "clock offset");
        }
    }
    check(OTF2_Archive_CloseDefWriter(archive, writer), "closing local definitions");
}

}  // namespace

void write_definitions(OTF2_Archive* archive, const Job& job, Strings& strings, const Tally& tally,
                       const Contexts& contexts, const std::vector<LocationEvents>& locations) {
    check(OTF2_Archive_OpenDefFiles(archive), "opening local definitions");
    for (const LocationEvents& l : locations) {
        write_clock_offsets(archive, job, l);
    }
    check(OTF2_Archive_CloseDefFiles(archive), "closing local definitions");
    Definitions(archive, job, strings, tally, contexts, locations).write();
}

}  // namespace logpost::assembler
