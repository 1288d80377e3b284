#pragma once

/// What the parts of the binding share; module.cpp is their table of contents.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replay/native/python/bindings.hpp"

namespace logpost::analyzer::bindings {

namespace nb = nanobind;

using replay::bindings::array;
using replay::bindings::column;
using replay::bindings::texts;

/// Counters of a read in progress, for a progress bar and a watchdog in another thread.
struct Progress {
    std::atomic<std::uint64_t> events{0};
    std::atomic<std::uint64_t> declared{0};
};

/// Trace, and how it is read.
void bind_trace(nb::module_& module);
/// Reading it as tasks of several processes.
void bind_shards(nb::module_& module);
/// Writing a run as a GOAL schedule.
void bind_goal(nb::module_& module);
/// Events of a Perfetto trace.
void bind_perfetto(nb::module_& module);

}  // namespace logpost::analyzer::bindings
