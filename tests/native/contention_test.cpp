// Messages that share links: o_s = 10, L = 100, o_r = 20, G = 1 ps/B; alone, 1001 bytes take 10 + 100 + 1000 + 20.

#include "replay/native/graph/contention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include "program_story.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;
using tests::Times;

/// From, to, links in between.
struct Route {
    std::int32_t from, to;
    std::vector<std::int32_t> links;
};

/// Ascending pairs.
Network network_of(const std::vector<Route>& routes, double byte_ps) {
    Network network;
    network.byte_ps = byte_ps;
    network.route_begin.push_back(0);
    for (const auto& route : routes) {
        network.pairs.push_back(Network::key_of(route.from, route.to));
        network.route.insert(network.route.end(), route.links.begin(), route.links.end());
        network.route_begin.push_back(static_cast<std::uint32_t>(network.route.size()));
        for (const auto link : route.links) {
            network.links = std::max(network.links, link + 1);
        }
    }
    check(network);
    return network;
}

/// Each node of a graph as a separate synchronization point.
SyncPoints every_node(const Graph& graph) {
    SyncPoints found;
    for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
        found.of_node.push_back(node);
        found.nodes.push_back(node);
        found.first_in.push_back(graph.first_edge[node]);
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto edge = graph.edge(i);
            if (edge.source != kNone && is_queue(graph.models[edge.model])) {
                found.queues.push_back(i);
            }
            found.ins.push_back({i, edge.source, node, graph.crossing_of[i]});
        }
    }
    found.first_in.push_back(static_cast<std::uint32_t>(found.ins.size()));
    found.followers =
        Followers(static_cast<std::uint32_t>(found.size()), static_cast<std::uint32_t>(found.ins.size()),
                  [&](std::uint32_t in) { return std::pair{found.ins[in].source, found.ins[in].target}; });
    return found;
}

struct Replayed {
    Times leaves;
    NetworkUse use;
    CriticalPath path;
};

Replayed replay(const Program& program, const Network& recorded, const Surroundings& planned,
                const Parameters& machine = plain_machine()) {
    const auto before = plain_machine();
    const auto graph = build_graph(program, before, machine, &planned, &recorded);
    const std::vector<Setting> settings{{.machine = machine}};
    Weights weights(graph, before, settings);
    Replayed result;
    const Routes routes(graph, planned.placement, planned.network);
    const auto times = times_with_contention(graph, sync_points_of(graph), routes, settings[0], weights, 0, result.use);
    // The same whether nodes that follow others are separate synchronization points or not.
    NetworkUse again;
    Weights fresh(graph, before, settings);
    EXPECT_EQ(times, times_with_contention(graph, every_node(graph), routes, settings[0], fresh, 0, again));
    for (const auto leave : graph.leaves) {
        result.leaves.push_back(times[leave]);
    }
    result.path = critical_path(graph, replay::sources_of(graph), weights, settings, times, 0);
    EXPECT_EQ(std::accumulate(result.path.parts.begin(), result.path.parts.end(), std::int64_t{0}),
              result.path.makespan_ps);
    return result;
}

/// Ranks 0, 1 and 2 send 1001 bytes each to 3, 4 and 5, on separate nodes, which are received until `received`.
const Program& three_messages(ProgramStory& story, const Times& received) {
    for (std::int32_t rank = 0; rank < 3; ++rank) {
        story.rank(rank, 10);
    }
    for (std::int32_t rank = 3; rank < 6; ++rank) {
        story.rank(rank, received[static_cast<std::size_t>(rank - 3)]);
    }
    for (std::int32_t rank = 0; rank < 3; ++rank) {
        story.message(rank, story.call(rank, CallKind::send, 0, 10), rank + 3,
                      story.call(rank + 3, CallKind::receive, 0, received[static_cast<std::size_t>(rank)]), 1001);
    }
    return story.program();
}

const std::vector<Route> kApart{{0, 3, {0}}, {1, 4, {1}}, {2, 5, {2}}};
const std::vector<Route> kTogether{{0, 3, {0}}, {1, 4, {0}}, {2, 5, {2}}};

