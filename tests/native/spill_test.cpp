#include "replay/native/memory/spill.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "replay/native/memory/arena.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/settle.hpp"

namespace logpost::replay {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoMemory = 1;  // a limit under which everything is in the file
constexpr std::uint64_t kMuch = std::uint64_t{1} << 50U;

/// A directory on a disk that is gone at the end.
class Spilling : public testing::Test {
  protected:
    Spilling() : directory_((fs::current_path() / "spill_test.XXXXXX").string()) {
        EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    }
    ~Spilling() override { fs::remove_all(directory_); }

    std::string directory_;
};

std::string error_of(Spill& spill) {
    try {
        static_cast<void>(spill.take(1));
    } catch (const SpillError& error) {
        return error.what();
    }
    return "";
}

Timeline filled(std::uint32_t n) {
    Timeline timeline;
    for (std::uint32_t i = 0; i < n; ++i) {
        timeline.calls.push_back({.enter_ps = i, .leave_ps = i + 1, .region = 2, .callpath = 3});
        if (i % 3 == 0) {
            timeline.sends.push_back(
                {.call = i, .complete_call = i, .bytes = 8, .peer = Location{1}, .comm = 0, .tag = 0, .match = i});
        }
    }
    timeline.calls.trim();
    timeline.sends.trim();
    return timeline;
}

void expect_filled(const Timeline& timeline, std::uint32_t n) {
    ASSERT_EQ(timeline.calls.size(), n);
    for (std::uint32_t i = 0; i < n; ++i) {
        ASSERT_EQ(timeline.calls[i].enter_ps, i);
        ASSERT_EQ(timeline.calls[i].callpath, 3);
    }
    ASSERT_EQ(timeline.sends.size(), (n + 2) / 3);
    timeline.sends.for_each([](std::size_t i, const MessageEnd& send) { ASSERT_EQ(send.call, 3 * i); });
}

TEST_F(Spilling, NothingIsMadeBelowTheLimit) {
    Spill spill(directory_, kMuch);
    auto timeline = filled(1000);
    settle(timeline, spill);
    static_cast<void>(Arena(&spill).take<std::uint64_t>(1000));
    expect_filled(timeline, 1000);
    EXPECT_EQ(spill.spilled_bytes(), 0U);
}

TEST_F(Spilling, ColumnsInTheFileAreAsTheyWere) {
    Spill spill(directory_, kNoMemory);
    for (const std::uint32_t n : {1U, 15U, 16U, 17U, 48U, 5000U}) {
        auto timeline = filled(n);
        settle(timeline, spill);
        expect_filled(timeline, n);
        timeline.calls[n - 1].leave_ps = 7;
        EXPECT_EQ(timeline.calls[n - 1].leave_ps, 7);
        const auto moved = std::move(timeline);
        expect_filled(moved, n);
    }
    EXPECT_GT(spill.spilled_bytes(), 0U);
}

TEST_F(Spilling, AColumnInTheFileCanStillGrowAndShrink) {
    Spill spill(directory_, kNoMemory);
    for (const std::uint32_t n : {1U, 16U, 17U, 48U, 49U}) {
        auto grown = filled(n);
        settle(grown, spill);
        for (std::uint32_t i = n; i < 3 * n; ++i) {
            grown.calls.push_back({.enter_ps = i, .leave_ps = i, .region = 0, .callpath = 0});
        }
        ASSERT_EQ(grown.calls.size(), 3 * n);
        for (std::uint32_t i = 0; i < 3 * n; ++i) {
            ASSERT_EQ(grown.calls[i].enter_ps, i);
        }
        auto cut = filled(n);
        settle(cut, spill);
        cut.calls.truncate(n / 2);
        ASSERT_EQ(cut.calls.size(), n / 2);
        cut.calls.push_back({.enter_ps = 9, .leave_ps = 9, .region = 0, .callpath = 0});
        EXPECT_EQ(cut.calls[n / 2].enter_ps, 9);
    }
}

TEST_F(Spilling, WhatIsReleasedComesBackAsItWas) {
    Spill spill(directory_, kNoMemory);  // the process is above it, so all is released again and again
    constexpr std::size_t kElements = std::size_t{4} << 20U;
    Arena arena(&spill);
    const auto array = arena.take<std::uint64_t>(kElements);
    std::iota(array.begin(), array.end(), std::uint64_t{0});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (std::size_t i = 0; i < kElements; ++i) {
        ASSERT_EQ(array[i], i);
    }
}

TEST_F(Spilling, AnArrayGoesBackAndAnotherTakesItsPlace) {
    Spill spill(directory_, kNoMemory);
    for (int round = 0; round < 3; ++round) {
        Arena arena(&spill);
        static_cast<void>(arena.take<std::uint64_t>(2U << 20U));
        const auto other = arena.take<std::uint64_t>(2U << 20U);
        EXPECT_EQ(other[12345], 0U);
        other[12345] = 1;
    }
    EXPECT_EQ(spill.spilled_bytes(), 6U * (16U << 20U));
}

/// Bytes of files that are mapped and resident in this process: the third number of statm, in pages.
std::uint64_t resident_of_files() {
    std::uint64_t size = 0;
    std::uint64_t all = 0;
    std::uint64_t files = 0;
    std::ifstream("/proc/self/statm") >> size >> all >> files;
    return files * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Threads that work see to it themselves: on a busy machine, the one that only looks on may be too late.
TEST_F(Spilling, WhoeverLooksReleasesWhatIsBeyondTheLimit) {
    constexpr std::size_t kBytes = std::size_t{64} << 20U;
    Spill spill(directory_, kNoMemory);
    const auto before = resident_of_files();
    auto* memory = static_cast<char*>(spill.take(kBytes));
    std::uint64_t most = 0;
    for (std::size_t at = 0; at < kBytes; at += 4096) {
        memory[at] = 1;
        if (at % (std::size_t{4} << 20U) == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(300));  // looks are this far apart, at least
            Spill::look();
            most = std::max(most, resident_of_files());
        }
    }
    EXPECT_LT(most, before + kBytes / 4);
    for (std::size_t at = 0; at < kBytes; at += 4096) {
        ASSERT_EQ(memory[at], 1);
    }
}

TEST_F(Spilling, AnArenaHoldsWhatWasCopiedToIt) {
    for (const auto limit : {kNoMemory, kMuch}) {
        Spill spill(directory_, limit);
        Arena arena(&spill);
        std::vector<std::span<std::uint32_t>> arrays;
        for (int round = 0; round < 2; ++round) {
            for (const std::uint32_t n : {0U, 1U, 1000U, 3U, 6'000'000U, 17U}) {
                std::vector<std::uint32_t> values(n);
                std::iota(values.begin(), values.end(), n);
                arrays.push_back(arena.copy(values));
                arrays.push_back(arena.take<std::uint32_t>(n));
                std::ranges::fill(arrays.back(), n);
            }
            for (std::size_t i = 0; i < arrays.size(); i += 2) {
                const auto n = static_cast<std::uint32_t>(arrays[i].size());
                for (std::uint32_t at = 0; at < n; ++at) {
                    ASSERT_EQ(arrays[i][at], n + at);
                    ASSERT_EQ(arrays[i + 1][at], n);
                }
            }
            arrays.clear();
            arena.clear();
        }
        EXPECT_EQ(spill.spilled_bytes() > 0, limit == kNoMemory);
    }
    Arena in_memory;
    EXPECT_EQ(in_memory.copy(std::vector{1, 2, 3})[2], 3);
}

TEST_F(Spilling, TheFileHasNoName) {
    Spill spill(directory_, kNoMemory);
    static_cast<void>(spill.take(1));
    EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(Spilling, TheFolderIsMade) {
    Spill spill(fs::path(directory_) / "a" / "b", kNoMemory);
    static_cast<void>(spill.take(1));
    EXPECT_TRUE(fs::is_directory(fs::path(directory_) / "a" / "b"));
}

TEST_F(Spilling, AFullDiskIsAnErrorThatNamesTheFolder) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    auto small = before;
    small.rlim_cur = 1 << 20U;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    Spill spill(directory_, kNoMemory);
    std::string text;
    try {
        static_cast<void>(spill.take(8 << 20U));
    } catch (const SpillError& error) {
        text = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(text, directory_ +
                        ": no room for 9 MB that exceed the limit of memory: File too large; free some, name another "
                        "folder with --spill, or raise --memory");
}

TEST_F(Spilling, AFolderThatCannotBeWrittenIsNamed) {
    const auto file = fs::path(directory_) / "file";
    std::ofstream(file).put(10);
    Spill spill(file / "below", kNoMemory);
    EXPECT_EQ(error_of(spill), file.string() +
                                   "/below: what exceeds the limit of memory cannot be written there: Not a directory; "
                                   "name another folder with --spill, or raise --memory");
}

TEST(SpillInMemory, IsRefusedUnlessAskedFor) {
    const fs::path memory = "/dev/shm";
    if (!fs::is_directory(memory) || access(memory.c_str(), W_OK) != 0 ||
        !is_in_memory(memory / "to" / "be" / "made")) {
        GTEST_SKIP() << "no /dev/shm here";
    }
    Spill unasked(memory, kNoMemory);
    EXPECT_EQ(error_of(unasked),
              "/dev/shm is in memory (tmpfs), where what exceeds the limit of memory would not leave it; name a "
              "folder on a disk with --spill, or raise --memory");
    Spill requested(memory, kNoMemory, true);
    EXPECT_EQ(error_of(requested), "");
}

}  // namespace
}  // namespace logpost::replay
