#include "replay/native/waits/collective_waits.hpp"

#include <algorithm>

#include "replay/native/program/shape.hpp"

namespace logpost::replay {
namespace {

/// To an instance, or to a group of its members.
void add_latest(auto& members, const Collective& operation, const CollectiveWaits::Member& member) {
    if (member.begin > members.latest.begin) {
        members.latest = member;
    }
    if (gives_something(operation) && member.begin > members.latest_giver.begin) {
        members.latest_giver = member;
    }
}

}  // namespace

CollectiveWaits::CollectiveWaits(const Program& program) : program_(program), instances_(program.collective_instances) {
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        const auto& operations = program.timelines[location].collectives;
        for (std::size_t i = 0; i < operations.size(); ++i) {
            const auto& operation = operations[i];
            if (operation.instance == kNone) {
                continue;
            }
            auto& instance = instances_[operation.instance];
            const Member member{operation.begin_ps, location_at(location), operation.call};
            add_latest(instance, operation, member);
            instance.earliest_end = std::min(instance.earliest_end, operation.end_ps);
            if (is_root(operation, location)) {
                instance.root = member;
            } else {
                instance.earliest_non_root = std::min(instance.earliest_non_root, operation.begin_ps);
            }
            if (program.has_groups(operation.comm)) {
                add_to_group(operation, location, member);
            }
            if (shape(operation.operation) == Shape::prefix) {
                auto& members = scans_[operation.instance];
                members.resize(program.members[static_cast<std::size_t>(operation.comm)].size());
                const auto rank = index(rank_of(operation, location_at(location)));
                if (rank < members.size()) {
                    members[rank] = member;
                }
            }
        }
    }
    for (const auto& [number, groups] : groups_) {
        if (groups.of_root < 2) {
            instances_[number].earliest_non_root = groups.both[1 - groups.of_root].earliest_begin;
        }
    }
    add_givers();
    for (auto& [instance, members] : scans_) {
        for (std::size_t rank = 1; rank < members.size(); ++rank) {
            if (members[rank - 1].begin > members[rank].begin) {
                members[rank] = members[rank - 1];
            }
        }
    }
}

void CollectiveWaits::add_givers() {
    for (std::size_t location = 0; location < program_.timelines.size(); ++location) {
        program_.timelines[location].collectives.for_each([&](std::size_t, const Collective& operation) {
            if (operation.instance == kNone || !may_skip_members(operation.operation) || !gives_something(operation)) {
                return;
            }
            const auto& instance = instances_[operation.instance];
            if (instance.earliest_end < instance.latest_giver.begin) {
                const auto group = program_.has_groups(operation.comm) ? group_of(operation, location) : 0;
                givers_[operation.instance][group].add(operation.begin_ps, operation.bytes_sent,
                                                       {operation.begin_ps, location_at(location), operation.call});
            }
        });
    }
    for (auto& [instance, groups] : givers_) {
        groups[0].sort();
        groups[1].sort();
    }
}

void CollectiveWaits::add_to_group(const Collective& operation, std::size_t location, const Member& member) {
    auto& groups = groups_[operation.instance];
    const auto mine = group_of(operation, location);
    auto& group = groups.both[mine];
    add_latest(group, operation, member);
    group.earliest_begin = std::min(group.earliest_begin, operation.begin_ps);
    group.earliest_end = std::min(group.earliest_end, operation.end_ps);
    groups.of_root = is_root(operation, location) ? mine : groups.of_root;
}

Rank CollectiveWaits::rank_of(const Collective& operation, Location location) const {
    const auto& members = program_.members[static_cast<std::size_t>(operation.comm)];
    return replay::rank_of(members, location).value_or(rank_at(members.size()));
}

bool CollectiveWaits::is_root(const Collective& operation, std::size_t location) const {
    if (operation.root < Rank{0} || operation.comm < 0) {
        return false;
    }
    const auto& members = program_.members[static_cast<std::size_t>(operation.comm)];
    return location_of(members, operation.root) == location_at(location);
}

std::size_t CollectiveWaits::group_of(const Collective& operation, std::size_t location) const {
    return program_.group_of(operation.comm, rank_of(operation, location_at(location)));
}

bool CollectiveWaits::is_onlooker(const Collective& operation, std::size_t location) const {
    const auto root = instances_[operation.instance].root.location;
    return program_.has_groups(operation.comm) && root != kNoLocation &&
           looks_on(program_, operation.operation, operation.comm, rank_of(operation, root),
                    rank_of(operation, location_at(location)));
}

