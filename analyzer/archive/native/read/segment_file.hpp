#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "replay/native/memory/column.hpp"
#include "replay/native/memory/spill.hpp"

namespace logpost::analyzer {

/// Bytes of one segment while it is put together, in this machine's own layout. What a structure does not use is 0: the
/// same values are the same bytes.
class SegmentBytes {
  public:
    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        if constexpr (std::has_unique_object_representations_v<T>) {
            bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
        } else {
            T copy = value;
#if __has_builtin(__builtin_clear_padding)
            __builtin_clear_padding(&copy);
#endif
            bytes_.append(reinterpret_cast<const char*>(&copy), sizeof(T));
        }
    }
    template <class T>
    void put_all(const std::vector<T>& values) {
        put(std::uint64_t{values.size()});
        for (const auto& value : values) {
            put(value);
        }
    }
    template <class T>
    void put_all(const replay::Column<T>& column) {
        put(std::uint64_t{column.size()});
        column.for_each([&](std::size_t, const T& value) { put(value); });
    }
    /// Elements that a reader uses where they lie (`SegmentView::get_mapped`).
    template <class T>
    void put_mapped(const replay::Column<T>& column) {
        begin_mapped(column.size());
        column.for_each([&](std::size_t, const T& value) { put(value); });
    }
    template <class T>
    void put_mapped(std::span<T> elements) {
        begin_mapped(elements.size());
        if constexpr (std::has_unique_object_representations_v<T>) {
            bytes_.append(reinterpret_cast<const char*>(elements.data()), elements.size_bytes());
        } else {
            for (const auto& value : elements) {
                put(value);
            }
        }
    }
    void put_text(std::string_view text) {
        put(std::uint64_t{text.size()});
        bytes_.append(text);
    }
    /// A number in as few bytes as its magnitude needs: 7 bits each, the sign in the lowest.
    void put_small(std::int64_t value) {
        auto rest = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
        std::array<char, 10> digits;
        std::size_t n = 0;
        for (; rest >= 0x80; rest >>= 7) {
            digits[n++] = static_cast<char>(rest | 0x80);
        }
        digits[n++] = static_cast<char>(rest);
        bytes_.append(digits.data(), n);
    }
    [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
    /// Whether it begins at a cache line of the file.
    [[nodiscard]] bool is_mapped() const noexcept { return is_mapped_; }

  private:
    void begin_mapped(std::size_t n) {
        put(std::uint64_t{n});
        bytes_.resize((bytes_.size() + replay::kCacheLine - 1) / replay::kCacheLine * replay::kCacheLine, '\0');
        is_mapped_ = true;
    }

    std::string bytes_;
    bool is_mapped_ = false;
};

/// The same bytes, read. Throws ArchiveError where they end too early.
class SegmentView {
  public:
    SegmentView(std::vector<char> bytes, std::string name)
        : own_(std::move(bytes)), bytes_(own_), name_(std::move(name)) {}
    /// Of bytes that outlive it.
    SegmentView(std::span<const char> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

    SegmentView(SegmentView&&) = default;
    SegmentView& operator=(SegmentView&&) = default;
    SegmentView(const SegmentView&) = delete;  // it would look at the other one's bytes
    SegmentView& operator=(const SegmentView&) = delete;
    ~SegmentView() = default;

    template <class T>
    T get() {
        T value;
        std::memcpy(&value, take(1, sizeof(T)), sizeof(T));
        return value;
    }
    template <class T>
    void get_all(std::vector<T>& values) {
        const auto n = get<std::uint64_t>();
        const auto* from = take(n, sizeof(T));
        values.resize(n);
        if (n != 0) {
            std::memcpy(values.data(), from, n * sizeof(T));
        }
    }
    template <class T>
    void get_all(replay::Column<T>& column) {
        const auto n = get<std::uint64_t>();
        const auto* from = take(n, sizeof(T));
        for (std::uint64_t i = 0; i < n; ++i, from += sizeof(T)) {
            T value;
            std::memcpy(&value, from, sizeof(T));
            column.push_back(value);
        }
        column.trim();
    }
    /// The column's elements are those of this segment, which outlives it and is never written to.
    template <class T>
    void get_mapped(replay::Column<T>& column) {
        std::span<T> elements;
        get_mapped(elements);
        column.place_at(elements.data(), elements.size());
    }
    template <class T>
    void get_mapped(std::span<T>& elements) {
        const auto n = get<std::uint64_t>();
        at_ = std::min((at_ + replay::kCacheLine - 1) / replay::kCacheLine * replay::kCacheLine, bytes_.size());
        elements = {reinterpret_cast<T*>(const_cast<char*>(take(n, sizeof(T)))), n};
    }
    /// Passes over what `get_all` would read.
    template <class T>
    void skip_all() {
        take(get<std::uint64_t>(), sizeof(T));
    }
    std::string get_text() {
        const auto n = get<std::uint64_t>();
        return {take(n, 1), n};
    }
    std::int64_t get_small() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = static_cast<unsigned char>(*take(1, 1));
            value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if ((byte & 0x80) == 0) {
                break;
            }
        }
        return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
    }
    [[nodiscard]] bool at_end() const noexcept { return at_ == bytes_.size(); }

