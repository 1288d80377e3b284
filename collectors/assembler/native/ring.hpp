// A process's ring: the slots that it holds, and the sum of those that were overwritten.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "mapping.hpp"
#include "rawlog.h"

namespace logpost::assembler {

class Ring {
  public:
    struct Slot {
        std::uint64_t begin = 0;  // of its records in the thread's stream
        const std::byte* records = nullptr;
        std::size_t bytes = 0;
    };

    // `base`: the path of the process's files without ending. Throws std::runtime_error when the sum cannot be read.
    explicit Ring(const std::filesystem::path& base);

    // The slots of a thread, oldest first.
    const std::vector<Slot>& slots(std::uint32_t thread) const;
    const lp_lost& lost() const { return lost_; }
    bool overwrote() const { return lost_.turn != 0; }
    // The process was killed while a slot was added to the sum, perhaps in part.
    bool torn() const { return lost_.updating % 2 != 0; }
    // Whether some message or request could not be followed: then those around the cut may be paired wrongly.
    bool inexact() const { return torn() || lost_.unnumbered + lost_.unheld + lost_.unpaired != 0; }
    std::vector<lp_channel> channels() const;
    // Operations that were started and not completed, in the order of their start.
    std::vector<lp_carried> carried() const;

  private:
    Mapping file_;
    Mapping sum_;
    lp_lost lost_{};
    std::map<std::uint32_t, std::vector<Slot>> slots_;
};

}  // namespace logpost::assembler
