// logpost-assemble --gasnet NEW_DIRECTORY FILE...: an archive of GASNet's own text traces.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace logpost::assembler::gasnet {

// Writes the archive into `directory`, which must not exist, and a summary as JSON to `out`. Throws
// std::runtime_error with a line for the user.
void import(const std::filesystem::path& directory, const std::vector<std::string>& paths, std::ostream& out);

}  // namespace logpost::assembler::gasnet
