#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "analyzer/archive/native/python/bindings.hpp"
#include "analyzer/archive/native/read/account_blocks.hpp"
#include "analyzer/archive/native/read/read_program.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "analyzer/archive/native/read/split_blocks.hpp"
#include "analyzer/archive/native/read/tasks.hpp"

namespace logpost::analyzer::bindings {

using namespace nb::literals;
namespace {

/// Whatever a task does, events read or bytes written, is progress.
Shards watched(Shards shards, Progress& progress) {
    shards.progress = &progress.events;
    return shards;
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
}

}  // namespace logpost::analyzer::bindings
