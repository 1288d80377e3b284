#include "analyzer/archive/native/match/collectives.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "analyzer/archive/native/match/match.hpp"

namespace logpost::analyzer {
namespace {

/// One operation of a communicator or window while it is put together.
struct Forming {
    std::uint32_t members = 0;
    replay::Rank root = kNoRank;
    Operation operation = Operation::unknown;
    bool inconsistent = false;
    std::uint32_t instance = kNone;
};

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

/// The sequences in which operations are counted: of each communicator, window, and persistent operation of one.
class Channels {
  public:
    explicit Channels(const Trace& trace) : comms_(trace.communicators.size()), of_(comms_ + trace.windows.size()) {
        std::iota(of_.begin(), of_.end(), 0U);
    }
    [[nodiscard]] std::size_t size() const noexcept { return of_.size(); }
    /// The communicator or, behind all of them, window of a channel.
    [[nodiscard]] std::uint32_t of(std::size_t channel) const noexcept { return of_[channel]; }
    /// A window's operations are in order among themselves, not with those of its communicator.
    std::uint32_t operator()(const Collective& record) {
        const auto of = record.rma_window == kUndefined
                            ? static_cast<std::uint32_t>(record.comm)
                            : static_cast<std::uint32_t>(record.rma_window) + static_cast<std::uint32_t>(comms_);
        if (record.instance == kNone) {
            return of;
        }
        const auto key = std::uint64_t{of} << 32U | record.instance;
        const auto [at, fresh] = persistent_.try_emplace(key, static_cast<std::uint32_t>(of_.size()));
        if (fresh) {
            of_.push_back(of);
        }
        return at->second;
    }

  private:
    std::size_t comms_;
    std::vector<std::uint32_t> of_;
    std::unordered_map<std::uint64_t, std::uint32_t> persistent_;
};

bool alone(const Communicator& communicator) {
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

}  // namespace

void group_collectives(Trace& trace, const std::vector<replay::Location>& owner, QualityCounts& quality) {
    Channels channel_of(trace);
    const auto comms = trace.communicators.size();
    const auto groups = channel_of.size();
    std::vector<std::uint32_t> expected(groups, 0);
    std::vector<std::vector<replay::Location>> members(groups);  // sorted
    for (std::size_t c = 0; c < groups; ++c) {
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
    std::vector<std::vector<replay::Location>> locations_of(n);
    for (std::size_t l = 0; l < n; ++l) {
        if (!trace.traces[l].collectives.empty()) {
            locations_of[index(owner[l])].push_back(replay::location_at(l));
        }
    }
    const auto for_each_of_process = [&](std::size_t process, auto&& visit) {
        const auto& locations = locations_of[process];
        if (locations.size() == 1) {
            trace.traces[index(locations[0])].collectives.for_each([&](std::size_t, Collective& c) { visit(c); });
            return;
        }
        std::vector<Collective*> all;
        for (const auto location : locations) {
            trace.traces[index(location)].collectives.for_each([&](std::size_t, Collective& c) { all.push_back(&c); });
        }
        std::stable_sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->begin_ps < b->begin_ps; });
        for (auto* c : all) {
            visit(*c);
        }
    };

    std::vector<std::vector<Forming>> operations(groups);
    std::vector<std::uint32_t> recorded(groups, 0);  // members of a channel that have records of it
    Counters counters;
    for (std::size_t process = 0; process < n; ++process) {
        counters.clear();
        for_each_of_process(process, [&](Collective& record) {
            if (record.comm == kUndefined) {
                record.root = std::max(record.root, kNoRank);
                return;
            }
            const auto& communicator = trace.communicators[static_cast<std::size_t>(record.comm)];
            record.root = place_of_root(communicator, replay::location_at(process), record.root);
            if (alone(communicator)) {
                return;
            }
            const auto channel = channel_of(record);
            const auto& of = members[channel_of.of(channel)];
            if (!std::binary_search(of.begin(), of.end(), replay::location_at(process))) {
                count(quality, Quality::collective_outside_communicator);
                return;
            }
            const auto k = counters.next(channel);
            operations.resize(channel_of.size());
            recorded.resize(channel_of.size(), 0);
            recorded[channel] += k == 0 ? 1 : 0;
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
    const auto any_off = [&](std::size_t of) {
        return std::ranges::any_of(members[of], [&](replay::Location member) {
            return member != kNoLocation && off[replay::index(member)] != 0;
        });
    };
    std::uint32_t instances = 0;
    for (std::size_t c = 0; c < operations.size(); ++c) {
        const auto of = channel_of.of(c);
        const auto least = std::min(expected[of], 2U);  // one member of several waits for no member that is known
        for (auto& operation : operations[c]) {
            if ((operation.members != expected[of] || operation.inconsistent) && any_off(of)) {
                count(quality, Quality::collective_while_off);
            } else if (operation.members != recorded[c] || operation.members < least) {
                count(quality, Quality::collective_incomplete);
            } else if (operation.inconsistent) {
                count(quality, Quality::collective_inconsistent);
            } else {
                operation.instance = instances++;
                if (operation.members != expected[of]) {
                    count(quality, Quality::collective_lacks_members);
                }
            }
        }
    }
    for (std::size_t process = 0; process < n; ++process) {
        counters.clear();
        for_each_of_process(process, [&](Collective& record) {
            const auto channel = record.comm != kUndefined ? channel_of(record) : 0;
            record.instance = kNone;
            if (record.comm == kUndefined) {
                return;
            }
            const auto& of = members[channel_of.of(channel)];
            if (alone(trace.communicators[static_cast<std::size_t>(record.comm)])) {
                record.instance = instances++;
            } else if (std::binary_search(of.begin(), of.end(), replay::location_at(process))) {
                const auto& operation = operations[channel][counters.next(channel)];
                if (record.root != kRootInThisGroup) {
                    record.instance = operation.instance;
                } else if (operation.instance != kNone) {
                    record.root = operation.root;  // it takes no part: it neither waits nor is waited for
                }
            }
            record.root = std::max(record.root, kNoRank);
        });
    }
    trace.collective_instances = instances;
}

}  // namespace logpost::analyzer
