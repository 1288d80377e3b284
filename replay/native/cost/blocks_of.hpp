#pragma once

#include <cstdint>

#include "replay/native/cost/cost.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// The blocks of data of a layout, a row of Program::layouts; kUndefined: contiguous or not stated. Elements of one
/// block are blocks as far apart as their extent: one of them is contiguous, for it has no more bytes than a block.
[[nodiscard]] inline Blocks blocks_of(const Program& program, std::int32_t row) noexcept {
    if (row == kUndefined) {
        return {};
    }
    const auto& layout = program.layouts[static_cast<std::size_t>(row)];
    return {.block_bytes = layout.block_bytes, .stride_bytes = layout.stride_bytes};
}

}  // namespace logpost::replay
