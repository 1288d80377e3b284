// Whole archives, written in code and read back: definitions, ids, clocks. One tick is 1000 ps.
#include <pthread.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/archive/native/definitions/definitions.hpp"
#include "reader_fixture.hpp"

namespace logpost::analyzer {
namespace {

using ReaderDefinitions = Reader;
using tests::Definition;
using tests::Field;

TEST_F(Reader, NodesNumberedByProcessAreNoHosts) {
    for (const auto& [node, also] : {std::pair{"node 0", "node 1"}, {"node 0", "node 0"}, {"node 1", "node 0"}}) {
        ArchiveBuilder numbered(scratch.path() / (std::string(node) + also));
        numbered.location(0, node);
        numbered.thread(1);
        numbered.location(2, also);
        numbered.numbering(OTF2_PARADIGM_MPI, {0, 2});
        numbered.communicator({0, 1}, 0);
        const auto main = numbered.region("main", OTF2_PARADIGM_USER);
        numbered.events(0, [&](Events& e) { e.enter(0, main).leave(1, main); });
        const bool by_process = also == std::string("node 1");
        EXPECT_EQ(counted(read_archive(numbered.finish()), Quality::host_not_named), by_process ? 2U : 0U);
    }
}

TEST_F(ReaderDefinitions, AppliesTheClockOffsetsOfEachLocation) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.world(2);
    archive.global_offset = (1ULL << 60) + 1000;
    const std::uint64_t far = 1ULL << 60;  // location 0 counts from here, location 1 from 0
    archive.local(0, {{far, 0}});
    archive.local(1, {{0, static_cast<std::int64_t>(far)}, {100000, static_cast<std::int64_t>(far)}});
    archive.events(0,
                   [&](Events& e) { e.enter(far + 1000, send).send(far + 1001, 1, 0, 1, 8).leave(far + 1002, send); });
    archive.events(1, [&](Events& e) { e.enter(900, recv).recv(1005, 0, 0, 1, 8).leave(1006, recv); });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.traces[1].calls[0].enter_ps, 0);        // the earliest event of all
    EXPECT_EQ(trace.traces[0].calls[0].enter_ps, 100'000);  // 1000 − 900
    EXPECT_EQ(trace.traces[1].calls[0].leave_ps, 106'000);
    EXPECT_EQ(trace.length_ps, 106'000);
}

TEST_F(ReaderDefinitions, AClockWithoutTicksIsRefused) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    archive.world(1);
    archive.ticks_per_second = 0;
    archive.events(0, [&](Events& e) { e.enter(0, main).leave(1, main); });
    try {
        read();
        FAIL() << "a clock of 0 ticks per second was read";
    } catch (const ArchiveError& error) {
        EXPECT_NE(std::string(error.what()).find("its clock properties state 0 ticks per second"), std::string::npos)
            << error.what();
    }
}

TEST_F(ReaderDefinitions, IdsMayBeHugeAndInAnyOrder) {
    const auto recv = archive.region("MPI_Recv", OTF2_PARADIGM_MPI, 1'600'000'000);
    const auto send = archive.region("MPI_Send", OTF2_PARADIGM_MPI, 3);
    archive.location(1'600'000'001);
    archive.location(17);
    archive.numbering(OTF2_PARADIGM_MPI, {17, 1'600'000'001});
    const auto comm = archive.communicator({0, 1}, 1'500'000'000);
    archive.events(17, [&](Events& e) { e.enter(0, send).send(1, 1, comm, 2, 8).leave(2, send); });
    archive.events(1'600'000'001, [&](Events& e) { e.enter(0, recv).recv(3, 0, comm, 2, 8).leave(4, recv); });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.locations[0].ref, 1'600'000'001U);
    EXPECT_EQ(trace.locations[0].rank, replay::Rank{1});
    EXPECT_EQ(trace.locations[1].rank, replay::Rank{0});
    EXPECT_EQ(trace.traces[1].sends[0].peer, replay::Location{0});
    EXPECT_EQ(trace.traces[1].sends[0].match, 0U);
}

TEST_F(ReaderDefinitions, MapsLocalIdsToGlobalOnes) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.world(2);
    archive.communicator({1, 0}, 8);
    archive.local(0, {}, {{0, recv}, {1, send}});        // the other way round
    archive.local(1, {}, {{40, 8}}, OTF2_MAPPING_COMM);  // its communicator 40 is communicator 8
    archive.events(0, [&](Events& e) { e.enter(0, 1).send(1, 0, 8, 2, 8).leave(2, 1); });
    archive.events(1, [&](Events& e) { e.enter(0, recv).recv(3, 1, 40, 2, 8).leave(4, recv); });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.regions[static_cast<std::size_t>(trace.traces[0].calls[0].region)].name, "MPI_Send");
    EXPECT_EQ(trace.traces[1].receives[0].match, 0U);
}

TEST_F(ReaderDefinitions, CommunicatorsOfEveryShape) {
    const auto region = archive.region("MPI_Sendrecv");
    archive.world(3);
    const auto self = archive.self_communicator(1);
    const auto alone = archive.communicator({2}, 2);
    const auto inter = archive.inter_communicator({0}, {1, 2}, 3);
    const auto empty = archive.communicator({}, 4);
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1, 2});  // a second time
    archive.numbering(OTF2_PARADIGM_CUDA, {2, 1});    // another paradigm's numbering
    archive.communicator_of_group(archive.group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_CUDA, {0}), 5);
    archive.communicator({0, 7}, 6);  // rank 7 does not exist
    archive.events(0, [&](Events& e) {
        e.enter(0, region).send(1, 0, self, 1, 8).recv(2, 0, self, 1, 8);
        e.send(3, 1, inter, 1, 8).leave(4, region);  // to rank 1 of the other group: location 2
    });
    archive.events(1, [&](Events& e) { e.enter(0, region).leave(1, region); });
    archive.events(2, [&](Events& e) {
        e.enter(0, region).send(1, 0, alone, 1, 8).recv(2, 0, alone, 1, 8).recv(5, 0, inter, 1, 8).leave(6, region);
        e.enter(7, region).collective(7, 8, OTF2_COLLECTIVE_OP_BARRIER, self).leave(9, region);
    });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::duplicate_group), 1U);
    EXPECT_EQ(counted(trace, Quality::empty_communicator), 1U);
    EXPECT_EQ(counted(trace, Quality::undefined_member), 1U);
    EXPECT_EQ(
        counted_besides(trace, {Quality::duplicate_group, Quality::empty_communicator, Quality::undefined_member}), 0U);
    EXPECT_TRUE(trace.communicators[1].is_self);
    EXPECT_EQ(trace.communicators[3].remote_locations, (std::vector{replay::Location{1}, replay::Location{2}}));
    EXPECT_TRUE(trace.communicators[empty].locations.empty());
    EXPECT_EQ(trace.communicators[5].locations, (std::vector{replay::Location{2}}));
    EXPECT_EQ(trace.communicators[6].locations, (std::vector{replay::Location{0}, kNoLocation}));
    EXPECT_EQ(trace.traces[0].sends[1].peer, replay::Location{2});
    EXPECT_EQ(trace.traces[2].receives[1].peer, replay::Location{0});
    EXPECT_NE(trace.traces[2].collectives[0].instance, kNone);
}

