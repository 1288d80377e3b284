#include "replay/native/memory/spill.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "replay/native/memory/pages.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace logpost::replay {
namespace {

constexpr std::size_t kStored = std::size_t{64} << 20U;  // bytes of a region that `store` fills
constexpr std::size_t kPiece = std::size_t{16} << 20U;   // released between two looks at the resident memory
constexpr std::chrono::milliseconds kLook{10};           // between two looks of the thread that does nothing else
constexpr std::chrono::microseconds kPause{200};         // and of one that works: by then, it has mapped a few MB
constexpr std::chrono::seconds kTrim{2};                 // between two walks through the heap, which stop all others

struct Resident {
    std::uint64_t all;
    std::uint64_t unreleasable;  // all without mapped files
};

std::uint64_t page_bytes() noexcept {
    static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

/// Of this process; nothing where the system does not say.
std::optional<Resident> resident(int statm) noexcept {
    std::array<char, 128> text{};
    const auto n = pread(statm, text.data(), text.size(), 0);
    std::array<std::uint64_t, 3> pages{};  // size, resident, resident of files
    const char* at = text.data();
    const char* const end = at + std::max<ssize_t>(n, 0);
    for (auto& value : pages) {
        const auto [behind, error] = std::from_chars(at, end, value);
        if (error != std::errc{}) {
            return std::nullopt;
        }
        at = behind == end ? end : behind + 1;
    }
    return Resident{pages[1] * page_bytes(), (pages[1] - std::min(pages[1], pages[2])) * page_bytes()};
}

std::string megabytes(std::uint64_t bytes) {
    return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

bool is_memory(const struct statfs& system) noexcept {
    constexpr std::array<decltype(statfs::f_type), 2> kMagic{0x01021994, 0x858458f6};  // tmpfs, ramfs: linux/magic.h
    return std::ranges::find(kMagic, system.f_type) != kMagic.end();
}

/// That `look` knows.
std::mutex known_mutex;
std::vector<Spill*> known;

}  // namespace

std::atomic<unsigned> Spill::registered_{0};

bool is_in_memory(std::filesystem::path directory) {
    std::error_code error;
    while (!std::filesystem::exists(directory, error) && directory.has_relative_path()) {
        directory = directory.parent_path();
    }
    struct statfs system{};
    return statfs(directory.c_str(), &system) == 0 && is_memory(system);
}

Spill::Spill(std::filesystem::path directory, std::uint64_t limit_bytes, bool in_memory)
    : directory_(std::move(directory)),
      limit_(limit_bytes),
      in_memory_(in_memory),
      statm_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

Spill::~Spill() {
    watcher_ = {};
    registration_.reset();  // from here on, no other thread looks at it
    for (const auto& region : regions_) {
        munmap(region.memory, region.bytes);
    }
    for (const int descriptor : {file_, statm_}) {
        if (descriptor >= 0) {
            close(descriptor);
        }
    }
}

bool Spill::wants(std::size_t bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    // A look costs as much as a small array: not before what was taken since is worth it.
    since_ += std::min<std::uint64_t>(bytes, UINT64_MAX - since_);
    if (since_ > limit_ / 64) {
        const auto now = resident(statm_);
        unreleasable_ = now ? now->unreleasable : 0;
        since_ = bytes;
    }
    return unreleasable_ + since_ > limit_ / 4;
}

/// O_TMPFILE where the file system has it; else a name that is removed at once.
void Spill::open() {
    std::error_code exists;  // if not, opening the file says so
    std::filesystem::create_directories(directory_, exists);
    file_ = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file_ < 0) {
        auto name = (directory_ / ".spill.XXXXXX").string();
        file_ = mkostemp(name.data(), O_CLOEXEC);
        if (file_ >= 0) {
            unlink(name.c_str());
        }
    }
    if (file_ < 0) {
        throw SpillError(directory_.string() + ": what exceeds the limit of memory cannot be written there: " +
                         std::strerror(errno) + "; name another folder with --spill, or raise --memory");
    }
    if (!in_memory_ && is_in_memory(directory_)) {
        close(std::exchange(file_, -1));
        throw SpillError(directory_.string() +
                         " is in memory (tmpfs), where what exceeds the limit of memory would not leave it; name a "
                         "folder on a disk with --spill, or raise --memory");
    }
    watcher_ = std::jthread([this](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (!stop_.wait_for(lock, stop, kLook, [&] { return stop.stop_requested(); })) {
            release();
        }
    });
}

void Spill::look_at_all() noexcept {
    thread_local std::chrono::steady_clock::time_point last;
    const auto now = std::chrono::steady_clock::now();
    if (now - last < kPause) {
        return;
    }
    last = now;
    const std::scoped_lock all(known_mutex);
    for (auto* spill : known) {
        const std::scoped_lock lock(spill->mutex_);
        spill->release();
    }
}

Spill::Registration::Registration(Spill* spill) : spill_(spill) {
    if (spill_ != nullptr) {
        const std::scoped_lock lock(known_mutex);
        known.push_back(spill_);
        registered_.store(static_cast<unsigned>(known.size()), std::memory_order_relaxed);
    }
}

Spill::Registration::~Registration() {
    if (spill_ != nullptr) {
        const std::scoped_lock lock(known_mutex);
        known.erase(std::ranges::find(known, spill_));
        registered_.store(static_cast<unsigned>(known.size()), std::memory_order_relaxed);
    }
}

/// With the lock held.
Spill::Region& Spill::add(std::size_t bytes) {
    if (file_ < 0) {
        open();
    }
    bytes = rounded_up(std::max<std::size_t>(bytes, 1), page_bytes());
    int error = posix_fallocate(file_, end_, static_cast<off_t>(bytes));
    void* memory = MAP_FAILED;
    if (error == 0) {
        memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, end_);
        error = memory == MAP_FAILED ? errno : 0;
    }
    if (error != 0) {
        throw SpillError(directory_.string() + ": no room for " + megabytes(spilled_ + bytes) +
                         " that exceed the limit of memory: " + std::strerror(error) +
                         "; free some, name another folder with --spill, or raise --memory");
    }
    regions_.push_back({static_cast<std::byte*>(memory), bytes, end_, 0});
    end_ += static_cast<off_t>(bytes);
    spilled_ += bytes;
    return regions_.back();
}

