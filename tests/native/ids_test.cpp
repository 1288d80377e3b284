#include "replay/native/program/ids.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <type_traits>

#include "analyzer/archive/native/trace/trace.hpp"
#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/replay.hpp"
#include "replay/native/program/message_facts.hpp"
#include "replay/native/program/placement.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/waits/delays.hpp"
#include "replay/native/waits/recorded_path.hpp"

namespace logpost::replay {
namespace {

static_assert(!std::is_convertible_v<Location, Rank> && !std::is_convertible_v<Rank, Location>);
static_assert(!std::is_convertible_v<std::int32_t, Location> && !std::is_convertible_v<std::int32_t, Rank>);
static_assert(!std::is_invocable_v<decltype(location_of), std::span<const Location>, Location>);
static_assert(!std::is_invocable_v<decltype(rank_of), std::span<const Location>, Rank>);
static_assert(sizeof(Location) == sizeof(std::int32_t) && sizeof(Rank) == sizeof(std::int32_t));

// The ends of messages and transfers are locations; their records have the size that they have in files.
static_assert(std::is_same_v<decltype(MessageEnd::peer), Location> && sizeof(MessageEnd) == 32);
static_assert(std::is_same_v<decltype(Transfer::target), Location> && sizeof(Transfer) == 40);
static_assert(std::is_same_v<decltype(MessageId::location), Location> && sizeof(MessageId) == 8);
static_assert(std::is_same_v<decltype(PathStretch::location), Location>);
static_assert(std::is_same_v<decltype(DelayCost::location), Location>);
static_assert(std::is_same_v<decltype(EdgeModel::location), Location>);
static_assert(std::is_same_v<decltype(LongestProgram::location), Location>);
static_assert(std::is_same_v<decltype(analyzer::ThreadSpan::location), Location>);

// No text has one or the other before `number` or a name of it is chosen.
template <class Id>
concept Printed = requires(std::ostream& out, Id id) { out << id; } || requires(Id id) { std::to_string(id); };
static_assert(!Printed<Location> && !Printed<Rank> && Printed<std::int32_t>);
template <class End>
concept Placed = requires(const Placement& placement, End end) {
    placement.between(end, end);
    placement.hops(end, end);
};
static_assert(Placed<Location> && !Placed<Rank> && !Placed<std::int32_t>);

// Two threads per process: ranks 0 and 1 are locations 0 and 2; rank 2 is absent from the trace.
TEST(Ids, ARankIsNotItsLocation) {
    constexpr std::array kMembers{Location{0}, Location{2}, kNoLocation};
    EXPECT_EQ(location_of(kMembers, Rank{1}), Location{2});
    EXPECT_EQ(rank_of(kMembers, Location{2}), Rank{1});
    EXPECT_EQ(rank_of(kMembers, Location{1}), std::nullopt);
    EXPECT_EQ(location_of(kMembers, Rank{2}), kNoLocation);
    EXPECT_EQ(location_of(kMembers, Rank{3}), kNoLocation);
    EXPECT_EQ(rank_of(kMembers, kNoLocation), std::nullopt);
}

}  // namespace
}  // namespace logpost::replay