TEST(Contention, AHotLinkSlowsThoseWhoUseItAndNobodyElse) {
    // On link 0, half of the bandwidth each: 1001 ps longer.
    ProgramStory story;
    const auto& program = three_messages(story, {1130, 1130, 1130});
    const auto found = replay(program, network_of(kApart, 1), {program.placement, network_of(kTogether, 1)});
    EXPECT_EQ(found.leaves, (Times{10, 10, 10, 2131, 2131, 1130}));
    EXPECT_EQ(found.use.busy_ps, (std::vector<double>{2002, 0, 1001}));
    EXPECT_EQ(found.use.waited_ps, (Times{2002, 0, 0}));
    EXPECT_EQ(found.use.delayed, 2U);
    EXPECT_EQ(found.path.parts[static_cast<std::size_t>(PathPart::network_contention)], 1001);
}

TEST(Contention, WithoutTheHotLinkItsWaitsAreGone) {
    // As recorded, with 7 ps that no model explains.
    ProgramStory story;
    const auto& program = three_messages(story, {2138, 2138, 1130});
    const auto found = replay(program, network_of(kTogether, 1), {program.placement, network_of(kApart, 1)});
    EXPECT_EQ(found.leaves, (Times{10, 10, 10, 1137, 1137, 1130}));
}

TEST(Contention, ASlowLinkStretchesAMessage) {
    // 3 ps a byte instead of 1: 2002 more.
    ProgramStory story;
    const auto& program = three_messages(story, {1130, 1130, 1130});
    const auto found = replay(program, network_of(kApart, 1), {program.placement, network_of(kApart, 3)});
    EXPECT_EQ(found.leaves, (Times{10, 10, 10, 3132, 3132, 3132}));
}

TEST(Contention, WaitsThatWereNotMeasuredAreNotTakenOff) {
    // The model has the two share a link; the trace says that neither waited. Apart, they are no faster.
    ProgramStory story;
    const auto& program = three_messages(story, {1130, 1130, 1130});
    const auto found = replay(program, network_of(kTogether, 1), {program.placement, network_of(kApart, 1)});
    EXPECT_EQ(found.leaves, (Times{10, 10, 10, 1130, 1130, 1130}));
}

TEST(Contention, MessagesWithinANodeTakeNoLink) {
    // All ranks on node 0 of a network whose links are slow.
    ProgramStory story;
    const auto& program = three_messages(story, {1130, 1130, 1130});
    Surroundings planned{program.placement, network_of(kTogether, 9)};
    for (std::size_t l = 0; l < planned.placement.size(); ++l) {
        planned.placement[l].node = 0;
    }
    EXPECT_EQ(replay(program, network_of(kApart, 1), planned).leaves, (Times{10, 10, 10, 1130, 1130, 1130}));
}

TEST(Contention, RanksOnOneNodeShareItsNic) {
    // The three senders move together, the receivers stay: each message has the NIC 1001 ps after the one before.
    ProgramStory story;
    const auto& program = three_messages(story, {1130, 1130, 1130});
    Surroundings planned{program.placement, {}};
    for (std::size_t l = 0; l < 3; ++l) {
        planned.placement[l].node = 0;
    }
    EXPECT_EQ(replay(program, network_of(kApart, 1), planned).leaves, (Times{10, 10, 10, 1130, 2131, 3132}));
    auto machine = plain_machine();
    machine.nics_per_node = 3;
    EXPECT_EQ(replay(program, network_of(kApart, 1), planned, machine).leaves, (Times{10, 10, 10, 1130, 1130, 1130}));
}

TEST(Contention, MovedRanksQueueAtTheirNewNicWithoutANetwork) {
    // The same without contention: the queues of the graph itself.
    ProgramStory story;
    const auto& program = three_messages(story, {1130, 1130, 1130});
    Surroundings planned{program.placement, {}};
    for (std::size_t l = 0; l < 3; ++l) {
        planned.placement[l].node = 0;
    }
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine, &planned);
    const std::vector<Setting> settings{{.machine = machine}};
    const auto times = Weights(graph, machine, settings).times();
    Times leaves;
    for (const auto leave : graph.leaves) {
        leaves.push_back(times[leave]);
    }
    EXPECT_EQ(leaves, (Times{10, 10, 10, 1130, 2131, 3132}));
}

