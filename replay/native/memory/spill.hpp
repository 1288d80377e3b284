#pragma once

/// Memory beyond a limit: large arrays are in a file instead, mapped into the process. What has not been touched lately
/// leaves memory when the process is near its limit, and is mapped again where it is read, so that the
/// algorithms are the same and their results, too.
///
/// The file has no name: the system removes it with the process, however that ends. Its blocks are taken in advance: a
/// full disk is an error, no signal. Arrays are in it as they are in memory, each location's columns one behind the
/// other.

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace logpost::replay {

inline constexpr std::size_t kCacheLine = 64;  ///< bytes: where stored arrays begin

/// Thrown where the file cannot be made or the disk is full. The message is one line: which folder, why.
class SpillError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Whether a directory, or where it will be made, is in memory (tmpfs, ramfs).
bool is_in_memory(std::filesystem::path directory);

class Spill {
  public:
    /// A file in `directory`, both made when they are first needed. The process's resident memory should stay below
    /// `limit_bytes`. `in_memory`: that directory may be in memory (tmpfs), where it would help nothing.
    Spill(std::filesystem::path directory, std::uint64_t limit_bytes, bool in_memory = false);
    Spill(const Spill&) = delete;
    Spill& operator=(const Spill&) = delete;
    ~Spill();

    /// Whether an array of so many bytes belongs in the file: with it, memory that cannot be released would be more
    /// than a quarter of the limit. The rest is for what has no place in the file: libraries, tables, scratch.
    [[nodiscard]] bool wants(std::size_t bytes) noexcept;

    /// A copy of these pieces, one behind the other, in the file, for as long as this object lives. Throws SpillError.
    [[nodiscard]] std::byte* store(const std::vector<iovec>& pieces);
    /// Writes to memory that was taken, without making any of it resident. Throws SpillError.
    void write(std::byte* place, const void* from, std::size_t bytes);

    /// Memory of this size in the file, zeros, until it is given back. Throws SpillError.
    [[nodiscard]] void* take(std::size_t bytes);
    void give_back(void* memory) noexcept;

    [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_; }
    /// Bytes that were ever taken in the file.
    [[nodiscard]] std::uint64_t spilled_bytes() const noexcept;

    /// Releases what is mapped where this process is near the limit of a registered one. Threads call it between two
    /// pieces of work: they map more in a millisecond than is left, and a thread that only looks on may be too late
    /// on a busy machine. Costs next to nothing where there is none.
    static void look() noexcept {
        if (registered_.load(std::memory_order_relaxed) != 0) {
            look_at_all();
        }
    }
    /// Lets `look` know one, which must outlive it; null: none. Every extension module has a separate `look`: that of
    /// the module in which a spill is made knows it without.
    class Registration {
      public:
        explicit Registration(Spill* spill);
        Registration(const Registration&) = delete;
        Registration& operator=(const Registration&) = delete;
        ~Registration();

      private:
        Spill* spill_;
    };

  private:
    struct Region {
        std::byte* memory;
        std::size_t bytes;
        off_t offset;      // in the file
        std::size_t used;  // of a region that `store` fills
    };
    void open();
    Region& add(std::size_t bytes);
    void put(std::vector<iovec> pieces, std::size_t bytes, off_t offset);
    void release() noexcept;
    static void look_at_all() noexcept;

    static std::atomic<unsigned> registered_;

    std::filesystem::path directory_;
    std::uint64_t limit_;
    bool in_memory_;
    int statm_ = -1;  // /proc/self/statm
    int file_ = -1;
    mutable std::mutex mutex_;  // of all below
    off_t end_ = 0;
    std::uint64_t spilled_ = 0;
    std::vector<Region> regions_;
    std::byte* filling_ = nullptr;                   // the region that `store` fills
    std::size_t hand_ = 0;                           // the next region to be released
    std::uint64_t unreleasable_ = 0;                 // bytes of memory, when it was last looked at
    std::uint64_t since_ = UINT64_MAX;               // bytes taken since
    std::chrono::steady_clock::time_point trimmed_;  // when the heap was
    std::optional<Registration> registration_{std::in_place, this};
    std::condition_variable_any stop_;
    std::jthread watcher_;
};

}  // namespace logpost::replay
