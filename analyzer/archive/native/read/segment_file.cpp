#include "analyzer/archive/native/read/segment_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "analyzer/archive/native/trace/error.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMagic = 0x32'64'72'61'68'73'70'6cULL;  // "lpshard2"; bytes in another order are another file
constexpr std::uint64_t kMostSegments = std::uint64_t{1} << 32;
// What a disk of 1 MB/s takes within a watchdog's patience, and few enough syncs to cost nothing on a fast one.
constexpr std::uint64_t kSyncBytes = std::uint64_t{128} << 20;
constexpr std::size_t kWriteBytes = std::size_t{8} << 20;

std::uint64_t checksum(const char* bytes, std::size_t n) noexcept {
    std::uint64_t sum = n ^ 0x9E3779B97F4A7C15ULL;
    for (; n >= 8; n -= 8, bytes += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, 8);
        sum = (sum ^ word) * 0xC2B2AE3D27D4EB4FULL;
        sum ^= sum >> 29;
    }
    std::uint64_t last = 0;
    if (n != 0) {
        std::memcpy(&last, bytes, n);
    }
    sum = (sum ^ last) * 0x9E3779B97F4A7C15ULL;
    return sum ^ (sum >> 32);
}

template <std::size_t N>
std::uint64_t checksum(const std::array<std::uint64_t, N>& words) noexcept {
    return checksum(reinterpret_cast<const char*>(words.data()), sizeof(words));
}

/// Of a segment, its place, and the file that it belongs to.
std::uint64_t checksum(std::uint64_t plan, std::uint64_t number, std::uint64_t offset, std::span<const char> bytes) {
    return checksum(std::array{plan, number, offset, checksum(bytes.data(), bytes.size())});
}

constexpr std::size_t kHead = 4;   // words
constexpr std::size_t kEntry = 3;  // words

/// False: the file ends before, or cannot be read.
bool read_at(int descriptor, char* to, std::size_t n, std::uint64_t offset) {
    while (n != 0) {
        const auto got = ::pread(descriptor, to, n, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        to += got;
        n -= static_cast<std::size_t>(got);
        offset += static_cast<std::uint64_t>(got);
    }
    return true;
}

}  // namespace

void SegmentView::too_short() const {
    throw ArchiveError(name_ + ": ends too early; remove the file, and run the same command again");
}

SegmentWriter::SegmentWriter(fs::path file, std::uint64_t plan, std::size_t segments, std::string what,
                             std::atomic<std::uint64_t>* progress)
    : file_(std::move(file)), temporary_(file_.string() + ".XXXXXX"), what_(std::move(what)), progress_(progress) {
    head_.assign(kHead + kEntry * segments, 0);
    head_[0] = kMagic;
    head_[1] = plan;
    head_[2] = segments;
    head_[3] = checksum(std::array{head_[0], head_[1], head_[2]});
    end_ = head_.size() * sizeof(std::uint64_t);
    descriptor_ = ::mkstemp(temporary_.data());
    if (descriptor_ < 0 || ::lseek(descriptor_, static_cast<off_t>(end_), SEEK_SET) < 0) {
        fail(errno);
    }
}

SegmentWriter::~SegmentWriter() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
        ::unlink(temporary_.c_str());
    }
}

void SegmentWriter::fail(int error) const {
    throw ArchiveError(what_ + " cannot be written to " + file_.string() + " (" +
                       std::generic_category().message(error) +
                       "); fix that, and run the same command again: it continues from the blocks that are whole");
}

void SegmentWriter::write(const char* bytes, std::size_t n) {
    while (n != 0) {
        const auto done = ::write(descriptor_, bytes, std::min(n, kWriteBytes));
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            fail(errno);
        }
        bytes += done;
        n -= static_cast<std::size_t>(done);
        unsynced_ += static_cast<std::uint64_t>(done);
        if (unsynced_ >= kSyncBytes) {
            sync();
        }
        if (progress_ != nullptr) {
            progress_->fetch_add(1, std::memory_order_relaxed);
        }
    }
}

void SegmentWriter::sync() {
    if (::fsync(descriptor_) != 0) {
        fail(errno);
    }
    unsynced_ = 0;
}

