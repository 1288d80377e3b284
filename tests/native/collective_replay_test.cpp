/// The path back through a replayed collective operation: labelled message by message, and summed up.

#include "replay/native/collectives/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "program_story.hpp"

namespace logpost::replay {
namespace {

CollectiveReplay::Parts labelled(const CollectiveReplay& replay, std::uint32_t member, std::int64_t from_ps) {
    CollectiveReplay::Parts sums{};
    replay.back(member, from_ps, [&](CollectivePart part, std::int64_t begin, std::int64_t end) {
        sums[static_cast<std::size_t>(part)] += end - begin;
    });
    return sums;
}

struct Case {
    Operation operation;
    Algorithm algorithm;
    std::uint32_t members;
    std::uint64_t bytes;
};

// 700 members of a chain: most ways are longer than is labelled message by message.
const std::vector<Case> kCases{
    {Operation::barrier, Algorithm::dissemination, 33, 0},
    {Operation::barrier, Algorithm::linear, 64, 0},
    {Operation::allreduce, Algorithm::recursive_doubling, 64, 8},
    {Operation::allreduce, Algorithm::linear_then_tree, 300, 8},
    {Operation::allreduce, Algorithm::ring, 48, 100'000},
    {Operation::bcast, Algorithm::binomial, 100, 100'000},
    {Operation::scan, Algorithm::chain, 700, 8},
    {Operation::alltoall, Algorithm::linear, 32, 100},
};

// Members are traced twice: from one instant for all, whose paths have much in common, then each from its own.
TEST(CollectiveReplay, WhatIsSummedUpIsWhatTheWayIsLabelledWith) {
    for (const bool queues : {false, true}) {
        for (const auto& one : kCases) {
            auto machine = tests::plain_machine();
            machine.endpoints_queue = queues;
            machine.reduction_per_byte = 0.5;
            for (auto& locality : machine.localities) {
                for (auto& range : locality.ranges) {
                    range.g = 35;
                }
            }
            tests::ProgramStory story;
            std::vector<CollectiveReplay::Member> members;
            std::mt19937 random(one.members);  // NOLINT: the same on every machine
            for (std::uint32_t i = 0; i < one.members; ++i) {
                story.rank(static_cast<std::int32_t>(i / 4), 1'000'000);
                members.push_back({static_cast<std::int64_t>(random() % 2'000), location_at(i)});
            }
            const auto& program = story.program();
            const CollectiveEndpoints endpoints(program, machine);
            CollectiveReplay replay(program, machine, endpoints);
            for (int round = 0; round < 2; ++round) {  // what an operation before left behind does not matter
                members[0].enter_ps += 300;
                replay.run({one.operation, one.members, one.bytes}, one.algorithm, members);
                const auto last = std::ranges::max(members, {}, &CollectiveReplay::Member::enter_ps).enter_ps;
                std::int64_t whole = 0;
                for (const auto from : {std::int64_t{0}, last, last / 2, INT64_MIN, std::int64_t{0}}) {
                    for (std::uint32_t i = 0; i < one.members; ++i) {
                        const auto since = from == INT64_MIN ? members[i].enter_ps : from;  // each from its own
                        const auto parts = replay.parts(i, since);
                        EXPECT_EQ(parts, labelled(replay, i, since));
                        for (const auto part : parts) {
                            whole += part;
                        }
                    }
                }
                EXPECT_GT(whole, 0);
            }
        }
    }
}

// gamma = 2 ps/B on the path to the last member's end: each message that is combined, none of those that hand out the
// result.
TEST(CollectiveReplay, MembersCombineWhatAReductionBringsThem) {
    struct Reduction {
        Operation operation;
        Algorithm algorithm;
        std::uint32_t members;
        std::int64_t combined;  // bytes
    };
    for (const auto& one : {
             Reduction{Operation::allreduce, Algorithm::recursive_doubling, 2, 100},
             Reduction{Operation::allreduce, Algorithm::recursive_doubling, 4, 200},
             Reduction{Operation::allreduce, Algorithm::recursive_doubling, 3, 200},  // one is folded in
             Reduction{Operation::allreduce, Algorithm::binomial, 2, 100},
             Reduction{Operation::allreduce, Algorithm::linear_then_tree, 2, 100},
             Reduction{Operation::allreduce, Algorithm::ring, 2, 50},
             Reduction{Operation::allreduce, Algorithm::rabenseifner, 2, 50},
             Reduction{Operation::scan, Algorithm::chain, 3, 200},
             Reduction{Operation::bcast, Algorithm::binomial, 2, 0},
             Reduction{Operation::allgather, Algorithm::recursive_doubling, 2, 0},
         }) {
        auto machine = tests::plain_machine();
        tests::ProgramStory story;
        std::vector<CollectiveReplay::Member> members;
        for (std::uint32_t i = 0; i < one.members; ++i) {
            story.rank(static_cast<std::int32_t>(i), 1'000'000);
            members.push_back({0, location_at(i)});
        }
        const auto& program = story.program();
        const CollectiveEndpoints endpoints(program, machine);
        const auto last_end = [&](double gamma) {
            machine.reduction_per_byte = gamma;
            CollectiveReplay replay(program, machine, endpoints);
            replay.run({one.operation, one.members, 100}, one.algorithm, members);
            const auto parts = replay.parts(one.members - 1, 0);
            return std::pair{replay.end(one.members - 1), parts[static_cast<std::size_t>(CollectivePart::reduction)]};
        };
        const auto [without, nothing] = last_end(0);
        const auto [end, reduction] = last_end(2);
        EXPECT_EQ(nothing, 0);
        EXPECT_EQ(reduction, 2 * one.combined) << kAlgorithmNames[static_cast<std::size_t>(one.algorithm)];
        // Where another path was nearly as long, less than all of it delays the end.
        EXPECT_LE(end - without, 2 * one.combined);
        EXPECT_EQ(end > without, one.combined > 0);
    }
}

}  // namespace
}  // namespace logpost::replay
