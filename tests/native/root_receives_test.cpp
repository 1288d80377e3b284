// A root that receives the messages of a gather with gap g between them, or one per o_r. o_s = 10, L = 100, o_r = 20.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "program_story.hpp"
#include "replay/native/graph/draft.hpp"
#include "replay/native/graph/root_receives.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;

/// Five members enter a barrier at 0, the root at 1000; it is done at `done`, and replies 10 + 100 + 20 later.
Decided root_receives(std::int64_t g, std::int64_t root_enters, std::span<const std::int64_t> done_of_operations,
                      std::optional<std::uint8_t> stated = {}) {
    ProgramStory story;
    for (std::int32_t rank = 0; rank < 5; ++rank) {
        story.rank(rank, 5000);
    }
    auto machine = plain_machine();
    machine.library[static_cast<std::size_t>(LibraryProperty::root_receives)] = stated;
    for (auto& locality : machine.localities) {
        for (auto& range : locality.ranges) {
            range.g = static_cast<double>(g);
        }
    }
    const auto& program = story.program();
    Draft draft(machine, program.placement, program.placement);
    RootReceivesObserved root(draft);
    for (const auto done : done_of_operations) {
        std::vector<RootReceivesObserved::Member> members{{Location{0}, root_enters, done + 40}};
        for (std::int32_t rank = 1; rank < 5; ++rank) {
            members.push_back({Location{rank}, 0, done + 130 + 10 * (rank - 1)});
        }
        root.see(members, 0);
    }
    draft.decide(LibraryProperty::root_receives);
    return draft.of_library(LibraryProperty::root_receives);
}
Decided root_receives(std::int64_t g, std::int64_t root_enters, std::int64_t done) {
    return root_receives(g, root_enters, std::array{done});
}

constexpr auto kOverhead = static_cast<std::uint8_t>(RootReceives::overhead);
constexpr auto kGap = static_cast<std::uint8_t>(RootReceives::gap);

TEST(RootReceives, IsKnownWhereAllObservationsAgree) {
    // All were there by 110 + 4 x 50: four of them cost 4 o_r = 80, or 3 g + o_r = 170.
    const auto apart = root_receives(50, 1000, 1170);
    EXPECT_EQ(apart.value, kGap);
    EXPECT_EQ(apart.observations, 1);
    EXPECT_EQ(apart.agree[kGap], 1);
    EXPECT_EQ(root_receives(50, 1000, 1080).value, kOverhead);
    EXPECT_EQ(root_receives(50, 1000, std::array<std::int64_t, 2>{1170, 1172}).value, kGap);
}

TEST(RootReceives, IsNotObservedWhereThereIsNoDifference) {
    EXPECT_EQ(root_receives(20, 1000, 1170).observations, 0);  // g is no longer than o_r
    EXPECT_EQ(root_receives(50, 0, 330).observations, 0);      // the root waits for the NIC, which delivers every 50
}

TEST(RootReceives, IsNotDecidedByAMajority) {
    // Two operations with gaps, one without: no alternative has all three.
    const auto open = root_receives(50, 1000, std::array<std::int64_t, 3>{1170, 1170, 1080});
    EXPECT_EQ(open.observations, 3);
    EXPECT_EQ(open.agree[kGap], 2);
    EXPECT_EQ(open.agree[kOverhead], 1);
    EXPECT_EQ(open.value, kOverhead);  // the first alternative
    EXPECT_FALSE(open.stated);
}

TEST(RootReceives, IsAsTheProfileStatesWhateverWasObserved) {
    const auto stated = root_receives(50, 1000, std::array<std::int64_t, 1>{1080}, kGap);
    EXPECT_EQ(stated.value, kGap);
    EXPECT_TRUE(stated.stated);
}

}  // namespace
}  // namespace logpost::replay
