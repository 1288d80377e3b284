/// Each algorithm by brute force: everybody gets what the operation needs, and messages and depth are the textbook's.

#include "replay/native/collectives/schedule.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "replay/native/program/shape.hpp"

namespace logpost::replay {
namespace {

/// Whose data each member holds, what was sent, and how many messages follow each other at most.
struct Flood {
    std::vector<std::set<std::uint32_t>> has;
    std::vector<int> depth;
    std::uint64_t messages = 0, bytes = 0, longest = 0;

    explicit Flood(std::uint32_t size) : has(size), depth(size) {
        for (std::uint32_t i = 0; i < size; ++i) {
            has[i] = {i};
        }
    }
    void count(std::uint64_t n, std::uint64_t size) {
        messages += n;
        bytes += n * size;
        longest = std::max(longest, size);
    }
    void message(std::uint32_t from, std::uint32_t to, std::uint64_t size) {
        EXPECT_NE(from, to);
        has[to].insert(has[from].begin(), has[from].end());
        depth[to] = std::max(depth[to], depth[from] + 1);
        count(1, size);
    }
    template <class Source>
    void round(std::uint32_t members, Source&& source, std::uint64_t size, std::uint32_t repeat) {
        const auto before = *this;
        std::set<std::uint32_t> senders;
        for (std::uint32_t i = 0; i < members; ++i) {
            const auto from = source(i);
            EXPECT_LT(from, members);
            EXPECT_NE(from, i);
            senders.insert(from);
            has[i].insert(before.has[from].begin(), before.has[from].end());
            depth[i] = std::max(before.depth[i], before.depth[from]) + static_cast<int>(repeat);
        }
        EXPECT_EQ(senders.size(), members) << "each member sends one message";
        count(std::uint64_t{members} * repeat, size);
    }
    void burst(std::uint32_t members, std::uint32_t rounds, std::uint64_t size) {
        for (std::uint32_t i = 0; i < members; ++i) {
            for (std::uint32_t k = 1; k <= rounds; ++k) {
                has[i].insert((i + members - k) % members);
            }
            depth[i] = 1;
        }
        count(std::uint64_t{members} * rounds, size);
    }
    [[nodiscard]] int deepest() const { return *std::ranges::max_element(depth); }
};

Flood flood(Operation operation, Algorithm algorithm, std::uint32_t size, std::uint64_t bytes = 1) {
    Flood result(size);
    visit_schedule({operation, size, bytes}, algorithm, result);
    return result;
}

constexpr std::array kOperations{Operation::barrier,
                                 Operation::bcast,
                                 Operation::gather,
                                 Operation::gatherv,
                                 Operation::scatter,
                                 Operation::scatterv,
                                 Operation::allgather,
                                 Operation::allgatherv,
                                 Operation::alltoall,
                                 Operation::alltoallv,
                                 Operation::alltoallw,
                                 Operation::allreduce,
                                 Operation::reduce,
                                 Operation::reduce_scatter,
                                 Operation::scan,
                                 Operation::exscan,
                                 Operation::reduce_scatter_block};

TEST(CollectiveSchedule, EveryCandidateBringsEveryMemberWhatItNeeds) {
    for (const auto operation : kOperations) {
        for (const std::uint64_t bytes : {1ULL, 4096ULL, 1ULL << 20U}) {
            for (std::uint32_t size = 1; size <= 17; ++size) {
                for (const auto algorithm : candidates({operation, size, bytes})) {
                    const auto after = flood(operation, algorithm, size, bytes);
                    for (std::uint32_t i = 0; i < size; ++i) {
                        std::size_t needed = 1;
                        switch (shape(operation)) {
                            case Shape::all_to_all:
                                needed = size;
                                break;
                            case Shape::one_to_all:
                                EXPECT_TRUE(after.has[i].contains(0));
                                break;
                            case Shape::all_to_one:
                                needed = i == 0 ? size : 1;
                                break;
                            case Shape::prefix:
                                needed = i + 1;
                                EXPECT_EQ(*after.has[i].rbegin(), i) << "nothing from higher ranks";
                                break;
                            case Shape::agreement:
                            case Shape::none:
                                FAIL();
                        }
                        EXPECT_GE(after.has[i].size(), needed)
                            << kAlgorithmNames[static_cast<std::size_t>(algorithm)] << " of operation "
                            << static_cast<int>(operation) << ", member " << i << " of " << size;
                    }
                }
            }
        }
    }
}

TEST(CollectiveSchedule, EveryGroupOfAnInterCommunicatorGetsWhatTheOtherOneGives) {
    for (const auto operation : kOperations) {
        if (shape(operation) == Shape::prefix) {
            EXPECT_TRUE(candidates({operation, 4, 1, 2, 1}).empty());
            continue;
        }
        for (std::uint32_t size = 2; size <= 13; ++size) {
            for (std::uint32_t group = 1; group < size; ++group) {
                const Groups groups{group, size - group};
                const auto every = [&](std::size_t side) {
                    std::set<std::uint32_t> members;
                    for (std::uint32_t i = 0; i < groups.size[side]; ++i) {
                        members.insert(groups.number(side, i));
                        EXPECT_EQ(groups.group_of(groups.number(side, i)), side);
                        EXPECT_EQ(groups.index_of(groups.number(side, i)), i);
                    }
                    return members;
                };
                const auto has = [&](const Flood& after, std::uint32_t member, std::size_t side) {
                    return std::ranges::includes(after.has[member], every(side));
                };
                const auto all = candidates({operation, size, 1, group, 1});
                EXPECT_FALSE(all.empty());
                for (const auto algorithm : all) {
                    Flood after(size);
                    visit_schedule({operation, size, 1, group, 1}, algorithm, after);
                    for (const auto member : every(1)) {
                        EXPECT_TRUE(shape(operation) != Shape::one_to_all || after.has[member].contains(0));
                        EXPECT_TRUE(shape(operation) != Shape::all_to_all || has(after, member, 0));
                    }
                    for (const auto member : every(0)) {
                        EXPECT_TRUE(shape(operation) != Shape::all_to_all || has(after, member, 1));
                        EXPECT_TRUE(shape(operation) == Shape::all_to_all || member == 0 || after.depth[member] == 0);
                    }
                    EXPECT_TRUE(shape(operation) != Shape::all_to_one || has(after, 0, 1));
                }
                if (shape(operation) == Shape::all_to_all && operation != Operation::barrier) {
                    Flood after(size);
                    visit_schedule({operation, size, 1, group, 0}, all.front(), after);
                    EXPECT_TRUE(has(after, 1, 0));
                    EXPECT_FALSE(after.has[0].contains(1)) << "the other group gives nothing";
                }
            }
        }
    }
}

TEST(CollectiveSchedule, CandidatesFollowTheLibrariesLimits) {
    const auto takes = [](Operation operation, std::uint32_t size, std::uint64_t bytes, Algorithm algorithm) {
        return std::ranges::count(candidates({operation, size, bytes}), algorithm) == 1;
    };
    // coll_tuned (v5.0.9): the modified Bruck below 512 B of 16 to 63 members, below 1024 B of more; MPICH: 256 B of 8.
    EXPECT_FALSE(takes(Operation::alltoall, 7, 8, Algorithm::bruck));
    EXPECT_TRUE(takes(Operation::alltoall, 8, 256, Algorithm::bruck));
    EXPECT_FALSE(takes(Operation::alltoall, 8, 257, Algorithm::bruck));
    EXPECT_TRUE(takes(Operation::alltoall, 16, 511, Algorithm::bruck));
    EXPECT_FALSE(takes(Operation::alltoall, 16, 512, Algorithm::bruck));
    EXPECT_TRUE(takes(Operation::alltoall, 64, 1023, Algorithm::bruck));
    // Rabenseifner's: of 32 members from 128 B on, of fewer beyond 2 KiB.
    EXPECT_TRUE(takes(Operation::allreduce, 32, 128, Algorithm::rabenseifner));
    EXPECT_FALSE(takes(Operation::allreduce, 31, 2048, Algorithm::rabenseifner));
    EXPECT_TRUE(takes(Operation::allreduce, 31, 2049, Algorithm::rabenseifner));
    // Scatter and allgather need 8 members, chains 256 KiB.
    EXPECT_FALSE(takes(Operation::bcast, 7, 1U << 20U, Algorithm::scatter_ring));
    EXPECT_TRUE(takes(Operation::bcast, 8, 12288, Algorithm::scatter_ring));
    EXPECT_FALSE(takes(Operation::bcast, 8, 12288, Algorithm::chain));
    EXPECT_TRUE(takes(Operation::bcast, 3, 262144, Algorithm::chain));
}

TEST(CollectiveSchedule, CandidatesAreKnownForAllOperationsThatMoveData) {
    for (const auto operation : kOperations) {
        EXPECT_FALSE(candidates({operation, 8, 8}).empty());
    }
    EXPECT_TRUE(candidates({Operation::create_handle, 8, 8}).empty());
    EXPECT_TRUE(candidates({Operation::fence, 8, 8}).empty());
}

struct Textbook {
    Operation operation;
    Algorithm algorithm;
    std::uint32_t size;
    std::uint64_t messages;
    int depth;
    std::uint64_t bytes;  // all messages together, of 64 B a member
};

TEST(CollectiveSchedule, MessagesDepthAndVolumeAreTheTextbooks) {
    using enum Algorithm;
    for (const auto& [operation, algorithm, size, messages, depth, bytes] : {
             Textbook{Operation::barrier, dissemination, 6, 18, 3, 18 * 64},         // P ceil(log2 P)
             Textbook{Operation::bcast, binomial, 6, 5, 2, 5 * 64},                  // P - 1; 3 and 5 have two ones
             Textbook{Operation::bcast, linear, 6, 5, 1, 5 * 64},                    //
             Textbook{Operation::bcast, chain, 6, 5, 5, 5 * 64},                     // P - 1
             Textbook{Operation::reduce, binomial, 8, 7, 3, 7 * 64},                 //
             Textbook{Operation::scatter, binomial, 8, 7, 3, 12 * 64},               // P/2 log2 P blocks
             Textbook{Operation::gather, binomial, 8, 7, 3, 12 * 64},                //
             Textbook{Operation::allreduce, recursive_doubling, 8, 24, 3, 24 * 64},  // P log2 P
             Textbook{Operation::allreduce, recursive_doubling, 6, 12, 4,
                      12 * 64},                                                   // 2 fold, 8 and 2 between and after
             Textbook{Operation::allreduce, rabenseifner, 8, 48, 6, 2 * 7 * 64},  // 2 (P - 1) parts of 1/P from each
             Textbook{Operation::allreduce, ring, 8, 112, 14, 2 * 7 * 64},        // the same volume in 2 (P - 1) rounds
             Textbook{Operation::allreduce, binomial, 8, 14, 6, 14 * 64},         // up and down
             Textbook{Operation::allreduce, linear_then_tree, 8, 14, 4, 14 * 64},    // one step up, three down
             Textbook{Operation::allgather, bruck, 6, 18, 3, 30 * 64},               // P (P - 1) blocks in all
             Textbook{Operation::allgather, ring, 6, 30, 5, 30 * 64},                //
             Textbook{Operation::allgather, recursive_doubling, 8, 24, 3, 56 * 64},  //
             Textbook{Operation::alltoall, pairwise, 6, 30, 5, 30 * 64},             // P - 1 rounds
             Textbook{Operation::alltoall, linear, 6, 30, 1, 30 * 64},               //
             Textbook{Operation::alltoall, bruck, 8, 24, 3, 96 * 64},                // P/2 log2 P blocks from each
             Textbook{Operation::bcast, scatter_ring, 8, 7 + 56, 3 + 7, (12 + 56) * 8},
         }) {
        const auto after = flood(operation, algorithm, size, 64);
        EXPECT_EQ(after.messages, messages) << kAlgorithmNames[static_cast<std::size_t>(algorithm)] << " " << size;
        EXPECT_EQ(after.deepest(), depth) << kAlgorithmNames[static_cast<std::size_t>(algorithm)] << " " << size;
        EXPECT_EQ(after.bytes, bytes) << kAlgorithmNames[static_cast<std::size_t>(algorithm)] << " " << size;
    }
}

struct Rounds {
    std::uint64_t calls = 0, meant = 0;
    void message(std::uint32_t, std::uint32_t, std::uint64_t) {}
    template <class Source>
    void round(std::uint32_t, Source&&, std::uint64_t, std::uint32_t repeat) {
        ++calls;
        meant += repeat;
    }
    void burst(std::uint32_t, std::uint32_t, std::uint64_t) {}
};

TEST(CollectiveSchedule, LongAlgorithmsAreToldInAtMostSixtyFourRoundsAMember) {
    Rounds rounds;
    visit_schedule({Operation::alltoall, 4096, 8}, Algorithm::pairwise, rounds);
    EXPECT_EQ(rounds.calls, 64U);
    EXPECT_EQ(rounds.meant, 4095U);
}

TEST(CollectiveSchedule, AChainIsCutIntoSegmentsOf128KiB) {
    const auto after = flood(Operation::bcast, Algorithm::chain, 4, 1U << 19U);
    EXPECT_EQ(after.messages, 3U * 4U);
    EXPECT_EQ(after.longest, schedule::kChainSegment);
    EXPECT_EQ(after.bytes, 3U << 19U);
}

}  // namespace
}  // namespace logpost::replay