// EZTrace 2.0 gives MPI_COMM_WORLD's group the id of the group that numbers its locations.
TEST_F(ReaderDefinitions, TheNumberingOfLocationsSurvivesAGroupOfItsId) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.location(0);
    archive.location(1'073'741'823);
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1'073'741'823});
    archive.group_again(0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, {0, 1});
    archive.communicator_of_group(0, 0);
    archive.events(0, [&](Events& e) { e.enter(0, send).send(1, 1, 0, 1, 8).leave(2, send); });
    archive.events(1'073'741'823, [&](Events& e) { e.enter(0, recv).recv(3, 0, 0, 1, 8).leave(4, recv); });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.locations[1].rank, replay::Rank{1});
    EXPECT_EQ(trace.communicators[0].locations, (std::vector{replay::Location{0}, replay::Location{1}}));
    EXPECT_EQ(trace.traces[1].receives[0].match, 0U);
}

TEST_F(ReaderDefinitions, PersistentCollectivesArePairedByTheirNumber) {
    const auto start = archive.region("MPI_Start");
    const auto wait = archive.region("MPI_Waitall");
    archive.location(0, "alpha");
    archive.location(1, "alpha");
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1});
    archive.communicator({0, 1}, 0, "MPI_COMM_WORLD");
    const auto attribute = archive.attribute("logpost:persistent", OTF2_TYPE_UINT32);
    for (const std::uint32_t rank : {0U, 1U}) {  // rank 1 starts the second one first
        archive.events(rank, [&](Events& e) {
            OTF2_AttributeList* list = OTF2_AttributeList_New();
            for (const std::uint32_t k : {0U, 1U}) {
                const std::uint32_t number = 1 + (k + rank) % 2;
                OTF2_AttributeList_AddUint32(list, attribute, number);
                e.enter(10 * k, start).collective_request(10 * k + 1, number, list).leave(10 * k + 2, start);
            }
            e.enter(30, wait)
                .collective_complete(31, OTF2_COLLECTIVE_OP_BARRIER, 0, 1)
                .collective_complete(32, OTF2_COLLECTIVE_OP_ALLREDUCE, 0, 2)
                .leave(33, wait);
            OTF2_AttributeList_Delete(list);
        });
    }
    const auto trace = read();
    EXPECT_EQ(trace.collective_instances, 2U);
    EXPECT_EQ(counted(trace, Quality::collective_inconsistent), 0U);
    const auto& first = trace.traces[0].collectives;
    const auto& second = trace.traces[1].collectives;
    EXPECT_EQ(first[0].operation, Operation::barrier);
    EXPECT_EQ(first[0].instance, second[1].instance);
    EXPECT_EQ(first[1].instance, second[0].instance);
}

