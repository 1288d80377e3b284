// The benchmarks' stand-in for LogGOPSim and our replay find the same times for the same schedule under the same rules.

#include <gtest/gtest.h>

#include "replay/native/graph/replay.hpp"
#include "tests/benchmarks/schedules.hpp"

namespace logpost::tests {
namespace {

replay::Parameters machine_of(const LogGPS& from) {
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        auto& range = locality.ranges[0];
        range.L = static_cast<double>(from.L);
        range.o_s = static_cast<double>(from.o_s);
        range.o_r = static_cast<double>(from.o_r);
        range.g = static_cast<double>(from.g);
        range.G = static_cast<double>(from.G);
    }
    return machine;
}

using Schedule = std::vector<std::vector<Operation>>;

/// The times of all messages' calls on `other`, by rank, as the stand-in runs them there and as our replay has them
/// from what it ran on `recorded`.
void expect_same(const Schedule& schedule, const LogGPS& recorded, const LogGPS& other) {
    ProgramStory story;
    add_schedule(story, schedule, EventReplay(schedule, recorded).run());
    const auto& program = story.program();
    const auto machine = machine_of(recorded);
    const auto graph = replay::build_graph(program, machine, machine);
    const std::vector<replay::Setting> settings{{.machine = machine_of(other)}};
    const replay::Weights weights(graph, machine, settings);
    const auto times = weights.times();
    const auto ran = EventReplay(schedule, other).run();
    std::int64_t last = 0;
    std::size_t call = 0;
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        for (std::size_t i = 0; i < schedule[rank].size(); ++i) {
            last = std::max(last, ran[rank][i].end);
            if (schedule[rank][i].kind != Operation::Kind::compute) {
                EXPECT_EQ(times[graph.enters[call]], ran[rank][i].begin);
                EXPECT_EQ(times[graph.leaves[call]], ran[rank][i].end) << "rank " << rank << ", operation " << i;
                ++call;
            }
        }
    }
    EXPECT_EQ(call, graph.leaves.size());
    EXPECT_EQ(weights.makespans(2), std::vector<std::int64_t>{last});
}

constexpr LogGPS kRecorded{.L = 2'000'000, .o_s = 500'000, .o_r = 300'000, .g = 0, .G = 0};

TEST(EventReplay, WithoutContentionAHaloExchangeTakesWhatOurReplaySays) {
    const auto schedule = halo(9, 30, 2, 1000);
    for (const auto& other : {LogGPS{100'000, 500'000, 300'000, 0, 0}, LogGPS{40'000'000, 500'000, 300'000, 0, 0},
                              LogGPS{2'000'000, 3'000'000, 100'000, 0, 0}, kRecorded}) {
        expect_same(schedule, kRecorded, other);
    }
}

TEST(EventReplay, AndSoDoesARingWhoseNicsQueue) {
    // A receiver has one sender here: the order at its NIC is the sender's on every machine.
    const auto schedule = halo(7, 30, 1, 5000);
    expect_same(schedule, kRecorded, {2'000'000, 500'000, 300'000, 4'000'000, 100});
    expect_same(schedule, {2'000'000, 500'000, 300'000, 4'000'000, 100}, {1'000'000, 200'000, 300'000, 0, 900});
}

TEST(EventReplay, WhatOvertakesIsReleasedFromTheRecordedOrder) {
    // The message of rank 1 arrives second at rank 2's NIC, at 50 + o_s 1 + L 5, and first once its sender computes for
    // 0; rank 0's arrives at 20 + 1 + 5 in both cases. A NIC is busy for 30.
    const auto schedule = [](std::int64_t computes) {
        return Schedule{{{Operation::Kind::compute, -1, 20}, {Operation::Kind::send, 2, 1}},
                        {{Operation::Kind::compute, -1, computes}, {Operation::Kind::send, 2, 1}},
                        {{Operation::Kind::receive, 1, 1}, {Operation::Kind::receive, 0, 1}}};
    };
    const LogGPS machine{.L = 5, .o_s = 1, .o_r = 2, .g = 30, .G = 0};
    ProgramStory story;
    add_schedule(story, schedule(50), EventReplay(schedule(50), machine).run());
    const auto& program = story.program();
    const auto parameters = machine_of(machine);
    const auto graph = replay::build_graph(program, parameters, parameters);
    const std::vector<replay::Setting> settings{{.machine = parameters, .by_location = {1, 0, 1}}};
    const replay::Weights weights(graph, parameters, settings);
    // Recorded order: 26, and 30 later 56, received at 58 and 60. By arrival: 6, and 36: 38. Released, no message
    // waits: 28.
    EXPECT_EQ(weights.makespans(1).front(), 60);
    EXPECT_EQ(EventReplay(schedule(0), machine).run()[2][1].end, 38);
    EXPECT_EQ(weights.makespans(1, true).front(), 28);
}

TEST(EventReplay, ByHand) {
    // 10 + o_s 1, injected at 11, there at 16; (B-1) G 9 and o_r 2: 27. The second message waits for the NIC: 11 + 20.
    const Schedule schedule{
        {{Operation::Kind::compute, -1, 10}, {Operation::Kind::send, 1, 10}, {Operation::Kind::send, 1, 10}},
        {{Operation::Kind::receive, 0, 10}, {Operation::Kind::receive, 0, 10}}};
    const auto ran = EventReplay(schedule, {.L = 5, .o_s = 1, .o_r = 2, .g = 20, .G = 1}).run();
    EXPECT_EQ(ran[0][2].end, 12);
    EXPECT_EQ(ran[1][0].end, 27);
    EXPECT_EQ(ran[1][1].end, 31 + 5 + 9 + 2);
}

}  // namespace
}  // namespace logpost::tests
