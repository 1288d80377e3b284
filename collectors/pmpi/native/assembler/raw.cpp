#include "raw.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace logpost::assembler {

std::string Record::text() const {
    const char* begin = reinterpret_cast<const char*>(data);
    return {begin, strnlen(begin, data_bytes)};
}

RawLog::RawLog(const std::filesystem::path& path) : path_(path.string()) {
    const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    struct stat info {};
    if (::fstat(fd, &info) == 0 && info.st_size >= LP_FILE_HEADER) {
        bytes_ = static_cast<std::size_t>(info.st_size);
        void* map = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            ::madvise(map, bytes_, MADV_SEQUENTIAL);
            data_ = static_cast<const std::byte*>(map);
            std::memcpy(&header_, data_, sizeof header_);
            usable_ = header_.magic == LP_MAGIC;
        }
    }
    ::close(fd);
}

RawLog::~RawLog() {
    if (data_ != nullptr) {
        ::munmap(const_cast<std::byte*>(data_), bytes_);
    }
}

RawLog::RawLog(RawLog&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      header_(other.header_),
      usable_(std::exchange(other.usable_, false)) {}

std::optional<Record> RawLog::next(std::size_t& offset) const {
    const std::size_t at = offset < LP_FILE_HEADER ? std::size_t{LP_FILE_HEADER} : offset;
    if (!usable_ || at + sizeof(lp_head) > bytes_) {
        return std::nullopt;
    }
    Record record{};
    std::memcpy(&record.head, data_ + at, sizeof record.head);
    const std::size_t size = record.head.bytes;
    if (record.head.kind == LP_END || size < sizeof(lp_head) || size % 8 != 0 || size > bytes_ - at) {
        return std::nullopt;
    }
    record.data = data_ + at + sizeof(lp_head);
    record.data_bytes = size - sizeof(lp_head);
    offset = at + size;
    return record;
}

std::map<std::string, std::string> key_values(const std::string& text) {
    std::map<std::string, std::string> found;
    std::size_t begin = 0;
    while (begin < text.size()) {
        std::size_t end = text.find('\n', begin);
        if (end == std::string::npos) {
            end = text.size();
        }
        const std::string line = text.substr(begin, end - begin);
        const std::size_t equals = line.find('=');
        if (equals != std::string::npos) {
            found[line.substr(0, equals)] = line.substr(equals + 1);
        }
        begin = end + 1;
    }
    return found;
}

}  // namespace logpost::assembler
