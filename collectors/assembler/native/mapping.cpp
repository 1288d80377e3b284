#include "mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

namespace logpost::assembler {

namespace {

class Descriptor {
  public:
    explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~Descriptor() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor(Descriptor&&) = delete;
    Descriptor& operator=(Descriptor&&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

// As many bytes as the file still has, at most `size`.
std::size_t read_whole(int fd, std::byte* to, std::size_t size, const std::string& path) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got = ::read(fd, to + done, size - done);
        if (got == 0) {
            break;
        }
        if (got > 0) {
            done += static_cast<std::size_t>(got);
        } else if (errno != EINTR) {
            throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
        }
    }
    return done;
}

}  // namespace

Mapping::Mapping(const std::string& path) {
    const Descriptor file(path);
    struct stat info{};
    if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || info.st_size <= 0) {
        return;
    }
    size_ = static_cast<std::size_t>(info.st_size);
    void* map = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (map != MAP_FAILED) {
        ::madvise(map, size_, MADV_SEQUENTIAL);
        data_ = static_cast<const std::byte*>(map);
        return;
    }
    // A process has a limited number of maps (vm.max_map_count), a job may have more logs.
    read_.reset(new (std::nothrow) std::byte[size_]);
    if (read_ == nullptr) {
        throw std::runtime_error("no memory for " + path + ": " + std::to_string(size_) + " bytes");
    }
    size_ = read_whole(file.get(), read_.get(), size_, path);
    data_ = read_.get();
}

Mapping::~Mapping() {
    if (data_ != nullptr && read_ == nullptr) {
        ::munmap(const_cast<std::byte*>(data_), size_);
    }
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), read_(std::move(other.read_)) {}

lp_file_header Mapping::header() const {
    lp_file_header header{};
    if (size_ >= sizeof header) {
        std::memcpy(&header, data_, sizeof header);
    }
    return header;
}

}  // namespace logpost::assembler
