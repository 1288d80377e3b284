#pragma once

#include <filesystem>

#include "analyzer/archive/native/read/read.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// Reads an archive into a trace whose `program` the replay works on, with its clocks corrected as far as `mode` says.
///
/// A logical clock needs the whole program to compute its corrections: where it has any, the archive is read a second
/// time, so that profiles and user regions have them as well. Throws ArchiveError.
Trace read_program(const std::filesystem::path& anchor, ReadOptions options, ClockMode mode);

}  // namespace logpost::analyzer
