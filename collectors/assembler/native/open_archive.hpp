// An OTF2 archive while it is written by one process.
#pragma once

#include <otf2/otf2.h>

#include <cstddef>
#include <filesystem>
#include <string>

namespace logpost::assembler {

// Throws std::runtime_error with OTF2's description when a call failed.
void check(OTF2_ErrorCode code, const char* what);

// Notes what a reader may ask for by name. What is empty is not noted: libotf2 takes an empty value for a removal.
void set_property(OTF2_Archive* archive, const char* name, const std::string& value);

class OpenArchive {
  public:
    // `open_at_once`: the most locations whose events are written side by side; a chunk of each is held in memory.
    // Throws std::runtime_error when the archive cannot be created.
    OpenArchive(const std::filesystem::path& directory, std::size_t open_at_once);
    ~OpenArchive();
    OpenArchive(const OpenArchive&) = delete;
    OpenArchive& operator=(const OpenArchive&) = delete;

    OTF2_Archive* get() const { return archive_; }

    // Completes the archive; one that is never finished is closed without a word of what that said.
    void finish();

  private:
    OTF2_Archive* archive_;
};

}  // namespace logpost::assembler
