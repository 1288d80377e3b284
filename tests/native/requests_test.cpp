#include "analyzer/archive/native/trace/requests.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace logpost::analyzer {
namespace {

using What = PendingRequests::What;

TEST(PendingRequests, GivesBackWhatWasMadeOnce) {
    PendingRequests requests;
    EXPECT_TRUE(requests.insert(5, What::send, 1));
    EXPECT_TRUE(requests.insert(0, What::receive, 2));
    const auto taken = requests.take(5);
    EXPECT_EQ(taken.what, What::send);
    EXPECT_EQ(taken.index, 1U);
    EXPECT_EQ(requests.take(5).what, What::free);
    EXPECT_EQ(requests.take(0).index, 2U);
}

TEST(PendingRequests, SaysWhenAnIdIsStillPending) {
    PendingRequests requests;
    EXPECT_TRUE(requests.insert(9, What::send, 1));
    EXPECT_FALSE(requests.insert(9, What::receive, 7));
    EXPECT_EQ(requests.take(9).index, 7U);
    EXPECT_TRUE(requests.clear().empty());
}

TEST(PendingRequests, AgreesWithAMapUnderReuseAndLoad) {
    PendingRequests requests;
    std::unordered_map<std::uint64_t, std::uint32_t> model;
    std::mt19937_64 random(7);
    for (std::uint32_t i = 0; i < 200000; ++i) {
        // Pointers as ids: multiples of 64 in a small heap, reused all the time.
        const auto id = 0x7f0000000000ULL + 64 * (random() % 3000);
        if (random() % 2 == 0) {
            ASSERT_EQ(requests.insert(id, What::receive, i), !model.contains(id));
            model[id] = i;
        } else {
            const auto taken = requests.take(id);
            ASSERT_EQ(taken.what != What::free, model.contains(id));
            if (taken.what != What::free) {
                ASSERT_EQ(taken.index, model[id]);
                model.erase(id);
            }
        }
    }
    EXPECT_EQ(requests.clear().size(), model.size());
    EXPECT_EQ(requests.take(0x7f0000000000ULL).what, What::free);
}

}  // namespace
}  // namespace logpost::analyzer
