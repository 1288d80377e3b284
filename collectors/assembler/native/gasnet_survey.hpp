// What all files of a run say together, read once in step: which process and thread each is, when each wait began, and
// how far the processes' clocks are apart.
//
// Each process counts microseconds from its own start. An active message that i sends at s (on i's clock) and whose
// handler begins on j at r (on j's clock) shows that j's clock is ahead of i's by at most r - s, as no message arrives
// before it is sent. With the least r - s of each direction, a from i to j and b from j to i, j is ahead of i by a
// value in [-b, a]; taken is the middle, (a - b) / 2, and the bound of its error is (a + b) / 2. Processes without
// messages in both directions with the first one are reached over others, errors added up, the surest way taken.
// Clocks of one host are one oscillator: one value for the whole run. Those of several hosts drift, so the run is cut
// into parts of `part_us` and each part has its own value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gasnet_file.hpp"

namespace logpost::assembler::gasnet {

inline constexpr std::uint64_t part_us = 10'000'000;

struct Offset {
    std::uint64_t at_us = 0;  // own clock
    double ahead_us = 0;      // of the first process's clock
    double error_us = 0;
};

// A wait, whose line is written when it ends.
struct Wait {
    std::uint64_t begin_us = 0;
    std::uint32_t name = 0;
    std::uint32_t place = 0;
};

struct ThreadSurvey {
    std::uint32_t index = 0;
    std::vector<Wait> waits;
};

struct ProcessSurvey {
    std::string path;
    Header header;
    std::map<std::uint64_t, ThreadSurvey> threads;
    std::vector<Offset> offsets;  // empty: no messages show it
    std::uint64_t first_us = 0;
    std::uint64_t last_us = 0;
    bool cut = false;
};

struct Survey {
    std::vector<ProcessSurvey> processes;  // by rank
    std::uint32_t size = 0;                // of the job
    std::int64_t shift_us = 0;             // added to all, so that no time is before 0
    std::uint64_t pairs = 0;               // messages whose sending and receiving line are both there
    std::vector<std::string> wait_names;
    std::vector<std::pair<std::string, std::uint32_t>> wait_places;  // file and line
    std::vector<std::string> warnings;
};

// How long a line says that the thread waited until its time; nothing: it is no such line.
std::optional<std::uint64_t> waited_ns(const Line& line);

// Throws std::runtime_error with a line for the user: files of different runs, not of GASNet, of several processes.
Survey survey(const std::vector<std::string>& paths);

}  // namespace logpost::assembler::gasnet
