#include "ring.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace logpost::assembler {

Ring::Ring(const std::filesystem::path& base) : file_(base.string() + ".ring"), sum_(base.string() + ".lost") {
    if (sum_.size() >= sizeof lost_) {
        std::memcpy(&lost_, sum_.data(), sizeof lost_);
    }
    const std::size_t size = sizeof(lp_lost) + lost_.channels * sizeof(lp_channel) + lost_.cells * sizeof(lp_carried);
    if (lost_.magic != LP_LOST_MAGIC || lost_.slot_bytes <= LP_FILE_HEADER || sum_.size() < size) {
        throw std::runtime_error(base.string() + ".lost is missing or damaged: without it the ring cannot be read");
    }
    std::map<std::uint64_t, std::pair<std::uint32_t, Slot>> by_turn;
    for (std::size_t at = 0; at + LP_FILE_HEADER <= file_.size(); at += lost_.slot_bytes) {
        lp_file_header header{};
        std::memcpy(&header, file_.data() + at, sizeof header);
        if (header.magic == LP_MAGIC && header.process == lost_.process && header.turn > lost_.turn &&
            header.open <= std::min<std::size_t>(lost_.slot_bytes, file_.size() - at) - LP_FILE_HEADER) {
            by_turn[header.turn] = {header.thread, {header.flushed, file_.data() + at + LP_FILE_HEADER, header.open}};
        }
    }
    for (const auto& [turn, slot] : by_turn) {
        slots_[slot.first].push_back(slot.second);
    }
}

const std::vector<Ring::Slot>& Ring::slots(std::uint32_t thread) const {
    static const std::vector<Slot> nothing;
    const auto at = slots_.find(thread);
    return at != slots_.end() ? at->second : nothing;
}

std::vector<lp_channel> Ring::channels() const {
    std::vector<lp_channel> found;
    for (std::size_t i = 0; i < lost_.channels; ++i) {
        lp_channel channel{};
        std::memcpy(&channel, sum_.data() + sizeof(lp_lost) + i * sizeof channel, sizeof channel);
        if (channel.what != 0) {
            found.push_back(channel);
        }
    }
    return found;
}

std::vector<lp_carried> Ring::carried() const {
    std::vector<lp_carried> found;
    const std::byte* first = sum_.data() + sizeof(lp_lost) + lost_.channels * sizeof(lp_channel);
    for (std::size_t i = 0; i < lost_.cells; ++i) {
        lp_carried cell{};
        std::memcpy(&cell, first + i * sizeof cell, sizeof cell);
        if (cell.number != 0) {
            found.push_back(cell);
        }
    }
    std::ranges::sort(found, {}, &lp_carried::number);
    return found;
}

}  // namespace logpost::assembler
