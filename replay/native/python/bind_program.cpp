#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/program/excerpt.hpp"
#include "replay/native/program/phases.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/program_tables.hpp"
#include "replay/native/python/bind_surroundings.hpp"
#include "replay/native/python/bindings.hpp"
#include "replay/native/split/account.hpp"
#include "replay/native/split/samples.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

nb::list sample_columns(const Program& program, std::size_t limit) {
    nb::list result;
    for (auto& locality : samples(program, limit)) {
        nb::dict d;
        const auto pair = [](SampleColumn& c) {
            return nb::make_tuple(array(std::move(c.bytes)), array(std::move(c.time_ps)));
        };
        d["whole"] = pair(locality.whole);
        d["undisturbed_nonblocking"] = pair(locality.undisturbed_nonblocking);
        d["undisturbed_blocking"] = pair(locality.undisturbed_blocking);
        d["undisturbed_synchronous"] = pair(locality.undisturbed_synchronous);
        d["send_at_once"] = pair(locality.send_at_once);
        d["send_blocking"] = pair(locality.send_blocking);
        d["send_among_others"] = pair(locality.send_among_others);
        d["receive"] = pair(locality.receive);
        d["receive_slack"] = array(std::move(locality.slack_ps));
        d["receive_sends"] = array(std::move(locality.sends));
        d["burst"] = pair(locality.burst);
        d["spacing"] = pair(locality.spacing);
        d["spacing_of_sends"] = array(std::move(locality.spacing_of_sends));
        d["spacing_calls"] = array(std::move(locality.spacing_calls));
        d["collective"] = pair(locality.collective);
        d["early_complete"] = pair(locality.early_complete);
        d["late_complete"] = pair(locality.late_complete);
        d["unanswered"] = pair(locality.unanswered);
        d["answered"] = pair(locality.answered);
        d["unanswered_rest"] = array(std::move(locality.unanswered_rest));
        d["messages"] = locality.messages;
        result.append(d);
    }
    return result;
}

/// The columns of one table; the caller's dictionary keeps their memory.
class TableColumns {
  public:
    explicit TableColumns(const nb::dict& table) : table_(table) {}
    template <class T>
    std::span<const T> operator()(const char* name) const {
        const auto values = nb::cast<In<T>>(table_[name]);
        if (rows_ != kUnknown && rows_ != values.size()) {
            throw std::invalid_argument(std::string("column ") + name + " differs in length from the others");
        }
        rows_ = values.size();
        return {values.data(), values.size()};
    }

  private:
    static constexpr std::size_t kUnknown = SIZE_MAX;
    const nb::dict& table_;
    mutable std::size_t rows_ = kUnknown;
};

LocationColumns location_columns(const nb::dict& table) {
    const TableColumns of(table);
    return {.process = of.operator()<std::int32_t>("process"),
            .socket = of.operator()<std::int32_t>("socket"),
            .node = of.operator()<std::int32_t>("node"),
            .rank = of.operator()<std::int32_t>("rank"),
            .accounted = of.operator()<std::uint8_t>("accounted"),
            .first_ps = of.operator()<std::int64_t>("first_ps"),
            .last_ps = of.operator()<std::int64_t>("last_ps")};
}

CallColumns call_columns(const nb::dict& table) {
    const TableColumns of(table);
    return {.location = of.operator()<std::int32_t>("location"),
            .region = of.operator()<std::int32_t>("region"),
            .callpath = of.operator()<std::int32_t>("callpath"),
            .enter_ps = of.operator()<std::int64_t>("enter_ps"),
            .leave_ps = of.operator()<std::int64_t>("leave_ps")};
}

MessageColumns message_columns(const nb::dict& table) {
    const TableColumns of(table);
    return {.send_location = of.operator()<std::int32_t>("send_location"),
            .recv_location = of.operator()<std::int32_t>("recv_location"),
            .comm = of.operator()<std::int32_t>("comm"),
            .tag = of.operator()<std::int32_t>("tag"),
            .layout = of.operator()<std::int32_t>("layout"),
            .send_call = of.operator()<std::int32_t>("send_call"),
            .send_complete_call = of.operator()<std::int32_t>("send_complete_call"),
            .recv_post_call = of.operator()<std::int32_t>("recv_post_call"),
            .recv_call = of.operator()<std::int32_t>("recv_call"),
            .send_number = of.operator()<std::int32_t>("send_number"),
            .recv_number = of.operator()<std::int32_t>("recv_number"),
            .bytes = of.operator()<std::uint64_t>("bytes"),
            .recv_bytes = of.operator()<std::uint64_t>("recv_bytes")};
}

