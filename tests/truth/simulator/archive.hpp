#pragma once

#include <cstdint>
#include <filesystem>

#include "record.hpp"

namespace logpost::truth {

/// How a real tracer's clock would have seen the simulation.
struct ClockView {
    Time tick = 1;   ///< length of a tick in picoseconds
    Time noise = 0;  ///< standard deviation of each stamp
    std::uint64_t seed = 1;
};

/// Writes the simulation as an OTF2 archive in the manner of a recorder: what starts is stamped with its call's enter,
/// what ends with its leave. Throws std::runtime_error where OTF2 refuses.
void write_archive(const Record& record, const std::filesystem::path& directory, const ClockView& clock);

}  // namespace logpost::truth