TEST(Contention, NobodyWaitsBehindMessagesOfAnOperationThatTheReceiverIsNotInYet) {
    // Rank 2 takes a message of rank 1, and is the root of a reduction that rank 0 enters at 1000. A processor takes
    // messages 500 apart.
    ProgramStory story;
    for (std::int32_t rank = 0; rank < 3; ++rank) {
        story.rank(rank, 2000);
    }
    story.message(1, story.call(1, CallKind::send, 200, 210), 2, story.call(2, CallKind::receive, 0, 330), 1);
    story.collective(0, story.call(0, CallKind::collective, 1000, 1010), Operation::reduce, 1);
    story.collective(2, story.call(2, CallKind::collective, 330, 1137), Operation::reduce, 1);
    story.members({0, 2});
    const auto& program = story.program();
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.ranges[0].g = 500;
    }
    const auto network = network_of({{0, 2, {0}}, {1, 2, {1}}}, 1);
    const Surroundings there{program.placement, network};
    const auto graph = build_graph(program, machine, machine, &there, &network);
    // Rank 0 computes a hundredth of the time: its message is there at 127, that of rank 1 at 310 as before.
    const std::vector<Setting> settings{{.machine = machine, .by_location = {0.01, 1, 1}}};
    Weights weights(graph, machine, settings);
    NetworkUse use;
    const Routes routes(graph, program.placement, network);
    const auto times = times_with_contention(graph, sync_points_of(graph), routes, settings[0], weights, 0, use);
    EXPECT_EQ(use.messages, 2U);
    EXPECT_EQ(times[graph.leaves[graph.first_call[2]]], 330);
}

TEST(Contention, UnchangedTheMeasuredTimesComeBack) {
    // Whatever they were: sooner than any model, later, in any order.
    std::mt19937 random(11);
    const auto draw = [&](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most));
    };
    for (int trial = 0; trial < 200; ++trial) {
        ProgramStory story;
        constexpr std::int32_t kRanks = 6;
        std::vector<std::int64_t> now(kRanks, 0);
        std::vector<Route> routes;
        for (std::int32_t a = 0; a < kRanks; ++a) {
            story.rank(a, 1'000'000);
            for (std::int32_t b = 0; b < kRanks; ++b) {
                if (a != b) {
                    routes.push_back({a, b, {a % 2, 2 + b % 3}});
                }
            }
        }
        Times wanted[kRanks];
        for (int m = 0; m < 60; ++m) {
            const auto from = static_cast<std::int32_t>(draw(kRanks));
            const auto to = static_cast<std::int32_t>((from + 1 + draw(kRanks - 1)) % kRanks);
            auto& sender = now[static_cast<std::size_t>(from)];
            auto& receiver = now[static_cast<std::size_t>(to)];
            const auto s0 = sender + draw(300);
            sender = s0 + 1 + draw(40);
            const auto r0 = receiver + draw(300);
            receiver = std::max(r0, s0) + 1 + draw(1500);
            story.message(from, story.call(from, CallKind::send, s0, sender), to,
                          story.call(to, CallKind::receive, r0, receiver), static_cast<std::uint64_t>(draw(2000)));
            wanted[from].push_back(sender);
            wanted[to].push_back(receiver);
        }
        const auto& program = story.program();
        const auto network = network_of(routes, 2);
        Times all;
        for (const auto& of_rank : wanted) {
            all.insert(all.end(), of_rank.begin(), of_rank.end());
        }
        EXPECT_EQ(replay(program, network, {program.placement, network}).leaves, all) << "trial " << trial;
        // The graph knows what following each event finds.
        const auto machine = plain_machine();
        const auto graph = build_graph(program, machine, machine, nullptr, &network);
        const std::vector<Setting> settings{{.machine = machine}};
        Weights followed(graph, machine, settings);
        Weights known(graph, machine, settings);
        NetworkUse use;
        const Routes over(graph, program.placement, network);
        EXPECT_EQ(times_with_contention(graph, sync_points_of(graph), over, settings[0], followed, 0, use),
                  recorded_times(graph, known, 0));
        EXPECT_EQ(std::tie(graph.use.messages, graph.use.delayed, graph.use.turns, graph.use.waited_ps),
                  std::tie(use.messages, use.delayed, use.turns, use.waited_ps));
        EXPECT_EQ(graph.use.busy_ps, use.busy_ps);
        EXPECT_EQ(graph.use.total_ps, use.total_ps);
    }
}

}  // namespace
}  // namespace logpost::replay
