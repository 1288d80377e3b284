#include "replay/native/split/collective_members.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "replay/native/collectives/groups.hpp"
#include "replay/native/program/shape.hpp"

namespace logpost::replay {

CollectiveMembers::CollectiveMembers(const Program& program, const CollectiveWaits& waits)
    : program_(program),
      instances_(program.collective_instances),
      memory_(std::make_unique<Arena>(program.spill.get())) {
    find_instances();
    gather(waits);
}

CollectiveMembers::CollectiveMembers(const Program& program, std::vector<Instance> instances,
                                     std::vector<std::span<const Slot>> parts)
    : program_(program), instances_(std::move(instances)), parts_(std::move(parts)) {}

std::uint32_t CollectiveMembers::group_size(const Instance& instance) const noexcept {
    if (!program_.has_groups(instance.comm)) {
        return 0;
    }
    const auto first = program_.first_group[static_cast<std::size_t>(instance.comm)];
    return program_.group_of(instance.comm, instance.root) == 0 ? first : size_of(instance) - first;
}

bool CollectiveMembers::takes_part(const Instance& instance, Rank rank) const noexcept {
    return !looks_on(program_, instance.operation, instance.comm, instance.root, rank);
}

std::uint32_t CollectiveMembers::takers(const Instance& instance) const noexcept {
    const auto group = group_size(instance);
    const auto size = size_of(instance);
    return group == 0 || !has_root(shape(instance.operation)) ? size : size - group + 1;
}

std::uint32_t CollectiveMembers::member(const Instance& instance, Rank one, std::uint32_t size) const noexcept {
    const auto root = static_cast<std::uint32_t>(instance.root);
    const auto rank = static_cast<std::uint32_t>(one);
    const auto group = group_size(instance);
    if (group == 0) {
        return rank >= root ? rank - root : rank + size - root;
    }
    const auto first = program_.first_group[static_cast<std::size_t>(instance.comm)];
    const auto mine = program_.group_of(instance.comm, one);
    const auto place = mine == 0 ? rank : rank - first;
    const Groups groups{group, size - group};
    if (mine != program_.group_of(instance.comm, instance.root)) {
        return groups.number(1, place);
    }
    const auto leader = mine == 0 ? root : root - first;
    return groups.number(0, place >= leader ? place - leader : place + group - leader);
}

Pattern CollectiveMembers::pattern(const Instance& instance) const noexcept {
    return {instance.operation, size_of(instance), instance.bytes, group_size(instance), instance.other_bytes};
}

std::uint32_t CollectiveMembers::size_of(const Instance& instance) const noexcept {
    return static_cast<std::uint32_t>(program_.members[static_cast<std::size_t>(instance.comm)].size());
}

std::optional<Rank> CollectiveMembers::rank_of(std::int32_t comm, Location location) const noexcept {
    return replay::rank_of(program_.members[static_cast<std::size_t>(comm)], location);
}

void CollectiveMembers::find_instances() {
    for (const auto& timeline : program_.timelines) {
        timeline.collectives.for_each([&](std::size_t, const Collective& one) {
            if (one.instance == kNone || one.comm < 0) {
                return;
            }
            const bool has_groups = program_.has_groups(one.comm);
            if (instances_[one.instance].operation != Operation::unknown) {
                // Of an inter-communicator, the root's own group does not name it.
                auto& root = instances_[one.instance].root;
                root = has_groups ? std::max(root, one.root) : root;
                return;
            }
            instances_[one.instance] = {
                .bytes = UINT64_MAX,
                .other_bytes = UINT64_MAX,
                .comm = candidates({one.operation, 2, 0, has_groups}).empty() ? kUndefined : one.comm,
                .root = has_groups ? one.root : std::max(Rank{0}, one.root),
                .operation = one.operation,
                .blocking = one.call == one.complete_call};
        });
    }
    std::size_t first = 0;
    for (auto& instance : instances_) {
        if (instance.root < Rank{0}) {
            instance.comm = has_root(shape(instance.operation)) ? kUndefined : instance.comm;
            instance.root = Rank{0};
        }
        if (instance.comm != kUndefined && index(instance.root) >= size_of(instance)) {
            instance.comm = kUndefined;
        }
        instance.first = first;
        first += instance.comm == kUndefined ? 0 : size_of(instance);
    }
    slot_count_ = first;
}

CollectiveMembers::Slot CollectiveMembers::slot(const Program& program, const CollectiveWaits& waits,
                                                const Collective& one, std::size_t location, std::uint32_t index) {
    const auto& timeline = program.timelines[location];
    const auto& calls = timeline.calls;
    const auto& end = calls[one.complete_call];
    const auto next = std::size_t{one.complete_call} + 1;
    return {.enter_ps = one.begin_ps,
            .since_ps = std::max(end.enter_ps, one.begin_ps + waits.wait(one, location)),
            .until_ps = end.leave_ps,
            .left_ps = one.call == 0 ? INT64_MIN : calls[one.call - 1].leave_ps,
            .next_ps = next == calls.size() ? INT64_MAX : calls[next].enter_ps,
            .location = location_at(location),
            .index = index,
            .layout = one.layout,
            .received = one.received_layout,
            .rooted = one.root != kNoRank,
            .receives = !timeline.receives.empty()};
}

/// Finds the members of each operation, by rank; one that lacks a member, or has one that its communicator does not
/// have (a remote group, a thread), is not divided.
void CollectiveMembers::gather(const CollectiveWaits& waits) {
    const auto slots = memory_->take<Slot>(slot_count_);
    parts_ = {slots};
    std::ranges::uninitialized_value_construct(slots);
    std::vector<std::uint32_t> present(instances_.size());
    for (std::size_t location = 0; location < program_.timelines.size(); ++location) {
        std::unordered_map<std::int32_t, std::optional<Rank>> ranks;  // of this location, by communicator
        auto known = kUndefined;                                      // the last one looked up
        std::optional<Rank> rank;
        program_.timelines[location].collectives.for_each([&](std::size_t i, const Collective& one) {
            if (one.instance == kNone || instances_[one.instance].comm == kUndefined) {
                return;
            }
            auto& instance = instances_[one.instance];
            if (one.comm != known) {
                known = one.comm;
                const auto [at, added] = ranks.try_emplace(one.comm);
                rank = added ? at->second = rank_of(one.comm, location_at(location)) : at->second;
            }
            if (!rank.has_value() || one.complete_call == kNone || one.comm != instance.comm) {
                instance.comm = kUndefined;
                return;
            }
            slots[instance.first + index(*rank)] = slot(program_, waits, one, location, static_cast<std::uint32_t>(i));
            present[one.instance] += takes_part(instance, *rank) ? 1 : 0;
            add_bytes(instance, *rank, one);
        });
    }
    for (std::size_t i = 0; i < instances_.size(); ++i) {
        auto& instance = instances_[i];
        instance.other_bytes = instance.other_bytes == UINT64_MAX ? 0 : instance.other_bytes;
        if (instance.comm != kUndefined && present[i] != takers(instance)) {
            instance.comm = kUndefined;
        }
    }
}

void CollectiveMembers::add_bytes(Instance& instance, Rank rank, const Collective& one) const noexcept {
    if (one.operation == Operation::barrier) {
        instance.bytes = instance.other_bytes = 0;
        return;
    }
    if (!takes_part(instance, rank)) {
        return;
    }
    // What a member contributes to each other one; the root moves what all others move.
    const auto moved = std::max(one.bytes_sent, one.bytes_received);
    if (shape(one.operation) != Shape::all_to_all) {
        instance.bytes = std::min(instance.bytes, moved);
        return;
    }
    const auto group = group_size(instance);
    if (group == 0) {
        instance.bytes = std::min(instance.bytes, moved / size_of(instance));
        return;
    }
    const bool other = program_.group_of(instance.comm, rank) != program_.group_of(instance.comm, instance.root);
    const auto far = other ? group : size_of(instance) - group;
    auto& mine = other ? instance.other_bytes : instance.bytes;
    auto& theirs = other ? instance.bytes : instance.other_bytes;
    mine = std::min(mine, one.bytes_sent / far);
    const bool scatters =
        one.operation == Operation::reduce_scatter || one.operation == Operation::reduce_scatter_block;
    theirs = std::min(theirs, one.bytes_received / (scatters ? size_of(instance) - far : far));
}

}  // namespace logpost::replay
