#include "replay/native/split/time_cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "replay/native/memory/threads.hpp"

namespace logpost::replay {
namespace {

/// Sorted at a time.
constexpr std::int32_t kBlockCells = 64;

/// Cells of twice the width; both are in the order of cells and categories.
std::vector<AccountRow> in_pairs(const std::vector<AccountRow>& cells) {
    std::vector<AccountRow> result;
    for (auto row = cells.begin(); row != cells.end();) {
        const auto pair = row->window / 2;
        Exposed sums{};
        for (; row != cells.end() && row->window / 2 == pair; ++row) {
            sums[row->category] += row->exposed_ps;
        }
        for (std::size_t category = 0; category < kCategories; ++category) {
            if (sums[category] != 0) {
                result.push_back({sums[category], pair, Phase::program, static_cast<std::uint8_t>(category)});
            }
        }
    }
    return result;
}

}  // namespace

TimeCells::TimeCells(const std::vector<std::size_t>& accounted, const Windows& windows)
    : accounted_(accounted),
      members_((accounted.size() + kMostGroups - 1) / kMostGroups),
      count_(windows.count * windows.cells),
      levels_(std::countr_zero(static_cast<std::uint32_t>(windows.cells))) {
    for (std::size_t first = 0; levels_ > 0 && first < accounted.size(); first += members_) {
        groups_.push_back({.cells = {}, .sums = {}, .missing = std::min(members_, accounted.size() - first)});
    }
}

void TimeCells::add(std::size_t place, std::vector<AccountRow> cells) {
    if (levels_ == 0) {
        return;
    }
    auto& group = groups_[place / members_];
    if (members_ == 1) {
        group.cells = std::move(cells);
        return;
    }
    const std::scoped_lock lock(adding_);
    group.sums.resize(static_cast<std::size_t>(count_) * kCategories);
    for (const auto& row : cells) {
        group.sums[static_cast<std::size_t>(row.window) * kCategories + row.category] += row.exposed_ps;
    }
    if (--group.missing > 0) {
        return;
    }
    for (std::size_t i = 0; i < group.sums.size(); ++i) {
        if (group.sums[i] != 0) {
            group.cells.push_back({group.sums[i], static_cast<std::int32_t>(i / kCategories), Phase::program,
                                   static_cast<std::uint8_t>(i % kCategories)});
        }
    }
    group.sums = {};
}

std::vector<TimeCells::Coarser> TimeCells::coarser_cells(unsigned threads) const {
    std::vector<Coarser> result(groups_.size());
    for_each_parallel(groups_.size(), threads, 1, [&](std::size_t g, unsigned) {
        const auto* finer = &groups_[g].cells;
        result[g].reserve(static_cast<std::size_t>(levels_));
        for (std::int32_t level = 1; level < levels_; ++level) {
            finer = &result[g].emplace_back(in_pairs(*finer));
        }
    });
    return result;
}

TimeCellRows TimeCells::rows(unsigned threads) const {
    // By level and cell, so that a reader of a stretch of time finds it in one piece. The rows of a few cells at a time
    // are sorted by counting, into their own stretch of the table.
    struct Block {
        std::int32_t level, first_cell;
        std::size_t count, first_row;
    };
    std::vector<Block> blocks;
    for (std::int32_t level = 0; level < levels_; ++level) {
        for (std::int32_t cell = 0; cell < count_ >> level; cell += kBlockCells) {
            blocks.push_back({.level = level, .first_cell = cell, .count = 0, .first_row = 0});
        }
    }
    const auto coarser = coarser_cells(threads);
    const auto for_each_row = [&](const Block& block, auto&& visit) {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const auto& cells =
                block.level == 0 ? groups_[g].cells : coarser[g][static_cast<std::size_t>(block.level) - 1];
            auto row = std::ranges::lower_bound(cells, block.first_cell, {}, &AccountRow::window);
            for (; row != cells.end() && row->window < block.first_cell + kBlockCells; ++row) {
                visit(g, *row);
            }
        }
    };
    for_each_parallel(blocks.size(), threads, 1, [&](std::size_t b, unsigned) {
        for_each_row(blocks[b], [&](std::size_t, const AccountRow&) { ++blocks[b].count; });
    });
    std::size_t count = 0;
    for (auto& block : blocks) {
        block.first_row = std::exchange(count, count + block.count);
    }
    TimeCellRows result(count);
    for_each_parallel(blocks.size(), threads, 1, [&](std::size_t b, unsigned) {
        const auto& block = blocks[b];
        std::array<std::size_t, kBlockCells + 1> next{};
        const auto place = [&](const AccountRow& row) {
            return static_cast<std::size_t>(row.window - block.first_cell);
        };
        for_each_row(block, [&](std::size_t, const AccountRow& row) { ++next[place(row) + 1]; });
        std::partial_sum(next.begin(), next.end(), next.begin());
        for_each_row(block, [&](std::size_t group, const AccountRow& row) {
            const auto at = block.first_row + next[place(row)]++;
            result.level[at] = block.level;
            result.cell[at] = row.window;
            result.location[at] = static_cast<std::int32_t>(accounted_[group * members_]);
            result.members[at] = static_cast<std::int32_t>(std::min(members_, accounted_.size() - group * members_));
            result.category[at] = row.category;
            result.exposed[at] = row.exposed_ps;
        });
    });
    return result;
}

}  // namespace logpost::replay
