#pragma once

#include <cstdint>
#include <string_view>

namespace logpost::analyzer {

/// What a region, or a pair of records, is to the division of threads' time.
enum class ThreadRole : std::uint8_t {
    none,
    fork,           // from a thread's fork to its join
    team,           // of each member of a team, from its begin to its end
    parallel,       // a parallel region
    implicit_task,  // what one thread does of it
    barrier,
    implicit_barrier,  // at the end of a construct
    synchronization,   // waiting for a critical or ordered section, a lock, tasks
    block,             // what lies within a critical or ordered section
    task,
};

/// Of a region of OpenMP, by its name, else by its OTF2_RegionRole: writers choose different roles and paradigms.
/// `none` for regions of other paradigms (MPI's and CUDA's barriers have the role of a barrier as well).
ThreadRole thread_role(std::string_view name, std::uint8_t role, std::uint8_t paradigm);

}  // namespace logpost::analyzer
