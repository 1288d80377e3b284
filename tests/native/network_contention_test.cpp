#include "replay/native/split/network_contention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "program_story.hpp"
#include "replay/native/program/traffic_phases.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {
namespace {

using tests::ProgramStory;

/// A mesh of side x side nodes with dimension-order routes.
Network mesh(std::int32_t side, double byte_ps) {
    Network network;
    network.dimensions = 2;
    network.byte_ps = byte_ps;
    network.dimension_byte_ps = {byte_ps, byte_ps};
    const auto nodes = side * side;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> links;
    network.route_begin.push_back(0);
    for (std::int32_t a = 0; a < nodes; ++a) {
        for (std::int32_t b = 0; b < nodes; ++b) {
            if (a == b) {
                continue;
            }
            network.pairs.push_back(Network::key_of(a, b));
            network.hops.push_back(std::abs(b % side - a % side));
            network.hops.push_back(std::abs(b / side - a / side));
            for (auto at = a; at != b;) {
                const auto step = at % side != b % side ? (b % side > at % side ? 1 : -1) : (b > at ? side : -side);
                network.route.push_back(
                    links.emplace(std::pair(at, at + step), static_cast<std::int32_t>(links.size())).first->second);
                at += step;
            }
            network.route_begin.push_back(static_cast<std::uint32_t>(network.route.size()));
        }
    }
    network.links = static_cast<std::int32_t>(links.size());
    return network;
}

Parameters parameters(double G) {
    Parameters machine;
    for (auto& locality : machine.localities) {
        locality.ranges = {{.up_to_bytes = UINT64_MAX, .L = 1000, .g = 1, .G = G}};
    }
    return machine;
}

constexpr std::int64_t kBytes = 101;
constexpr double kByte = 10;  // ps on a link: a message takes 1010 of one
constexpr std::int64_t kEnd = 1'000'000'000;

struct Simulated {
    std::int64_t waited = 0;  // for links
    std::int64_t noise = 0;
};

/// Random traffic on a mesh, simulated link by link: a message occupies each link of its route for as long as its bytes
/// need, in FIFO order. Receivers wait in their calls. `hot`: every third message is sent to node 0.
Simulated simulate(ProgramStory& story, const Network& network, std::int32_t nodes, std::int64_t between,
                   std::int64_t noise, bool hot, unsigned seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> pause(1.0 / static_cast<double>(between));
    std::exponential_distribution<double> late(noise > 0 ? 1.0 / static_cast<double>(noise) : 1.0);
    struct Message {
        std::int64_t sent, at;
        std::int32_t from, to;
        std::size_t pair, hop;
        std::uint32_t call = 0;
    };
    std::vector<Message> all;
    for (std::int32_t n = 0; n < nodes; ++n) {
        story.rank(n, kEnd);
        std::int64_t time = 0;
        for (;;) {
            time += 1 + static_cast<std::int64_t>(pause(random));
            if (time > 100'000'000) {
                break;
            }
            auto to = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(nodes - 1));
            to += to >= n ? 1 : 0;
            if (hot && n != 0 && random() % 3 == 0) {
                to = 0;
            }
            all.push_back({time, time, n, to, network.pair(n, to), 0});
        }
    }
    Simulated result;
    // Events in the order of time: the message that requests its next link first.
    const auto later = [&](std::size_t a, std::size_t b) { return all[a].at > all[b].at; };
    std::vector<std::size_t> heap;
    std::vector<std::int64_t> nic_free(static_cast<std::size_t>(nodes));
    const auto service = static_cast<std::int64_t>(kByte * kBytes);
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto& nic = nic_free[static_cast<std::size_t>(all[i].from)];
        all[i].at = std::max(all[i].at, nic);
        nic = all[i].at + service;
        heap.push_back(i);
    }
    std::ranges::make_heap(heap, later);
    std::vector<std::int64_t> link_free(static_cast<std::size_t>(network.links));
    std::vector<std::int64_t> delivered(all.size());
    while (!heap.empty()) {
        std::ranges::pop_heap(heap, later);
        const auto i = heap.back();
        heap.pop_back();
        auto& message = all[i];
        const auto route = network.links_of(message.pair);
        if (message.hop == route.size()) {
            delivered[i] = message.at;
            continue;
        }
        auto& free = link_free[static_cast<std::size_t>(route[message.hop])];
        const auto begin = std::max(message.at, free);
        result.waited += message.hop + 1 == route.size() ? 0 : begin - message.at;
        free = begin + service;
        message.at = begin;
        ++message.hop;
        heap.push_back(i);
        std::ranges::push_heap(heap, later);
    }
    // The receiver's NIC takes one after the other; then the receiver has it, some noise later.
    std::vector<std::size_t> order(all.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::ranges::sort(order, {}, [&](std::size_t i) { return delivered[i]; });
    std::vector<std::int64_t> taken(static_cast<std::size_t>(nodes));
    std::vector<std::int64_t> left(static_cast<std::size_t>(nodes));
    std::vector<std::pair<std::size_t, std::pair<std::int64_t, std::int64_t>>> receives;
    for (const auto i : order) {
        const auto to = static_cast<std::size_t>(all[i].to);
        const auto first = std::max(delivered[i] + 1000, taken[to]);
        taken[to] = first + service;
        const auto lag = noise > 0 ? static_cast<std::int64_t>(late(random)) : 0;
        result.noise += lag;
        const auto leave = std::max(left[to], first + static_cast<std::int64_t>((kBytes - 1) * kByte) + lag);
        receives.push_back({i, {left[to], leave}});
        left[to] = leave;
    }
    // Each rank sends in one thread's calls and receives in another's: only the times count here. Calls are in order.
    std::vector<std::vector<std::tuple<std::int64_t, std::int64_t, bool, std::size_t>>> calls(
        static_cast<std::size_t>(nodes));
    for (const auto& [i, span] : receives) {
        calls[static_cast<std::size_t>(all[i].to)].emplace_back(span.first, span.second, false, i);
        calls[static_cast<std::size_t>(all[i].from)].emplace_back(all[i].sent, all[i].sent, true, i);
    }
    std::vector<std::uint32_t> receive_of(all.size());
    for (std::int32_t n = 0; n < nodes; ++n) {
        auto& mine = calls[static_cast<std::size_t>(n)];
        std::ranges::stable_sort(mine);
        for (const auto& [enter, leave, sends, i] : mine) {
            const auto call = story.call(n, sends ? CallKind::send : CallKind::receive, enter, leave);
            (sends ? all[i].call : receive_of[i]) = call;
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        story.message(all[i].from, all[i].call, all[i].to, receive_of[i], kBytes);
    }
    return result;
}

struct Granted {
    double network = 0;
    double residual = 0;
    const MessageModel* model = nullptr;
};

Granted granted(const MessageModel& model) {
    Granted sums;
    for (std::size_t l = 0; l < model.program().timelines.size(); ++l) {
        for (std::uint32_t i = 0; i < model.program().timelines[l].receives.size(); ++i) {
            const MessageId id{location_at(l), i};
            const auto parts = model.partition(id);
            const auto totals = parts.totals();
            std::int64_t sum = 0;
            for (const auto part : totals) {
                EXPECT_GE(part, 0);
                sum += part;
            }
            const auto& times = model.record(id).times;
            EXPECT_EQ(sum, times.rw1 - std::min(times.s0, times.rw0));
            sums.network += static_cast<double>(totals[static_cast<std::size_t>(Part::network_contention)]);
            sums.residual += static_cast<double>(totals[static_cast<std::size_t>(Part::residual)]);
        }
    }
    return sums;
}

struct Traffic {
    std::int64_t between_ps;  // mean time between two messages of a node
    std::int64_t noise_ps;    // mean delay until a receiver notices a message
    bool hot;
    double least, most;  // granted over true
};

class RandomTraffic : public ::testing::TestWithParam<Traffic> {};

/// A link is busy for 1010 ps by a message, so that 4000 ps between two messages of a node load the busiest dimension
/// to 17 %, 2500 ps to 27 %. The noise is excess as well: what it adds beyond C_n must stay residual. The model is that
/// of a uniform load, and the sum over all messages is what it knows.
TEST_P(RandomTraffic, WaitsForLinksAreTold) {
    const auto& [between, noise, hot, least, most] = GetParam();
    ProgramStory story;
    const auto network = mesh(4, kByte);
    story.network(network);
    const auto truth = simulate(story, network, 16, between, noise, hot, 7);
    const auto& program = story.program();
    const MessageModel model(program, parameters(kByte), Windows::over(kEnd, 16), {}, 2);
    const auto found = granted(model);
    const auto share = found.network / static_cast<double>(truth.waited);
    EXPECT_GT(share, least);
    EXPECT_LT(share, most);
    std::int64_t of_phases = 0;
    for (const auto& phase : model.network().phases()) {
        EXPECT_LE(phase.granted_ps, phase.excess_ps);
        of_phases += static_cast<std::int64_t>(phase.granted_ps);
    }
    EXPECT_LE(static_cast<double>(of_phases), found.network);
}

INSTANTIATE_TEST_SUITE_P(Rates, RandomTraffic,
                         ::testing::Values(Traffic{8000, 0, false, 0.95, 1.05}, Traffic{4000, 0, false, 0.9, 1.05},
                                           Traffic{8000, 300, false, 1.0, 1.45}, Traffic{4000, 300, false, 0.9, 1.3},
                                           Traffic{2500, 300, false, 0.9, 1.2}, Traffic{8000, 300, true, 0.9, 1.25},
                                           Traffic{4000, 300, true, 0.9, 1.1}));

TEST(NetworkContention, WithoutANetworkThereIsNone) {
    ProgramStory story;
    simulate(story, mesh(4, kByte), 16, 4000, 300, false, 7);
    const auto& program = story.program();
    const MessageModel model(program, parameters(kByte), Windows::over(kEnd, 16), {}, 1);
    EXPECT_EQ(granted(model).network, 0);
    EXPECT_TRUE(model.network().phases().empty());
}

TEST(NetworkContention, IsNoPartOfModelsThatHaveNoLinks) {
    ProgramStory story;
    const auto network = mesh(4, kByte);
    story.network(network);
    simulate(story, network, 16, 4000, 300, false, 7);
    auto machine = parameters(kByte);
    machine.links_queue = false;
    const MessageModel model(story.program(), machine, Windows::over(kEnd, 16), {}, 1);
    EXPECT_EQ(granted(model).network, 0);
}

TEST(NetworkContention, NoiseOfQuietNodesStaysResidual) {
    // One message every 200 times as long as it occupies a link: nothing to wait for.
    ProgramStory story;
    const auto network = mesh(4, kByte);
    story.network(network);
    const auto truth = simulate(story, network, 16, 200'000, 3000, false, 3);
    const MessageModel model(story.program(), parameters(kByte), Windows::over(kEnd, 16), {}, 1);
    EXPECT_LT(granted(model).network, 0.002 * static_cast<double>(truth.noise));
}

TEST(NetworkContention, LinksCarryWhatIsSentOverThem) {
    ProgramStory story;
    const auto network = mesh(2, kByte);
    story.network(network);
    for (std::int32_t n = 0; n < 4; ++n) {
        story.rank(n, 10'000'000);
    }
    // 0 -> 3 takes two links, 0 -> 1 the first of them.
    story.message(0, story.call(0, CallKind::send, 100, 100), 3, story.call(3, CallKind::receive, 0, 90'000), 500);
    story.message(0, story.call(0, CallKind::send, 200, 200), 1, story.call(1, CallKind::receive, 0, 90'000), 300);
    const MessageModel model(story.program(), parameters(kByte), Windows::over(10'000'000, 4), {}, 1);
    const auto& links = model.network().links();
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(links[0].bytes + links[1].bytes, 500U + 500U + 300U);
    EXPECT_EQ(std::max(links[0].messages, links[1].messages), 2U);
    EXPECT_EQ(model.network().phases().front().messages, 2U);
}

TEST(TrafficPhases, EndAtSynchronizationsOfAllRanks) {
    // 40 messages of two nodes before and after an allreduce at 1000: 20 a node are enough for a phase.
    ProgramStory story;
    for (const auto node : {0, 1}) {
        const auto rank = story.rank(node, 3000);
        story.collective(rank, story.call(rank, CallKind::collective, 900 + 100 * node, 1010), Operation::allreduce);
    }
    std::vector<std::int64_t> sent;
    for (int i = 0; i < 40; ++i) {
        sent.push_back(10 * i);
        sent.push_back(2000 + 10 * i);
    }
    const auto phases = traffic_phases(story.program(), sent, 2);
    ASSERT_EQ(phases.size(), 2U);
    EXPECT_EQ(phases[0].end_ps, 1000);
    EXPECT_EQ(phases[1].begin_ps, 1000);
    EXPECT_EQ(phases[1].end_ps, 3000);
    // One message less before it, and it is joined with the next.
    sent.erase(sent.begin());
    EXPECT_EQ(traffic_phases(story.program(), sent, 2).size(), 1U);
}

TEST(TrafficPhases, OfManyMessagesAreCut) {
    ProgramStory story;
    story.rank(0, 100'000);
    story.rank(1, 100'000);
    std::vector<std::int64_t> sent;
    for (int i = 0; i < 4400; ++i) {
        sent.push_back(20 * i);
    }
    const auto phases = traffic_phases(story.program(), sent, 2);  // 2200 a node: 11 of 200
    ASSERT_EQ(phases.size(), 11U);
    EXPECT_EQ(phases.front().begin_ps, 0);
    EXPECT_EQ(phases.back().end_ps, 100'000);
    for (std::size_t i = 1; i < phases.size(); ++i) {
        EXPECT_EQ(phases[i].begin_ps, phases[i - 1].end_ps);
    }
}

}  // namespace
}  // namespace logpost::replay