void SegmentWriter::add(const SegmentBytes& segment) {
    const auto& bytes = segment.bytes();
    if (const auto beyond = end_ % replay::kCacheLine; segment.is_mapped() && beyond != 0) {
        static constexpr std::array<char, replay::kCacheLine> kPadding{};
        write(kPadding.data(), replay::kCacheLine - beyond);
        end_ += replay::kCacheLine - beyond;
    }
    auto* entry = &head_.at(kHead + kEntry * added_);
    entry[0] = end_;
    entry[1] = bytes.size();
    entry[2] = checksum(head_[1], added_++, end_, bytes);
    write(bytes.data(), bytes.size());
    end_ += bytes.size();
}

void SegmentWriter::finish() {
    if (::lseek(descriptor_, 0, SEEK_SET) < 0) {
        fail(errno);
    }
    write(reinterpret_cast<const char*>(head_.data()), head_.size() * sizeof(std::uint64_t));
    sync();
    if (::close(std::exchange(descriptor_, -1)) != 0 || ::rename(temporary_.c_str(), file_.c_str()) != 0) {
        const auto error = errno;
        ::unlink(temporary_.c_str());
        fail(error);
    }
}

SegmentReader::SegmentReader(fs::path file, std::uint64_t plan) : file_(std::move(file)), plan_(plan) {
    descriptor_ = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
        throw ArchiveError(file_.string() + ": " + std::generic_category().message(errno) +
                           "; run the same command again");
    }
    std::array<std::uint64_t, kHead> head{};
    std::error_code no_size;
    size_ = fs::file_size(file_, no_size);
    if (no_size || !read_at(descriptor_, reinterpret_cast<char*>(head.data()), sizeof(head), 0) || head[0] != kMagic ||
        head[1] != plan || head[2] > kMostSegments || head[3] != checksum(std::array{head[0], head[1], head[2]}) ||
        (kHead + kEntry * head[2]) * sizeof(std::uint64_t) > size_) {
        damaged();
    }
    segments_ = head[2];
}

SegmentReader::~SegmentReader() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void SegmentReader::damaged() const {
    if (descriptor_ >= 0) {
        ::close(descriptor_);  // the constructor's caller gets no object
    }
    throw ArchiveError(file_.string() + ": damaged, or of another analysis; run the same command again");
}

void SegmentReader::segment_damaged() const {
    throw ArchiveError(file_.string() + ": damaged; run the same command again");
}

SegmentReader::Place SegmentReader::place(std::size_t i) const {
    std::array<std::uint64_t, kEntry> entry{};
    if (i >= segments_ || !read_at(descriptor_, reinterpret_cast<char*>(entry.data()), sizeof(entry),
                                   (kHead + kEntry * i) * sizeof(std::uint64_t))) {
        segment_damaged();
    }
    const auto [offset, bytes, sum] = entry;
    if (offset > size_ || bytes > size_ - offset) {
        segment_damaged();
    }
    return {offset, bytes, sum};
}

void release_mapped(const void* memory, std::size_t bytes) noexcept {
    if (bytes == 0) {
        return;
    }
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(memory) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

SegmentView SegmentReader::segment(std::size_t i) const {
    const auto at = place(i);
    std::vector<char> bytes(at.bytes);
    if (!read_at(descriptor_, bytes.data(), at.bytes, at.offset) || checksum(plan_, i, at.offset, bytes) != at.sum) {
        segment_damaged();
    }
    return {std::move(bytes), file_.string()};
}

std::shared_ptr<const void> SegmentReader::map() {
    void* const memory = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) {
        throw ArchiveError(file_.string() + ": cannot be mapped into memory (" +
                           std::generic_category().message(errno) + "); run the same command again");
    }
    memory_ = static_cast<const char*>(memory);
    return {memory, [n = size_](void* mapped) { ::munmap(mapped, n); }};
}

std::span<const char> SegmentReader::mapped(std::size_t i, bool checked) const {
    const auto at = place(i);
    const std::span bytes(memory_ + at.offset, at.bytes);
    if (checked) {
        const bool sound = checksum(plan_, i, at.offset, bytes) == at.sum;
        release_mapped(bytes.data(), bytes.size());
        if (!sound) {
            segment_damaged();
        }
    }
    return bytes;
}

bool SegmentReader::whole(const fs::path& file, std::uint64_t plan, std::atomic<std::uint64_t>* progress) {
    try {
        const SegmentReader reader(file, plan);
        for (std::size_t i = 0; i < reader.segments(); ++i) {
            static_cast<void>(reader.segment(i));
            if (progress != nullptr) {
                progress->fetch_add(1, std::memory_order_relaxed);
            }
        }
        return true;
    } catch (const ArchiveError&) {
        return false;
    }
}

}  // namespace logpost::analyzer
