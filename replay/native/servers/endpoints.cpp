#include "replay/native/servers/endpoints.hpp"

#include <algorithm>
#include <cstdint>

namespace logpost::replay {

std::vector<std::uint8_t> communicating(const Program& program) {
    std::vector<std::uint8_t> found(program.timelines.size());
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        const auto& timeline = program.timelines[location];
        if (!timeline.sends.empty() || !timeline.receives.empty() || !timeline.transfers.empty() ||
            !timeline.collectives.empty()) {
            found[location] = 1;
        }
        timeline.transfers.for_each([&](std::size_t, const Transfer& transfer) {
            if (transfer.target != kNoLocation) {
                found[index(transfer.target)] = 1;
            }
        });
    }
    return found;
}

std::vector<std::vector<std::size_t>> endpoint_groups(const Program& program, std::int32_t nics_per_node) {
    return endpoint_groups(program, program.placement, nics_per_node);
}

std::vector<std::vector<std::size_t>> endpoint_groups(const Program& program, const Placement& placement,
                                                      std::int32_t nics_per_node) {
    return endpoint_groups(communicating(program), placement, nics_per_node);
}

std::vector<std::vector<std::size_t>> endpoint_groups(std::span<const std::uint8_t> communicates,
                                                      const Placement& placement, std::int32_t nics_per_node) {
    const auto nics = static_cast<std::size_t>(std::max(1, nics_per_node));
    const std::size_t nodes = placement.nodes();
    std::vector<std::vector<std::size_t>> groups(nodes * nics);
    std::vector<std::size_t> seen(nodes, 0);
    for (std::size_t location = 0; location < communicates.size(); ++location) {
        const auto node = placement[location].node;
        if (communicates[location] == 0) {
            continue;
        }
        if (node == kUndefined) {
            groups.push_back({location});
        } else {
            const auto n = static_cast<std::size_t>(node);
            groups[n * nics + seen[n]++ % nics].push_back(location);
        }
    }
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
    return groups;
}

}  // namespace logpost::replay
