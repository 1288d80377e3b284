#include "analyzer/archive/native/definitions/region_kind.hpp"

#include <otf2/otf2.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_map>

namespace logpost::analyzer {
namespace {

using Kinds = std::unordered_map<std::string_view, CallKind>;

const Kinds& mpi_kinds() {
    using enum CallKind;
    static const Kinds kinds = {
        {"send", send},
        {"rsend", send},
        {"ssend", send_synchronous},
        {"issend", send_synchronous},
        {"ssend_init", send_synchronous},
        {"bsend", send_buffered},
        {"ibsend", send_buffered},
        {"bsend_init", send_buffered},
        {"isend", send_nonblocking},
        {"irsend", send_nonblocking},
        {"send_init", send_nonblocking},
        {"rsend_init", send_nonblocking},
        {"psend_init", send_nonblocking},
        {"recv", receive},
        {"mrecv", receive},
        {"irecv", receive_nonblocking},
        {"imrecv", receive_nonblocking},
        {"recv_init", receive_nonblocking},
        {"precv_init", receive_nonblocking},
        {"sendrecv", send_receive},
        {"sendrecv_replace", send_receive},
        {"isendrecv", send_nonblocking},
        {"isendrecv_replace", send_nonblocking},
        {"start", start},
        {"startall", start},
        {"wait", wait},
        {"waitall", wait_multi},
        {"waitany", wait_multi},
        {"waitsome", wait_multi},
        {"test", test},
        {"testall", test},
        {"testany", test},
        {"testsome", test},
        {"probe", probe},
        {"iprobe", probe},
        {"mprobe", probe},
        {"improbe", probe},
        {"barrier", barrier},
        {"ibarrier", collective_nonblocking},
        {"put", one_sided},
        {"get", one_sided},
        {"accumulate", one_sided},
        {"get_accumulate", one_sided},
        {"fetch_and_op", one_sided},
        {"compare_and_swap", one_sided},
        {"rput", one_sided},
        {"rget", one_sided},
        {"raccumulate", one_sided},
        {"rget_accumulate", one_sided},
        {"init", initialize},
        {"init_thread", initialize},
        {"finalize", finalize},
        {"session_init", initialize},
        {"session_finalize", finalize},
        {"register_datarep", io},
        {"pcontrol", other},
        {"abort", other},
        {"initialized", other},
        {"finalized", other},
        {"is_thread_main", other},
        {"query_thread", other},
        {"wtime", other},
        {"wtick", other},
        {"address", other},
        {"pack", other},
        {"unpack", other},
        {"pack_size", other},
        {"pack_external", other},
        {"unpack_external", other},
        {"pack_external_size", other},
        {"cancel", other},
        {"test_cancelled", other},
        {"reduce_local", other},
        {"buffer_attach", other},
        {"buffer_detach", other},
        {"dims_create", other},
        {"topo_test", other},
        {"alloc_mem", other},
        {"free_mem", other},
        {"get_address", other},
        {"get_count", other},
        {"get_elements", other},
        {"get_elements_x", other},
        {"get_processor_name", other},
        {"get_version", other},
        {"get_library_version", other},
        {"close_port", other},
        {"open_port", other},
        {"lookup_name", other},
        {"publish_name", other},
        {"unpublish_name", other},
        {"pready", start},
        {"pready_list", start},
        {"pready_range", start},
        {"parrived", test},
    };
    return kinds;
}

/// Collectives that also exist with a leading i (nonblocking) and a trailing _init (persistent).
constexpr std::string_view kCollectives[] = {"bcast",
                                             "gather",
                                             "gatherv",
                                             "scatter",
                                             "scatterv",
                                             "allgather",
                                             "allgatherv",
                                             "alltoall",
                                             "alltoallv",
                                             "alltoallw",
                                             "allreduce",
                                             "reduce",
                                             "reduce_scatter",
                                             "scan",
                                             "exscan",
                                             "reduce_scatter_block",
                                             "neighbor_allgather",
                                             "neighbor_allgatherv",
                                             "neighbor_alltoall",
                                             "neighbor_alltoallv",
                                             "neighbor_alltoallw"};

/// Families of MPI functions that only manage things; each is followed by one more word.
constexpr std::string_view kFamilies[] = {"comm_",       "type_",      "group_",      "cart_",    "graph_",
                                          "dist_graph_", "attr_",      "errhandler_", "error_",   "add_error_",
                                          "info_",       "intercomm_", "keyval_",     "op_",      "request_",
                                          "status_",     "session_",   "t_",          "grequest_"};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool is_collective(std::string_view name) {
    return std::find(std::begin(kCollectives), std::end(kCollectives), name) != std::end(kCollectives);
}

std::string lowered(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

void strip_suffix(std::string_view& name, std::string_view suffix) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
        name.remove_suffix(suffix.size());
    }
}

/// `name` is lower case without the mpi_ prefix; CallKind::user: none of MPI's.
CallKind mpi_function(std::string_view name) {
    // Fortran's decorations: mpi_send_, mpi_send__, mpi_send_f08_, mpi_send_f08ts_, mpi_send_c_f08_
    while (name.size() > 1 && name.ends_with('_')) {
        name.remove_suffix(1);
    }
    strip_suffix(name, "_f08ts");
    strip_suffix(name, "_f08");
    strip_suffix(name, "_c");
    if (const auto found = mpi_kinds().find(name); found != mpi_kinds().end()) {
        return found->second;
    }
    if (is_collective(name)) {
        return CallKind::collective;
    }
    if (name.starts_with('i') && is_collective(name.substr(1))) {
        return CallKind::collective_nonblocking;
    }
    if (name.ends_with("_init") && (is_collective(name.substr(0, name.size() - 5)) || name == "barrier_init")) {
        return CallKind::other;
    }
    if (name.starts_with("win_")) {
        return CallKind::one_sided;
    }
    if (name.starts_with("file_")) {
        return CallKind::io;
    }
    for (const auto family : kFamilies) {
        if (name.size() > family.size() && name.starts_with(family)) {
            return CallKind::other;
        }
    }
    return CallKind::user;
}

/// `name` is lower case and begins behind shmem_.
CallKind shmem_function(std::string_view name) {
    while (name.size() > 1 && name.ends_with('_')) {
        name.remove_suffix(1);
    }
    if (name == "finalize") {
        return CallKind::finalize;
    }
    if (name == "init" || name == "init_thread") {
        return CallKind::initialize;
    }
    if (name.starts_with("barrier") || name == "sync" || name == "sync_all" || name == "team_sync") {
        return CallKind::barrier;
    }
    if (contains(name, "broadcast") || contains(name, "collect") || contains(name, "alltoall") ||
        name.ends_with("_to_all") || contains(name, "_reduce")) {
        return CallKind::collective;
    }
    for (const std::string_view local :
         {"my_pe", "n_pes", "info_", "malloc", "calloc", "free", "realloc", "align", "ptr", "pe_accessible",
          "addr_accessible", "team_", "ctx_create", "ctx_destroy", "query_thread", "global_exit", "pcontrol"}) {
        if (name.starts_with(local)) {
            return CallKind::other;
        }
    }
    return CallKind::one_sided;
}

/// Of gfortran's coarray library; `name` is lower case and begins behind _gfortran_caf_.
CallKind coarray_function(std::string_view name) {
    if (name == "sync_all") {
        return CallKind::barrier;
    }
    if (name.starts_with("co_")) {
        return CallKind::collective;
    }
    for (const std::string_view local : {"init", "register", "deregister", "form_team", "change_team", "end_team"}) {
        if (name == local) {
            return CallKind::other;
        }
    }
    return CallKind::one_sided;
}

/// As `logpost import gasnet` names what GASNet's traces hold; `name` is lower case and begins behind gasnet_.
CallKind gasnet_function(std::string_view name) {
    if (name.starts_with("am") || name.starts_with("commit_")) {
        return name.ends_with("_handler") ? CallKind::receive : CallKind::send;
    }
    if (name.starts_with("put") || name.starts_with("get") || name.starts_with("memset") ||
        name.starts_with("ratomic")) {
        return CallKind::one_sided;
    }
    if (name == "barrier") {
        return CallKind::barrier;
    }
    if (name == "coll_barrier_nb" || name == "barrier_notify") {
        return CallKind::collective_nonblocking;
    }
    if (name.starts_with("try_") || name == "barrier_try" || name == "barrier_async_completion") {
        return CallKind::test;
    }
    if (name == "wait_syncnb" || name == "wait_syncnb_valget" || name == "barrier_wait") {
        return CallKind::wait;
    }
    return contains(name, "wait_") ? CallKind::wait_multi : CallKind::other;
}

/// MPI::Comm::Send, MPI::COMM_WORLD.Send: the class decides for windows and files, else the last name.
CallKind cpp_function(std::string_view name) {
    const auto cut = name.find_last_of(":.");
    const auto function = lowered(name.substr(cut + 1));
    if (cut > 0 && cut != std::string_view::npos) {
        auto owner = name.substr(0, cut);
        while (!owner.empty() && (owner.back() == ':' || owner.back() == '.')) {
            owner.remove_suffix(1);
        }
        const auto begin = owner.find_last_of(":.");
        const auto class_name = lowered(begin == std::string_view::npos ? owner : owner.substr(begin + 1));
        if (class_name == "file") {
            return CallKind::io;
        }
        if (class_name == "win") {
            return CallKind::one_sided;
        }
    }
    const auto kind = mpi_function(function);
    return kind == CallKind::user ? CallKind::other : kind;
}

}  // namespace

