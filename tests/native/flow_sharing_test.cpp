// Max-min fair rates: closed forms, and a plain simulation that computes all rates anew at every event.

#include "replay/native/servers/flow_sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace logpost::replay {
namespace {

using Share = FlowSharing::Share;

struct Given {
    std::int64_t start;
    double bytes;
    std::vector<Share> shares;
};

/// When each flow ends.
std::vector<double> simulated(std::size_t links, const std::vector<Given>& flows) {
    FlowSharing sharing(links);
    std::vector<double> ends(flows.size());
    std::size_t next = 0;  // flows are in the order of their starts
    for (;;) {
        const auto end = sharing.next_end();
        if (next < flows.size() && flows[next].start <= end) {
            sharing.start(flows[next].start, static_cast<std::uint32_t>(next), flows[next].bytes, flows[next].shares);
            ++next;
        } else if (end == INT64_MAX) {
            return ends;
        } else {
            ends[sharing.end()] = static_cast<double>(end);
        }
    }
}

/// The same from the definition: the rate of all flows in progress rises until a link is full, and so on.
std::vector<double> expected(std::size_t links, const std::vector<Given>& flows) {
    std::vector<double> ends(flows.size());
    std::map<std::size_t, double> left;
    double now = 0;
    std::size_t next = 0;
    while (next < flows.size() || !left.empty()) {
        std::map<std::size_t, double> rates;
        std::vector<double> free(links, 1.0);
        while (rates.size() < left.size()) {
            double level = INFINITY;
            std::size_t full = 0;
            for (std::size_t l = 0; l < links; ++l) {
                double wanted = 0;
                for (const auto& [flow, bytes] : left) {
                    for (const auto& share : flows[flow].shares) {
                        wanted += !rates.contains(flow) && share.link == l ? share.byte_ps : 0;
                    }
                }
                if (wanted > 0 && free[l] / wanted < level) {
                    level = free[l] / wanted;
                    full = l;
                }
            }
            for (const auto& [flow, bytes] : left) {
                const auto& shares = flows[flow].shares;
                if (!rates.contains(flow) &&
                    std::ranges::any_of(shares, [&](const Share& share) { return share.link == full; })) {
                    rates[flow] = level;
                    for (const auto& share : shares) {
                        free[share.link] -= level * share.byte_ps;
                    }
                }
            }
        }
        double until = next < flows.size() ? static_cast<double>(flows[next].start) : INFINITY;
        std::size_t first = flows.size();
        for (const auto& [flow, bytes] : left) {
            if (now + bytes / rates[flow] < until) {
                until = now + bytes / rates[flow];
                first = flow;
            }
        }
        for (auto& [flow, bytes] : left) {
            bytes -= rates[flow] * (until - now);
        }
        now = until;
        if (first < flows.size()) {
            ends[first] = now;
            left.erase(first);
        } else {
            left[next] = flows[next].bytes;
            ++next;
        }
    }
    return ends;
}

TEST(FlowSharing, AloneAFlowTakesItsSlowestLink) {
    EXPECT_EQ(simulated(2, {{5, 100, {{0, 1}, {1, 3}}}}), std::vector<double>{305});
}

TEST(FlowSharing, TwoFlowsHalveALinkUntilOneHasEnded) {
    // 100 and 300 bytes at 1 ps a byte: both have half until 200, where the second has 200 left.
    EXPECT_EQ(simulated(1, {{0, 100, {{0, 1}}}, {0, 300, {{0, 1}}}}), (std::vector<double>{200, 400}));
}

TEST(FlowSharing, WhatAFlowCannotUseIsTheOthers) {
    // Link 0 gives its flow one in four; link 1 has three in four left for the other.
    const std::vector<Given> flows{{0, 100, {{0, 4}, {1, 1}}}, {0, 300, {{1, 1}}}};
    EXPECT_EQ(simulated(2, flows), (std::vector<double>{400, 400}));
}

TEST(FlowSharing, AFlowIsTakenAwayWithWhatIsLeftOfIt) {
    FlowSharing sharing(1);
    const std::vector<Share> shares{{0, 2}};
    const auto place = sharing.start(0, 0, 100, shares);
    sharing.start(0, 1, 100, shares);
    EXPECT_DOUBLE_EQ(sharing.stop(80, place), 80);  // a quarter of a byte each ps
    EXPECT_EQ(sharing.next_end(), 240);
    EXPECT_EQ(sharing.end(), 1U);
    EXPECT_EQ(sharing.next_end(), INT64_MAX);
}

TEST(FlowSharing, EndsAreThoseOfTheDefinition) {
    std::mt19937 random(3);
    constexpr std::size_t kLinks = 7;
    for (int trial = 0; trial < 100; ++trial) {
        std::vector<Given> flows;
        std::int64_t at = 0;
        for (int f = 0; f < 30; ++f) {
            at += static_cast<std::int64_t>(random() % 400'000);
            Given flow{at, 1000.0 + static_cast<double>(random() % 100'000), {}};
            for (std::uint32_t l = 0; l < kLinks; ++l) {
                if (random() % 3 == 0) {
                    flow.shares.push_back({l, 1.0 + static_cast<double>(random() % 7)});
                }
            }
            if (flow.shares.empty()) {
                flow.shares.push_back({0, 1});
            }
            flows.push_back(flow);
        }
        const auto found = simulated(kLinks, flows);
        const auto wanted = expected(kLinks, flows);
        for (std::size_t f = 0; f < flows.size(); ++f) {
            EXPECT_NEAR(found[f], wanted[f], 100) << "trial " << trial << ", flow " << f;
        }
    }
}

}  // namespace
}  // namespace logpost::replay
