#include <algorithm>

#include "replay/native/collective_shape.hpp"
#include "replay/native/split/account.hpp"

namespace logpost::replay {
CollectiveWaits::CollectiveWaits(const Program& program) : program_(program), instances_(program.collective_instances) {
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        const auto& operations = program.timelines[location].collectives;
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
                const auto& members = program.members[static_cast<std::size_t>(operation.comm)];
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
    const auto& members = program_.members[static_cast<std::size_t>(operation.comm)];
    const auto root = static_cast<std::size_t>(operation.root);
    return root < members.size() && members[root] == static_cast<std::int32_t>(location);
}

std::int64_t CollectiveWaits::until(const Collective& operation, std::size_t location) const {
    if (operation.instance == kNone) {
        return operation.begin_ps;
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
            const auto& members = program_.members[static_cast<std::size_t>(operation.comm)];
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
    return std::max(until, operation.begin_ps);
}

std::int64_t CollectiveWaits::wait(const Collective& operation, std::size_t location) const {
    const auto end = std::min(until(operation, location), operation.end_ps);
    return std::max<std::int64_t>(0, end - operation.begin_ps);
}

std::uint64_t CollectiveWaits::early_ends() const {
    std::uint64_t ends = 0;
    for (std::size_t location = 0; location < program_.timelines.size(); ++location) {
        program_.timelines[location].collectives.for_each([&](std::size_t, const Collective& operation) {
            ends += operation.complete_call != kNone && operation.end_ps < until(operation, location) ? 1 : 0;
        });
    }
    return ends;
}

}  // namespace logpost::replay
