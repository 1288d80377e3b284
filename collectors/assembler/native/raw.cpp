#include "raw.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace logpost::assembler {

std::string Record::text() const {
    const char* begin = reinterpret_cast<const char*>(data);
    return {begin, strnlen(begin, data_bytes)};
}

Mapping::Mapping(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    struct stat info{};
    if (::fstat(fd, &info) == 0 && info.st_size > 0) {
        size_ = static_cast<std::size_t>(info.st_size);
        void* map = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            ::madvise(map, size_, MADV_SEQUENTIAL);
            data_ = static_cast<const std::byte*>(map);
        } else {
            size_ = 0;
        }
    }
    ::close(fd);
}

Mapping::~Mapping() {
    if (data_ != nullptr) {
        ::munmap(const_cast<std::byte*>(data_), size_);
    }
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

lp_file_header Mapping::header() const {
    lp_file_header header{};
    if (size_ >= sizeof header) {
        std::memcpy(&header, data_, sizeof header);
    }
    return header;
}

RawLog::RawLog(const std::filesystem::path& path)
    : path_(path.string()),
      log_(path_),
      window_(std::filesystem::path(path).replace_extension(".window").string()),
      header_(log_.header()),
      flushed_(log_.size()) {
    const lp_file_header window = window_.header();
    if (window.magic == LP_MAGIC && window.process == header_.process) {
        const std::uint64_t flushed = window.flushed & ~std::uint64_t{LP_WINDOW_IS_STALE};
        window_counts_ = (window.flushed & LP_WINDOW_IS_STALE) == 0 && flushed <= log_.size();
        flushed_ = std::min<std::size_t>(flushed_, flushed);
    }
}

std::optional<Record> RawLog::next(std::size_t& offset) const {
    const std::size_t place = std::max<std::size_t>(offset, LP_FILE_HEADER);
    // Offsets beyond the flushed part count on in the window.
    const bool in_window = window_counts_ && place >= flushed_;
    const Mapping& part = in_window ? window_ : log_;
    const std::size_t at = in_window ? place - flushed_ + LP_FILE_HEADER : place;
    const std::size_t end = in_window ? window_.size() : flushed_;
    if (!usable() || at + sizeof(lp_head) > end) {
        return std::nullopt;
    }
    Record record{};
    std::memcpy(&record.head, part.data() + at, sizeof record.head);
    const std::size_t size = record.head.words * std::size_t{8};
    if (record.head.kind == LP_END || size < sizeof(lp_head) || size > end - at) {
        return std::nullopt;
    }
    record.data = part.data() + at + sizeof(lp_head);
    record.data_bytes = size - sizeof(lp_head);
    offset = place + size;
    return record;
}

std::optional<lp_open> RawLog::opened_last() const {
    const lp_file_header window = window_.header();
    lp_open call{};
    if (window.magic != LP_MAGIC || window.process != header_.process || window.open < LP_FILE_HEADER ||
        window_.size() < sizeof call || window.open > window_.size() - sizeof call) {
        return std::nullopt;
    }
    std::memcpy(&call, window_.data() + window.open, sizeof call);
    return call.enter != 0 ? std::optional(call) : std::nullopt;
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
