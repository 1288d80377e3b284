// Reading raw logs: a mapped file per thread, records in the order in which calls ended.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../rawlog.h"

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
    bool is_part() const { return head.kind == LP_DONE || head.kind == LP_TESTED || head.kind == LP_START; }
    bool is_note() const { return head.kind >= LP_FIRST_NOTE; }
};

// A mapped log. Reading stops at the first word that is zero or that cannot be the head of a record.
class RawLog {
  public:
    explicit RawLog(const std::filesystem::path& path);
    ~RawLog();
    RawLog(RawLog&& other) noexcept;
    RawLog(const RawLog&) = delete;
    RawLog& operator=(const RawLog&) = delete;
    RawLog& operator=(RawLog&&) = delete;

    // False when the process died before the file's first bytes were written, or it is not a raw log.
    bool usable() const { return usable_; }
    const lp_file_header& header() const { return header_; }
    const std::string& path() const { return path_; }

    // The record at `offset`, which moves past it; nothing at the end of the log.
    std::optional<Record> next(std::size_t& offset) const;

  private:
    std::string path_;
    const std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    lp_file_header header_{};
    bool usable_ = false;
};

// "key=value" lines.
std::map<std::string, std::string> key_values(const std::string& text);

}  // namespace logpost::assembler
