#include "replay/native/program/bursts.hpp"

#include <gtest/gtest.h>

#include "program_story.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {
namespace {

using tests::ProgramStory;

/// Rank 0 makes the given calls, every one a send of 8 B to rank 1.
struct Sender {
    ProgramStory story;
    std::int32_t sender = story.rank(0, 10'000);
    std::int32_t receiver = story.rank(1, 10'000);
    std::int64_t received = 5'000;

    void send(CallKind kind, std::int64_t enter_ps, std::int64_t leave_ps) {
        const auto call = story.call(sender, kind, enter_ps, leave_ps);
        const auto receive = story.call(receiver, CallKind::receive, received, received + 10);
        received += 10;
        story.message(sender, call, receiver, receive, 8);
    }
    std::vector<std::uint32_t> lengths() {
        const auto& program = story.program();
        return burst_lengths(program, program.timelines[static_cast<std::size_t>(sender)]);
    }
};

TEST(Bursts, NonblockingSendsThatFollowEachOtherAreOne) {
    Sender of;
    of.send(CallKind::send_nonblocking, 0, 10);
    of.send(CallKind::send_nonblocking, 15, 25);
    of.send(CallKind::send_nonblocking, 35, 45);  // a pause as long as the call before it
    of.send(CallKind::send_nonblocking, 56, 66);  // 11 ps after a call of 10 ps: no longer back to back
    EXPECT_EQ(of.lengths(), (std::vector<std::uint32_t>{3, 3, 3, 1}));
}

TEST(Bursts, AnotherCallAndABlockingSendEndThem) {
    Sender of;
    of.send(CallKind::send_nonblocking, 0, 10);
    of.story.call(of.sender, CallKind::wait, 10, 12);
    of.send(CallKind::send_nonblocking, 12, 22);
    of.send(CallKind::send, 22, 32);
    of.send(CallKind::send, 32, 42);
    EXPECT_EQ(of.lengths(), (std::vector<std::uint32_t>{1, 1, 1, 1}));
}

TEST(Bursts, OneCallThatStartsSeveralIsOne) {
    Sender of;
    const auto start = of.story.call(of.sender, CallKind::start, 0, 10);
    const auto receive = of.story.call(of.receiver, CallKind::wait_multi, 100, 200);
    of.story.message(of.sender, start, of.receiver, receive, 8);
    of.story.message(of.sender, start, of.receiver, receive, 8);
    EXPECT_EQ(of.lengths(), (std::vector<std::uint32_t>{2, 2}));
}

TEST(Bursts, TheOverheadOfASendIsThatOfItsBurst) {
    Sender of;
    of.send(CallKind::send_nonblocking, 0, 10);
    of.send(CallKind::send_nonblocking, 10, 20);
    of.send(CallKind::send_nonblocking, 1'000, 1'010);
    auto machine = tests::plain_machine();  // o_s = 10 ps; o(8 B, 2) = 4 ps, o(8 B, 4) = 3 ps
    const Curve two{.x = {8}, .y = {4}, .continued = true};
    const Curve four{.x = {8}, .y = {3}, .continued = true};
    machine.o_burst = {.z = {2, 4}, .curves = {two, four}};
    const auto& program = of.story.program();
    const MessageModel model(program, machine, Windows::over(program.length_ps, 2), {}, 1);
    EXPECT_EQ(model.stages({Location{of.receiver}, 0}).o_s, 4);
    EXPECT_EQ(model.stages({Location{of.receiver}, 1}).o_s, 4);
    EXPECT_EQ(model.stages({Location{of.receiver}, 2}).o_s, 10);
}

/// o(S, 2) was measured at 2 and 4 B: 2 ps and 3 ps. 8 B continue that line: 5 ps.
TEST(Bursts, MessagesBeyondTheMeasuredSizesAreCounted) {
    Sender of;
    of.send(CallKind::send_nonblocking, 0, 10);
    of.send(CallKind::send_nonblocking, 10, 20);
    of.send(CallKind::send_nonblocking, 1'000, 1'010);
    auto machine = tests::plain_machine();
    machine.o_burst = {.z = {2}, .curves = {{.x = {2, 4}, .y = {2, 3}, .continued = true}}};
    const auto& program = of.story.program();
    const MessageModel model(program, machine, Windows::over(program.length_ps, 2), {}, 1);
    EXPECT_EQ(model.stages({Location{of.receiver}, 0}).o_s, 5);
    EXPECT_EQ(model.beyond_sizes(), 2U);
    EXPECT_EQ(model.beyond_strides(), 0U);
}

}  // namespace
}  // namespace logpost::replay
