// The events of one process of an imported run.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "archive.hpp"
#include "gasnet_names.hpp"
#include "gasnet_survey.hpp"

namespace logpost::assembler::gasnet {

inline constexpr OTF2_CommRef all_processes = 0;
inline constexpr OTF2_RmaWinRef segment = 0;

// What was found, over all processes; printed as JSON.
struct Totals {
    std::uint64_t lines = 0;
    std::uint64_t events = 0;
    std::uint64_t puts = 0;
    std::uint64_t put_bytes = 0;
    std::uint64_t gets = 0;
    std::uint64_t get_bytes = 0;
    std::uint64_t atomics = 0;
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t received = 0;
    std::uint64_t barriers = 0;
    std::uint64_t waits = 0;
    std::uint64_t unused = 0;            // lines of categories that no event is made of, and details
    std::uint64_t unknown = 0;           // lines of no known form
    std::uint64_t peer_unknown = 0;      // transfers and messages to a team whose members no line states
    std::uint64_t barriers_of_part = 0;  // barriers of such a team
    std::uint64_t without_end = 0;       // nonblocking transfers whose completion is not in the file
    std::uint64_t guessed_waits = 0;     // waits for one of several pending transfers: taken for the oldest
    std::string first_unknown;
};

// Adds a row per thread to `locations`.
void write_process(OTF2_Archive* archive, const Survey& run, const ProcessSurvey& process, Strings& strings,
                   Names& names, Totals& totals, std::vector<LocationEvents>& locations);

}  // namespace logpost::assembler::gasnet
