#include "raw.hpp"

#include <algorithm>
#include <cstring>

namespace logpost::assembler {

std::string Record::text() const {
    const char* begin = reinterpret_cast<const char*>(data);
    return {begin, strnlen(begin, data_bytes)};
}

RawLog::RawLog(const std::filesystem::path& path, const Ring* ring)
    : path_(path.string()),
      log_(path_),
      window_(std::filesystem::path(path).replace_extension(".window").string()),
      header_(log_.header()),
      over_ring_(ring != nullptr) {
    if (!usable()) {
        return;
    }
    const lp_file_header window = window_.header();
    const bool has_window = window.magic == LP_MAGIC && window.process == header_.process;
    const bool stale = (window.flushed & LP_WINDOW_IS_STALE) != 0;
    constexpr std::uint64_t bits = LP_WINDOW_IS_STALE | LP_WINDOW_IS_OFF;
    const std::uint64_t flushed = has_window ? window.flushed & ~bits : UINT64_MAX;
    const std::uint64_t stated = ring == nullptr ? flushed : has_window && !stale ? window.notes : UINT64_MAX;
    const std::size_t valid = std::min<std::uint64_t>(log_.size(), stated);
    append(log_.data() + LP_FILE_HEADER, std::max<std::size_t>(valid, LP_FILE_HEADER) - LP_FILE_HEADER, Notes::all);
    if (ring != nullptr) {
        for (const Ring::Slot& slot : ring->slots(header_.thread)) {
            if (slot.begin < flushed) {  // else it is the window, which its thread had not emptied yet
                append(slot.records, slot.bytes, Notes::apart);
            }
        }
    }
    if (has_window && !stale && (ring != nullptr || flushed <= log_.size())) {
        append(window_.data() + LP_FILE_HEADER, window_.size() - LP_FILE_HEADER,
               (window.flushed & LP_WINDOW_IS_OFF) != 0 ? Notes::alone : Notes::all);
    }
}

void RawLog::append(const std::byte* records, std::size_t bytes, Notes notes) {
    const std::size_t begin = parts_.empty() ? 0 : parts_.back().begin + parts_.back().bytes;
    if (bytes != 0) {
        parts_.push_back({begin, records, bytes, notes});
    }
}

namespace {

bool stays_in_slot(std::uint8_t kind) {
    return kind == LP_WINDOW || kind == LP_SKIPPED || kind == LP_CARRIED || kind == LP_ENDED;
}

}  // namespace

std::optional<Record> RawLog::next(std::size_t& offset) const {
    auto part = std::ranges::upper_bound(parts_, offset, {}, &Part::begin);
    part -= part == parts_.begin() ? 0 : 1;
    while (part != parts_.end()) {
        const std::size_t at = offset - part->begin;
        Record record{};
        if (at + sizeof(lp_head) <= part->bytes) {
            std::memcpy(&record.head, part->records + at, sizeof record.head);
        }
        const std::size_t size = record.head.words * std::size_t{8};
        if (record.head.kind == LP_END || size < sizeof(lp_head) || size > part->bytes - at) {
            if (at < part->bytes && !over_ring_) {
                return std::nullopt;
            }
            if (++part != parts_.end()) {
                offset = part->begin;
            }
            continue;
        }
        offset += size;
        if ((part->notes == Notes::apart && record.is_note() && !stays_in_slot(record.head.kind)) ||
            (part->notes == Notes::alone && !record.is_note())) {
            continue;
        }
        record.data = part->records + at + sizeof(lp_head);
        record.data_bytes = size - sizeof(lp_head);
        return record;
    }
    return std::nullopt;
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
