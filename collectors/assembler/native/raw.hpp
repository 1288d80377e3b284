// Reading raw logs: mapped files, records in the order in which calls ended.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mapping.hpp"
#include "rawlog.h"
#include "ring.hpp"

namespace logpost::assembler {

// One record; `data` is what follows its head, valid as long as the log is mapped.
struct Record {
    lp_head head;
    const std::byte* data;
    std::size_t data_bytes;

    template <class T>
    T get(std::size_t offset = 0) const {
        T value{};
        if (offset + sizeof(T) <= data_bytes) {
            std::memcpy(&value, data + offset, sizeof(T));
        }
        return value;
    }
    std::string text() const;
    // The number of the stack that the call was made from; 0: unknown.
    std::uint32_t stack() const { return static_cast<std::uint32_t>(head.stack_high) << 16U | head.stack_low; }
    bool is_part() const {
        return head.kind == LP_DONE || head.kind == LP_TESTED || head.kind == LP_START || head.kind == LP_RANKS ||
               head.kind == LP_REPLACED;
    }
    bool is_note() const { return head.kind >= LP_FIRST_NOTE; }
};

// The log of a thread, its slots of the process's ring, and the window that its death left. Reading stops at the first
// word that is zero or that cannot be the head of a record.
class RawLog {
  public:
    // `ring`: of the process; nullptr: it has none.
    explicit RawLog(const std::filesystem::path& path, const Ring* ring = nullptr);

    // False when the process died before the file's first bytes were written, or it is not a raw log.
    bool usable() const { return header_.magic == LP_MAGIC; }
    const lp_file_header& header() const { return header_; }
    const std::string& path() const { return path_; }

    // The call that the thread entered last, which may have ended; nothing where no window is left.
    std::optional<lp_open> opened_last() const;

    // The record at `offset` (0 at the beginning), which moves past it; nothing at the end of the log.
    std::optional<Record> next(std::size_t& offset) const;

  private:
    std::string path_;
    Mapping log_;
    Mapping window_;
    lp_file_header header_;

    enum class Notes {
        all,    // it has what counts, notes and others
        apart,  // most of its notes are in the log, too
        alone   // nothing else counts
    };
    // Where records are, one part after the other.
    struct Part {
        std::size_t begin;  // as offsets count
        const std::byte* records;
        std::size_t bytes;
        Notes notes;
    };
    std::vector<Part> parts_;
    bool over_ring_ = false;
    void append(const std::byte* records, std::size_t bytes, Notes notes);
};

// "key=value" lines.
std::map<std::string, std::string> key_values(const std::string& text);

}  // namespace logpost::assembler