UnmatchedColumns unmatched_columns(const nb::dict& table) {
    const TableColumns of(table);
    return {.location = of.operator()<std::int32_t>("location"),
            .number = of.operator()<std::int32_t>("number"),
            .call = of.operator()<std::int32_t>("call"),
            .complete_call = of.operator()<std::int32_t>("complete_call"),
            .peer = of.operator()<std::int32_t>("peer"),
            .comm = of.operator()<std::int32_t>("comm"),
            .tag = of.operator()<std::int32_t>("tag"),
            .direction = of.operator()<std::uint8_t>("direction"),
            .bytes = of.operator()<std::uint64_t>("bytes")};
}

CollectiveColumns collective_columns(const nb::dict& table) {
    const TableColumns of(table);
    return {.instance = of.operator()<std::int32_t>("instance"),
            .location = of.operator()<std::int32_t>("location"),
            .comm = of.operator()<std::int32_t>("comm"),
            .root = of.operator()<std::int32_t>("root"),
            .call = of.operator()<std::int32_t>("call"),
            .complete_call = of.operator()<std::int32_t>("complete_call"),
            .rma_window = of.operator()<std::int32_t>("rma_window"),
            .layout = of.operator()<std::int32_t>("layout"),
            .received_layout = of.operator()<std::int32_t>("received_layout"),
            .operation = of.operator()<std::uint8_t>("operation"),
            .enter_ps = of.operator()<std::int64_t>("enter_ps"),
            .leave_ps = of.operator()<std::int64_t>("leave_ps"),
            .bytes_sent = of.operator()<std::uint64_t>("bytes_sent"),
            .bytes_received = of.operator()<std::uint64_t>("bytes_received")};
}

TransferColumns transfer_columns(const nb::dict& table) {
    const TableColumns of(table);
    return {.location = of.operator()<std::int32_t>("location"),
            .target = of.operator()<std::int32_t>("target"),
            .rma_window = of.operator()<std::int32_t>("rma_window"),
            .call = of.operator()<std::int32_t>("call"),
            .complete_call = of.operator()<std::int32_t>("complete_call"),
            .remote_call = of.operator()<std::int32_t>("remote_call"),
            .layout = of.operator()<std::int32_t>("layout"),
            .target_layout = of.operator()<std::int32_t>("target_layout"),
            .kind = of.operator()<std::uint8_t>("kind"),
            .bytes = of.operator()<std::uint64_t>("bytes")};
}

EpochColumns epoch_columns(const nb::dict& table) {
    const TableColumns of(table);
    return {.location = of.operator()<std::int32_t>("location"),
            .peer = of.operator()<std::int32_t>("peer"),
            .rma_window = of.operator()<std::int32_t>("rma_window"),
            .begin_call = of.operator()<std::int32_t>("begin_call"),
            .end_call = of.operator()<std::int32_t>("end_call"),
            .match = of.operator()<std::int32_t>("match"),
            .kind = of.operator()<std::uint8_t>("kind"),
            .lock = of.operator()<std::uint64_t>("lock"),
            .acquired_ps = of.operator()<std::int64_t>("acquired_ps")};
}

/// Number of blocks, bytes of each, bytes from one to the next.
using BlocksOfData = std::tuple<std::uint64_t, std::uint64_t, std::int64_t>;

/// Gives each piece of a table to `fill`: the table itself, if it is a dictionary, or what iterating gives.
template <class Columns, class Fill>
void for_each_piece(const nb::object& table, Columns (*columns)(const nb::dict&), const Fill& fill) {
    const auto take = [&](const nb::dict& piece) {
        const auto rows = columns(piece);
        const nb::gil_scoped_release release;
        fill(rows);
    };
    if (nb::isinstance<nb::dict>(table)) {
        take(nb::cast<nb::dict>(table));
        return;
    }
    for (const auto piece : nb::iter(table)) {
        take(nb::cast<nb::dict>(piece));
    }
}

