#include "replay/native/waits/ledger.hpp"

#include <gtest/gtest.h>

namespace logpost::replay {
namespace {

constexpr auto kSender = static_cast<std::size_t>(WaitKind::late_sender);
constexpr auto kBarrier = static_cast<std::size_t>(WaitKind::barrier);

TEST(Ledger, KeepsManySumsApart) {
    // 100 places, each of 3 kinds and 3 callpaths, twice: place + 1 each time.
    constexpr std::uint32_t kPlaces = 100;
    Ledger ledger(2);
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t place = 0; place < kPlaces; ++place) {
            for (const auto kind : {WaitKind::late_sender, WaitKind::barrier, WaitKind::prefix}) {
                for (const auto callpath : {kUndefined, 0, 7}) {
                    ledger.at(1, place, kind, callpath).short_term += place + 1;
                }
            }
        }
    }
    std::array<WidePs, kWaitKinds> waits;
    waits.fill(kPlaces * (kPlaces + 1) * 3);
    const auto rows = ledger.rows(waits);
    // What the other kinds waited has no place.
    ASSERT_EQ(rows.size(), kPlaces * 9 + kWaitKinds - 3);
    for (std::size_t i = 0; i < kPlaces * 9; ++i) {
        EXPECT_EQ(rows[i].location, Location{1});
        EXPECT_EQ(rows[i].place.code(), i / 9);
        EXPECT_EQ(rows[i].short_term_ps, 2 * (static_cast<std::int64_t>(i / 9) + 1));
        EXPECT_EQ(rows[i].long_term_ps, 0);
    }
}

TEST(Ledger, WhatNoSumExplainsHasNoLocation) {
    Ledger ledger(1);
    ledger.at(0, 4, WaitKind::late_sender, 2).short_term += 10.75;
    ledger.at(0, 4, WaitKind::late_sender, 2).long_term += 5.5;
    ledger.at(0, 6, WaitKind::late_sender, 2).long_term += 0.25;  // less than a picosecond: no row
    std::array<WidePs, kWaitKinds> waits{};
    waits[kSender] = 20;
    waits[kBarrier] = 3;
    const auto rows = ledger.rows(waits);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].short_term_ps, 10);
    EXPECT_EQ(rows[0].long_term_ps, 5);
    for (const auto& [row, kind, left] : {std::tuple{1, WaitKind::late_sender, 5}, {2, WaitKind::barrier, 3}}) {
        EXPECT_EQ(rows[static_cast<std::size_t>(row)].location, kNoLocation);
        EXPECT_EQ(rows[static_cast<std::size_t>(row)].kind, kind);
        EXPECT_EQ(rows[static_cast<std::size_t>(row)].short_term_ps, left);
    }
}

}  // namespace
}  // namespace logpost::replay
