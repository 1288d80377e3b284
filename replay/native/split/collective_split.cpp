#include "replay/native/split/collective_split.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "replay/native/collectives/shape.hpp"
#include "replay/native/split/fit.hpp"
#include "replay/native/threads.hpp"

namespace logpost::replay {
namespace {

/// Operations of a kind that are asked for the algorithm: so many members, at least and at most so many operations.
constexpr std::size_t kAskedMembers = 4096;
constexpr std::size_t kFewest = 2;
constexpr std::size_t kMost = 32;

constexpr std::size_t of(CollectivePart part) {
    return static_cast<std::size_t>(part);
}

}  // namespace

/// What a thread replays with.
struct CollectiveSplit::Buffer {
    Buffer(const CollectiveSplit& split) : replay(split.program_, split.parameters_, split.endpoints_) {}
    CollectiveReplay replay;
    std::vector<CollectiveReplay::Member> members;
};

CollectiveSplit::CollectiveSplit(const Program& program, const Parameters& parameters, const CollectiveWaits& waits,
                                 unsigned threads)
    : program_(program),
      parameters_(parameters),
      waits_(waits),
      endpoints_(program, parameters),
      instances_(program.collective_instances) {
    gather();
    classify();
    choose(threads);
    replay_all(threads);
}

std::uint32_t CollectiveSplit::size_of(const Instance& instance) const noexcept {
    return static_cast<std::uint32_t>(program_.members[static_cast<std::size_t>(instance.comm)].size());
}

/// Finds the members of each operation; one that lacks a member, or has one that its communicator does not have (a
/// remote group, a thread), is not divided.
void CollectiveSplit::gather() {
    std::size_t count = 0;
    for (const auto& timeline : program_.timelines) {
        offset_.push_back(count);
        count += timeline.collectives.size();
        timeline.collectives.for_each([&](std::size_t, const Collective& one) {
            if (one.instance != kNone && one.comm >= 0 && instances_[one.instance].comm == kUndefined) {
                auto& instance = instances_[one.instance];
                instance.comm = one.comm;
                instance.root = std::max(0, one.root);
                instance.operation = one.operation;
                instance.bytes = UINT64_MAX;
            }
        });
    }
    wanted_.assign(count, Wanted{-1.0F});
    std::size_t first = 0;
    for (auto& instance : instances_) {
        instance.first = first;
        if (instance.comm == kUndefined || candidates({instance.operation, 2, 0}).empty()) {
            instance.comm = kUndefined;
            continue;
        }
        first += size_of(instance);
        if (instance.root >= static_cast<std::int32_t>(size_of(instance))) {
            instance.comm = kUndefined;
        }
    }
    index_.assign(first, kNone);
    std::vector<std::uint32_t> present(instances_.size());
    for (std::size_t location = 0; location < program_.timelines.size(); ++location) {
        std::unordered_map<std::int32_t, std::int64_t> ranks;  // of this location, by communicator
        const auto& timeline = program_.timelines[location];
        timeline.collectives.for_each([&](std::size_t i, const Collective& one) {
            if (one.instance == kNone || instances_[one.instance].comm == kUndefined) {
                return;
            }
            auto& instance = instances_[one.instance];
            const auto [rank, added] = ranks.try_emplace(one.comm, -1);
            if (added) {
                const auto& members = program_.members[static_cast<std::size_t>(one.comm)];
                const auto at = std::ranges::find(members, static_cast<std::int32_t>(location));
                rank->second = at == members.end() ? -1 : at - members.begin();
            }
            if (rank->second < 0 || one.complete_call == kNone || one.comm != instance.comm) {
                instance.comm = kUndefined;
                return;
            }
            index_[instance.first + static_cast<std::size_t>(rank->second)] = static_cast<std::uint32_t>(i);
            ++present[one.instance];
            // What a member contributes to each other one; the root moves what all others move.
            auto moved = std::max(one.bytes_sent, one.bytes_received);
            if (shape(one.operation) == Shape::all_to_all) {
                moved /= size_of(instance);
            }
            instance.bytes = one.operation == Operation::barrier ? 0 : std::min(instance.bytes, moved);
        });
    }
    for (std::size_t i = 0; i < instances_.size(); ++i) {
        auto& instance = instances_[i];
        if (instance.comm != kUndefined && present[i] != size_of(instance)) {
            instance.comm = kUndefined;
        }
    }
}

void CollectiveSplit::classify() {
    std::map<std::tuple<Operation, std::int32_t, int>, std::uint32_t> known;
    for (auto& instance : instances_) {
        if (instance.comm == kUndefined) {
            continue;
        }
        const auto [kind, added] =
            known.try_emplace({instance.operation, instance.comm, std::bit_width(instance.bytes)},
                              static_cast<std::uint32_t>(kinds_.size()));
        if (added) {
            kinds_.push_back({.operation = instance.operation, .comm = instance.comm, .members = size_of(instance)});
        }
        instance.kind = kind->second;
        auto& row = kinds_[kind->second];
        ++row.operations;
        row.least_bytes = std::min(row.least_bytes, instance.bytes);
        row.most_bytes = std::max(row.most_bytes, instance.bytes);
    }
}

std::int32_t CollectiveSplit::location_of(const Instance& instance, std::uint32_t member) const noexcept {
    const auto& members = program_.members[static_cast<std::size_t>(instance.comm)];
    return members[(member + static_cast<std::size_t>(instance.root)) % members.size()];
}

std::size_t CollectiveSplit::place_of(const Instance& instance, std::uint32_t member) const noexcept {
    return instance.first + (member + static_cast<std::size_t>(instance.root)) % size_of(instance);
}

void CollectiveSplit::replay(Buffer& buffer, const Instance& instance, Algorithm algorithm) const {
    const auto size = size_of(instance);
    buffer.members.resize(size);
    for (std::uint32_t member = 0; member < size; ++member) {
        const auto location = location_of(instance, member);
        const auto& timeline = program_.timelines[static_cast<std::size_t>(location)];
        buffer.members[member] = {timeline.collectives[index_[place_of(instance, member)]].begin_ps, location};
    }
    buffer.replay.run({instance.operation, size, instance.bytes}, algorithm, buffer.members);
}

std::int64_t CollectiveSplit::since(const Collective& operation, std::size_t location) const {
    if (operation.call == operation.complete_call) {
        return operation.begin_ps + waits_.wait(operation, location);
    }
    return program_.timelines[location].calls[operation.complete_call].enter_ps;
}

std::int64_t CollectiveSplit::until(const Collective& operation, std::size_t location) const {
    return program_.timelines[location].calls[operation.complete_call].leave_ps;
}

/// Of every kind, some operations spread over the run are replayed with each candidate; the least error has it.
void CollectiveSplit::choose(unsigned threads) {
    std::vector<std::vector<std::uint32_t>> asked(kinds_.size());
    std::vector<std::uint64_t> seen(kinds_.size());
    for (std::uint32_t i = 0; i < instances_.size(); ++i) {
        const auto kind = instances_[i].kind;
        if (kind == kNoKind) {
            continue;
        }
        const auto most = std::clamp(kAskedMembers / std::max(1U, kinds_[kind].members), kFewest, kMost);
        const auto step = std::max<std::uint64_t>(1, kinds_[kind].operations / most);
        if (seen[kind]++ % step == 0 && asked[kind].size() < most) {
            asked[kind].push_back(i);
        }
    }
    for_each_parallel(kinds_.size(), threads, 1, [&](std::size_t at, unsigned) {
        auto& kind = kinds_[at];
        Buffer buffer(*this);
        kind.error_ps = kind.second_error_ps = INFINITY;
        for (const auto algorithm : candidates({kind.operation, kind.members, kind.most_bytes})) {
            double error = 0;
            std::uint64_t count = 0;
            for (const auto i : asked[at]) {
                const auto& instance = instances_[i];
                replay(buffer, instance, algorithm);
                for (std::uint32_t member = 0; member < kind.members; ++member) {
                    const auto location = static_cast<std::size_t>(location_of(instance, member));
                    const auto& one = program_.timelines[location].collectives[index_[place_of(instance, member)]];
                    const auto end = std::max(buffer.replay.end(member), since(one, location));
                    error += std::abs(static_cast<double>(end - until(one, location)));
                    ++count;
                }
            }
            error /= static_cast<double>(std::max<std::uint64_t>(1, count));
            if (error < kind.error_ps) {
                kind.second = kind.algorithm;
                kind.second_error_ps = kind.error_ps;
                kind.algorithm = algorithm;
                kind.error_ps = error;
            } else if (error < kind.second_error_ps) {
                kind.second = algorithm;
                kind.second_error_ps = error;
            }
        }
        if (kind.second == Algorithm::not_known) {
            kind.second_error_ps = 0;
        }
    });
}

void CollectiveSplit::replay_all(unsigned threads) {
    start_ps_ = INT64_MAX;
    for (const auto locality : {Locality::same_socket, Locality::same_node, Locality::other_node}) {
        if (!parameters_.localities[static_cast<std::size_t>(locality)].ranges.empty() ||
            parameters_.terms == Terms::log3p) {
            start_ps_ = std::min(start_ps_, message_cost(parameters_, locality, 0, {}).o_s);
        }
    }
    start_ps_ = start_ps_ == INT64_MAX ? 0 : start_ps_;
    struct Sums {
        std::int64_t measured = 0, predicted = 0, residual = 0, deficit = 0;
    };
    constexpr std::size_t kAtOnce = 16;
    const auto workers = std::max(1U, threads);
    std::vector<std::optional<Buffer>> buffers(workers);
    std::vector<std::vector<Sums>> sums(workers, std::vector<Sums>(kinds_.size()));
    for_each_parallel(instances_.size(), threads, kAtOnce, [&](std::size_t i, unsigned thread) {
        const auto& instance = instances_[i];
        if (instance.kind == kNoKind) {
            return;
        }
        auto& buffer = buffers[thread];
        if (!buffer.has_value()) {
            buffer.emplace(*this);
        }
        replay(*buffer, instance, kinds_[instance.kind].algorithm);
        auto& sum = sums[thread][instance.kind];
        for (std::uint32_t member = 0; member < size_of(instance); ++member) {
            const auto location = static_cast<std::size_t>(location_of(instance, member));
            const auto index = index_[place_of(instance, member)];
            const auto& one = program_.timelines[location].collectives[index];
            const auto from = since(one, location);
            std::array<std::int64_t, kReplayedParts> found{};
            buffer->replay.back(member, from, [&](CollectivePart part, std::int64_t begin, std::int64_t end) {
                found[of(part)] += end - begin;
            });
            auto& wanted = wanted_[offset_[location] + index];
            for (std::size_t part = 0; part < kReplayedParts; ++part) {
                wanted[part] = static_cast<float>(found[part]);
            }
            const auto measured = std::max<std::int64_t>(0, until(one, location) - from);
            const auto predicted = std::max<std::int64_t>(0, buffer->replay.end(member) - from);
            sum.measured += measured;
            sum.predicted += predicted;
            sum.residual += std::max<std::int64_t>(0, measured - predicted);
            sum.deficit += std::max<std::int64_t>(0, predicted - measured);
        }
    });
    for (const auto& of_thread : sums) {
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
            kinds_[kind].measured_ps += of_thread[kind].measured;
            kinds_[kind].predicted_ps += of_thread[kind].predicted;
            kinds_[kind].residual_ps += of_thread[kind].residual;
            kinds_[kind].deficit_ps += of_thread[kind].deficit;
        }
    }
}

