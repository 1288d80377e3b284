#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "analyzer/archive/native/python/bindings.hpp"
#include "analyzer/archive/native/read/account_blocks.hpp"
#include "analyzer/archive/native/read/read_program.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "analyzer/archive/native/read/split_blocks.hpp"
#include "analyzer/archive/native/read/table_blocks.hpp"
#include "analyzer/archive/native/read/tasks.hpp"
#include "replay/native/python/row_columns.hpp"

namespace logpost::analyzer::bindings {

using namespace nb::literals;
namespace {

/// Whatever a task does, events read or bytes written, is progress.
Shards watched(Shards shards, Progress& progress) {
    shards.progress = &progress.events;
    return shards;
}

using FileBytes = replay::bindings::In<std::uint8_t>;

nb::object next_messages(TablePart& part) {
    replay::MessageRows rows;
    bool more = false;
    {
        const nb::gil_scoped_release release;
        more = part.next_messages(rows);
    }
    return more ? nb::object(replay::bindings::message_columns(std::move(rows))) : nb::none();
}

nb::object next_calls(TablePart& part, std::size_t limit) {
    replay::CallRows rows;
    bool more = false;
    {
        const nb::gil_scoped_release release;
        more = part.next_calls(limit, rows);
    }
    return more ? nb::object(replay::bindings::call_columns(std::move(rows))) : nb::none();
}

TableOfRows table_named(const std::string& name) {
    if (name != "messages" && name != "calls") {
        throw std::invalid_argument("no such table is written in parts");
    }
    return name == "calls" ? TableOfRows::calls : TableOfRows::messages;
}

/// What was said of a table, and the bytes of its file, in place.
nb::tuple table_of_part(const Shards& shards, std::uint32_t part, const std::string& table) {
    auto found = written_table(shards, part, table_named(table));
    const auto* data = reinterpret_cast<const std::uint8_t*>(found.rows.data());
    nb::capsule file(new std::shared_ptr<const void>(std::move(found.file)),
                     [](void* kept) noexcept { delete static_cast<std::shared_ptr<const void>*>(kept); });
    return nb::make_tuple(nb::bytes(found.said.data(), found.said.size()),
                          nb::ndarray<nb::numpy, const std::uint8_t>(data, {found.rows.size()}, file));
}

void bind_tables(nb::module_& module) {
    nb::class_<TablePart>(module, "TablePart", "A part of the tables of messages and calls, in batches.")
        .def_prop_ro("has_rows", &TablePart::has_rows, "Before any was given: whether the part has any.")
        .def("next_messages", &next_messages,
             nb::sig("def next_messages(self) -> logpost.replay.columns.Messages | None"), "One row group.")
        .def("next_calls", &next_calls, "limit"_a,
             nb::sig("def next_calls(self, limit: int) -> logpost.replay.columns.Calls | None"),
             "One row group of at most `limit` rows.")
        .def(
            "finish",
            [](const TablePart& part, const nb::bytes& said, const FileBytes& messages, const FileBytes& calls) {
                const auto view = [](const FileBytes& bytes) {
                    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                };
                const TablePart::Table of_messages{{said.c_str(), said.size()}, view(messages)};
                const TablePart::Table of_calls{{}, view(calls)};
                const nb::gil_scoped_release release;
                part.finish(of_messages, of_calls);
            },
            "said"_a, "messages"_a, "calls"_a,
            nb::sig("def finish(self, said: bytes, messages: numpy.ndarray, calls: numpy.ndarray) -> None"),
            "Writes the file of the part: what is said of its messages, and the bytes of both tables' files. Raises "
            "ArchiveError.")
        .def(
            "finish_empty", [](const TablePart& part) { part.finish({"{}", {}}, {}); },
            nb::call_guard<nb::gil_scoped_release>(),
            "Likewise of a part without rows, whose tables have no files. Raises ArchiveError.");
    module.def(
        "begin_tables",
        [](const Shards& shards, std::uint32_t part, std::size_t message_rows, Progress& progress) {
            const nb::gil_scoped_release release;
            return TablePart::begin(watched(shards, progress), part, message_rows);
        },
        "shards"_a, "part"_a, "message_rows"_a, "progress"_a, nb::keep_alive<0, 4>(),
        nb::sig("def begin_tables(shards: Shards, part: int, message_rows: int, progress: Progress) "
                "-> TablePart | None"),
        "A part of the tables, where `tables_are_written`; None: its file is whole. `message_rows`: of a row group. "
        "Raises ArchiveError.");
    module.def("tables_are_written", &tables_are_written, "shards"_a, nb::call_guard<nb::gil_scoped_release>(),
               "Whether tasks write the tables of messages and calls. Raises ArchiveError.");
    module.def("written_table", &table_of_part, "shards"_a, "part"_a, "table"_a,
               nb::sig("def written_table(shards: Shards, part: int, table: str) "
                       "-> tuple[bytes, numpy.ndarray]"),
               "What was said of a part of a table, and the bytes of its file. Raises ArchiveError.");
}

}  // namespace

void bind_shards(nb::module_& module) {
    nb::class_<Shards>(module, "Shards", "An archive that is read by several processes.")
        .def(
            "__init__",
            [](Shards* self, const std::filesystem::path& folder, std::uint32_t blocks, std::uint64_t plan,
               std::uint64_t split) { new (self) Shards{folder, blocks, plan, split}; },
            "folder"_a, "blocks"_a, "plan"_a, "split"_a,
            nb::sig("def __init__(self, folder: str | os.PathLike[str], blocks: int, plan: int, split: int) -> None"));
    module.def(
        "run_task",
        [](const std::filesystem::path& archive, const Shards& shards, const std::string& stage, std::uint32_t block,
           ClockMode clock, Progress& progress) {
            const nb::gil_scoped_release release;
            ReadOptions options;
            options.events_read = &progress.events;
            options.declared_events = &progress.declared;
            options.threads = 1;
            options.correction.offsets = clock != ClockMode::none;
            return run_task(archive, watched(shards, progress), stage, block, options);
        },
        "archive"_a, "shards"_a, "stage"_a, "block"_a, "clock"_a, "progress"_a,
        nb::sig("def run_task(archive: str | os.PathLike[str], shards: Shards, stage: str, block: int, "
                "clock: ClockMode, progress: Progress) -> bool"),
        "Writes the files of a stage and block. False: they were whole. Raises ArchiveError.");
    module.attr("ROUNDS") = replay::MessageModel::kRounds;
    module.def(
        "is_chosen", [](const Shards& shards, Progress& progress) { return is_chosen(watched(shards, progress)); },
        "shards"_a, "progress"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Whether what all blocks' replays need is written down.");
    module.def(
        "map_blocks",
        [](const std::filesystem::path& archive, const Shards& shards, Progress& progress) {
            return map_blocks(archive, watched(shards, progress));
        },
        "archive"_a, "shards"_a, "progress"_a, nb::call_guard<nb::gil_scoped_release>(),
        nb::sig("def map_blocks(archive: str | os.PathLike[str], shards: Shards, progress: Progress) -> Trace"),
        "The trace of all blocks, for choose_split: what is not needed of it is not read. Raises ArchiveError.");
    module.def(
        "choose_split",
        [](const Trace& trace, const replay::Parameters& parameters, const nb::bytes& machine, const Shards& shards,
           Progress& progress) {
            const std::string said(machine.c_str(), machine.size());
            const nb::gil_scoped_release release;
            choose_split(trace, parameters, said, watched(shards, progress));
        },
        "trace"_a, "parameters"_a, "machine"_a, "shards"_a, "progress"_a,
        nb::sig("def choose_split(trace: Trace, parameters: logpost.replay._native.Parameters, machine: bytes, "
                "shards: Shards, progress: Progress) -> None"),
        "Writes down what all blocks' replays need. Raises ArchiveError.");
    module.def(
        "chosen_machine",
        [](const Shards& shards) {
            const auto machine = chosen_machine(shards);
            return nb::bytes(machine.data(), machine.size());
        },
        "shards"_a, "The machine that choose_split was given. Raises ArchiveError.");
    module.def("found_causes", &found_causes, "trace"_a, "shards"_a, nb::call_guard<nb::gil_scoped_release>(),
               nb::keep_alive<0, 1>(),
               nb::sig("def found_causes(trace: Trace, shards: Shards) -> logpost.replay._native.Causes | None"),
               "What a task found of a trace's waits; None: it has other times. Raises ArchiveError.");
    module.def(
        "replayed_blocks", &replayed_blocks, "trace"_a, "shards"_a, nb::call_guard<nb::gil_scoped_release>(),
        nb::sig("def replayed_blocks(trace: Trace, shards: Shards) -> logpost.replay._native.ReplayedBlocks | None"),
        "What blocks found of a trace's messages; None: they share NICs. Raises ArchiveError.");
    bind_tables(module);
}

}  // namespace logpost::analyzer::bindings
