#pragma once

/// The phases of a location's time: start-up, the program, shut-down, and what lies outside of a region of interest.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "replay/native/program.hpp"

namespace logpost::replay {

enum class Phase : std::uint8_t { start_up, program, shut_down, outside };
inline constexpr std::size_t kPhases = 4;
inline constexpr std::string_view kPhaseNames[kPhases] = {"start_up", "program", "shut_down", "outside"};

/// The program of every location: from the end of its last initialization before it communicates to the enter of the
/// finalization after which it does not. Threads have the bounds of their process's rank; a location without such calls
/// is program as a whole.
std::vector<Span> program_spans(const Program& program);

/// The phases of one location in the order of time.
class PhaseLine {
  public:
    struct Piece {
        std::int64_t end_ps;
        Phase phase;
    };

    /// `program` holds the start-up and shut-down outside of it; `interest` what the user looks at.
    PhaseLine(Span program, Span interest) noexcept;

    [[nodiscard]] const Piece& operator[](std::size_t i) const noexcept { return pieces_[i]; }

  private:
    static constexpr std::size_t kPieces = 5;
    std::array<Piece, kPieces> pieces_;
};

}  // namespace logpost::replay
