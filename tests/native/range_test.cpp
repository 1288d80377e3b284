// What does not fit into int64 picoseconds and bytes is refused where it enters. One tick is 1000 ps.
#include <string>

#include "analyzer/archive/native/definitions/definitions.hpp"
#include "reader_fixture.hpp"

namespace logpost::analyzer {
namespace {

constexpr std::uint64_t kDay = 86'400'000'000'000;  // ticks

class Range : public Reader {
  protected:
    std::string refusal() {
        try {
            read();
        } catch (const ArchiveError& error) {
            return error.what();
        }
        return "";
    }
};

TEST_F(Range, ALocationBeyond53DaysIsRefused) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    archive.world(2);
    archive.events(0, [&](Events& e) { e.enter(0, main).leave(kDay, main); });
    archive.events(1, [&](Events& e) { e.enter(0, main).leave(54 * kDay, main); });
    const auto line = refusal();
    EXPECT_NE(
        line.find("location 1 has an event 53 days (2^62 ps) or more after the trace's stated beginning; its event "
                  "file is damaged, or the archive's clock properties (resolution, global offset) are wrong"),
        std::string::npos)
        << line;
}

TEST_F(Range, ALocationBefore53DaysIsRefused) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    archive.world(1);
    archive.global_offset = 60 * kDay;
    archive.events(0, [&](Events& e) { e.enter(0, main).leave(59 * kDay, main); });
    const auto line = refusal();
    EXPECT_NE(line.find("location 0 has an event 53 days (2^62 ps) or more before"), std::string::npos) << line;
}

TEST_F(Range, ClocksThatLieTooFarApartAreRefused) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    archive.world(2);
    archive.global_offset = 40 * kDay;
    archive.events(0, [&](Events& e) { e.enter(0, main).leave(1, main); });                      // day -40
    archive.events(1, [&](Events& e) { e.enter(70 * kDay, main).leave(70 * kDay + 1, main); });  // day 30
    const auto line = refusal();
    EXPECT_NE(line.find("70 days lie between the first event of location 0 and the last one of location 1; times hold "
                        "53 days (2^62 ps)"),
              std::string::npos)
        << line;
}

TEST_F(Range, TheTimeOfAllLocationsIsWide) {
    // 3 × 40 days are 2880 hours; 2^63 ps are 2562.
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    archive.world(3);
    for (std::uint64_t l = 0; l < 3; ++l) {
        archive.events(l, [&](Events& e) { e.enter(0, main).leave(40 * kDay, main); });
    }
    EXPECT_EQ(refusal(), "");
}

