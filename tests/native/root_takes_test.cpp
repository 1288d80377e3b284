// A root's processor that receives the messages of a gather at distances of g, or as fast as it can. o_s = 10, L = 100,
// o_r = 20.

#include <gtest/gtest.h>

#include <vector>

#include "program_story.hpp"
#include "replay/native/graph/draft.hpp"
#include "replay/native/graph/root_takes.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;

/// Five members enter a barrier at 0, the root at 1000; it is done at `done`, and its replies arrive 10 + 100 + 20
/// later.
bool spaced(std::int64_t g, std::int64_t root_enters, std::int64_t done) {
    ProgramStory story;
    for (std::int32_t rank = 0; rank < 5; ++rank) {
        story.rank(rank, 5000);
    }
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        for (auto& range : locality.ranges) {
            range.g = static_cast<double>(g);
        }
    }
    const auto& program = story.program();
    Draft draft(machine, program.placement, program.placement);
    RootTakes takes(draft);
    std::vector<RootTakes::Member> members{{0, root_enters, done + 40}};
    for (std::int32_t rank = 1; rank < 5; ++rank) {
        members.push_back({rank, 0, done + 130 + 10 * (rank - 1)});
    }
    takes.see(members, 0);
    return takes.spaced();
}

TEST(RootTakes, TellsMessagesThatWereTakenApart) {
    // All were there by 110 + 4 x 50: four of them take 4 o_r = 80, or 3 g + o_r = 170.
    EXPECT_TRUE(spaced(50, 1000, 1170));
    EXPECT_FALSE(spaced(50, 1000, 1080));
}

TEST(RootTakes, SaysNothingWhereThereIsNoDifference) {
    EXPECT_FALSE(spaced(20, 1000, 1170));  // g is no longer than o_r
    EXPECT_FALSE(spaced(50, 0, 330));      // the root waits for the NIC, which hands over every 50
}

}  // namespace
}  // namespace logpost::replay