/// Tables are dictionaries of numpy arrays, named as the run's columns, or give such dictionaries, piece by piece.
void make_program(Program* self, std::uint64_t ticks_per_second, std::int64_t length_ps,
                  const In<std::int32_t>& callers, const std::vector<int>& kinds,
                  const std::vector<BlocksOfData>& layouts, const std::vector<std::vector<std::int32_t>>& members,
                  const nb::dict& locations, const nb::object& calls, const nb::object& messages,
                  const nb::object& unmatched, const nb::object& collectives, const nb::object& transfers,
                  const nb::object& epochs, const std::vector<std::uint32_t>& first_groups, std::size_t most_ends,
                  std::shared_ptr<Spill> spill) {
    Program program;
    program.spill = std::move(spill);
    program.ticks_per_second = ticks_per_second;
    program.length_ps = length_ps;
    program.callers.assign(callers.data(), callers.data() + callers.size());
    for (const auto kind : kinds) {
        program.kinds.push_back(static_cast<CallKind>(kind));
    }
    for (const auto& [blocks, block_bytes, stride_bytes] : layouts) {
        program.layouts.push_back({.blocks = blocks, .block_bytes = block_bytes, .stride_bytes = stride_bytes});
    }
    for (const auto& of : members) {
        auto& locations = program.members.emplace_back();
        std::ranges::transform(of, std::back_inserter(locations), [](std::int32_t at) { return Location{at}; });
    }
    program.first_group = first_groups;
    ProgramFiller filler(program, location_columns(locations), most_ends);
    for_each_piece(calls, &call_columns, [&](const CallColumns& rows) { filler.calls(rows); });
    {
        const nb::gil_scoped_release release;
        filler.all_calls_read();
    }
    for_each_piece(messages, &message_columns, [&](const MessageColumns& rows) { filler.messages(rows); });
    for_each_piece(unmatched, &unmatched_columns, [&](const UnmatchedColumns& rows) { filler.unmatched(rows); });
    for_each_piece(collectives, &collective_columns, [&](const CollectiveColumns& rows) { filler.collectives(rows); });
    for_each_piece(transfers, &transfer_columns, [&](const TransferColumns& rows) { filler.transfers(rows); });
    for_each_piece(epochs, &epoch_columns, [&](const EpochColumns& rows) { filler.epochs(rows); });
    const nb::gil_scoped_release release;
    filler.finish();
    new (self) Program(std::move(program));
}

void place(Program& program, const In<std::int32_t>& sockets, const In<std::int32_t>& place_of_node,
           const In<std::int32_t>& hops) {
    set_places(program.placement, sockets, place_of_node, hops);
}

nb::tuple pairs_of(const Program& program) {
    return node_pairs(program, program.placement, false);
}

void set_network(Program& program, const In<std::int32_t>& from, const In<std::int32_t>& to,
                 const In<std::int32_t>& hops, std::size_t dimensions, const In<std::int64_t>& route_begin,
                 const In<std::int32_t>& route, std::int32_t links, double byte_ps, const In<double>& narrow_byte_ps,
                 const In<double>& dimension_byte_ps, double channels) {
    program.network = network_of(from, to, hops, dimensions, route_begin, route, links, byte_ps, narrow_byte_ps,
                                 dimension_byte_ps, channels);
}

void carry_out(Program& program, std::uint8_t operation, std::int32_t comm, std::uint64_t bytes, std::uint8_t algorithm,
               std::uint8_t instead) {
    if (operation >= kOperations || std::max(algorithm, instead) >= kAlgorithms) {
        throw nb::value_error("there is no operation or algorithm of this code");
    }
    program.carried_out.push_back({static_cast<Operation>(operation), comm,
                                   static_cast<std::uint32_t>(std::bit_width(bytes)), static_cast<Algorithm>(algorithm),
                                   static_cast<Algorithm>(instead)});
}

template <class Names>
std::vector<std::string> names(const Names& of) {
    return {std::begin(of), std::end(of)};
}

}  // namespace