  private:
    const char* take(std::uint64_t n, std::size_t size) {
        if (n > (bytes_.size() - at_) / size) {
            too_short();
        }
        const auto* from = bytes_.data() + at_;
        at_ += n * size;
        return from;
    }
    [[noreturn]] void too_short() const;

    std::vector<char> own_;
    std::span<const char> bytes_;
    std::string name_;
    std::size_t at_ = 0;
};

/// A file of numbered segments, each with a checksum, that exists whole or not at all: it is written under another
/// name, and renamed when all has reached the disk.
///
/// Layout: magic, plan, number of segments, checksum of that; (offset, bytes, checksum) of each segment; the segments.
/// `plan` says what it belongs to: a file of another plan counts as missing. A reader of one segment reads its 24 bytes
/// of the table alone: the tables of all files that a block reads would grow with the square of the blocks.
class SegmentWriter {
  public:
    /// `what` names the file's part of the work in errors; `progress` grows with what is written, for a watchdog.
    /// Throws ArchiveError where the system refuses it.
    SegmentWriter(std::filesystem::path file, std::uint64_t plan, std::size_t segments, std::string what,
                  std::atomic<std::uint64_t>* progress = nullptr);
    SegmentWriter(const SegmentWriter&) = delete;
    SegmentWriter& operator=(const SegmentWriter&) = delete;
    ~SegmentWriter();

    /// The next segment. Throws ArchiveError.
    void add(const SegmentBytes& segment);
    /// All segments are added: the file gets its name. Throws ArchiveError.
    void finish();

  private:
    void write(const char* bytes, std::size_t n);
    void sync();
    [[noreturn]] void fail(int error) const;

    std::filesystem::path file_;
    std::string temporary_;
    std::string what_;
    std::vector<std::uint64_t> head_;
    std::uint64_t end_;
    std::uint64_t unsynced_ = 0;  // bytes since the last sync
    std::size_t added_ = 0;
    std::atomic<std::uint64_t>* progress_;
    int descriptor_ = -1;
};

/// Pages of a mapped file leave the process's memory: what reads them again gets them from the file.
void release_mapped(const void* memory, std::size_t bytes) noexcept;

class SegmentReader {
  public:
    /// Throws ArchiveError where the file is missing, damaged, or of another plan.
    SegmentReader(std::filesystem::path file, std::uint64_t plan);
    SegmentReader(const SegmentReader&) = delete;
    SegmentReader& operator=(const SegmentReader&) = delete;
    ~SegmentReader();

    [[nodiscard]] std::size_t segments() const noexcept { return segments_; }
    /// Throws ArchiveError where its bytes are damaged. May be called by several threads.
    [[nodiscard]] SegmentView segment(std::size_t i) const;

    /// Maps the file, for `mapped`; the mapping lives as long as what is returned. Throws ArchiveError.
    [[nodiscard]] std::shared_ptr<const void> map();
    /// A segment where it is mapped. Throws ArchiveError where its bytes are damaged; not `checked`: they are not all
    /// read, and others have found them whole. What is read for that stays in no memory. May be called by several
    /// threads.
    [[nodiscard]] std::span<const char> mapped(std::size_t i, bool checked = true) const;
    [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

    /// Whether a file is there, of this plan, with every byte as it was written.
    /// `progress` grows with what is read.
    static bool whole(const std::filesystem::path& file, std::uint64_t plan,
                      std::atomic<std::uint64_t>* progress = nullptr);

  private:
    struct Place {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        std::uint64_t sum = 0;
    };
    [[noreturn]] void damaged() const;
    [[noreturn]] void segment_damaged() const;
    /// Throws ArchiveError where it is not within the file.
    [[nodiscard]] Place place(std::size_t i) const;

    std::filesystem::path file_;
    std::uint64_t plan_;
    std::uint64_t size_ = 0;
    std::size_t segments_ = 0;
    const char* memory_ = nullptr;  // the mapped file
    int descriptor_ = -1;
};

}  // namespace logpost::analyzer
