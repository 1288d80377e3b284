/// Packets of a Perfetto trace, byte by byte.

#include "analyzer/archive/native/export/perfetto_events.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace logpost::analyzer {
namespace {

using Bytes = std::vector<int>;

Bytes bytes(const std::string& text) {
    Bytes found;
    for (const char c : text) {
        found.push_back(static_cast<unsigned char>(c));
    }
    return found;
}

TEST(PerfettoEvents, SliceHasItsArgumentsCategoryAndArrows) {
    // Two slices; the first has 1.5 ns of its second argument, and sends arrow 9; the second receives it.
    const std::array<std::int64_t, 2> enter{300, 400};
    const std::array<std::int64_t, 2> leave{301, 400};
    const std::array<std::int64_t, 2> name{5, 6};
    const std::array<std::int64_t, 4> exposed{0, 1500, 0, 0};
    const std::array<std::int64_t, 2> first{0, 0};
    const std::array<std::int64_t, 2> one{1, 0};
    const std::array<std::int64_t, 2> two{0, 1};
    const std::array<std::int64_t, 1> id{9};
    const PerfettoSlices slices{enter, leave, name, exposed, 2, {first, one, id}, {first, two, id}};
    const Bytes begin{0x0a, 41,                                           // Trace.packet
                      0x40, 0xac, 0x02,                                   // timestamp 300
                      0x50, 1,                                            // trusted_packet_sequence_id
                      0x5a, 32,                                           // track_event
                      0x18, 3,                                            // category_iids: the second argument's
                      0x22, 11,   0x08, 3,                                // debug_annotations: name_iid,
                      0x29, 0,    0,    0, 0,    0,    0,    0xf8, 0x3f,  // double_value 1.5
                      0x48, 1,    0x50, 5, 0x58, 0x80, 0x01,              // a slice's begin, name_iid, track_uuid 128
                      0xf9, 0x02, 9,    0, 0,    0,    0,    0,    0,    0,  // flow_ids
                      0x68, 2};                                              // sequence_flags: needs the interned names
    const Bytes end{0x0a, 14, 0x40, 0xad, 0x02, 0x50, 1, 0x5a, 5, 0x48, 2, 0x58, 0x80, 0x01, 0x68, 2};
    const Bytes second{0x0a, 18,   0x40, 0x90, 0x03, 0x50, 1,    0x5a, 9,    0x18,
                       1,    0x48, 1,    0x50, 6,    0x58, 0x80, 0x01, 0x68, 2};
    const Bytes second_end{0x0a, 24,   0x40, 0x90, 0x03, 0x50, 1, 0x5a, 15, 0x48, 2, 0x58, 0x80,
                           0x01, 0x81, 0x03, 9,    0,    0,    0, 0,    0,  0,    0, 0x68, 2};
    Bytes all;
    for (const auto* part : {&begin, &end, &second, &second_end}) {
        all.insert(all.end(), part->begin(), part->end());
    }
    EXPECT_EQ(bytes(perfetto_slices({128, 1}, slices)), all);
}

TEST(PerfettoEvents, CounterHasAValueFromEachTimeOn) {
    const std::array<std::int64_t, 2> at{0, 200};
    const std::array<std::int64_t, 2> values{300, 0};
    EXPECT_EQ(bytes(perfetto_counter({7, 1}, at, values)),
              (Bytes{0x0a, 16,   0x40, 0,    0x50, 1, 0x5a, 8, 0x48, 4, 0x58, 7, 0xf0, 0x01, 0xac, 0x02, 0x68, 2, 0x0a,
                     16,   0x40, 0xc8, 0x01, 0x50, 1, 0x5a, 7, 0x48, 4, 0x58, 7, 0xf0, 0x01, 0,    0x68, 2}));
}

TEST(PerfettoEvents, NothingHasNoPackets) {
    EXPECT_EQ(perfetto_slices({1, 1}, {}), "");
    EXPECT_EQ(perfetto_counter({1, 1}, {}, {}), "");
}

}  // namespace
}  // namespace logpost::analyzer
