// The events of one location, written in the order of time.
#pragma once

#include <otf2/otf2.h>

#include <algorithm>
#include <cstdint>

namespace logpost::assembler {

struct EventWriter {
    OTF2_EvtWriter* writer = nullptr;
    OTF2_AttributeList* attributes = nullptr;  // emptied by whatever is written with it
    std::uint32_t thread = 0;
    std::uint64_t events = 0;
    std::uint64_t last = 0;
    bool ended = false;  // the thread whose events these were, and another one continues

    // The time of the next event: never before the last one. Counts the event.
    OTF2_TimeStamp at(std::uint64_t time) {
        ++events;
        last = std::max(last, time);
        return last;
    }
};

}  // namespace logpost::assembler
