#include "replay/native/program/placement.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "program_story.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {
namespace {

TEST(Placement, TheClassIsTheNearestThatIsKnown) {
    const Placement placement({{.process = 0, .socket = 0, .node = 0},
                               {.process = 1, .socket = 0, .node = 0},
                               {.process = 2, .socket = 1, .node = 0},
                               {.process = 3, .node = 0},
                               {.process = 4, .node = 0},
                               {.process = 5, .socket = 0, .node = 1},
                               {.process = 0, .socket = 1, .node = 0}});
    EXPECT_EQ(placement.between(Location{0}, Location{0}), Locality::self);
    EXPECT_EQ(placement.between(Location{0}, Location{6}), Locality::self);  // a thread of the same process
    EXPECT_EQ(placement.between(Location{0}, Location{1}), Locality::same_socket);
    EXPECT_EQ(placement.between(Location{0}, Location{2}), Locality::same_node);
    EXPECT_EQ(placement.between(Location{3}, Location{4}),
              Locality::same_node);  // of unknown sockets nothing is assumed
    EXPECT_EQ(placement.between(Location{0}, Location{5}),
              Locality::other_node);  // socket 0 of another node is another socket
    EXPECT_EQ(placement.nodes(), 2U);
}

TEST(Placement, HopsAreThoseBetweenTheNodes) {
    Placement placement(
        {{.process = 0, .node = 0}, {.process = 1, .node = 1}, {.process = 2}, {.process = 3, .node = 2}});
    EXPECT_EQ(placement.hops(Location{0}, Location{1}), kUndefined);  // no topology
    placement.set_hops({0, 3, 4, 0}, {0, 1, kUndefined});
    EXPECT_EQ(placement.hops(Location{0}, Location{1}), 3);
    EXPECT_EQ(placement.hops(Location{1}, Location{0}), 4);
    EXPECT_EQ(placement.hops(Location{1}, Location{1}), 0);
    EXPECT_EQ(placement.hops(Location{0}, Location{2}), kUndefined);  // its node is not known
    EXPECT_EQ(placement.hops(Location{0}, Location{3}), kUndefined);  // the network has no place for it
    placement.set_hops({0, 3, 4, 0}, {1, 0});
    EXPECT_EQ(placement.hops(Location{0}, Location{1}), 4);           // the nodes have changed places
    EXPECT_EQ(placement.hops(Location{0}, Location{3}), kUndefined);  // a node without a place
    EXPECT_THROW(placement.set_hops({0, 3, 4}, {0, 1}), std::invalid_argument);
    EXPECT_THROW(placement.set_hops({0, 3, 4, 0}, {0, 2}), std::invalid_argument);
}

TEST(Placement, SocketsAreThoseThatAreSaid) {
    Placement placement({{.process = 0, .node = 0}, {.process = 1, .node = 0}, {.process = 2, .node = 0}});
    EXPECT_EQ(placement.between(Location{0}, Location{1}), Locality::same_node);
    placement.set_sockets(std::vector<std::int32_t>{1, 1, 0});
    EXPECT_EQ(placement.between(Location{0}, Location{1}), Locality::same_socket);
    EXPECT_EQ(placement.between(Location{1}, Location{2}), Locality::same_node);
    EXPECT_THROW(placement.set_sockets(std::vector<std::int32_t>{1, 1}), std::invalid_argument);
}

/// One message of 8 B from rank 0 to ranks on nodes that are 1 and 5 hops away. The machine's L of 100 ps holds for 3
/// hops, and a hop adds 7 ps: 100 - 2 * 7 = 86 ps, and 100 + 2 * 7 = 114 ps.
TEST(Placement, TheLatencyOfAMessageIsThatOfItsWay) {
    tests::ProgramStory story;
    const auto sender = story.rank(0, 1'000);
    auto machine = tests::plain_machine();
    for (const std::int32_t node : {1, 2}) {
        const auto receiver = story.rank(node, 1'000);
        story.message(sender, story.call(sender, CallKind::send, 100 * node, 100 * node + 10), receiver,
                      story.call(receiver, CallKind::receive, 0, 900), 8);
    }
    machine.localities[static_cast<std::size_t>(Locality::other_node)].across_network = true;
    machine.per_hop = 7;
    machine.mean_hops = 3;
    story.hops({0, 1, 5, 1, 0, 2, 5, 2, 0}, {0, 1, 2});
    const auto& program = story.program();
    const MessageModel model(program, machine, Windows::over(program.length_ps, 3), {}, 1);
    EXPECT_EQ(model.stages({Location{1}, 0}).L, 86);
    EXPECT_EQ(model.stages({Location{2}, 0}).L, 114);
}

}  // namespace
}  // namespace logpost::replay
