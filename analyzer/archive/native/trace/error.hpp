#pragma once

#include <stdexcept>

namespace logpost::analyzer {

/// Thrown for an archive that cannot be read at all. The message is one line: what, which file, the way out.
class ArchiveError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace logpost::analyzer
