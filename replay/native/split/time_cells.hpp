#pragma once

/// The accounting at a finer resolution than windows, in levels of detail: what timelines of large runs are drawn from.

#include <cstdint>
#include <mutex>
#include <vector>

#include "replay/native/program/windows.hpp"
#include "replay/native/split/account.hpp"

namespace logpost::replay {

/// Rows of the table `time_cells`, by column; by level, cell and location.
struct TimeCellRows {
    /// All of them are still to be filled, by several threads.
    explicit TimeCellRows(std::size_t count = 0)
        : level(count), cell(count), location(count), members(count), category(count), exposed(count) {}

    std::vector<std::int32_t> level, cell, location, members;
    std::vector<std::uint8_t> category;
    std::vector<std::int64_t> exposed;
};

class TimeCells {
  public:
    /// As many groups as a picture has rows: more could not be seen at once.
    static constexpr std::size_t kMostGroups = 500;

    /// `accounted` must outlive the cells.
    TimeCells(const std::vector<std::size_t>& accounted, const Windows& windows);

    /// Takes the finest cells of the location at `place` in `accounted`. Any thread may call it, once for each place.
    void add(std::size_t place, std::vector<AccountRow> cells);
    /// Every level; all locations must be there.
    [[nodiscard]] TimeCellRows rows(unsigned threads) const;

  private:
    struct Group {
        std::vector<AccountRow> cells;   // of all members, once all are there
        std::vector<std::int64_t> sums;  // by cell and category, until then
        std::size_t missing;
    };
    using Coarser = std::vector<std::vector<AccountRow>>;  // of a group, by level from the second on
    [[nodiscard]] std::vector<Coarser> coarser_cells(unsigned threads) const;

    const std::vector<std::size_t>& accounted_;
    std::size_t members_;  // of a group; the last one may have fewer
    std::int32_t count_;   // finest cells
    std::int32_t levels_;
    std::vector<Group> groups_;
    std::mutex adding_;
};

}  // namespace logpost::replay
