#include <nanobind/stl/filesystem.h>

#include "analyzer/archive/native/python/bindings.hpp"
#include "analyzer/archive/native/read/read_program.hpp"
#include "analyzer/archive/native/read/shards.hpp"

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
            [](Shards* self, const std::filesystem::path& folder, std::uint32_t blocks, std::uint64_t plan) {
                new (self) Shards{folder, blocks, plan};
            },
            "folder"_a, "blocks"_a, "plan"_a,
            nb::sig("def __init__(self, folder: str | os.PathLike[str], blocks: int, plan: int) -> None"));
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
}

}  // namespace logpost::analyzer::bindings
