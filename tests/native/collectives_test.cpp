#include "analyzer/archive/native/match/collectives.hpp"

#include <gtest/gtest.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "analyzer/archive/native/match/match.hpp"

namespace logpost::analyzer {
namespace {

using replay::Rank;

struct Story {
    explicit Story(std::size_t n) : owner(n) {
        trace.traces.resize(n);
        std::ranges::generate(owner, [next = 0]() mutable { return replay::Location{next++}; });
    }
    std::int32_t communicator(const std::vector<std::int32_t>& members, const std::vector<std::int32_t>& remote = {},
                              bool is_self = false) {
        Communicator c;
        const auto to_location = [](std::int32_t at) { return replay::Location{at}; };
        std::ranges::transform(members, std::back_inserter(c.locations), to_location);
        std::ranges::transform(remote, std::back_inserter(c.remote_locations), to_location);
        c.is_self = is_self;
        trace.communicators.push_back(c);
        return static_cast<std::int32_t>(trace.communicators.size() - 1);
    }
    void operation(std::size_t location, std::int32_t comm, Operation op, Rank root = kNoRank, std::int64_t begin = 0,
                   std::uint32_t persistent = kNone) {
        trace.traces[location].collectives.push_back({begin, begin + 1, 0, 0, 0, 0, comm, root, persistent, op});
    }
    /// A start of a communicator's so many-th persistent operation.
    void start(std::size_t location, std::int32_t comm, std::uint32_t number, Operation op, Rank root = kNoRank) {
        operation(location, comm, op, root, 0, number);
    }
    std::uint32_t instance(std::size_t location, std::size_t i) {
        return trace.traces[location].collectives[i].instance;
    }
    /// Then each process for itself, which has the numbers of its own sequences alone: as in blocks.
    void group() {
        const auto n = trace.traces.size();
        std::vector<LocationTrace> copies(n);
        std::vector<std::vector<LocationTrace*>> of_process(n);
        for (std::size_t l = 0; l < n; ++l) {
            trace.traces[l].collectives.for_each(
                [&](std::size_t, const Collective& record) { copies[l].collectives.push_back(record); });
            if (!copies[l].collectives.empty()) {
                of_process[replay::index(owner[l])].push_back(&copies[l]);
            }
        }
        const auto off = processes_off(trace, owner);
        group_collectives(trace, owner, quality);
        QualityCounts counts{};
        CollectiveGroups all(trace);
        std::vector<std::vector<std::uint32_t>> touched(n);
        std::vector<std::uint32_t> alone(n);
        for (std::size_t process = 0; process < n; ++process) {
            alone[process] = all.alone();
            all.add(process, of_process[process], counts);
            touched[process] = all.take_touched();
        }
        all.number(off, counts);
        for (std::size_t process = 0; process < n; ++process) {
            CollectiveGroups own(trace);
            for (const auto sequence : touched[process]) {
                own.set(all.sequence(sequence), all.numbers(sequence));
            }
            own.set_next_alone(all.grouped() + alone[process]);
            own.assign(process, of_process[process]);
        }
        for (std::size_t l = 0; l < n; ++l) {
            copies[l].collectives.for_each([&](std::size_t i, const Collective& record) {
                EXPECT_EQ(record.instance, trace.traces[l].collectives[i].instance) << l << " " << i;
                EXPECT_EQ(record.root, trace.traces[l].collectives[i].root) << l << " " << i;
            });
        }
    }
    std::uint64_t counted(Quality what) const { return quality[static_cast<std::size_t>(what)]; }