TEST_F(ReaderDefinitions, ReadsLayoutsNodesCoresAndBindings) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.location(0, "alpha");
    archive.location(1, "beta");
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1});
    archive.communicator({0, 1}, 0, "MPI_COMM_WORLD");
    archive.cores("beta", 96);
    archive.cores("alpha", OTF2_UNDEFINED_UINT32);
    archive.cpu_binding(1, "0-3");
    const auto attribute = archive.attribute("logpost:layout", OTF2_TYPE_STRING);
    const auto layout = archive.text("blocks=16 block_bytes=16 stride_bytes=64 extent_bytes=976");
    const auto nonsense = archive.text("blocks=many");
    archive.events(0, [&](Events& e) {
        OTF2_AttributeList* list = OTF2_AttributeList_New();
        e.enter(0, send).send(1, 1, 0, 1, 8).leave(2, send);
        OTF2_AttributeList_AddStringRef(list, attribute, layout);
        e.enter(3, send).send(4, 1, 0, 1, 256, list).leave(5, send);
        OTF2_AttributeList_AddStringRef(list, attribute, nonsense);
        e.enter(6, send).send(7, 1, 0, 1, 8, list).leave(8, send);
        OTF2_AttributeList_Delete(list);
    });
    archive.events(1, [&](Events& e) { e.enter(0, recv).leave(1, recv); });
    const auto trace = read();
    EXPECT_EQ(trace.nodes[static_cast<std::size_t>(trace.locations[1].node)].name, "beta");
    EXPECT_EQ(trace.nodes[static_cast<std::size_t>(trace.locations[1].node)].cores, 96);
    EXPECT_EQ(trace.nodes[static_cast<std::size_t>(trace.locations[0].node)].cores, 0);
    EXPECT_NE(trace.locations[0].node, trace.locations[1].node);
    EXPECT_EQ(trace.locations[1].cpu_binding, "0-3");
    ASSERT_EQ(trace.layouts.size(), 1U);
    EXPECT_EQ(trace.layouts[0].blocks, 16U);
    EXPECT_EQ(trace.layouts[0].block_bytes, 16U);
    EXPECT_EQ(trace.layouts[0].stride_bytes, 64);
    EXPECT_EQ(trace.layouts[0].extent_bytes, 976U);
    ASSERT_EQ(trace.traces[0].layouts.size(), 1U);
    EXPECT_EQ(trace.traces[0].layouts[0].send, 1U);
    EXPECT_EQ(counted(trace, Quality::layout_unreadable), 2U);  // the text once, its use once
}

