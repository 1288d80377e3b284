#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>

#include "analyzer/archive/native/python/bindings.hpp"
#include "analyzer/archive/native/read/read_program.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "analyzer/archive/native/read/split_blocks.hpp"

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
        "decode_block",
        [](const std::filesystem::path& archive, const Shards& shards, std::uint32_t block, unsigned threads,
           ClockMode clock, Progress& progress) {
            const nb::gil_scoped_release release;
            ReadOptions options;
            options.events_read = &progress.events;
            options.declared_events = &progress.declared;
            options.threads = threads;
            options.correction.offsets = clock != ClockMode::none;
            return decode_block(find_anchor(archive), watched(shards, progress), block, options);
        },
        "archive"_a, "shards"_a, "block"_a, "threads"_a, "clock"_a, "progress"_a,
        nb::sig("def decode_block(archive: str | os.PathLike[str], shards: Shards, block: int, threads: int, "
                "clock: ClockMode, progress: Progress) -> bool"),
        "Writes the files of one block. False: they were whole. Raises ArchiveError.");
    module.def(
        "number_blocks",
        [](const std::filesystem::path& archive, const Shards& shards, Progress& progress) {
            return number_blocks(find_anchor(archive), watched(shards, progress));
        },
        "archive"_a, "shards"_a, "progress"_a, nb::call_guard<nb::gil_scoped_release>(),
        nb::sig("def number_blocks(archive: str | os.PathLike[str], shards: Shards, progress: Progress) -> bool"),
        "Numbers what all blocks have in common. False: its file was whole. Raises ArchiveError.");
    module.def(
        "join_block",
        [](const std::filesystem::path& archive, const Shards& shards, std::uint32_t block, Progress& progress) {
            return join_block(find_anchor(archive), watched(shards, progress), block);
        },
        "archive"_a, "shards"_a, "block"_a, "progress"_a, nb::call_guard<nb::gil_scoped_release>(),
        nb::sig("def join_block(archive: str | os.PathLike[str], shards: Shards, block: int, progress: Progress) -> "
                "bool"),
        "Puts a block together as the analysis has it. False: its file was whole. Raises ArchiveError.");
    module.def(
        "match_block",
        [](const Shards& shards, std::uint32_t block, Progress& progress) {
            return match_block(watched(shards, progress), block);
        },
        "shards"_a, "block"_a, "progress"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Pairs what other blocks sent to this one. False: its file was whole. Raises ArchiveError.");
    module.attr("ROUNDS") = replay::MessageModel::kRounds;
    module.def(
        "is_chosen", [](const Shards& shards, Progress& progress) { return is_chosen(watched(shards, progress)); },
        "shards"_a, "progress"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Whether what all blocks' replays need is written down.");
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
    module.def(
        "leave_block",
        [](const Shards& shards, int round, std::uint32_t block, Progress& progress) {
            return leave_block(watched(shards, progress), round, block);
        },
        "shards"_a, "round"_a, "block"_a, "progress"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Replays a block's sending NICs. False: its file was whole. Raises ArchiveError.");
    module.def(
        "reply_block",
        [](const Shards& shards, int round, std::uint32_t block, Progress& progress) {
            return reply_block(watched(shards, progress), round, block);
        },
        "shards"_a, "round"_a, "block"_a, "progress"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Replays a block's receiving NICs and processors. False: its files were whole. Raises ArchiveError.");
    module.def(
        "replayed_blocks", &replayed_blocks, "trace"_a, "shards"_a, nb::call_guard<nb::gil_scoped_release>(),
        nb::sig("def replayed_blocks(trace: Trace, shards: Shards) -> logpost.replay._native.ReplayedBlocks | None"),
        "What blocks found of a trace's messages; None: they share NICs. Raises ArchiveError.");
}

}  // namespace logpost::analyzer::bindings