TEST_F(Range, ACallingContextWithinItselfHasTheLargestTime) {
    // 4 × 40 days are 3840 hours; 2^63 ps are 2562. Its own time is 40 days, the time of the outermost visit.
    const auto loop = archive.region("loop", OTF2_PARADIGM_COMPILER);
    archive.world(1);
    const auto again = archive.calling_context(loop);
    archive.events(0, [&](Events& e) {
        e.context_enter(0, again).context_enter(0, again).context_enter(0, again).context_enter(0, again);
        for (int depth = 0; depth < 4; ++depth) {
            e.context_leave(40 * kDay, again);
        }
    });
    const auto trace = read();
    const auto* profile = profile_of(trace, 0, "loop");
    EXPECT_EQ(profile->visits, 4U);
    EXPECT_EQ(profile->inclusive_ps, INT64_MAX);
    EXPECT_EQ(profile->exclusive_ps, std::int64_t{40 * kDay} * 1'000);
}

TEST_F(Range, TheTimeOfTheMessagesOfOneLocationFits) {
    // Three messages are in flight for 40 days: 2880 hours, on two locations of 960.
    const auto isend = archive.region("MPI_Isend");
    const auto waitall = archive.region("MPI_Waitall");
    archive.world(2);
    archive.events(0, [&](Events& e) {
        e.enter(0, isend).isend(1, 1, 0, 1, 8, 1).isend(2, 1, 0, 1, 8, 2).isend(3, 1, 0, 1, 8, 3).leave(4, isend);
        e.enter(40 * kDay, waitall).leave(40 * kDay, waitall);
    });
    archive.events(1, [&](Events& e) {
        e.enter(0, waitall).recv(1, 0, 0, 1, 8).recv(2, 0, 0, 1, 8).recv(3, 0, 0, 1, 8).leave(40 * kDay, waitall);
    });
    const auto line = refusal();
    EXPECT_NE(
        line.find("the received messages of location 1 last 2880 hours together; sums of one location's times hold "
                  "2562 hours (2^63 ps): record a shorter part of the program"),
        std::string::npos)
        << line;
}

TEST_F(Range, TheTimeOfTheCollectivesOfOneLocationFits) {
    const auto ibarrier = archive.region("MPI_Ibarrier");
    const auto wait = archive.region("MPI_Wait");
    archive.world(1);
    archive.events(0, [&](Events& e) {
        for (std::uint64_t request = 0; request < 3; ++request) {
            e.enter(request, ibarrier).collective_request(request, request).leave(request, ibarrier);
        }
        e.enter(40 * kDay, wait);
        for (std::uint64_t request = 0; request < 3; ++request) {
            e.collective_complete(40 * kDay, OTF2_COLLECTIVE_OP_BARRIER, 0, request);
        }
        e.leave(40 * kDay, wait);
    });
    const auto line = refusal();
    EXPECT_NE(line.find("the collective operations of location 0 last 2879 hours together"), std::string::npos) << line;
}

TEST_F(Range, TheTimesOfTransfersThatOneCallCompletesMayOverlap) {
    // Three puts are in flight for 40 days: 2880 hours together, which no figure needs.
    const auto put = archive.region("MPI_Put");
    const auto flush = archive.region("MPI_Win_flush_all");
    archive.world(2);
    const auto window = archive.window(0, 4);
    archive.events(0, [&](Events& e) {
        for (std::uint64_t request = 0; request < 3; ++request) {
            e.enter(request, put).put(request, window, 1, 8, request).leave(request, put);
        }
        e.enter(40 * kDay, flush);
        for (std::uint64_t request = 0; request < 3; ++request) {
            e.completed(40 * kDay, window, request);
        }
        e.leave(40 * kDay, flush);
    });
    EXPECT_EQ(refusal(), "");
}

TEST_F(Range, SizesThatNoProcessHoldsCountAsNothing) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    const auto reduce = archive.region("MPI_Reduce");
    const std::uint64_t most = (std::uint64_t{1} << 44) - 1;
    archive.world(2);
    archive.events(0, [&](Events& e) {
        e.enter(0, send).send(1, 1, 0, 1, UINT64_MAX).send(1, 1, 0, 1, most).leave(2, send);
        e.enter(3, reduce).collective(3, 4, OTF2_COLLECTIVE_OP_REDUCE, 0, 0, most + 1, 1).leave(4, reduce);
    });
    archive.events(1, [&](Events& e) {
        e.enter(0, recv).recv(1, 0, 0, 1, std::uint64_t{1} << 63).recv(1, 0, 0, 1, most).leave(2, recv);
        e.enter(3, reduce).collective(3, 4, OTF2_COLLECTIVE_OP_REDUCE, 0, 0, 8, 8).leave(4, reduce);
    });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::bytes_out_of_range), 3U);
    EXPECT_EQ(trace.traces[0].sends[0].bytes, 0U);
    EXPECT_EQ(trace.traces[0].sends[1].bytes, most);
    EXPECT_EQ(trace.traces[1].receives[0].bytes, 0U);
    EXPECT_EQ(trace.traces[0].collectives[0].bytes_sent, 0U);
    EXPECT_EQ(trace.traces[0].collectives[0].bytes_received, 1U);
}

TEST_F(Range, AllBytesTogetherFit) {
    // 2^19 + 1 sends of 2^44 - 1 bytes: 2^63 + 2^44 - 2^19 - 1.
    const auto send = archive.region("MPI_Send");
    archive.world(2);
    archive.events(0, [&](Events& e) {
        e.enter(0, send);
        for (std::uint64_t i = 0; i <= std::uint64_t{1} << 19; ++i) {
            e.send(1, 1, 0, 1, (std::uint64_t{1} << 44) - 1);
        }
        e.leave(2, send);
    });
    archive.events(1, [&](Events&) {});
    const auto line = refusal();
    EXPECT_NE(line.find("its records state 8 EiB of data together; sums hold 8 EiB (2^63 bytes)"), std::string::npos)
        << line;
}

TEST_F(Range, ALayoutBeyondAllMemoryIsUnreadable) {
    Layout layout;
    EXPECT_TRUE(parse_layout("blocks=2 block_bytes=8 stride_bytes=-17592186044415 extent_bytes=32", layout));
    EXPECT_FALSE(parse_layout("blocks=2 block_bytes=8 stride_bytes=-17592186044416", layout));
    EXPECT_FALSE(parse_layout("blocks=9223372036854775807 block_bytes=8", layout));
}

}  // namespace
}  // namespace logpost::analyzer