bool begins_request(std::string_view name, CallKind kind) {
    if (kind == CallKind::send_synchronous || kind == CallKind::send_buffered) {
        const std::string lower = lowered(name);
        return contains(lower, "issend") || contains(lower, "ibsend") || contains(lower, "_init");
    }
    return kind == CallKind::send_nonblocking || kind == CallKind::start;
}

bool moves_one_sided(std::string_view name, CallKind kind) {
    if (kind != CallKind::one_sided) {
        return false;
    }
    const std::string lower = lowered(name);
    for (const std::string_view synchronizes : {"win_", "win::"}) {
        if (contains(lower, synchronizes)) {
            return false;
        }
    }
    for (const std::string_view moves : {"put", "get", "accumulate", "fetch", "swap", "atomic", "send"}) {
        if (contains(lower, moves)) {
            return true;
        }
    }
    return false;
}

GroupSynchronization group_synchronization(std::string_view name) {
    const std::string lower = lowered(name);
    const auto is = [&](std::string_view function) { return contains(lower, function); };
    if (is("win_post") || is("win::post")) {
        return GroupSynchronization::post;
    }
    if (is("win_start") || is("win::start")) {
        return GroupSynchronization::start;
    }
    if (is("win_complete") || is("win::complete")) {
        return GroupSynchronization::complete;
    }
    if (is("win_wait") || is("win::wait") || is("win_test") || is("win::test")) {
        return GroupSynchronization::wait;
    }
    return GroupSynchronization::none;
}

