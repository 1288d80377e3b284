#pragma once

/// The phases of a location's time: start-up, the program, shut-down, and what lies outside of a region of interest.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

enum class Phase : std::uint8_t { start_up, program, shut_down, outside };
inline constexpr std::size_t kPhases = 4;
inline constexpr std::string_view kPhaseNames[kPhases] = {"start_up", "program", "shut_down", "outside"};

/// The program of every location: from the end of its last initialization before any thread of its process communicates
/// to the enter of the finalization after which none does; a time without records there belongs to start-up or
/// shut-down. Threads have the bounds of their process's rank; a location without such calls is program as a whole.
std::vector<Span> program_spans(const Program& program);

/// How many calls of a location are its start-up: those before its program begins.
std::size_t start_up_calls(const Program& program, std::size_t location);

/// The phases of one location in the order of time.
class PhaseLine {
  public:
    struct Piece {
        std::int64_t end_ps;
        Phase phase;
    };

    /// `program` holds the start-up and shut-down outside of it; `interest` what the user looks at; `off`, in the order
    /// of time, what was not recorded, which is outside as well.
    PhaseLine(Span program, Span interest, std::span<const Span> off = {});

    [[nodiscard]] const Piece& operator[](std::size_t i) const noexcept { return pieces_[i]; }

  private:
    std::vector<Piece> pieces_;
};

/// The times of a location at which nothing was recorded.
std::vector<Span> times_off(const Program& program, const Timeline& location);

}  // namespace logpost::replay