    Trace trace;
    std::vector<replay::Location> owner;
    QualityCounts quality{};
};

TEST(Collectives, TheKthOperationOfEveryMemberIsOneInstance) {
    Story s(3);
    const auto world = s.communicator({0, 1, 2});
    for (std::size_t l = 0; l < 3; ++l) {
        s.operation(l, world, Operation::barrier);
        s.operation(l, world, Operation::bcast, Rank{1});
    }
    s.group();
    EXPECT_EQ(s.trace.collective_instances, 2U);
    for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_EQ(s.instance(l, 0), 0U);
        EXPECT_EQ(s.instance(l, 1), 1U);
    }
}

TEST(Collectives, TheRootOfAnInterCommunicatorIsNamedFromBothSides) {
    // Location 2, rank 1 of the first group {0, 2}, is the root of what the second group {1, 3} gets; then 3 is it.
    Story s(4);
    const auto inter = s.communicator({0, 2}, {1, 3});
    for (const std::size_t l : {0U, 1U, 2U, 3U}) {
        const bool first = l % 2 == 0;
        s.operation(l, inter, Operation::bcast, l == 2 ? kRootSelf : first ? kRootInThisGroup : Rank{1});
        s.operation(l, inter, Operation::gather, l == 3 ? kRootSelf : first ? Rank{1} : kRootInThisGroup);
        s.operation(l, inter, Operation::barrier);
    }
    s.group();
    EXPECT_EQ(s.trace.collective_instances, 3U);
    EXPECT_EQ(s.counted(Quality::collective_inconsistent), 0U);
    for (std::size_t l = 0; l < 4; ++l) {
        const auto& records = s.trace.traces[l].collectives;
        EXPECT_EQ(records[0].instance == kNone, l == 0);  // it is next to the root, and may leave at once
        EXPECT_EQ(records[1].instance == kNone, l == 1);
        EXPECT_EQ(records[0].root, Rank{1});  // among {0, 2, 1, 3}
        EXPECT_EQ(records[1].root, Rank{3});
        EXPECT_EQ(records[2].root, kNoRank);
    }
}

TEST(Collectives, OtherRootsOnBothSidesStillDisagree) {
    Story s(3);
    const auto inter = s.communicator({0, 2}, {1});
    s.operation(0, inter, Operation::bcast, kRootSelf);
    s.operation(1, inter, Operation::bcast, Rank{1});  // means location 2
    s.operation(2, inter, Operation::bcast, kRootInThisGroup);
    s.group();
    EXPECT_EQ(s.counted(Quality::collective_inconsistent), 1U);
    EXPECT_EQ(s.trace.traces[2].collectives[0].root, kNoRank);
}

TEST(Collectives, CommunicatorsCountForThemselves) {
    // Location 0 alternates between two communicators, the others see one each.
    Story s(3);
    const auto a = s.communicator({0, 1});
    const auto b = s.communicator({0, 2});
    s.operation(0, b, Operation::barrier);
    s.operation(0, a, Operation::allreduce);
    s.operation(0, b, Operation::allreduce);
    s.operation(1, a, Operation::allreduce);
    s.operation(2, b, Operation::barrier);
    s.operation(2, b, Operation::allreduce);
    s.group();
    EXPECT_EQ(s.trace.collective_instances, 3U);
    EXPECT_EQ(s.instance(0, 0), s.instance(2, 0));
    EXPECT_EQ(s.instance(0, 1), s.instance(1, 0));
    EXPECT_EQ(s.instance(0, 2), s.instance(2, 1));
}

TEST(Collectives, AMissingMemberLeavesTheOperationUngrouped) {
    Story s(2);
    const auto world = s.communicator({0, 1});
    s.operation(0, world, Operation::barrier);
    s.operation(0, world, Operation::barrier);
    s.operation(1, world, Operation::barrier);
    s.group();
    EXPECT_EQ(s.instance(0, 0), s.instance(1, 0));
    EXPECT_EQ(s.instance(0, 1), kNone);
    EXPECT_EQ(s.counted(Quality::collective_incomplete), 1U);
}

TEST(Collectives, MembersWithoutAnyRecordLeaveTheOthersGrouped) {
    // The event file of location 2 is missing: the order of the others is whole.
    Story s(3);
    const auto world = s.communicator({0, 1, 2});
    for (const std::size_t l : {0U, 1U}) {
        s.operation(l, world, Operation::barrier);
        s.operation(l, world, Operation::gather, Rank{2});
    }
    s.operation(1, world, Operation::barrier);
    s.group();
    EXPECT_EQ(s.instance(0, 0), s.instance(1, 0));
    EXPECT_EQ(s.instance(0, 1), s.instance(1, 1));
    EXPECT_NE(s.instance(0, 0), kNone);
    EXPECT_EQ(s.instance(1, 2), kNone);  // location 0 lacks this one
    EXPECT_EQ(s.counted(Quality::collective_lacks_members), 2U);
    EXPECT_EQ(s.counted(Quality::collective_incomplete), 1U);
}

TEST(Collectives, AMemberWhoseOthersAreAllMissingIsNotGrouped) {
    Story s(2);
    const auto world = s.communicator({0, 1});
    s.operation(0, world, Operation::barrier);
    s.group();
    EXPECT_EQ(s.instance(0, 0), kNone);
    EXPECT_EQ(s.counted(Quality::collective_incomplete), 1U);
}

TEST(Collectives, DisagreementLeavesTheOperationUngrouped) {
    Story s(2);
    const auto world = s.communicator({0, 1});
    s.operation(0, world, Operation::barrier);
    s.operation(1, world, Operation::allreduce);
    s.operation(0, world, Operation::bcast, Rank{0});
    s.operation(1, world, Operation::bcast, Rank{1});
    s.group();
    EXPECT_EQ(s.counted(Quality::collective_inconsistent), 2U);
    EXPECT_EQ(s.instance(0, 0), kNone);
    EXPECT_EQ(s.instance(1, 1), kNone);
}

TEST(Collectives, EveryOperationOnSelfIsItsOwn) {
    Story s(2);
    const auto self = s.communicator({}, {}, true);
    const auto one = s.communicator({1});
    s.operation(0, self, Operation::barrier);
    s.operation(1, self, Operation::barrier);
    s.operation(1, one, Operation::barrier);
    s.group();
    EXPECT_EQ(s.trace.collective_instances, 3U);
    EXPECT_NE(s.instance(0, 0), s.instance(1, 0));
    EXPECT_NE(s.instance(1, 0), s.instance(1, 1));
}

TEST(Collectives, BothGroupsOfAnInterCommunicatorTakePart) {
    Story s(3);
    const auto inter = s.communicator({0}, {1, 2});
    for (std::size_t l = 0; l < 3; ++l) {
        s.operation(l, inter, Operation::barrier);
    }
    s.group();
    EXPECT_EQ(s.trace.collective_instances, 1U);
    EXPECT_EQ(s.instance(2, 0), 0U);
}

TEST(Collectives, OutsidersAndUndefinedCommunicatorsStayAlone) {
    Story s(3);
    const auto pair = s.communicator({0, 1});
    s.operation(0, pair, Operation::barrier);
    s.operation(1, pair, Operation::barrier);
    s.operation(2, pair, Operation::barrier);
    s.operation(2, kUndefined, Operation::barrier);
    s.group();
    EXPECT_EQ(s.instance(0, 0), 0U);
    EXPECT_EQ(s.instance(2, 0), kNone);
    EXPECT_EQ(s.instance(2, 1), kNone);
    EXPECT_EQ(s.counted(Quality::collective_outside_communicator), 1U);
}

TEST(Collectives, ThreadsOfAProcessActInItsName) {
    Story s(3);
    s.owner = {replay::Location{0}, replay::Location{0}, replay::Location{2}};
    const auto world = s.communicator({0, 2});
    s.operation(0, world, Operation::allreduce, kNoRank, 20);
    s.operation(1, world, Operation::barrier, kNoRank, 10);
    s.operation(2, world, Operation::barrier, kNoRank, 10);
    s.operation(2, world, Operation::allreduce, kNoRank, 20);
    s.group();
    EXPECT_EQ(s.trace.collective_instances, 2U);
    EXPECT_EQ(s.instance(1, 0), s.instance(2, 0));
    EXPECT_EQ(s.instance(0, 0), s.instance(2, 1));
}

TEST(Collectives, PersistentOnesBelongTogetherByTheirNumberInWhateverOrderTheyStart) {
    Story s(2);
    const auto world = s.communicator({0, 1});
    s.start(0, world, 1, Operation::bcast, Rank{0});
    s.start(0, world, 2, Operation::barrier);
    s.operation(0, world, Operation::allreduce);
    s.start(0, world, 1, Operation::bcast, Rank{0});
    s.start(1, world, 2, Operation::barrier);
    s.start(1, world, 1, Operation::bcast, Rank{0});
    s.start(1, world, 1, Operation::bcast, Rank{0});
    s.operation(1, world, Operation::allreduce);
    s.group();
    EXPECT_EQ(s.trace.collective_instances, 4U);
    EXPECT_EQ(s.instance(0, 0), s.instance(1, 1));
    EXPECT_EQ(s.instance(0, 1), s.instance(1, 0));
    EXPECT_EQ(s.instance(0, 2), s.instance(1, 3));
    EXPECT_EQ(s.instance(0, 3), s.instance(1, 2));
    EXPECT_EQ(s.counted(Quality::collective_inconsistent) + s.counted(Quality::collective_incomplete), 0U);
}

TEST(Collectives, PersistentOnesOfAnotherCommunicatorAreOthers) {
    Story s(2);
    const auto world = s.communicator({0, 1});
    const auto other = s.communicator({0, 1});
    s.start(0, world, 1, Operation::barrier);
    s.start(0, other, 1, Operation::allreduce);
    s.start(1, other, 1, Operation::allreduce);
    s.start(1, world, 1, Operation::barrier);
    s.group();
    EXPECT_EQ(s.instance(0, 0), s.instance(1, 1));
    EXPECT_EQ(s.instance(0, 1), s.instance(1, 0));
}

TEST(Collectives, ThePersistentOnesNumberIsNoInstance) {
    // Missing at a member, of another operation, alone, of an outsider, and never completed: none keeps its number.
    Story s(3);
    const auto pair = s.communicator({0, 1});
    const auto self = s.communicator({}, {}, true);
    s.start(0, pair, 70, Operation::barrier);
    s.start(0, pair, 80, Operation::barrier);
    s.start(1, pair, 80, Operation::allreduce);
    s.start(0, self, 90, Operation::barrier);
    s.start(2, pair, 90, Operation::barrier);
    s.start(2, kUndefined, 90, Operation::unknown);
    s.group();
    EXPECT_EQ(s.instance(0, 0), kNone);
    EXPECT_EQ(s.instance(0, 1), kNone);
    EXPECT_EQ(s.instance(1, 0), kNone);
    EXPECT_EQ(s.instance(0, 2), 0U);
    EXPECT_EQ(s.instance(2, 0), kNone);
    EXPECT_EQ(s.instance(2, 1), kNone);
    EXPECT_EQ(s.counted(Quality::collective_incomplete), 1U);
    EXPECT_EQ(s.counted(Quality::collective_inconsistent), 1U);
}

}  // namespace
}  // namespace logpost::analyzer
