#include "replay/native/split/time_cells.hpp"

#include <bit>
#include <utility>

namespace logpost::replay {
namespace {

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

/// Gives every row with its level and the number of its group: group by group, level by level.
template <class Visit>
void TimeCells::for_each_row(Visit&& visit) const {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        std::vector<AccountRow> coarse;
        for (std::int32_t level = 0; level < levels_; ++level) {
            if (level > 0) {
                coarse = in_pairs(level == 1 ? groups_[g].cells : coarse);
            }
            for (const auto& row : level == 0 ? groups_[g].cells : coarse) {
                visit(level, g, row);
            }
        }
    }
}

TimeCellRows TimeCells::rows() const {
    // By level and cell, so that a reader of a stretch of time finds it in one piece: a counting sort.
    std::vector<std::size_t> first_cell(static_cast<std::size_t>(levels_) + 1);
    for (std::size_t level = 0; level < static_cast<std::size_t>(levels_); ++level) {
        first_cell[level + 1] = first_cell[level] + (static_cast<std::size_t>(count_) >> level);
    }
    std::vector<std::size_t> next(first_cell.back() + 1);
    const auto place = [&](std::int32_t level, const AccountRow& row) {
        return first_cell[static_cast<std::size_t>(level)] + static_cast<std::size_t>(row.window);
    };
    for_each_row([&](std::int32_t level, std::size_t, const AccountRow& row) { ++next[place(level, row) + 1]; });
    for (std::size_t i = 1; i < next.size(); ++i) {
        next[i] += next[i - 1];
    }
    TimeCellRows result;
    const auto count = next.back();
    for (auto* column : {&result.level, &result.cell, &result.location, &result.members}) {
        column->resize(count);
    }
    result.category.resize(count);
    result.exposed.resize(count);
    for_each_row([&](std::int32_t level, std::size_t group, const AccountRow& row) {
        const auto at = next[place(level, row)]++;
        result.level[at] = level;
        result.cell[at] = row.window;
        result.location[at] = static_cast<std::int32_t>(accounted_[group * members_]);
        result.members[at] = static_cast<std::int32_t>(std::min(members_, accounted_.size() - group * members_));
        result.category[at] = row.category;
        result.exposed[at] = row.exposed_ps;
    });
    return result;
}

}  // namespace logpost::replay