bool CollectiveSplit::divides(std::size_t location, std::uint32_t operation) const noexcept {
    return wanted_[offset_[location] + operation][0] >= 0;
}

double CollectiveSplit::wanted(std::size_t location, std::uint32_t operation) const noexcept {
    double sum = 0;
    for (const auto part : wanted_[offset_[location] + operation]) {
        sum += static_cast<double>(part);
    }
    return sum;
}

CollectiveSums CollectiveSplit::parts(std::size_t location, std::uint32_t operation,
                                      std::int64_t duration_ps) const noexcept {
    // Who was late is a fact; what the machine takes stands before the queues that follow from it.
    const auto& wanted = wanted_[offset_[location] + operation];
    std::array<Stage, kReplayedParts> stages;
    for (std::size_t part = 0; part < kReplayedParts; ++part) {
        std::uint8_t tier = part == of(CollectivePart::late_members) ? 0 : 1;
        tier = part == of(CollectivePart::endpoint_contention) ? 2 : tier;
        stages[part] = {.wanted_ps = static_cast<std::int64_t>(wanted[part]), .tier = tier};
    }
    CollectiveSums sums{};
    sums[of(CollectivePart::residual)] = fit(duration_ps, stages).residual_ps;
    for (std::size_t part = 0; part < kReplayedParts; ++part) {
        sums[part] = stages[part].granted_ps;
    }
    return sums;
}

