#include <otf2/OTF2_Events.h>
#include <algorithm>

#include "account.hpp"

namespace logpost::analyzer {
namespace {

enum class Shape : std::uint8_t { all_to_all, one_to_all, all_to_one, prefix, none };

Shape shape(std::uint8_t operation) noexcept {
    switch (operation) {
        case OTF2_COLLECTIVE_OP_BARRIER:
        case OTF2_COLLECTIVE_OP_ALLGATHER:
        case OTF2_COLLECTIVE_OP_ALLGATHERV:
        case OTF2_COLLECTIVE_OP_ALLTOALL:
        case OTF2_COLLECTIVE_OP_ALLTOALLV:
        case OTF2_COLLECTIVE_OP_ALLTOALLW:
        case OTF2_COLLECTIVE_OP_ALLREDUCE:
        case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
        case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
            return Shape::all_to_all;
        case OTF2_COLLECTIVE_OP_BCAST:
        case OTF2_COLLECTIVE_OP_SCATTER:
        case OTF2_COLLECTIVE_OP_SCATTERV:
            return Shape::one_to_all;
        case OTF2_COLLECTIVE_OP_REDUCE:
        case OTF2_COLLECTIVE_OP_GATHER:
        case OTF2_COLLECTIVE_OP_GATHERV:
            return Shape::all_to_one;
        case OTF2_COLLECTIVE_OP_SCAN:
        case OTF2_COLLECTIVE_OP_EXSCAN:
            return Shape::prefix;
        default:
            return Shape::none;
    }
}

}  // namespace

CollectiveWaits::CollectiveWaits(const Trace& trace) : trace_(trace), instances_(trace.collective_instances) {
    for (std::size_t location = 0; location < trace.traces.size(); ++location) {
        const auto& operations = trace.traces[location].collectives;
        for (std::size_t i = 0; i < operations.size(); ++i) {
            const auto& operation = operations[i];
            if (operation.instance == kNone) {
                continue;
            }
            auto& instance = instances_[operation.instance];
            instance.latest_begin = std::max(instance.latest_begin, operation.begin_ps);
            if (is_root(operation, location)) {
                instance.root_begin = operation.begin_ps;
            } else {
                instance.earliest_non_root = std::min(instance.earliest_non_root, operation.begin_ps);
            }
            if (shape(operation.operation) == Shape::prefix) {
                const auto& members = trace.communicators[static_cast<std::size_t>(operation.comm)].locations;
                auto& begins = scans_[operation.instance];
                begins.resize(members.size(), INT64_MIN);
                const auto rank = std::ranges::find(members, static_cast<std::int32_t>(location)) - members.begin();
                if (static_cast<std::size_t>(rank) < begins.size()) {
                    begins[static_cast<std::size_t>(rank)] = operation.begin_ps;
                }
            }
        }
    }
    for (auto& [instance, begins] : scans_) {
        for (std::size_t rank = 1; rank < begins.size(); ++rank) {
            begins[rank] = std::max(begins[rank], begins[rank - 1]);
        }
    }
}

bool CollectiveWaits::is_root(const Collective& operation, std::size_t location) const {
    if (operation.root < 0 || operation.comm < 0) {
        return false;
    }
    const auto& members = trace_.communicators[static_cast<std::size_t>(operation.comm)].locations;
    const auto root = static_cast<std::size_t>(operation.root);
    return root < members.size() && members[root] == static_cast<std::int32_t>(location);
}

std::int64_t CollectiveWaits::wait(const Collective& operation, std::size_t location) const {
    if (operation.instance == kNone) {
        return 0;
    }
    const auto& instance = instances_[operation.instance];
    std::int64_t until = operation.begin_ps;
    switch (shape(operation.operation)) {
        case Shape::all_to_all:
            until = instance.latest_begin;
            break;
        case Shape::one_to_all:
            until = is_root(operation, location) ? until : instance.root_begin;
            break;
        case Shape::all_to_one:
            until = is_root(operation, location) ? instance.latest_begin : until;
            break;
        case Shape::prefix: {
            const auto& begins = scans_.at(operation.instance);
            const auto& members = trace_.communicators[static_cast<std::size_t>(operation.comm)].locations;
            const auto rank = std::ranges::find(members, static_cast<std::int32_t>(location)) - members.begin();
            if (static_cast<std::size_t>(rank) < begins.size()) {
                until = begins[static_cast<std::size_t>(rank)];
            }
            break;
        }
        case Shape::none:
            break;
    }
    // An instance whose root is unknown has no root_begin: nobody is known to have waited.
    until = std::max(until, operation.begin_ps);
    return std::max<std::int64_t>(0, std::min(until, operation.end_ps) - operation.begin_ps);
}

}  // namespace logpost::analyzer
