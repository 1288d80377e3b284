#include "analyzer/archive/native/match/collectives.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/archive/native/match/match.hpp"

namespace logpost::analyzer {
namespace {

/// How many operations each location has had on a channel so far; mostly it is that of the last one.
class Counters {
  public:
    void clear() {
        counts_.clear();
        last_ = nullptr;
    }
    std::uint32_t next(std::uint32_t channel) {
        if (channel == last_channel_ && last_ != nullptr) {
            return (*last_)++;
        }
        last_ = &counts_[channel];
        last_channel_ = channel;
        return (*last_)++;
    }

  private:
    std::unordered_map<std::uint32_t, std::uint32_t> counts_;  // its values stay where they are
    std::uint32_t last_channel_ = 0;
    std::uint32_t* last_ = nullptr;
};

bool is_alone(const Communicator& communicator) {
    return communicator.is_self || (communicator.locations.size() == 1 && communicator.remote_locations.empty());
}

/// The root as a place among the members of both groups of an inter-communicator, where a process names it as a rank of
/// the other group, as itself, or not but for its group: kRootInThisGroup stays, until other members name the root.
/// kNoRank: none.
replay::Rank place_of_root(const Communicator& communicator, replay::Location process, replay::Rank root) {
    if (communicator.remote_locations.empty()) {
        return root >= replay::Rank{0} ? root : kNoRank;
    }
    const auto& first = communicator.locations;
    const auto& second = communicator.remote_locations;
    const auto in_first = std::ranges::find(first, process);
    const auto behind_first = [&](std::size_t rank) { return replay::rank_at(first.size() + rank); };
    if (root == kRootSelf) {
        return in_first != first.end()
                   ? replay::rank_at(static_cast<std::size_t>(in_first - first.begin()))
                   : behind_first(static_cast<std::size_t>(std::ranges::find(second, process) - second.begin()));
    }
    return root >= replay::Rank{0} && in_first != first.end() ? behind_first(replay::index(root)) : root;
}

/// Threads of a process act in its name: the process's records in the order of their beginnings.
template <class Visit>
void for_each_of_process(std::span<LocationTrace* const> locations, Visit&& visit) {
    std::vector<Collective*> all;
    for (auto* location : locations) {
        if (locations.size() == 1) {
            location->collectives.for_each([&](std::size_t, Collective& c) { visit(c); });
            return;
        }
        location->collectives.for_each([&](std::size_t, Collective& c) { all.push_back(&c); });
    }
    std::stable_sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->begin_ps < b->begin_ps; });
    for (auto* c : all) {
        visit(*c);
    }
}

}  // namespace

CollectiveGroups::CollectiveGroups(const Trace& definitions) : trace_(definitions) {
    const auto comms = trace_.communicators.size();
    const auto groups = comms + trace_.windows.size();
    expected_.resize(groups, 0);
    members_.resize(groups);
    operations_.resize(groups);
    recorded_.resize(groups, 0);
    for (std::size_t c = 0; c < groups; ++c) {
        sequences_.push_back({static_cast<std::uint32_t>(c), kNone});
        const auto comm = c < comms ? static_cast<std::int32_t>(c) : trace_.windows[c - comms].comm;
        if (comm == kUndefined) {
            continue;
        }
        members_[c] = trace_.communicators[static_cast<std::size_t>(comm)].members();
        std::sort(members_[c].begin(), members_[c].end());
        members_[c].erase(std::unique(members_[c].begin(), members_[c].end()), members_[c].end());
        expected_[c] = static_cast<std::uint32_t>(members_[c].size());
    }
}

/// A window's operations are in order among themselves, not with those of its communicator.
std::uint32_t CollectiveGroups::of(const Collective& record) const noexcept {
    return record.rma_window == kUndefined ? static_cast<std::uint32_t>(record.comm)
                                           : static_cast<std::uint32_t>(record.rma_window) +
                                                 static_cast<std::uint32_t>(trace_.communicators.size());
}

bool CollectiveGroups::is_member(std::size_t process, std::uint32_t of) const {
    return std::binary_search(members_[of].begin(), members_[of].end(), replay::location_at(process));
}

std::uint32_t CollectiveGroups::at(Sequence sequence) {
    if (sequence.persistent == kNone) {
        return sequence.of;
    }
    const auto key = std::uint64_t{sequence.of} << 32U | sequence.persistent;
    const auto [place, fresh] = persistent_.try_emplace(key, static_cast<std::uint32_t>(sequences_.size()));
    if (fresh) {
        sequences_.push_back(sequence);
        operations_.emplace_back();
        recorded_.push_back(0);
    }
    return place->second;
}