TEST_F(ReaderDefinitions, TheAnchorNeedNotBeCalledTracesAndMayBeItsDirectory) {
    ArchiveBuilder other(scratch.path() / "b", "run7");
    const auto a = other.region("a", OTF2_PARADIGM_USER);
    other.world(1);
    other.events(0, [&](Events& e) { e.enter(0, a).leave(1, a); });
    other.finish();
    EXPECT_EQ(read_archive(scratch.path() / "b").traces[0].events, 2U);
    EXPECT_EQ(find_anchor(scratch.path() / "b").filename(), "run7.otf2");
}

TEST_F(ReaderDefinitions, ProcessesThatNoParadigmNumbersAreRanksInTheirOrder) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    archive.location(5);
    archive.thread(6);
    archive.stream(7);
    archive.location(2);
    for (const std::uint64_t location : {5, 6, 7, 2}) {
        archive.events(location, [&](Events& e) { e.enter(0, main).leave(9, main); });
    }
    const auto trace = read();
    const std::vector<std::int32_t> ranks = {0, kUndefined, kUndefined,
                                             1};  // first threads, in the order of definitions
    ASSERT_EQ(trace.locations.size(), ranks.size());
    for (std::size_t l = 0; l < ranks.size(); ++l) {
        EXPECT_EQ(replay::number(trace.locations[l].rank), ranks[l]) << l;
    }
}

TEST_F(ReaderDefinitions, ThreadsOfAProcessCommunicateInItsName) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.location(0);
    archive.thread(100);
    archive.location(1);
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1});
    archive.communicator({0, 1}, 0);
    archive.events(0, [&](Events& e) { e.enter(0, send).leave(1, send); });
    archive.events(100, [&](Events& e) { e.enter(0, send).send(1, 1, 0, 5, 8).leave(2, send); });
    archive.events(1, [&](Events& e) { e.enter(0, recv).recv(3, 0, 0, 5, 8).leave(4, recv); });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.locations[1].rank, kNoRank);
    EXPECT_EQ(trace.locations[1].group, trace.locations[0].group);
    EXPECT_EQ(trace.traces[2].receives[0].peer,
              replay::Location{1});  // the thread that sent, not its process's first location
    EXPECT_EQ(trace.traces[1].sends[0].match, 0U);
}

// EZTrace: every process writes its own definitions of the same functions.
TEST_F(ReaderDefinitions, WhatARegionIsFollowsFromItsContent) {
    archive.world(2);
    std::uint32_t ids[2][2];  // main and MPI_Barrier of each rank
    for (const std::uint32_t rank : {0U, 1U}) {
        ids[rank][0] = archive.region("main", OTF2_PARADIGM_USER, 1000 * rank);
        ids[rank][1] = archive.region("MPI_Barrier", OTF2_PARADIGM_MPI, 1000 * rank + 1);
        archive.events(rank, [&](Events& e) {
            e.enter(0, ids[rank][0]).enter(10 + rank, ids[rank][1]);
            e.collective(10 + rank, 20, OTF2_COLLECTIVE_OP_BARRIER, 0);
            e.leave(20, ids[rank][1]).leave(30, ids[rank][0]);
        });
    }
    const auto same_name = archive.region("main", OTF2_PARADIGM_MPI);  // of another paradigm: another region
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(same_name, 4U);
    ASSERT_EQ(trace.regions.size(), 3U);
    ASSERT_EQ(trace.callpaths.size(), 2U);
    for (const std::size_t rank : {0U, 1U}) {
        EXPECT_EQ(trace.traces[rank].calls[0].callpath, 1);
        EXPECT_EQ(profile_of(trace, rank, "main/MPI_Barrier")->visits, 1U);
    }
    EXPECT_EQ(trace.traces[0].collectives[0].instance, trace.traces[1].collectives[0].instance);
}

Definition& row_of(std::vector<Definition>& rows, const std::string& kind, std::uint64_t ref) {
    return *std::ranges::find_if(
        rows, [&](const Definition& row) { return row.kind == kind && row.fields[0].number() == ref; });
}

