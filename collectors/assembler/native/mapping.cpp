#include "mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace logpost::assembler {

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

}  // namespace logpost::assembler
