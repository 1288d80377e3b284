#include "analyzer/archive/native/match/match.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

namespace logpost::analyzer {
namespace {

/// A trace of `n` processes whose calls take place at the times that the test gives.
struct Story {
    explicit Story(std::size_t n) : owner(n) {
        trace.traces.resize(n);
        std::ranges::generate(owner, [next = 0]() mutable { return replay::Location{next++}; });
    }
    std::uint32_t call(std::size_t location, std::int64_t enter, std::int64_t leave) {
        trace.traces[location].calls.push_back({enter, leave, 0, 0});
        return static_cast<std::uint32_t>(trace.traces[location].calls.size() - 1);
    }
    std::size_t send(std::size_t from, std::int32_t to, std::int32_t tag, std::int64_t at = 0, std::int32_t comm = 0,
                     std::uint64_t bytes = 8) {
        const auto c = call(from, at, at + 1);
        trace.traces[from].sends.push_back({c, c, bytes, replay::Location{to}, comm, tag, kNone});
        return trace.traces[from].sends.size() - 1;
    }
    std::size_t receive(std::size_t at_location, std::int32_t from, std::int32_t tag, std::int64_t at = 10,
                        std::int32_t comm = 0, std::uint64_t bytes = 8) {
        const auto c = call(at_location, at, at + 1);
        trace.traces[at_location].receives.push_back({c, c, bytes, replay::Location{from}, comm, tag, kNone});
        return trace.traces[at_location].receives.size() - 1;
    }
    void match(unsigned threads = 1) { match_messages(trace, owner, threads, quality); }
    std::uint32_t match_of_receive(std::size_t location, std::size_t i) {
        return trace.traces[location].receives[i].match;
    }
    std::uint64_t counted(Quality what) const { return quality[static_cast<std::size_t>(what)]; }