// Contexts 0 (main) and 1 (solve in main) of one rank, entered one after the other.
class OddContexts : public Reader {
  protected:
    Trace changed(const std::function<void(std::vector<Definition>&)>& change) {
        const auto main = archive.region("main", OTF2_PARADIGM_USER);
        const auto solve = archive.region("solve", OTF2_PARADIGM_USER);
        archive.world(1);
        const auto outer = archive.calling_context(main);
        const auto inner = archive.calling_context(solve, archive.source_location("a.c", 7), outer);
        archive.events(0, [&](Events& e) {
            e.context_enter(0, outer).context_enter(1, inner).context_leave(2, inner).context_leave(3, outer);
        });
        archive.change_definitions = change;
        return read();
    }
};

TEST_F(OddContexts, ARegionThatIsNotDefinedIsOneOfItsOwn) {
    const auto trace = changed([](auto& rows) { row_of(rows, "CallingContext", 1).fields[1] = Field(77); });
    EXPECT_EQ(counted(trace, Quality::undefined_reference), 1U);
    EXPECT_EQ(counted_besides(trace, {Quality::undefined_reference}), 0U);
    EXPECT_EQ(trace.quality_names_affected, std::vector<std::string>{"undefined_reference: CallingContext 1"});
    EXPECT_EQ(profile_of(trace, 0, "main/(undefined region)")->inclusive_ps, 1000);
}

TEST_F(OddContexts, ParentsThatLeadBackEndSomewhere) {
    // 0 in 1 in 0: from the first in the file, 0, the last one of the circle is 1, which has no parent then.
    const auto trace = changed([](auto& rows) { row_of(rows, "CallingContext", 0).fields[3] = Field(1); });
    EXPECT_EQ(counted(trace, Quality::cyclic_reference), 1U);
    EXPECT_EQ(counted_besides(trace, {Quality::cyclic_reference}), 0U);
    EXPECT_EQ(profile_of(trace, 0, "solve/main")->inclusive_ps, 3000);
}

/// Runs a body on a thread with a stack of so many bytes.
void on_a_stack(std::size_t bytes, std::function<void()> body) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
    pthread_t thread{};
    const auto run = [](void* given) -> void* {
        (*static_cast<std::function<void()>*>(given))();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

// A function that calls itself 50,000 times: with two registers and a return address, 32 B a level, a reader that
// recurs along the contexts needs 1.6 MB; it has 1 MiB. One of 1 us is inside each of the others.
TEST_F(Reader, ContextsMayBeDeeperThanTheReadersOwnStack) {
    constexpr std::uint32_t kDeep = 50'000;
    const auto solve = archive.region("solve", OTF2_PARADIGM_USER);
    archive.world(1);
    auto innermost = archive.calling_context(solve);
    for (std::uint32_t i = 1; i < kDeep; ++i) {
        innermost = archive.calling_context(solve, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, innermost);
    }
    archive.events(0, [&](Events& e) { e.context_enter(0, innermost).context_leave(1, innermost); });
    Trace trace;
    on_a_stack(std::size_t{1} << 20U, [&] { trace = read(); });
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    ASSERT_EQ(trace.callpaths.size(), kDeep);
    for (std::uint32_t i = 0; i < kDeep; ++i) {
        ASSERT_EQ(trace.callpaths[i].parent, static_cast<std::int32_t>(i) - 1);
    }
    const auto& rows = trace.traces[0].profile;
    const auto deepest = std::ranges::find(rows, static_cast<std::int32_t>(kDeep - 1), &ProfileRow::callpath);
    ASSERT_NE(deepest, rows.end());
    EXPECT_EQ(deepest->inclusive_ps, 1000);
}

TEST_F(OddContexts, OneThatIsItsOwnParentHasNone) {
    const auto trace = changed([](auto& rows) { row_of(rows, "CallingContext", 0).fields[3] = Field(0); });
    EXPECT_EQ(counted(trace, Quality::cyclic_reference), 1U);
    EXPECT_EQ(profile_of(trace, 0, "main/solve")->inclusive_ps, 1000);
}

TEST_F(OddContexts, AParentMayBeDefinedBehindItsChild) {
    const auto trace =
        changed([](auto& rows) { std::swap(row_of(rows, "CallingContext", 0), row_of(rows, "CallingContext", 1)); });
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(profile_of(trace, 0, "main/solve")->inclusive_ps, 1000);
}

TEST_F(OddContexts, OfTwoOfOneIdTheFirstIsUsed) {
    const auto trace = changed([](auto& rows) {
        auto again = row_of(rows, "CallingContext", 1);
        again.fields[1] = Field(0);
        rows.push_back(again);
    });
    EXPECT_EQ(counted(trace, Quality::duplicate_definition), 1U);
    EXPECT_EQ(counted_besides(trace, {Quality::duplicate_definition}), 0U);
    EXPECT_EQ(profile_of(trace, 0, "main/solve")->inclusive_ps, 1000);
}

TEST_F(ReaderDefinitions, ALocationWithoutAProcessIsOneOfItsOwn) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    archive.world(3);
    for (const std::uint64_t rank : {0U, 1U, 2U}) {
        archive.events(rank, [&](Events& e) { e.enter(0, main).leave(1, main); });
    }
    archive.change_definitions = [](auto& rows) {
        row_of(rows, "Location", 1).fields[4] = Field(55);
        row_of(rows, "Location", 2).fields[4] = Field(OTF2_UNDEFINED_LOCATION_GROUP);
    };
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::undefined_reference), 2U);
    EXPECT_EQ(counted_besides(trace, {Quality::undefined_reference}), 0U);
    EXPECT_EQ(trace.locations[0].group, 0);
    EXPECT_EQ(trace.locations[1].group, 3);  // the archive has 0 to 2
    EXPECT_EQ(trace.locations[2].group, 4);
    EXPECT_EQ(trace.locations[2].rank, replay::Rank{2});
}

