#include "replay/native/split/collective_samples.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace logpost::replay {
namespace {

/// The class of every two members of a communicator; none where they are of several, or some member is missing.
std::optional<Locality> class_among(const Program& program, std::int32_t comm) {
    const auto& members = program.members[static_cast<std::size_t>(comm)];
    if (program.has_groups(comm) || members.size() < 2 || std::ranges::count(members, kNoLocation) > 0) {
        return std::nullopt;
    }
    const auto found = program.placement.between(members[0], members[1]);
    for (std::size_t i = 2; i < members.size(); ++i) {
        if (program.placement.between(members[0], members[i]) != found) {
            return std::nullopt;
        }
    }
    if (found == Locality::same_socket) {
        return found;  // as the first one's is the others'
    }
    // Two that are far from the first may be near each other.
    std::vector<std::pair<std::int32_t, std::int32_t>> places;
    for (const auto member : members) {
        const auto& place = program.placement[index(member)];
        const auto within = place.socket != kUndefined ? place.socket : ~number(member);  // below 0: unique to it
        places.emplace_back(place.node, found == Locality::same_node ? within : kUndefined);
    }
    std::ranges::sort(places);
    if (std::ranges::adjacent_find(places) != places.end()) {
        return std::nullopt;
    }
    return found;
}

/// Bytes that reach a member from the others at least, whatever the algorithm; 0 where the records lack it. Of
/// operations in which all give to all, they count one message for every member. Of alltoallv and alltoallw a member's
/// part for itself is not recorded: it counts as large as the others', as in the replay of these operations.
std::uint64_t least_from_others(const Collective& one, bool is_root, std::size_t members) noexcept {
    const auto each = one.bytes_received / members;
    switch (one.operation) {
        case Operation::bcast:
        case Operation::scatter:
        case Operation::scatterv:
            return is_root ? 0 : one.bytes_received;
        case Operation::gather:
        case Operation::gatherv:
            return is_root ? one.bytes_received - std::min(one.bytes_received, std::max(one.bytes_sent, each)) : 0;
        case Operation::allgather:
        case Operation::alltoall:
        case Operation::alltoallv:
        case Operation::alltoallw:
            return each * (members - 1);
        case Operation::allgatherv:
            return one.bytes_received - std::min(one.bytes_received, one.bytes_sent / members);
        case Operation::allreduce:
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
            return each;
        case Operation::reduce:
            return is_root ? each : 0;
        default:
            return 0;
    }
}

}  // namespace

void sample_collectives(const Program& program, std::size_t limit, std::array<LocalitySamples, kLocalities>& into) {
    constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
    std::vector<std::optional<Locality>> among(program.members.size());
    for (std::size_t comm = 0; comm < among.size(); ++comm) {
        among[comm] = class_among(program, static_cast<std::int32_t>(comm));
    }
    std::vector<std::int64_t> first(program.collective_instances, kNever);
    std::size_t total = 0;
    const auto usable = [&](const Collective& one) {
        return one.instance != kNone && one.comm != kUndefined && among[static_cast<std::size_t>(one.comm)].has_value();
    };
    for (const auto& location : program.timelines) {
        location.collectives.for_each([&](std::size_t, const Collective& one) {
            if (usable(one)) {
                first[one.instance] = std::min(first[one.instance], one.begin_ps);
                ++total;
            }
        });
    }
    const auto stride = static_cast<std::uint32_t>(total / std::max<std::size_t>(1, limit) + 1);
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        program.timelines[location].collectives.for_each([&](std::size_t, const Collective& one) {
            if (!usable(one) || !chosen(one.instance, stride) || one.complete_call == kNone) {
                return;
            }
            const auto& members = program.members[static_cast<std::size_t>(one.comm)];
            const bool is_root = one.root != kNoRank && location_of(members, one.root) == location_at(location);
            const auto bytes = least_from_others(one, is_root, members.size());
            const auto time = one.end_ps - first[one.instance];
            if (bytes > 0 && time > 0) {
                auto& column = into[static_cast<std::size_t>(*among[static_cast<std::size_t>(one.comm)])].collective;
                column.bytes.push_back(bytes);
                column.time_ps.push_back(time);
            }
        });
    }
}

}  // namespace logpost::replay
