#include "open_archive.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace logpost::assembler {
namespace {

constexpr std::uint64_t definition_chunk = 4ULL << 20;

// The usual one, and the least that libotf2 takes where a process has very many threads.
std::uint64_t event_chunk(std::size_t open_at_once) {
    constexpr std::size_t many = 256;
    return open_at_once > many ? OTF2_CHUNK_SIZE_MIN : OTF2_CHUNK_SIZE_EVENTS_DEFAULT;
}

OTF2_FlushType before_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
    return OTF2_FLUSH;
}

}  // namespace

void check(OTF2_ErrorCode code, const char* what) {
    if (code != OTF2_SUCCESS) {
        throw std::runtime_error(std::string("writing the archive failed (") + what +
                                 "): " + OTF2_Error_GetDescription(code));
    }
}

void set_property(OTF2_Archive* archive, const char* name, const std::string& value) {
    if (!value.empty()) {
        check(OTF2_Archive_SetProperty(archive, name, value.c_str(), true), name);
    }
}

OpenArchive::OpenArchive(const std::filesystem::path& directory, std::size_t open_at_once)
    : archive_(OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, event_chunk(open_at_once),
                                 definition_chunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)) {
    if (archive_ == nullptr) {
        throw std::runtime_error("cannot create an archive in " + directory.string());
    }
    static const OTF2_FlushCallbacks flush{before_flush, nullptr};
    try {
        check(OTF2_Archive_SetFlushCallbacks(archive_, &flush, nullptr), "flush callbacks");
        check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_), "collective callbacks");
    } catch (...) {
        OTF2_Archive_Close(archive_);
        throw;
    }
}

OpenArchive::~OpenArchive() {
    if (archive_ != nullptr) {
        OTF2_Archive_Close(archive_);
    }
}

void OpenArchive::finish() {
    check(OTF2_Archive_Close(std::exchange(archive_, nullptr)), "closing the archive");
}

}  // namespace logpost::assembler
