#pragma once

#include <filesystem>

#include "case.hpp"
#include "record.hpp"

namespace logpost::truth {

/// The truth as JSON: the case, each visible message's causes, each rank's time by cause. Times in picoseconds.
void write_truth(const Case& entry, const Record& record, const std::filesystem::path& file);

/// The simulated machine as a machine file, exactly.
void write_machine(const Record& record, const std::filesystem::path& file);

}  // namespace logpost::truth