void CollectiveGroups::add(std::size_t process, std::span<LocationTrace* const> locations, QualityCounts& quality) {
    Counters counters;
    for_each_of_process(locations, [&](const Collective& record) {
        if (record.comm == kUndefined) {
            return;
        }
        if (is_alone(communicator(record))) {
            ++alone_;
            return;
        }
        const auto number = at({of(record), record.instance});
        if (!is_member(process, sequences_[number].of)) {
            count(quality, Quality::collective_outside_communicator);
            return;
        }
        const auto root = place_of_root(communicator(record), replay::location_at(process), record.root);
        const auto k = counters.next(number);
        if (k == 0) {
            ++recorded_[number];
            touched_.push_back(number);
        }
        auto& mine = operations_[number];
        if (k >= mine.size()) {
            mine.push_back({1, root, record.operation, false, kNone});
            return;
        }
        auto& operation = mine[k];
        ++operation.members;
        if (operation.root == kRootInThisGroup) {
            operation.root = root;
        }
        const bool agreed = operation.root == root || root == kRootInThisGroup;
        operation.inconsistent |= operation.operation != record.operation || !agreed;
    });
}

void CollectiveGroups::number(const std::vector<char>& off, QualityCounts& quality) {
    const auto any_off = [&](std::size_t of) {
        return std::ranges::any_of(members_[of], [&](replay::Location member) {
            return member != kNoLocation && off[replay::index(member)] != 0;
        });
    };
    for (std::size_t c = 0; c < operations_.size(); ++c) {
        const auto of = sequences_[c].of;
        const auto least = std::min(expected_[of], 2U);  // one member of several waits for no member that is known
        for (auto& operation : operations_[c]) {
            if ((operation.members != expected_[of] || operation.inconsistent) && any_off(of)) {
                count(quality, Quality::collective_while_off);
            } else if (operation.members != recorded_[c] || operation.members < least) {
                count(quality, Quality::collective_incomplete);
            } else if (operation.inconsistent) {
                count(quality, Quality::collective_inconsistent);
            } else {
                operation.instance = grouped_++;
                if (operation.members != expected_[of]) {
                    count(quality, Quality::collective_lacks_members);
                }
            }
        }
    }
    next_alone_ = grouped_;
}

void CollectiveGroups::assign(std::size_t process, std::span<LocationTrace* const> locations) {
    Counters counters;
    for_each_of_process(locations, [&](Collective& record) {
        const Sequence sequence{record.comm == kUndefined ? 0 : of(record), record.instance};
        record.instance = kNone;
        if (record.comm != kUndefined) {
            record.root = place_of_root(communicator(record), replay::location_at(process), record.root);
            if (is_alone(communicator(record))) {
                record.instance = next_alone_++;
            } else if (is_member(process, sequence.of)) {
                const auto number = at(sequence);
                const auto& operation = operations_[number][counters.next(number)];
                if (record.root != kRootInThisGroup) {
                    record.instance = operation.instance;
                } else if (operation.instance != kNone) {
                    record.root = operation.root;  // it takes no part: it neither waits nor is waited for
                }
            }
        }
        record.root = std::max(record.root, kNoRank);
    });
}

std::vector<std::uint32_t> CollectiveGroups::take_touched() {
    std::ranges::sort(touched_);
    touched_.erase(std::ranges::unique(touched_).begin(), touched_.end());
    return std::exchange(touched_, {});
}

std::vector<CollectiveGroups::Number> CollectiveGroups::numbers(std::uint32_t sequence) const {
    std::vector<Number> found;
    for (const auto& operation : operations_[sequence]) {
        found.push_back({operation.instance, operation.root});
    }
    return found;
}

void CollectiveGroups::set(Sequence sequence, const std::vector<Number>& numbers) {
    auto& operations = operations_[at(sequence)];
    operations.clear();
    for (const auto& [instance, root] : numbers) {
        operations.push_back({.root = root, .instance = instance});
    }
}

void group_collectives(Trace& trace, const std::vector<replay::Location>& owner, QualityCounts& quality) {
    const auto n = trace.traces.size();
    std::vector<std::vector<LocationTrace*>> locations_of(n);  // by process
    for (std::size_t l = 0; l < n; ++l) {
        if (!trace.traces[l].collectives.empty()) {
            locations_of[index(owner[l])].push_back(&trace.traces[l]);
        }
    }
    CollectiveGroups groups(trace);
    for (std::size_t process = 0; process < n; ++process) {
        groups.add(process, locations_of[process], quality);
    }
    groups.number(processes_off(trace, owner), quality);
    for (std::size_t process = 0; process < n; ++process) {
        groups.assign(process, locations_of[process]);
    }
    trace.collective_instances = groups.grouped() + groups.alone();
}

}  // namespace logpost::analyzer
