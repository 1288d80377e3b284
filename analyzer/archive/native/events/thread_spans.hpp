#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

inline constexpr std::array<std::string_view, kThreadCategories> kThreadCategoryNames{
    "parallel", "imbalance",   "synchronization",    "management", "communication",
    "serial",   "idle_serial", "idle_communication", "not_in_team"};

/// What the threads of each process do while its first thread is in a parallel region of OpenMP: a partition of that
/// time on every thread, by location and time. docs/threads.md has the definition. Processes with one thread in
/// parallel regions have none.
///
/// Categories up to `communication`, and not_in_team; outside of parallel regions the first thread is serial or in
/// communication calls, and the others are idle, which needs no rows.
std::vector<ThreadSpan> thread_spans(const Trace& trace);

}  // namespace logpost::analyzer
