#pragma once

/// Delay costs: which code of which location makes others wait, and how much (Böhme et al., root causes of wait
/// states).

#include <array>
#include <cstdint>
#include <vector>

#include "replay/native/program/program.hpp"
#include "replay/native/program/span.hpp"
#include "replay/native/program/wide.hpp"
#include "replay/native/waits/active_time.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// What one place in the code of one location costs others.
struct DelayCost {
    Location location;           ///< that delays; kNoLocation: not explained by a delay of anyone
    CodePlace place;             ///< where it spends more time than those that wait
    std::int32_t wait_callpath;  ///< of the calls that waited for it directly; kUndefined: of several, not explained
    WaitKind kind;               ///< of the waits that are paid for
    WidePs short_term_ps;        ///< waits that it causes directly
    WidePs long_term_ps;         ///< waits elsewhere, which its direct waits passed on
};

/// The delay costs of the waits in `interest` (by location). For each kind the costs add up to the waits
/// exactly, with one row without location for what no delay explains.
///
/// Where location R waited for D, the active times of both since their last synchronization with each other are
/// compared by place: d is what D spent beyond R, w what D itself waited during that time. The wait is shared among the
/// places and D's waits in proportion, at most in full; what falls to D's waits is passed on, with the costs that the
/// wait had from later ones, to the delays that caused them.
std::vector<DelayCost> delay_costs(const Program& program, const CollectiveWaits& collectives, const Waits& waits,
                                   const std::vector<Span>& interest, unsigned threads);

}  // namespace logpost::replay
