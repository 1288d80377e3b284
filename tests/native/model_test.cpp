// One program under each model: what a model has no term for is residual, and nothing else changes.
#include "replay/native/cost/model.hpp"

#include <gtest/gtest.h>

#include "program_story.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;
using Totals = std::array<std::int64_t, kParts>;

Totals totals(const Program& program, Model model, MessageId id, const Parameters& machine) {
    const auto parameters = reduced(machine, model);
    const MessageModel split(program, parameters, Windows{.count = 1, .width_ps = 3000}, {}, 1);
    const auto parts = split.partition(id);
    EXPECT_EQ(parts.cursor(), split.record(id).times.rw1);
    return parts.totals();
}

std::int64_t at(const Totals& totals, Part part) {
    return totals[static_cast<std::size_t>(part)];
}

/// Two ranks send nothing but an envelope to a third, which receives both in one call.
///
/// Both arrive at o_s + L = 110. The processor completes the first until 110 + o_r = 130 and the second, which waits
/// 20 for it, until 150; the call ends for both.
struct TwoInOneCall : ProgramStory {
    TwoInOneCall() {
        for (const auto node : {0, 1, 2}) {
            rank(node, 3000);
        }
        const auto receive = call(2, CallKind::wait_multi, 0, 150);
        for (const auto sender : {0, 1}) {
            message(sender, call(sender, CallKind::send, 0, 10), 2, receive, 0);
        }
    }
};

TEST(Models, OnlyTheProcessorsQueueExplainsTheSecondOfTwoMessages) {
    TwoInOneCall story;
    const auto& program = story.program();
    for (const auto model : {Model::full, Model::logpc}) {
        const auto second = totals(program, model, {Location{2}, 1}, plain_machine());
        EXPECT_EQ(at(second, Part::processor_queueing), 20);
        EXPECT_EQ(at(second, Part::residual), 0);
    }
    for (const auto model : {Model::loggp, Model::logp}) {
        const auto second = totals(program, model, {Location{2}, 1}, plain_machine());
        EXPECT_EQ(at(second, Part::processor_queueing), 0);
        EXPECT_EQ(at(second, Part::residual), 20);
        EXPECT_EQ(at(second, Part::latency), 100);
        EXPECT_EQ(at(second, Part::recv_overhead), 20);
    }
}

/// Two ranks send 1000 B each at the same time; the receiving NIC takes 1000 for one. The second arrives at
/// 10 + 100 + 1000 + 999 = 2109, when its receive, entered at 1129, has waited for it; the receive ends at 2129.
struct TwoToOne : ProgramStory {
    TwoToOne() {
        for (const auto node : {0, 1, 2}) {
            rank(node, 3000);
        }
        for (const auto sender : {0, 1}) {
            const auto send = call(sender, CallKind::send, 0, 10);
            message(sender, send, 2, call(2, CallKind::receive, sender * 1129, 1129 + sender * 1000), 1000);
        }
    }
};

TEST(Models, LogPKnowsNeitherBytesNorWhatTheyCostANic) {
    TwoToOne story;
    const auto& program = story.program();
    const auto loggp = totals(program, Model::loggp, {Location{2}, 1}, plain_machine());
    EXPECT_EQ(at(loggp, Part::endpoint_contention), 1000);
    EXPECT_EQ(at(loggp, Part::serialization), 999);
    EXPECT_EQ(at(loggp, Part::residual), 0);
    // It has the message at the receiver at 110, 1019 before the receive; 2129 - 20 - 1129 = 980 are left.
    const auto logp = totals(program, Model::logp, {Location{2}, 1}, plain_machine());
    EXPECT_EQ(at(logp, Part::endpoint_contention), 0);
    EXPECT_EQ(at(logp, Part::serialization), 0);
    EXPECT_EQ(at(logp, Part::late_receiver), 1019);
    EXPECT_EQ(at(logp, Part::residual), 980);
    // With a gap of 1500 the second first byte waits for the first: 110 + 1500; 2129 - 20 - 1610 = 499 are left.
    auto gap = plain_machine();
    for (auto& locality : gap.localities) {
        locality.ranges.front().g = 1500;
    }
    const auto waited = totals(program, Model::logp, {Location{2}, 1}, gap);
    EXPECT_EQ(at(waited, Part::endpoint_contention), 1500);
    EXPECT_EQ(at(waited, Part::residual), 499);
}

