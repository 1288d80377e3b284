#pragma once

/// What made which location wait in a program, from its recorded times alone: no machine is needed, so that this can be
/// found out while one is chosen.

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "replay/native/program/program.hpp"
#include "replay/native/program/span.hpp"
#include "replay/native/waits/collective_waits.hpp"
#include "replay/native/waits/delays.hpp"
#include "replay/native/waits/recorded_path.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// What is found of the causes of waits.
struct FoundCauses {
    std::vector<PathStretch> path;
    std::vector<DelayCost> delays;
    std::vector<WaitTotals> wait_states;  // by location
    std::vector<WaitEnds> wait_ends;      // likewise; empty: others have made the accounts that need them
    std::shared_ptr<const void> file;     // that the wait ends are in
};

class Causes {
  public:
    /// `interest` is the region of interest by location; empty: the whole program. The program must outlive this.
    Causes(const Program& program, std::vector<Span> interest, unsigned threads);
    /// Found elsewhere, of the whole program.
    Causes(const Program& program, FoundCauses found);

    [[nodiscard]] const Program& program() const noexcept { return program_; }
    [[nodiscard]] const CollectiveWaits& collectives() const noexcept { return collectives_; }
    /// The critical path of the recorded execution. Computed by the thread that needs it first; any may be that;
    /// likewise what follows.
    const std::vector<PathStretch>& path();
    /// When the path is on each location.
    const std::vector<std::vector<Span>>& on_path();
    /// The wait states of each location, of calls that it entered in the region of interest as given.
    const std::vector<WaitTotals>& wait_states();
    /// Until when the calls of each location waited.
    const std::vector<WaitEnds>& wait_ends();
    /// What makes others wait in the region of interest.
    const std::vector<DelayCost>& delays();
    /// The region of interest on a location: what of its program the user looks at.
    [[nodiscard]] Span interest(std::size_t location) const noexcept;
    /// As it was given, by location; empty: the whole program.
    [[nodiscard]] const std::vector<Span>& given_interest() const noexcept { return interest_; }

  private:
    void place_path();

    const Program& program_;
    std::vector<Span> interest_;
    unsigned threads_;
    CollectiveWaits collectives_;
    std::once_flag path_followed_;
    std::once_flag delays_found_;
    std::optional<Waits> waits_;  // until the delays are found
    Arena wait_end_memory_;
    FoundCauses found_;
    std::vector<std::vector<Span>> on_path_;
};

}  // namespace logpost::replay