    Trace trace;
    std::vector<replay::Location> owner;
    QualityCounts quality{};
};

TEST(Match, MessagesOfOneChannelDoNotOvertake) {
    Story s(2);
    for (int i = 0; i < 5; ++i) {
        s.send(0, 1, 3);
    }
    for (int i = 0; i < 5; ++i) {
        s.receive(1, 0, 3);
    }
    s.match();
    for (std::uint32_t i = 0; i < 5; ++i) {
        EXPECT_EQ(s.match_of_receive(1, i), i);
        EXPECT_EQ(s.trace.traces[0].sends[i].match, i);
    }
}

TEST(Match, TagsCommunicatorsAndSendersAreChannelsOfTheirOwn) {
    Story s(3);
    s.send(0, 2, 1);        // send 0 of location 0
    s.send(0, 2, 2);        // send 1
    s.send(0, 2, 1, 0, 9);  // send 2, another communicator
    s.send(1, 2, 1);        // send 0 of location 1
    const auto d = s.receive(2, 1, 1);
    const auto c = s.receive(2, 0, 1, 10, 9);
    const auto b = s.receive(2, 0, 2);
    const auto a = s.receive(2, 0, 1);
    s.match();
    EXPECT_EQ(s.match_of_receive(2, a), 0U);
    EXPECT_EQ(s.match_of_receive(2, b), 1U);
    EXPECT_EQ(s.match_of_receive(2, c), 2U);
    EXPECT_EQ(s.match_of_receive(2, d), 0U);
    EXPECT_EQ(s.trace.traces[2].receives[d].peer, replay::Location{1});
    EXPECT_EQ(s.counted(Quality::send_unmatched), 0U);
}

TEST(Match, MessagesToSelfMatch) {
    Story s(1);
    s.send(0, 0, 4);
    s.receive(0, 0, 4);
    s.match();
    EXPECT_EQ(s.match_of_receive(0, 0), 0U);
}

TEST(Match, WhatHasNoPartnerStaysAloneAndIsCounted) {
    Story s(2);
    s.send(0, 1, 1);
    s.send(0, kUndefined, 1);  // to a location that the archive does not hold
    s.receive(1, 0, 2);
    s.receive(1, kUndefined, 2);
    s.match();
    EXPECT_EQ(s.trace.traces[0].sends[0].match, kNone);
    EXPECT_EQ(s.match_of_receive(1, 0), kNone);
    EXPECT_EQ(s.counted(Quality::send_unmatched), 2U);
    EXPECT_EQ(s.counted(Quality::receive_unmatched), 2U);
}

TEST(Match, AReceiveThatNeverEndedHasNoSenderToMiss) {
    Story s(2);
    s.receive(1, 0, 2);
    s.receive(1, kUndefined, kUndefined);
    s.trace.traces[1].receives[1].complete_call = kNone;
    s.match();
    EXPECT_EQ(s.counted(Quality::receive_unmatched), 1U);
}

TEST(Match, InAWholeRecordingSendsWithoutReceiveAndRequestsWithoutEndAreTheProgramsOwn) {
    struct Case {
        std::vector<std::string> names, values;
        bool damaged, whole;
    };
    for (const auto& [names, values, damaged, whole] : {
             Case{{"LOGPOST::MPI", "LOGPOST::STOPPED_THREADS"}, {"an MPI", "0"}, false, true},
             Case{{"LOGPOST::STOPPED_THREADS"}, {"1"}, false, false},  // recording ended before the thread did
             Case{{"LOGPOST::STOPPED_THREADS", "LOGPOST::OVERWRITTEN_RANKS"}, {"0", "2"}, false, false},
             Case{{"LOGPOST::STOPPED_THREADS"}, {"0"}, true, false},
             Case{{}, {}, false, false},  // another writer's
         }) {
        Story s(2);
        s.trace.properties_names = names;
        s.trace.properties_values = values;
        s.quality[static_cast<std::size_t>(Quality::event_file_damaged)] = damaged ? 1 : 0;
        s.quality[static_cast<std::size_t>(Quality::request_never_completed)] = 3;
        s.send(0, 1, 1);
        s.send(0, 1, 2);
        s.receive(1, 0, 2);
        s.match();
        EXPECT_EQ(s.counted(Quality::send_not_received), whole ? 1U : 0U);
        EXPECT_EQ(s.counted(Quality::send_unmatched), whole ? 0U : 1U);
        EXPECT_EQ(s.counted(Quality::request_left), whole ? 3U : 0U);
        EXPECT_EQ(s.counted(Quality::request_never_completed), whole ? 0U : 3U);
    }
}

TEST(Match, RequestsMayHaveEndedWhileRecordingWasOff) {
    Story s(2);
    s.trace.properties_names = {"LOGPOST::STOPPED_THREADS"};
    s.trace.properties_values = {"0"};
    s.trace.traces[1].has_been_off = true;
    s.quality[static_cast<std::size_t>(Quality::request_never_completed)] = 3;
    s.match();
    EXPECT_EQ(s.counted(Quality::request_left), 0U);
    EXPECT_EQ(s.counted(Quality::request_never_completed), 3U);
}

TEST(Match, CountsDifferingSizesAndClockViolations) {
    Story s(2);
    s.send(0, 1, 1, 100, 0, 8);
    s.receive(1, 0, 1, 50, 0, 16);  // left at 51, before the send was entered at 100
    s.match();
    EXPECT_EQ(s.counted(Quality::bytes_differ), 1U);
    EXPECT_EQ(s.counted(Quality::receive_before_send), 1U);
}

TEST(Match, AReceiveThatEndedBeforeTheNextSendHasLostItsOwn) {
    // Of three messages the writer recorded one send: TAU does those of MPI_Start, and none of MPI_Startall.
    Story s(2);
    s.receive(1, 0, 1, 20);
    s.receive(1, 0, 1, 120);
    s.receive(1, 0, 1, 220);
    s.send(0, 1, 1, 100);
    s.match();
    EXPECT_EQ(s.match_of_receive(1, 0), kNone);
    EXPECT_EQ(s.match_of_receive(1, 1), 0U);
    EXPECT_EQ(s.match_of_receive(1, 2), kNone);
    EXPECT_EQ(s.trace.traces[0].sends[0].match, 1U);
    EXPECT_EQ(s.counted(Quality::receive_before_send), 0U);
    EXPECT_EQ(s.counted(Quality::receive_unmatched), 2U);
}

TEST(Match, ClocksAreToBlameWhereNoSendIsLacking) {
    // As many sends as receives: the first pair contradicts causality. In a channel that lacks one send, one receive
    // stays unmatched and no more.
    Story s(2);
    s.receive(1, 0, 1, 20);
    s.receive(1, 0, 1, 120);
    s.send(0, 1, 1, 100);
    s.send(0, 1, 1, 110);
    for (const auto at : {20, 30, 40}) {
        s.receive(1, 0, 2, at);
    }
    s.send(0, 1, 2, 100);
    s.send(0, 1, 2, 110);
    s.match();
    EXPECT_EQ(s.match_of_receive(1, 0), 0U);
    EXPECT_EQ(s.match_of_receive(1, 2), kNone);
    EXPECT_EQ(s.match_of_receive(1, 3), 2U);
    EXPECT_EQ(s.match_of_receive(1, 4), 3U);
    EXPECT_EQ(s.counted(Quality::receive_before_send), 3U);
    EXPECT_EQ(s.counted(Quality::receive_unmatched), 1U);
}

TEST(Match, ThreadsOfAProcessAreOneSequence) {
    // Locations 0 (rank) and 1 (its thread) send to rank 2; receives on 2 in the order of the sends' beginnings.
    Story s(4);
    s.owner = {replay::Location{0}, replay::Location{0}, replay::Location{2}, replay::Location{2}};
    s.send(1, 2, 5, 10);
    s.send(0, 2, 5, 20);
    s.send(1, 2, 5, 30);
    s.receive(3, 0, 5, 100);  // a thread of rank 2 posted first
    s.receive(2, 0, 5, 110);
    s.receive(2, 0, 5, 120);
    s.match();
    EXPECT_EQ(s.trace.traces[3].receives[0].peer, replay::Location{1});
    EXPECT_EQ(s.match_of_receive(3, 0), 0U);
    EXPECT_EQ(s.trace.traces[2].receives[0].peer, replay::Location{0});
    EXPECT_EQ(s.match_of_receive(2, 0), 0U);
    EXPECT_EQ(s.trace.traces[2].receives[1].peer, replay::Location{1});
    EXPECT_EQ(s.match_of_receive(2, 1), 1U);
    EXPECT_EQ(s.trace.traces[1].sends[0].peer, replay::Location{3});
}

/// The definition itself: the k-th send of a channel belongs to its k-th receive.
void expect_like_the_definition(const Trace& trace) {
    using Channel = std::tuple<std::int32_t, replay::Location, replay::Location, std::int32_t>;
    std::map<Channel, std::deque<std::uint32_t>> sends;
    const auto n = trace.traces.size();
    for (std::size_t l = 0; l < n; ++l) {
        trace.traces[l].sends.for_each([&](std::size_t i, const MessageEnd& send) {
            sends[{send.comm, replay::location_at(l), send.peer, send.tag}].push_back(static_cast<std::uint32_t>(i));
        });
    }
    for (std::size_t l = 0; l < n; ++l) {
        trace.traces[l].receives.for_each([&](std::size_t, const MessageEnd& receive) {
            auto& channel = sends[{receive.comm, receive.peer, replay::location_at(l), receive.tag}];
            if (channel.empty()) {
                ASSERT_EQ(receive.match, kNone);
            } else {
                ASSERT_EQ(receive.match, channel.front());
                channel.pop_front();
            }
        });
    }
}

TEST(Match, AgreesWithTheDefinitionOnRandomTrafficForAnyNumberOfThreads) {
    for (unsigned threads = 1; threads <= 5; ++threads) {
        std::mt19937 random(threads);
        Story s(13);
        for (int i = 0; i < 20000; ++i) {
            const auto from = random() % 13;
            const auto to = static_cast<std::int32_t>(random() % 13);
            // Many tags on one process, so that its table of channels has to grow.
            const auto tag = static_cast<std::int32_t>(to == 3 ? random() % 5000 : random() % 3);
            const auto comm = static_cast<std::int32_t>(random() % 2);
            if (random() % 10 != 0) {
                s.send(from, to, tag, i, comm);
            }
            if (random() % 10 != 0) {
                s.receive(static_cast<std::size_t>(to), static_cast<std::int32_t>(from), tag, 20000 + i, comm);
            }
        }
        s.match(threads);
        expect_like_the_definition(s.trace);
    }
}

}  // namespace
}  // namespace logpost::analyzer