CollectiveSums CollectiveSplit::start(std::int64_t duration_ps) const noexcept {
    CollectiveSums sums{};
    sums[of(CollectivePart::send_overhead)] = std::min(start_ps_, duration_ps);
    sums[of(CollectivePart::residual)] = duration_ps - sums[of(CollectivePart::send_overhead)];
    return sums;
}

std::optional<std::uint32_t> CollectiveSplit::kind_of(const Collective& operation) const noexcept {
    if (operation.instance == kNone || instances_[operation.instance].kind == kNoKind) {
        return std::nullopt;
    }
    return instances_[operation.instance].kind;
}

std::vector<CollectiveSplit::Step> CollectiveSplit::way(std::size_t location, std::uint32_t operation) const {
    const auto& one = program_.timelines[location].collectives[operation];
    std::vector<Step> steps;
    const auto kind = kind_of(one);
    if (!kind.has_value()) {
        return steps;
    }
    const auto& instance = instances_[one.instance];
    Buffer buffer(*this);
    replay(buffer, instance, kinds_[*kind].algorithm);
    for (std::uint32_t member = 0; member < size_of(instance); ++member) {
        if (location_of(instance, member) == static_cast<std::int32_t>(location)) {
            buffer.replay.back(member, since(one, location),
                               [&](CollectivePart part, std::int64_t begin, std::int64_t end) {
                                   steps.push_back({part, begin, end});
                               });
        }
    }
    std::ranges::reverse(steps);
    return steps;
}

}  // namespace logpost::replay