bool CollectiveWaits::met(const Collective& operation) const {
    if (program_.has_groups(operation.comm) && shape(operation.operation) != Shape::agreement) {
        const auto& [one, other] = groups_.at(operation.instance).both;
        return one.latest.begin <= other.earliest_end && other.latest.begin <= one.earliest_end;
    }
    const auto& instance = instances_[operation.instance];
    return instance.latest.begin <= instance.earliest_end;
}

CollectiveWaits::Needed CollectiveWaits::defined(const Collective& operation, std::size_t location) const {
    const auto& instance = instances_[operation.instance];
    const auto of_other_group = [&] {
        const auto& other = groups_.at(operation.instance).both[1 - group_of(operation, location)];
        return Needed{other.latest, other.latest_giver};
    };
    switch (shape(operation.operation)) {
        case Shape::all_to_all:
            if (program_.has_groups(operation.comm)) {
                // Each group gets what the other one gives, which may be nothing; its own members it does not need.
                return gets_something(operation) ? of_other_group() : Needed{};
            }
            return {instance.latest, instance.latest_giver};
        case Shape::one_to_all:
            // An instance whose root is unknown has none: no member is known to have waited.
            return is_root(operation, location) || is_onlooker(operation, location)
                       ? Needed{}
                       : Needed{instance.root, instance.root};
        case Shape::all_to_one:
            if (!is_root(operation, location)) {
                return {};
            }
            return program_.has_groups(operation.comm) ? of_other_group()
                                                       : Needed{instance.latest, instance.latest_giver};
        case Shape::prefix: {
            const auto& members = scans_.at(operation.instance);
            const auto rank = index(rank_of(operation, location_at(location)));
            return rank < members.size() ? Needed{members[rank], members[rank]} : Needed{};
        }
        case Shape::agreement:
            // MPI permits these operations to synchronize and does not require it.
            return met(operation) ? Needed{instance.latest, {}} : Needed{};
        case Shape::none:
            break;
    }
    return {};
}

CollectiveWaits::Member CollectiveWaits::needed(const Collective& operation, std::size_t location) const {
    if (operation.instance == kNone) {
        return {};
    }
    const auto [last, giver] = defined(operation, location);
    // A member that gets no bytes need not wait, nor any for one that gives none; nor did it if it left before that one
    // entered.
    if (operation.end_ps >= last.begin) {
        return last;
    }
    // Open MPI's nonblocking barrier of an inter-communicator lets a member go when its own group and the other one's
    // first member are in it.
    if (operation.operation == Operation::barrier && program_.has_groups(operation.comm)) {
        return {};
    }
    const bool is_stated = giver.location != kNoLocation;  // what members give
    if (!gets_something(operation)) {
        return {};
    }
    if (!is_stated) {
        return last;
    }
    if (operation.end_ps >= giver.begin || !may_skip_members(operation.operation)) {
        return giver;
    }
    const auto from = program_.has_groups(operation.comm) ? 1 - group_of(operation, location) : 0;
    const auto& givers = givers_.at(operation.instance)[from];
    return givers[givers.last_needed(operation.end_ps, operation.bytes_received)];
}

std::int64_t CollectiveWaits::until(const Collective& operation, std::size_t location) const {
    return std::max(needed(operation, location).begin, operation.begin_ps);
}

std::int64_t CollectiveWaits::wait(const Collective& operation, std::size_t location) const {
    const auto end = std::min(until(operation, location), operation.end_ps);
    return std::max<std::int64_t>(0, end - operation.begin_ps);
}

std::vector<std::int64_t> CollectiveWaits::waits_of(std::size_t location) const {
    const auto& operations = program_.timelines[location].collectives;
    std::vector<std::int64_t> waits;
    waits.reserve(operations.size());
    operations.for_each([&](std::size_t, const Collective& one) { waits.push_back(wait(one, location)); });
    return waits;
}

std::uint64_t CollectiveWaits::early_ends() const {
    std::uint64_t ends = 0;
    for (std::size_t location = 0; location < program_.timelines.size(); ++location) {
        const auto& mine = program_.timelines[location];
        mine.collectives.for_each([&](std::size_t, const Collective& operation) {
            if (operation.complete_call != kNone && operation.operation != Operation::fence) {
                ends += mine.calls[operation.complete_call].leave_ps < until(operation, location) ? 1 : 0;
            }
        });
    }
    return ends;
}

}  // namespace logpost::replay