TEST(Models, Log3PTakesItsOwnTablesAndQueuesNowhere) {
    TwoToOne story;
    auto machine = plain_machine();
    machine.o_mw = {.x = {1}, .y = {16}};
    machine.o_net = {.x = {1, 1001}, .y = {50, 1050}};
    // 8 | 50 + 999 | 8: there at 1057, 72 before the receive; 2129 - 8 - 1129 = 992 are left.
    const auto parts = totals(story.program(), Model::log3p, {Location{2}, 1}, machine);
    EXPECT_EQ(at(parts, Part::send_overhead), 8);
    EXPECT_EQ(at(parts, Part::latency), 50);
    EXPECT_EQ(at(parts, Part::serialization), 999);
    EXPECT_EQ(at(parts, Part::endpoint_contention), 0);
    EXPECT_EQ(at(parts, Part::late_receiver), 72);
    EXPECT_EQ(at(parts, Part::recv_overhead), 8);
    EXPECT_EQ(at(parts, Part::residual), 992);
}

TEST(Models, EachHasTheTermsOfItsPaper) {
    Parameters machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.across_network = true;
        locality.ranges = {{.up_to_bytes = 8, .L = 100, .o_s = 10, .o_r = 20, .g = 7, .G = 1},
                           {.up_to_bytes = UINT64_MAX, .L = 50, .o_s = 30, .o_r = 600, .g = 7, .G = 1}};
    }
    machine.middleware = middleware_tables(
        {.tables = {{.block_bytes = 8, .l_mw = {.z = {64}, .curves = {{.x = {64, 1064}, .y = {0, 2000}}}}}},
         .alone = {}});
    machine.dma = Dma{.G_m = 0.5, .header_bytes = 10};
    machine.o_burst = {.z = {1, 4}, .curves = {{.x = {1}, .y = {5}}, {.x = {1}, .y = {3}}}};
    machine.per_hop = 4;
    machine.mean_hops = 2;
    machine.o_mw = {.x = {1}, .y = {16}};
    machine.o_net = {.x = {1, 1001}, .y = {50, 1050}};
    const auto cost = [&](Model model) {
        return message_cost(reduced(machine, model), Locality::other_node, 1064, {8, 64}, 4, 5);
    };
    const auto full = cost(Model::full);
    EXPECT_EQ(full.o_s, 3);
    EXPECT_EQ(full.l_mw, 2000);
    EXPECT_EQ(full.L, 50 + 3 * 4);
    EXPECT_EQ(full.o_r, 79);  // 600 + 10 + 532 - 1063
    const auto loggp = cost(Model::loggp);
    EXPECT_EQ(loggp.o_s, 30);
    EXPECT_EQ(loggp.l_mw, 0);
    EXPECT_EQ(loggp.L, 50);
    EXPECT_EQ(loggp.serialization, 1063);
    EXPECT_EQ(loggp.service, 1064);
    EXPECT_EQ(loggp.o_r, 600);
    const auto logpc = cost(Model::logpc);
    EXPECT_EQ(logpc.o_s, 30);
    EXPECT_EQ(logpc.L, 50);
    EXPECT_EQ(logpc.o_r, 79);
    const auto logp = cost(Model::logp);
    EXPECT_EQ(logp.o_s, 10);
    EXPECT_EQ(logp.L, 100);
    EXPECT_EQ(logp.serialization, 0);
    EXPECT_EQ(logp.service, 7);
    EXPECT_EQ(logp.o_r, 20);
    const auto log3p = cost(Model::log3p);
    EXPECT_EQ(log3p.o_s, 8);
    EXPECT_EQ(log3p.l_mw, 2000);
    EXPECT_EQ(log3p.L + log3p.serialization, 50 + 1063);
    EXPECT_EQ(log3p.o_r, 8);
}

TEST(Models, HaveNames) {
    for (std::size_t i = 0; i < kModels; ++i) {
        EXPECT_EQ(model_named(kModelNames[i]), static_cast<Model>(i));
    }
    EXPECT_FALSE(model_named("logq").has_value());
}

}  // namespace
}  // namespace logpost::replay
