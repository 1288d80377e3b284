#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "analyzer/archive/native/clocks/clock_correction.hpp"
#include "analyzer/archive/native/trace/error.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

struct Shards;

struct ReadOptions {
    unsigned threads = 0;  // 0: as many as the machine has
    /// Grows while events are read: for a progress bar (with `declared_events`) and for a watchdog.
    std::atomic<std::uint64_t>* events_read = nullptr;
    /// Grows once, after the definitions are read: by the events that the archive declares.
    std::atomic<std::uint64_t>* declared_events = nullptr;
    /// Set by the caller to stop early; the reader then throws ArchiveError.
    const std::atomic<bool>* cancel = nullptr;
    ClockCorrection correction{};
    /// The file for what exceeds the memory; null: nothing does.
    std::shared_ptr<replay::Spill> spill = nullptr;
    /// Where other processes have decoded and matched the archive; nullptr: this one does.
    const Shards* shards = nullptr;
};

/// The anchor file of an archive, given as itself or as its directory. Throws ArchiveError.
std::filesystem::path find_anchor(const std::filesystem::path& path);

/// Reads a whole archive: decodes every location, folds the profile, matches messages, groups collectives.
/// Throws ArchiveError where nothing can be read, SpillError where the disk is full; everything less is a counter in
/// Trace::quality.
Trace read_archive(const std::filesystem::path& anchor, const ReadOptions& options = {});

}  // namespace logpost::analyzer
