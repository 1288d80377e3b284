#include "analyzer/archive/native/trace/thread_role.hpp"

#include <otf2/otf2.h>

#include <array>
#include <utility>

namespace logpost::analyzer {
namespace {

constexpr std::string_view kPragma = "!$omp ";

/// By the beginning of what follows `!$omp `, as OPARI2 and Score-P's OMPT adapter write it; the longer one first.
constexpr std::array<std::pair<std::string_view, ThreadRole>, 23> kConstructs{{
    {"implicit barrier", ThreadRole::implicit_barrier},
    {"implicit_barrier", ThreadRole::implicit_barrier},
    {"ibarrier", ThreadRole::implicit_barrier},
    {"implicit task", ThreadRole::implicit_task},
    {"implicit_task", ThreadRole::implicit_task},
    {"wait_barrier", ThreadRole::barrier},
    {"barrier", ThreadRole::barrier},
    {"parallel", ThreadRole::parallel},
    {"critical sblock", ThreadRole::block},
    {"ordered sblock", ThreadRole::block},
    {"critical", ThreadRole::synchronization},
    {"ordered", ThreadRole::synchronization},
    {"wait_critical", ThreadRole::synchronization},
    {"wait_ordered", ThreadRole::synchronization},
    {"wait_lock", ThreadRole::synchronization},
    {"wait_nest_lock", ThreadRole::synchronization},
    {"taskwait", ThreadRole::synchronization},
    {"taskgroup", ThreadRole::synchronization},
    {"wait_taskwait", ThreadRole::synchronization},
    {"wait_taskgroup", ThreadRole::synchronization},
    {"taskyield", ThreadRole::none},
    {"taskloop", ThreadRole::none},
    {"task", ThreadRole::task},
}};

ThreadRole by_role(std::uint8_t role) {
    switch (role) {
        case OTF2_REGION_ROLE_PARALLEL:
            return ThreadRole::parallel;
        case OTF2_REGION_ROLE_BARRIER:
            return ThreadRole::barrier;
        case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
            return ThreadRole::implicit_barrier;
        case OTF2_REGION_ROLE_CRITICAL:
        case OTF2_REGION_ROLE_ORDERED:
        case OTF2_REGION_ROLE_TASK_WAIT:
            return ThreadRole::synchronization;
        case OTF2_REGION_ROLE_CRITICAL_SBLOCK:
        case OTF2_REGION_ROLE_ORDERED_SBLOCK:
            return ThreadRole::block;
        case OTF2_REGION_ROLE_TASK:
            return ThreadRole::task;
        default:
            return ThreadRole::none;
    }
}

}  // namespace

ThreadRole thread_role(std::string_view name, std::uint8_t role, std::uint8_t paradigm) {
    if (name.starts_with(kPragma)) {
        const auto construct = name.substr(kPragma.size());
        for (const auto& [begin, known] : kConstructs) {
            if (construct.starts_with(begin)) {
                return known;
            }
        }
        return ThreadRole::none;  // an offloading construct has the role of a barrier
    }
    if (paradigm != OTF2_PARADIGM_OPENMP) {
        return ThreadRole::none;
    }
    if (name == "omp_set_lock" || name == "omp_set_nest_lock") {
        return ThreadRole::synchronization;
    }
    return by_role(role);
}

}  // namespace logpost::analyzer