std::byte* Spill::store(const std::vector<iovec>& pieces) {
    std::size_t bytes = 0;
    for (const auto& piece : pieces) {
        bytes += piece.iov_len;
    }
    std::byte* place = nullptr;
    off_t offset = 0;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = std::ranges::find(regions_, filling_, &Region::memory);
        auto& region =
            found != regions_.end() && found->bytes - found->used >= bytes ? *found : add(std::max(bytes, kStored));
        filling_ = region.memory;
        place = region.memory + region.used;
        offset = region.offset + static_cast<off_t>(region.used);
        region.used = std::min(region.bytes, rounded_up(region.used + bytes, kCacheLine));
    }
    put(pieces, bytes, offset);
    return place;
}

/// Written, not copied into the mapping: no page is touched, so none is resident until it is read.
void Spill::put(std::vector<iovec> pieces, std::size_t bytes, off_t offset) {
    std::size_t done = 0;
    for (auto first = pieces.begin(); done < bytes;) {
        const auto n = std::min<std::ptrdiff_t>(pieces.end() - first, IOV_MAX);
        auto wrote = pwritev(file_, &*first, static_cast<int>(n), offset + static_cast<off_t>(done));
        if (wrote < 0) {
            if (errno == EINTR) {
                continue;
            }
            throw SpillError(directory_.string() +
                             ": what exceeds the limit of memory cannot be written there: " + std::strerror(errno));
        }
        done += static_cast<std::size_t>(wrote);
        for (; first != pieces.end() && static_cast<std::size_t>(wrote) >= first->iov_len; ++first) {
            wrote -= static_cast<ssize_t>(first->iov_len);
        }
        if (first != pieces.end()) {
            first->iov_base = static_cast<std::byte*>(first->iov_base) + wrote;
            first->iov_len -= static_cast<std::size_t>(wrote);
        }
    }
}

void Spill::write(std::byte* place, const void* from, std::size_t bytes) {
    off_t offset = 0;
    {
        const std::scoped_lock lock(mutex_);
        const auto region = std::ranges::find_if(
            regions_, [&](const Region& one) { return place >= one.memory && place < one.memory + one.bytes; });
        offset = region->offset + (place - region->memory);
    }
    put({{const_cast<void*>(from), bytes}}, bytes, offset);  // of the system's making: it reads them only
}

void* Spill::take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    return add(bytes).memory;
}

void Spill::give_back(void* memory) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(regions_, static_cast<std::byte*>(memory), &Region::memory);
    if (found != regions_.end()) {
        munmap(found->memory, found->bytes);
        // Else the system would continue to write what is not read again. Where holes are not known, the space stays
        // taken.
        fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, found->offset, static_cast<off_t>(found->bytes));
        regions_.erase(found);
    }
}

std::uint64_t Spill::spilled_bytes() const noexcept {
    const std::scoped_lock lock(mutex_);
    return spilled_;
}

/// Releases what is mapped, one region after another, where the process is near its limit. With the lock held:
/// nothing is unmapped during that time, so nothing else can be there.
///
/// In addition to memory that cannot be released, files have three quarters of what is left, at least: then they are
/// released to a half of that, so that not every look does it again.
void Spill::release() noexcept {
    if (regions_.empty()) {
        return;
    }
    auto now = resident(statm_);
    if (!now) {
        return;
    }
    const auto room = std::max(limit_ - std::min(limit_, now->unreleasable), limit_ / 16);
    const auto above =
        std::min(now->unreleasable + room / 4 * 3, std::max(limit_ / 16 * 13, now->unreleasable + room / 2));
    if (now->all <= above) {
        return;
    }
    const auto enough = now->unreleasable + (above - now->unreleasable) / 2;
    for (std::size_t passed = 0; passed < regions_.size() && now && now->all > enough; ++passed) {
        hand_ = (hand_ + 1) % regions_.size();
        const auto& region = regions_[hand_];
        for (std::size_t at = 0; at < region.bytes && now && now->all > enough; at += kPiece) {
            // Of a shared mapping this loses nothing: its pages stay in the file, and in memory while there is room.
            madvise(region.memory + at, std::min(kPiece, region.bytes - at), MADV_DONTNEED);
            now = resident(statm_);
        }
    }
#ifdef __GLIBC__
    if (now && now->all > above && std::chrono::steady_clock::now() - trimmed_ > kTrim) {
        malloc_trim(0);
        trimmed_ = std::chrono::steady_clock::now();
    }
#endif
}

}  // namespace logpost::replay