CallKind region_kind(std::string_view name, std::uint8_t paradigm) {
    if ((name == "MEASUREMENT OFF" || name == "NO THREAD") && paradigm == OTF2_PARADIGM_MEASUREMENT_SYSTEM) {
        return CallKind::not_recorded;
    }
    // TAU and canonical C++ names carry a signature, "MPI_Send()" or "MPI::Comm::Send(void const*, ...) const".
    name = name.substr(0, name.find_first_of("([{<"));
    while (!name.empty() && name.back() == ' ') {
        name.remove_suffix(1);
    }
    while (!name.empty() && name.front() == ' ') {
        name.remove_prefix(1);
    }
    if (name.starts_with("MPI::") || name.starts_with("PMPI::")) {
        return cpp_function(name.substr(name.find(':') + 2));
    }
    const std::string lower = lowered(name);
    std::string_view rest = lower;
    while (rest.starts_with('_')) {
        rest.remove_prefix(1);
    }
    if (rest.starts_with("pmpi_") || rest.starts_with("pshmem_")) {
        rest.remove_prefix(1);
    }
    if (rest.starts_with("mpi_") || rest.starts_with("mpix_")) {
        const auto kind = mpi_function(rest.substr(rest.find('_') + 1));
        if (kind == CallKind::user && paradigm == OTF2_PARADIGM_MPI) {
            return CallKind::other;
        }
        return kind;
    }
    if (rest.starts_with("shmemx_") || rest.starts_with("shmem_")) {
        const auto kind = shmem_function(rest.substr(rest.find('_') + 1));
        // "shmem_" begins user functions as well; the catch-all needs the writer's word.
        return kind == CallKind::one_sided && paradigm != OTF2_PARADIGM_SHMEM && !contains(rest, "put") &&
                       !contains(rest, "get") && !contains(rest, "quiet") && !contains(rest, "fence") &&
                       !contains(rest, "wait") && !contains(rest, "atomic")
                   ? CallKind::user
                   : kind;
    }
    if (rest == "start_pes") {
        return CallKind::initialize;
    }
    if (rest.starts_with("gfortran_caf_")) {
        return coarray_function(rest.substr(std::string_view("gfortran_caf_").size()));
    }
    if (paradigm == OTF2_PARADIGM_UPC && rest.starts_with("gasnet_")) {
        return gasnet_function(rest.substr(rest.find('_') + 1));
    }
    if (paradigm == OTF2_PARADIGM_SHMEM) {
        return CallKind::other;
    }
    return CallKind::user;
}

}  // namespace logpost::analyzer
