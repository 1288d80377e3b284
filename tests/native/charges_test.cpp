#include "replay/native/waits/charges.hpp"

#include <gtest/gtest.h>

namespace logpost::replay {
namespace {

Costs of_late_senders(double rate) {
    Costs costs{};
    costs[static_cast<std::size_t>(WaitKind::late_sender)] = rate;
    return costs;
}

double late_senders(Charges& charges, std::uint32_t call) {
    return charges.at(call)[static_cast<std::size_t>(WaitKind::late_sender)];
}

TEST(Charges, EachIntervalCostsBackToItsBegin) {
    Charges charges;
    // Going back from call 20: intervals that begin behind calls 9, 4 and 14, opened in this order.
    charges.open(10, of_late_senders(1));
    charges.open(5, of_late_senders(2));
    charges.open(15, of_late_senders(4));
    EXPECT_EQ(late_senders(charges, 15), 4 + 2 + 1);
    EXPECT_EQ(late_senders(charges, 14), 2 + 1);
    EXPECT_EQ(late_senders(charges, 10), 2 + 1);
    EXPECT_EQ(late_senders(charges, 9), 2);
    EXPECT_EQ(late_senders(charges, 4), 0);
}

TEST(Charges, IntervalsThatBeginAtOneCallAddUp) {
    Charges charges;
    charges.open(7, of_late_senders(0.25));
    charges.open(3, of_late_senders(0.5));
    charges.open(7, of_late_senders(1));
    EXPECT_EQ(late_senders(charges, 7), 1.75);
    EXPECT_EQ(late_senders(charges, 6), 0.5);
}

TEST(Charges, NoRoundingErrorStaysWhenAllAreClosed) {
    Charges charges;
    for (std::uint32_t call = 30; call > 0; --call) {
        charges.open(call, of_late_senders(0.1 * call));
    }
    EXPECT_EQ(late_senders(charges, 0), 0);
}

}  // namespace
}  // namespace logpost::replay