TEST_F(ReaderDefinitions, NodesGroupsAndCommunicatorsThatMakeNoSense) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    archive.world(2);
    archive.communicator({0, 1}, 1);
    archive.window(0, 0);
    archive.events(0, [&](Events& e) { e.enter(0, main).leave(1, main); });
    archive.events(1, [&](Events& e) { e.enter(0, main).leave(1, main); });
    archive.change_definitions = [](auto& rows) {
        row_of(rows, "SystemTreeNode", 0).fields[3] = Field(1);  // the machine in the node that is in the machine
        row_of(rows, "Comm", 0).fields[3] = Field(1);
        row_of(rows, "Comm", 1).fields[3] = Field(0);
        row_of(rows, "Comm", 1).fields[2] = Field(99);  // no such group: counts as empty, too
        row_of(rows, "RmaWin", 0).fields[2] = Field(98);
        row_of(rows, "Group", 1).fields[6] = Field(std::vector<std::uint64_t>{1, 1});  // of MPI_COMM_WORLD
        row_of(rows, "Region", 0).fields[1] = Field(OTF2_UNDEFINED_STRING);
    };
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::cyclic_reference), 2U);     // nodes, communicators
    EXPECT_EQ(counted(trace, Quality::undefined_reference), 3U);  // group, communicator, name
    EXPECT_EQ(counted(trace, Quality::duplicate_member), 1U);
    EXPECT_EQ(counted(trace, Quality::empty_communicator), 1U);
    EXPECT_EQ(trace.communicators[0].locations, (std::vector{replay::Location{1}, kNoLocation}));
    EXPECT_EQ(trace.communicators[0].parent, 1);
    EXPECT_EQ(trace.communicators[1].parent, kUndefined);
    EXPECT_EQ(trace.windows[0].comm, kUndefined);
    EXPECT_EQ(trace.regions[0].name, "");
}

TEST(ParseLayout, UnderstandsWhatTheCollectorWritesAndNothingElse) {
    Layout layout;
    EXPECT_TRUE(parse_layout("blocks=2 block_bytes=8 stride_bytes=-32 extent_bytes=40", layout));
    EXPECT_EQ(layout.stride_bytes, -32);
    EXPECT_FALSE(parse_layout("blocks=-2", layout));
    EXPECT_FALSE(parse_layout("blocks", layout));
    EXPECT_FALSE(parse_layout("block_bytes=4", layout));
    EXPECT_FALSE(parse_layout("blocks=4x", layout));
}

}  // namespace
}  // namespace logpost::analyzer
