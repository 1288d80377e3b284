#include "replay/native/split/call_rows.hpp"

#include <algorithm>

namespace logpost::replay {

void CallRows::resize(std::size_t n) {
    call.resize(n);
    location.resize(n);
    region.resize(n);
    callpath.resize(n);
    enter.resize(n);
    leave.resize(n);
    for (auto& column : exposed) {
        column.clear();
    }
}

void ExposedRows::put(const Exposed& exposed) {
    for (std::size_t column = 0; column < kColumns; ++column) {
        times_[column][held_] = exposed[column + 1];
        any_[column] |= exposed[column + 1];
    }
    if (++held_ == kHeld) {
        flush();
    }
}

void ExposedRows::flush() {
    for (std::size_t column = 0; column < kColumns; ++column) {
        if (any_[column] == 0) {
            continue;
        }
        auto& all = rows_.exposed[column];
        all.resize(rows_.call.size());  // once: then it has that size
        std::copy_n(times_[column].begin(), held_, all.begin() + static_cast<std::ptrdiff_t>(row_));
        any_[column] = 0;
    }
    row_ += held_;
    held_ = 0;
}

std::vector<CallBlock> call_blocks(const std::vector<std::size_t>& calls) {
    constexpr std::size_t kCalls = std::size_t{1} << 15U;
    std::vector<CallBlock> blocks;
    std::size_t held = kCalls;
    for (std::size_t item = 0; item < calls.size(); ++item) {
        if (held >= kCalls) {
            blocks.push_back({.item = item, .end = item, .open = nullptr, .found = {}});
            held = 0;
        }
        held += calls[item];
        blocks.back().end = item + 1;
    }
    return blocks;
}

std::size_t rows_of_batch(const Program& program, const std::vector<std::size_t>& accounted, const CallBlock& block,
                          std::size_t limit) {
    std::size_t rows = 0;
    for (auto item = block.item; item < block.end; ++item) {
        rows += program.timelines[accounted[item]].calls.size() - (item == block.item ? block.call : 0);
    }
    const auto batches = (rows + limit - 1) / limit;
    return batches == 0 ? 0 : (rows + batches - 1) / batches;
}

}  // namespace logpost::replay
