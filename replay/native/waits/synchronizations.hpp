#pragma once

/// When a location was last held up by, or held up, another one: from there on their work is compared.

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/memory/arena.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// A call in which a location was synchronized with another one, or with a group.
struct Synchronization {
    std::uint32_t call = kNone;      ///< kNone: none; since the location's begin
    std::int32_t with = kUndefined;  ///< a location; or -2 - group; or kEverybody
    std::int64_t completion_ps = 0;  ///< of the call, after the others had continued
    static constexpr std::int32_t kEverybody = INT32_MIN;
};

/// The synchronizations of every location: both ends of every wait, members of collective operations that all were in
/// concurrently (of an inter-communicator, with those of the other group), and start-up.
class Synchronizations {
  public:
    Synchronizations(const Program& program, const CollectiveWaits& collectives, const Waits& waits, unsigned threads);

    /// The last one of a location with another, before a call. Quick where the questions about a location are about
    /// neighbouring times. Any thread may ask.
    [[nodiscard]] Synchronization before(std::size_t location, std::uint32_t call, replay::Location other) noexcept;

  private:
    /// The locations that one was synchronized with; what a search reads of it is stored together.
    struct Partner {
        std::int32_t with;
        std::uint32_t begin;  // of its synchronizations
        std::uint32_t end;
        std::uint32_t answered;  // behind the last answer; where threads ask at once, any of theirs: to look from
    };
    struct Location {
        std::span<Synchronization> all;  // by partner, then call
        std::span<Partner> partners;     // ascending: groups, then locations
    };
    [[nodiscard]] bool holds(std::int32_t group, replay::Location location) const noexcept;

    Arena memory_;
    std::vector<Location> locations_;
    std::vector<std::vector<replay::Location>> groups_;  // sorted; by communicator, then the second groups of all
    const Program& program_;
};

}  // namespace logpost::replay
