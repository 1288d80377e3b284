#include "collectives.hpp"

#include <algorithm>
#include <unordered_map>

#include "match.hpp"

namespace logpost::analyzer {
namespace {

/// One operation of a communicator or window while it is put together.
struct Forming {
    std::uint32_t members = 0;
    std::int32_t root = kUndefined;
    Operation operation = Operation::unknown;
    bool inconsistent = false;
    std::uint32_t instance = kNone;
};

/// How many operations each location has had on a communicator or window so far; mostly it is that of the last one.
class Counters {
  public:
    void clear() {
        counts_.clear();
        last_ = nullptr;
    }
    std::uint32_t next(std::int32_t comm) {
        if (comm == last_comm_ && last_ != nullptr) {
            return (*last_)++;
        }
        last_ = &counts_[comm];
        last_comm_ = comm;
        return (*last_)++;
    }

  private:
    std::unordered_map<std::int32_t, std::uint32_t> counts_;  // its values stay where they are
    std::int32_t last_comm_ = kUndefined;
    std::uint32_t* last_ = nullptr;
};

bool alone(const Communicator& communicator) {
    return communicator.is_self || (communicator.locations.size() == 1 && communicator.remote_locations.empty());
}

/// The root as a place among the members of both groups of an inter-communicator, where a process names it as a rank of
/// the other group, as itself, or not but for its group: kRootInThisGroup stays, until others tell. kUndefined: none.
std::int32_t place_of_root(const Communicator& communicator, std::int32_t process, std::int32_t root) {
    if (communicator.remote_locations.empty()) {
        return root >= 0 ? root : kUndefined;
    }
    const auto& first = communicator.locations;
    const auto& second = communicator.remote_locations;
    const auto in_first = std::ranges::find(first, process);
    const auto offset = static_cast<std::int32_t>(first.size());
    if (root == kRootSelf) {
        return static_cast<std::int32_t>(in_first != first.end()
                                             ? in_first - first.begin()
                                             : std::ranges::find(second, process) - second.begin() + offset);
    }
    return root >= 0 && in_first != first.end() ? root + offset : root;
}

}  // namespace

void group_collectives(Trace& trace, const std::vector<std::int32_t>& owner, QualityCounts& quality) {
    // A window's operations are in order among themselves, not with those of its communicator.
    const auto comms = trace.communicators.size();
    const auto channels = comms + trace.windows.size();
    const auto channel_of = [&](const Collective& record) {
        return record.rma_window == kUndefined ? record.comm : record.rma_window + static_cast<std::int32_t>(comms);
    };
    std::vector<std::uint32_t> expected(channels, 0);
    std::vector<std::vector<std::int32_t>> members(channels);  // sorted
    for (std::size_t c = 0; c < channels; ++c) {
        const auto comm = c < comms ? static_cast<std::int32_t>(c) : trace.windows[c - comms].comm;
        if (comm == kUndefined) {
            continue;
        }
        const auto& communicator = trace.communicators[static_cast<std::size_t>(comm)];
        members[c] = communicator.locations;
        members[c].insert(members[c].end(), communicator.remote_locations.begin(), communicator.remote_locations.end());
        std::sort(members[c].begin(), members[c].end());
        members[c].erase(std::unique(members[c].begin(), members[c].end()), members[c].end());
        expected[c] = static_cast<std::uint32_t>(members[c].size());
    }

    // Threads of a process act in its name: the process's records in the order of their beginnings.
    const auto n = trace.traces.size();
    std::vector<std::vector<std::int32_t>> locations_of(n);
    for (std::size_t l = 0; l < n; ++l) {
        if (!trace.traces[l].collectives.empty()) {
            locations_of[static_cast<std::size_t>(owner[l])].push_back(static_cast<std::int32_t>(l));
        }
    }
    const auto for_each_of_process = [&](std::size_t process, auto&& visit) {
        const auto& locations = locations_of[process];
        if (locations.size() == 1) {
            trace.traces[static_cast<std::size_t>(locations[0])].collectives.for_each(
                [&](std::size_t, Collective& c) { visit(c); });
            return;
        }
        std::vector<Collective*> all;
        for (const auto location : locations) {
            trace.traces[static_cast<std::size_t>(location)].collectives.for_each(
                [&](std::size_t, Collective& c) { all.push_back(&c); });
        }
        std::stable_sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->begin_ps < b->begin_ps; });
        for (auto* c : all) {
            visit(*c);
        }
    };

    std::vector<std::vector<Forming>> operations(channels);
    Counters counters;
    for (std::size_t process = 0; process < n; ++process) {
        counters.clear();
        for_each_of_process(process, [&](Collective& record) {
            if (record.comm == kUndefined) {
                record.root = std::max(record.root, kUndefined);
                return;
            }
            const auto& communicator = trace.communicators[static_cast<std::size_t>(record.comm)];
            record.root = place_of_root(communicator, static_cast<std::int32_t>(process), record.root);
            if (alone(communicator)) {
                return;
            }
            const auto channel = static_cast<std::size_t>(channel_of(record));
            if (!std::binary_search(members[channel].begin(), members[channel].end(),
                                    static_cast<std::int32_t>(process))) {
                count(quality, Quality::collective_outside_communicator);
                return;
            }
            const auto k = counters.next(channel_of(record));
            auto& mine = operations[channel];
            if (k >= mine.size()) {
                mine.push_back({1, record.root, record.operation, false, kNone});
                return;
            }
            auto& operation = mine[k];
            ++operation.members;
            if (operation.root == kRootInThisGroup) {
                operation.root = record.root;
            }
            const bool agreed = operation.root == record.root || record.root == kRootInThisGroup;
            operation.inconsistent |= operation.operation != record.operation || !agreed;
        });
    }
    const auto off = processes_off(trace, owner);
    const auto any_off = [&](std::size_t channel) {
        return std::ranges::any_of(members[channel], [&](std::int32_t member) {
            return member != kUndefined && off[static_cast<std::size_t>(member)] != 0;
        });
    };
    std::uint32_t instances = 0;
    for (std::size_t c = 0; c < channels; ++c) {
        for (auto& operation : operations[c]) {
            if ((operation.members != expected[c] || operation.inconsistent) && any_off(c)) {
                count(quality, Quality::collective_while_off);
            } else if (operation.members != expected[c]) {
                count(quality, Quality::collective_incomplete);
            } else if (operation.inconsistent) {
                count(quality, Quality::collective_inconsistent);
            } else {
                operation.instance = instances++;
            }
        }
    }
    for (std::size_t process = 0; process < n; ++process) {
        counters.clear();
        for_each_of_process(process, [&](Collective& record) {
            if (record.comm == kUndefined) {
                return;
            }
            const auto channel = static_cast<std::size_t>(channel_of(record));
            if (alone(trace.communicators[static_cast<std::size_t>(record.comm)])) {
                record.instance = instances++;
            } else if (std::binary_search(members[channel].begin(), members[channel].end(),
                                          static_cast<std::int32_t>(process))) {
                const auto& operation = operations[channel][counters.next(channel_of(record))];
                if (record.root != kRootInThisGroup) {
                    record.instance = operation.instance;
                } else if (operation.instance != kNone) {
                    record.root = operation.root;  // it takes no part: it neither waits nor is waited for
                }
            }
            record.root = std::max(record.root, kUndefined);
        });
    }
    trace.collective_instances = instances;
}

}  // namespace logpost::analyzer