void bind_program(nb::module_& module) {
    nb::class_<Spill>(module, "Spill", "A file for what exceeds a limit of memory.")
        .def(nb::init<std::filesystem::path, std::uint64_t, bool>(), "directory"_a, "limit_bytes"_a, "in_memory"_a,
             nb::sig("def __init__(self, directory: str | os.PathLike[str], limit_bytes: int, in_memory: bool) -> "
                     "None"),
             "In this directory, made when it is needed and without a name there; `in_memory`: the directory may lie "
             "in memory itself.")
        .def_prop_ro("limit_bytes", &Spill::limit_bytes, "Of the process's resident memory.")
        .def_prop_ro("spilled_bytes", &Spill::spilled_bytes, "Bytes that were ever taken in it.");
    module.def(
        "is_in_memory", [](const std::filesystem::path& directory) { return is_in_memory(directory); }, "directory"_a,
        nb::sig("def is_in_memory(directory: str | os.PathLike[str]) -> bool"),
        "Whether a directory, or where it will be made, is in memory (tmpfs).");
    module.def("call_kinds", [] { return names(kCallKindNames); }, "Names of the kinds of calls, by code.");
    module.def("operations", [] { return names(kOperationNames); }, "Names of the collective operations, by code.");
    module.def("parts", [] { return names(kPartNames); }, "Names of the parts of a message, by code.");
    module.def(
        "categories", [] { return names(kCategoryNames); }, "Names of the categories of a rank's time, by code.");
    module.def(
        "wait_kinds", [] { return names(kWaitKindNames); }, "Names of the kinds of waits between locations, by code.");
    module.def("transfer_kinds", [] { return names(kTransferKindNames); }, "Names of the kinds of transfers, by code.");
    module.def("epoch_kinds", [] { return names(kEpochKindNames); }, "Names of the kinds of epochs, by code.");
    module.def(
        "collective_parts", [] { return names(kCollectivePartNames); },
        "Names of the parts of a rank's time in a collective operation, by code.");
    module.def("algorithms", [] { return names(kAlgorithmNames); }, "Names of collective algorithms, by code.");
    module.def(
        "transfer_categories",
        [] {
            std::vector<std::string> found;
            for (const auto category : kTransferCategories) {
                found.emplace_back(kCategoryNames[category]);
            }
            return found;
        },
        "Names of the categories that a one-sided transfer is divided into, in the order of its columns.");
    module.def("phases", [] { return names(kPhaseNames); }, "Names of the phases of a location's time, by code.");
    module.attr("FINALIZE") = static_cast<int>(CallKind::finalize);
    nb::class_<Program>(module, "Program", "Calls, messages and collectives of a program, as the replay sees them.")
        .def("__init__", &make_program, "ticks_per_second"_a, "length_ps"_a, "callers"_a, "kinds"_a, "layouts"_a,
             "members"_a, "locations"_a, "calls"_a, "messages"_a, "unmatched"_a, "collectives"_a, "transfers"_a,
             "epochs"_a, "first_groups"_a = std::vector<std::uint32_t>{}, "most_ends"_a = std::size_t{INT32_MAX},
             "spill"_a.none() = nb::none(),
             nb::sig("def __init__(self, ticks_per_second: int, length_ps: int, callers: logpost.replay.columns.Int32, "
                     "kinds: list[int], "
                     "layouts: list[tuple[int, int, int]], members: list[list[int]], locations: "
                     "logpost.replay.columns.Piece, "
                     "calls: logpost.replay.columns.Pieces, "
                     "messages: logpost.replay.columns.Pieces, "
                     "unmatched: logpost.replay.columns.Pieces, "
                     "collectives: logpost.replay.columns.Pieces, "
                     "transfers: logpost.replay.columns.Pieces, "
                     "epochs: logpost.replay.columns.Pieces, first_groups: list[int] = ..., most_ends: int = ..., "
                     "spill: Spill | None = None) -> None"),
             "Tables are dictionaries of columns, or give such dictionaries piece by piece. `first_groups`: by "
             "communicator, how many of its members the first group of an inter-communicator has; 0: it is none. "
             "`most_ends`: no location has more messages. `spill`: where what exceeds memory is written.")
        .def_ro("length_ps", &Program::length_ps)
        .def("place", &place, "sockets"_a, "place_of_node"_a, "hops"_a,
             nb::sig("def place(self, sockets: numpy.ndarray, place_of_node: numpy.ndarray, hops: numpy.ndarray) "
                     "-> None"),
             "Says where it ran: the socket of every location, the place of every node on the network (-1: not known), "
             "and the hops between every two places, row by row.")
        .def("node_pairs", &pairs_of,
             nb::sig("def node_pairs(self) -> tuple[logpost.replay.columns.Int32, logpost.replay.columns.Int32]"),
             "The pairs of nodes that exchange messages: the senders' nodes and the receivers', ascending.")
        .def("set_network", &set_network, "sender"_a, "receiver"_a, "hops"_a, "dimensions"_a, "route_begin"_a,
             "route"_a, "links"_a, "byte_ps"_a, "narrow_byte_ps"_a, "dimension_byte_ps"_a, "channels"_a,
             nb::sig(
                 "def set_network(self, sender: logpost.replay.columns.Int32, receiver: logpost.replay.columns.Int32, "
                 "hops: logpost.replay.columns.Int32, dimensions: int, route_begin: logpost.replay.columns.Int64, "
                 "route: logpost.replay.columns.Int32, links: int, byte_ps: float, "
                 "narrow_byte_ps: logpost.replay.columns.Float64, dimension_byte_ps: logpost.replay.columns.Float64, "
                 "channels: float) -> None"),
             "Says which links messages between nodes take: for every pair of `node_pairs` its hops in each dimension "
             "of a grid and its links (from route_begin on in route), how long a byte occupies a link, and one that "
             "other traffic leaves less of (by link; empty: none), and the links of each dimension.")
        .def(
            "carry_out", &carry_out, "operation"_a, "comm"_a, "bytes"_a, "algorithm"_a, "instead"_a,
            nb::sig("def carry_out(self, operation: int, comm: int, bytes: int, algorithm: int, instead: int) -> None"),
            "Says by which algorithm a communicator's operations of the size class of so many bytes were carried out, "
            "and which other one explains them as well (0: none).")
        .def("excerpt", &excerpt, "messages"_a, nb::sig("def excerpt(self, messages: int) -> Program"),
             "The middle of it, of about so many messages, as a separate program.")
        .def("samples", &sample_columns, "limit"_a,
             nb::sig("def samples(self, limit: int) -> list[logpost.replay.columns.Samples]"),
             "Observations of LogGP parameters, a dict per locality class.");
}

}  // namespace logpost::replay::bindings
