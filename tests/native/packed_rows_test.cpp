#include "replay/native/split/packed_rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace logpost::replay {
namespace {

struct Row {
    std::int32_t name = -1;
    std::uint32_t kind = 0;
    std::array<std::int64_t, 70> figures{};
    bool operator==(const Row&) const = default;
};

TEST(PackedRows, GiveBackWhatWasPackedAndKeepNoZero) {
    std::vector<Row> rows(4);
    rows[0] = {.name = 3, .kind = 1};
    rows[0].figures[0] = -7;
    rows[0].figures[69] = INT64_MIN;
    rows[2] = {.name = 0, .kind = 0};  // nothing but zeros
    rows[3].figures.fill(1);
    const auto packed = PackedRows<Row>::pack(rows);
    EXPECT_EQ(packed.size(), 4 * 2 + (1 + 2) + 1 + 0 + (1 + 70));
    EXPECT_EQ(PackedRows<Row>::unpack(packed), rows);
    EXPECT_TRUE(PackedRows<Row>::unpack({}).empty());
}

}  // namespace
}  // namespace logpost::replay
