#include "replay/native/split/partition.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace logpost::replay {
namespace {

constexpr MessageStages kStages{.o_s = 10, .o_r = 20, .L = 100, .serialization = 50, .service = 51};

std::int64_t part(const Partition& parts, Part of) {
    return parts.totals()[static_cast<std::size_t>(of)];
}

TEST(Partition, AMessageThatWaitsForItsReceiverIsCutWhereTheReceiveIsEntered) {
    // There at 10 + 100 + 50 = 160; the receive is entered at 400 and ends at 400 + o_r = 420.
    const auto parts = partition({.s0 = 0, .s1 = 10, .r0 = 400, .rw0 = 400, .rw1 = 420}, kStages, {}, {});
    EXPECT_EQ(part(parts, Part::late_receiver), 240);
    EXPECT_EQ(part(parts, Part::recv_overhead), 20);
    EXPECT_EQ(part(parts, Part::residual), 0);
    EXPECT_EQ(parts.deficit_ps, 0);
}

TEST(Partition, WhatTheModelWantsBeyondTheMeasuredTimeIsDeficit) {
    // 10 + 100 + 50 + 20 = 180 are wanted, 150 were measured.
    const auto parts = partition({.s0 = 0, .s1 = 10, .r0 = 0, .rw0 = 0, .rw1 = 150}, kStages, {}, {});
    const auto totals = parts.totals();
    EXPECT_EQ(std::accumulate(totals.begin(), totals.end(), std::int64_t{0}), 150);
    EXPECT_EQ(parts.deficit_ps, 30);
    EXPECT_EQ(part(parts, Part::residual), 0);
}

TEST(Partition, WaitsForNicsAndProcessorStandBetweenTransportAndOverhead) {
    // 10 + 7 + 100 + 50 + 11 + 13 + 20 = 211 of 220; 9 are left.
    const MessageWaits waits{.send_endpoint = 7, .recv_endpoint = 11, .cpu_queue = 13};
    const auto parts = partition({.s0 = 0, .s1 = 10, .r0 = 0, .rw0 = 0, .rw1 = 220}, kStages, waits, {});
    EXPECT_EQ(part(parts, Part::endpoint_contention), 18);
    EXPECT_EQ(part(parts, Part::processor_queueing), 13);
    EXPECT_EQ(part(parts, Part::residual), 9);
}

TEST(Partition, AMessageReceivedBeforeItWasSentIsClampedAndNotFitted) {
    const auto parts = partition({.s0 = 500, .s1 = 510, .r0 = 0, .rw0 = 100, .rw1 = 300}, kStages, {}, {});
    EXPECT_EQ(parts.begin(), 100);
    EXPECT_EQ(part(parts, Part::late_sender), 200);
    EXPECT_EQ(parts.size(), 1U);
}

}  // namespace
}  // namespace logpost::replay
