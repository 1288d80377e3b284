#pragma once

/// What all blocks' replays have in common, as `chosen-0` has it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/archive/native/read/segment_file.hpp"
#include "replay/native/cost/parameters.hpp"
#include "replay/native/program/placement.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/windows.hpp"

namespace logpost::analyzer {

inline constexpr std::size_t kSetting = 0;        ///< segments of `chosen-0`
inline constexpr std::size_t kProgram = 1;        ///
inline constexpr std::size_t kMachine = 2;        ///
inline constexpr std::size_t kKinds = 3;          ///< of collective operations
inline constexpr std::size_t kOfSplitBlocks = 4;  ///< the first of a block

/// What messages of a program cost, and where its locations are.
struct Setting {
    replay::Parameters parameters;
    replay::Placement placement;
    replay::Windows windows;

    [[nodiscard]] SegmentBytes put() const;
    static Setting get(SegmentView bytes);
};

/// What a program has besides its events, and where its locations are in the files of blocks.
struct Outline {
    static constexpr std::uint32_t kNowhere = replay::kNone;
    bool divided = false;    // whether the blocks replay their messages
    bool accounted = false;  // and account their calls
    std::vector<replay::CallKind> kinds;
    std::vector<replay::Layout> layouts;
    std::vector<std::uint32_t> block_of;    // by location; kNowhere: it has no events
    std::vector<std::uint32_t> segment_of;  // likewise, in `joined-B`

    [[nodiscard]] SegmentBytes put() const;
    static Outline get(SegmentView bytes);
};

}  // namespace logpost::analyzer
