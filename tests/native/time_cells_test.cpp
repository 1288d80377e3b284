#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "program_story.hpp"
#include "replay/native/split/analysis.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;

/// Time by level, cell, first location of the group, and category.
using Found = std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::uint8_t>, std::int64_t>;

Found found(const TimeCellRows& rows) {
    Found result;
    for (std::size_t i = 0; i < rows.level.size(); ++i) {
        result[{rows.level[i], rows.cell[i], rows.location[i], rows.category[i]}] += rows.exposed[i];
    }
    return result;
}

/// 256 windows hold 2 cells each from 32 calls a cell on: 16,384 calls of one location; this one has as many. A call
/// lasts 1 us of every 4; start-up takes the first quarter.
struct ManyCalls : ProgramStory {
    static constexpr std::int64_t kCalls = 16'384;
    static constexpr std::int64_t kEvery = 4'000'000;

    ManyCalls() {
        rank(0, kCalls * kEvery);
        call(0, CallKind::initialize, 0, kCalls / 4 * kEvery);
        for (std::int64_t i = 1; i < kCalls; ++i) {
            const auto begin = kCalls / 4 * kEvery + i * (kEvery * 3 / 4);
            call(0, CallKind::other, begin, begin + 1'000'000);
        }
    }
};

TEST(TimeCells, AddUpToTheAccountingOfTheProgram) {
    ManyCalls story;
    const auto machine = plain_machine();
    Analysis analysis(story.program(), machine, {}, 1);
    const auto windows = analysis.model().windows();
    ASSERT_EQ(windows.cells, 2);
    EXPECT_EQ(windows.width_ps % windows.cells, 0);
    Found wanted;
    for (const auto& row : analysis.accounts()[0]) {
        if (row.phase == Phase::program) {
            wanted[{0, row.window, 0, row.category}] += row.exposed_ps;
        }
    }
    const auto rows = analysis.time_cells();
    Found by_window;
    for (std::size_t i = 0; i < rows.level.size(); ++i) {
        by_window[{0, rows.cell[i] / 2, rows.location[i], rows.category[i]}] += rows.exposed[i];
    }
    EXPECT_EQ(by_window, wanted);
    EXPECT_TRUE(std::ranges::is_sorted(rows.cell));
    // A cell in the middle: a quarter of the time, up to one call more or less, is calls.
    const auto cells = found(rows);
    const auto other = static_cast<double>(cells.at({0, 300, 0, kMpiOther}));
    EXPECT_NEAR(other, static_cast<double>(windows.cell_ps()) / 3, 1e6);
}

TEST(TimeCells, NoneWhereCallsAreFew) {
    ProgramStory story;
    story.rank(0, 1'000'000'000);
    story.call(0, CallKind::other, 0, 100);
    const auto machine = plain_machine();
    Analysis analysis(story.program(), machine, {}, 1);
    EXPECT_EQ(analysis.model().windows().cells, 1);
    EXPECT_TRUE(analysis.time_cells().level.empty());
}

TEST(TimeCells, ManyLocationsAreGroupsAndLevelsAreSums) {
    // 1,001 locations: groups of three, of which the last one has two.
    std::vector<std::size_t> accounted(1001);
    std::iota(accounted.begin(), accounted.end(), 10);
    TimeCells cells(accounted, Windows{.count = 1, .width_ps = 400, .cells = 4});
    for (std::size_t place = 0; place < accounted.size(); ++place) {
        cells.add(place, {{70, 0, Phase::program, kCompute},
                          {30, 0, Phase::program, kMpiOther},
                          {100, 1, Phase::program, kCompute},
                          {5, 3, Phase::program, kMpiOther}});
    }
    const auto rows = cells.rows(2);
    const auto all = found(rows);
    EXPECT_EQ(all.size(), 334U * (4 + 3));
    const auto at = [&](std::int32_t level, std::int32_t cell, std::int32_t location, std::uint8_t category) {
        return all.at({level, cell, location, category});
    };
    EXPECT_EQ(at(0, 0, 10, kCompute), 3 * 70);
    EXPECT_EQ(at(1, 0, 10, kCompute), 3 * 170);
    EXPECT_EQ(at(1, 0, 13, kMpiOther), 3 * 30);
    EXPECT_EQ(at(1, 1, 1009, kMpiOther), 2 * 5);
    EXPECT_EQ(rows.members.front(), 3);
    EXPECT_EQ(rows.members.back(), 2);
}

TEST(TimeCells, StandInOrderWhateverTheThreads) {
    // Five levels of up to 16,384 cells, a few of which are empty.
    constexpr std::int32_t kCells = 1 << 14;
    const std::vector<std::size_t> accounted{0, 1, 2};
    TimeCells cells(accounted, Windows{.count = kCells / 32, .width_ps = 3'200, .cells = 32});
    std::int64_t all = 0;
    for (std::size_t place = 0; place < accounted.size(); ++place) {
        std::vector<AccountRow> rows;
        for (std::int32_t cell = static_cast<std::int32_t>(place); cell < kCells; cell += 1 + cell % 5) {
            rows.push_back({cell + 1, cell, Phase::program, kCompute});
            rows.push_back({7, cell, Phase::program, kMpiOther});
            all += cell + 8;
        }
        cells.add(place, std::move(rows));
    }
    const auto one = cells.rows(1);
    const auto key = [&](std::size_t i) {
        return std::tuple(one.level[i], one.cell[i], one.location[i], one.category[i]);
    };
    std::array<std::int64_t, 5> sums{};
    for (std::size_t i = 0; i < one.level.size(); ++i) {
        sums.at(static_cast<std::size_t>(one.level[i])) += one.exposed[i];
        if (i > 0) {
            ASSERT_LT(key(i - 1), key(i)) << "row " << i;
        }
    }
    for (const auto sum : sums) {
        EXPECT_EQ(sum, all);
    }
    const auto three = cells.rows(3);
    EXPECT_EQ(found(one), found(three));
    EXPECT_EQ(one.cell, three.cell);
    EXPECT_EQ(one.exposed, three.exposed);
}

TEST(TimeCells, AreAsManyAsTheCallsAreWorth) {
    const Windows windows{.count = 256, .width_ps = 1'000'001};
    EXPECT_EQ(windows.with_cells(1, 256 * 32 * 2 - 1).cells, 1);
    EXPECT_EQ(windows.with_cells(1, 256 * 32 * 2 - 1).width_ps, 1'000'001);
    const auto finer = windows.with_cells(32, 5'000'000);  // 156,250 cells: 19 a window and group
    EXPECT_EQ(finer.cells, 16);
    EXPECT_EQ(finer.width_ps, 1'000'016);
    EXPECT_EQ(finer.cell_at(finer.width_ps), 16);
    // 2^20 cells are the most, and none is shorter than a picosecond.
    EXPECT_EQ(windows.with_cells(32, std::size_t{1} << 40U).cells, 128);
    EXPECT_EQ((Windows{.count = 256, .width_ps = 5}.with_cells(1, std::size_t{1} << 40U).cells), 4);
}

TEST(WindowCursor, FindsTheWindowsOfAnyTimesInAnyOrder) {
    const Windows windows{.count = 5, .width_ps = 10};
    WindowCursor cursor(windows);
    for (const std::int64_t time : {-30, -1, 0, 9, 10, 10, 35, 49, 50, 51, 400, 399, 12, 9, -5, 44}) {
        EXPECT_EQ(cursor.at(time), windows.at(time)) << time;
    }
}

}  // namespace
}  // namespace logpost::replay
