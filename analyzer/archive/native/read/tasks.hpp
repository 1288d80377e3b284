#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "analyzer/archive/native/read/read.hpp"
#include "analyzer/archive/native/read/shards.hpp"

namespace logpost::analyzer {

/// One task of an archive (docs/scale.md) by the name of its stage, but for the one that chooses the machine. False:
/// its files were whole. Throws ArchiveError; std::invalid_argument where there is no such stage.
bool run_task(const std::filesystem::path& archive, const Shards& shards, std::string_view stage, std::uint32_t block,
              const ReadOptions& options);

}  // namespace logpost::analyzer
