/// The algorithms that libraries' default rules select, and where they leave it open.

#include "replay/native/collectives/selector.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace logpost::replay {
namespace {

using enum Algorithm;

std::optional<Algorithm> by(Collectives rules, Operation operation, std::uint32_t members, std::uint64_t bytes,
                            bool blocking = true) {
    return selected(rules, {operation, members, bytes}, blocking);
}

TEST(Selector, SimgridHasOneAlgorithmOfMostOperations) {
    EXPECT_EQ(by(Collectives::simgrid, Operation::bcast, 16, 1 << 20), binomial);
    EXPECT_EQ(by(Collectives::simgrid, Operation::allreduce, 16, 8), linear_then_tree);
    EXPECT_EQ(by(Collectives::simgrid, Operation::barrier, 16, 0), linear);
    EXPECT_EQ(by(Collectives::simgrid, Operation::reduce_scatter, 16, 8), std::nullopt);  // a reduction and a scatter
}

/// The same 16 members and 512 bytes by rules of three libraries: alltoall below 512 bytes is Bruck's in Open MPI from
/// 16 members on, and in MPICH up to 256 bytes; SMPI has Open MPI's rules.
TEST(Selector, RulesDifferBetweenLibraries) {
    EXPECT_EQ(by(Collectives::openmpi, Operation::alltoall, 16, 511), bruck);
    EXPECT_EQ(by(Collectives::openmpi, Operation::alltoall, 16, 512), linear);
    EXPECT_EQ(by(Collectives::simgrid, Operation::alltoall, 16, 511), bruck);
    EXPECT_EQ(by(Collectives::mpich, Operation::alltoall, 16, 511), linear);
    EXPECT_EQ(by(Collectives::mpich, Operation::alltoall, 16, 256), bruck);
    EXPECT_EQ(by(Collectives::mpich, Operation::alltoall, 16, 32769), pairwise);
}

TEST(Selector, OpenMpiSelectsByMembers) {
    EXPECT_EQ(by(Collectives::openmpi, Operation::barrier, 3, 0), recursive_doubling);
    EXPECT_EQ(by(Collectives::openmpi, Operation::barrier, 4, 0), linear);
    EXPECT_EQ(by(Collectives::openmpi, Operation::barrier, 8, 0), recursive_doubling);
    EXPECT_EQ(by(Collectives::openmpi, Operation::barrier, 64, 0), dissemination);
}

/// 16 members, below 64 bytes: a ring, that needs an element for each member. 8 bytes have at most 8 elements:
/// recursive doubling. 32 bytes are 32 elements or 2. From 4096 bytes on Rabenseifner's, of at least 256 elements of 16
/// bytes.
TEST(Selector, AFallbackThatBytesDoNotDecideIsLeftOpen) {
    EXPECT_EQ(by(Collectives::openmpi, Operation::allreduce, 16, 8), recursive_doubling);
    EXPECT_EQ(by(Collectives::openmpi, Operation::allreduce, 16, 32), std::nullopt);
    EXPECT_EQ(by(Collectives::openmpi, Operation::allreduce, 16, 64), recursive_doubling);
    EXPECT_EQ(by(Collectives::openmpi, Operation::allreduce, 16, 4096), rabenseifner);
}

TEST(Selector, WhatNoRuleIsForIsLeftOpen) {
    // Nonblocking operations have separate rules; those of a simulation that knows one algorithm do not differ.
    EXPECT_EQ(by(Collectives::openmpi, Operation::barrier, 8, 0, false), std::nullopt);
    EXPECT_EQ(by(Collectives::textbook, Operation::barrier, 8, 0, false), dissemination);
    // MPICH composes broadcasts by nodes; two groups have other algorithms.
    EXPECT_EQ(by(Collectives::mpich, Operation::bcast, 8, 8), std::nullopt);
    EXPECT_EQ(selected(Collectives::simgrid, {Operation::bcast, 8, 8, 4, 8}, true), std::nullopt);
    EXPECT_EQ(by(Collectives::nearest, Operation::barrier, 8, 0), std::nullopt);
}

}  // namespace
}  // namespace logpost::replay
