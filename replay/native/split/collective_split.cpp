#include "replay/native/split/collective_split.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "replay/native/collectives/groups.hpp"
#include "replay/native/collectives/selector.hpp"
#include "replay/native/cost/blocks_of.hpp"
#include "replay/native/memory/nearly_sorted.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/program/shape.hpp"
#include "replay/native/split/fit.hpp"

namespace logpost::replay {
namespace {

/// Operations of a kind that decide on its algorithm: so many members, at least and at most so many operations.
constexpr std::size_t kSampledMembers = 4096;
constexpr std::size_t kFewestSampled = 2;
constexpr std::size_t kMostSampled = 32;

constexpr std::size_t of(CollectivePart part) {
    return static_cast<std::size_t>(part);
}

}  // namespace

/// What a thread replays with.
struct CollectiveSplit::Buffer {
    Buffer(const CollectiveSplit& split) : replay(split.program_, split.parameters_, split.endpoints_) {}
    CollectiveReplay replay;
    std::vector<CollectiveReplay::Member> members;
    std::vector<std::uint32_t> ranks;  // of the members
};

CollectiveSplit::CollectiveSplit(const Program& program, const Parameters& parameters, CollectiveMembers& members)
    : program_(program),
      parameters_(parameters),
      endpoints_(program, parameters),
      members_(members),
      wanted_memory_(program.spill.get()),
      start_ps_(INT64_MAX) {
    std::vector<std::uint32_t> users(endpoints_.nics);
    for (const auto nic : endpoints_.nic) {
        ++users[nic];
    }
    for (const auto nic : endpoints_.nic) {
        alone_.push_back(users[nic] == 1 ? 1 : 0);
    }
    for (const auto locality : {Locality::same_socket, Locality::same_node, Locality::other_node}) {
        if (!parameters_.localities[static_cast<std::size_t>(locality)].ranges.empty() ||
            parameters_.terms == Terms::log3p) {
            start_ps_ = std::min(start_ps_, message_cost(parameters_, locality, 0, {}).o_s);
        }
    }
    start_ps_ = start_ps_ == INT64_MAX ? 0 : start_ps_;
}

CollectiveSplit::CollectiveSplit(const Program& program, const Parameters& parameters,
                                 std::unique_ptr<CollectiveMembers> members)
    : CollectiveSplit(program, parameters, *members) {
    own_ = std::move(members);
}

CollectiveSplit::CollectiveSplit(const Program& program, const Parameters& parameters, const CollectiveWaits& waits,
                                 unsigned threads, const Replayed* replayed)
    : CollectiveSplit(program, parameters,
                      replayed != nullptr ? std::make_unique<CollectiveMembers>(program, replayed->instances)
                                          : std::make_unique<CollectiveMembers>(program, waits)) {
    waits_ = &waits;
    std::vector<std::size_t> operations;
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        const bool known = replayed == nullptr || replayed->knows(location);
        operations.push_back(known ? program.timelines[location].collectives.size() : 0);
    }
    make_room(operations);
    if (replayed != nullptr) {
        take(*replayed);
        return;
    }
    classify();
    choose(threads);
    replay_all(threads);
    members_.release();
}

CollectiveSplit::CollectiveSplit(const Program& program, const Parameters& parameters, CollectiveMembers& members,
                                 std::vector<CollectiveKind> kinds, const std::vector<std::uint32_t>& parts)
    : CollectiveSplit(program, parameters, members) {
    make_room({parts.begin(), parts.end()});
    kinds_ = std::move(kinds);
    classify();
    replay_all(1);
}

std::vector<CollectiveKind> CollectiveSplit::kinds_of(const Program& program, const Parameters& parameters,
                                                      CollectiveMembers& members) {
    CollectiveSplit split(program, parameters, members);
    split.classify();
    split.choose(1);
    return std::move(split.kinds_);
}

void CollectiveSplit::make_room(const std::vector<std::size_t>& operations) {
    std::size_t count = 0;
    for (const auto of_location : operations) {
        offset_.push_back(count);
        count += of_location;
    }
    wanted_ = wanted_memory_.take<Wanted>(count);
    std::ranges::uninitialized_fill(wanted_, Wanted{-1.0F});
}

void CollectiveSplit::take(const Replayed& replayed) {
    kinds_ = replayed.kinds;
    classify();
    auto left = replayed.wanted;
    for (std::size_t location = 0; location < program_.timelines.size(); ++location) {
        if (!replayed.knows(location)) {
            continue;
        }
        auto& mine = left[replayed.block_of[location]];
        program_.timelines[location].collectives.for_each([&](std::size_t i, const Collective& one) {
            if (one.instance != kNone) {
                auto& next = mine[one.instance % mine.size()];
                wanted_[offset_[location] + i] = next.front();
                next = next.subspan(1);
            }
        });
    }
}

void CollectiveSplit::classify() {
    std::map<std::tuple<Operation, std::int32_t, int>, std::uint32_t> known;
    const bool given = !kinds_.empty();
    for (const auto& kind : kinds_) {
        known.try_emplace({kind.operation, kind.comm, std::bit_width(kind.most_bytes)},
                          static_cast<std::uint32_t>(known.size()));
    }
    for (auto& instance : members_.instances()) {
        if (instance.comm == kUndefined) {
            continue;
        }
        const auto bytes = std::max(instance.bytes, instance.other_bytes);
        const auto [kind, added] = known.try_emplace({instance.operation, instance.comm, std::bit_width(bytes)},
                                                     static_cast<std::uint32_t>(kinds_.size()));
        if (added) {
            kinds_.push_back(
                {.operation = instance.operation, .comm = instance.comm, .members = members_.size_of(instance)});
        }
        instance.kind = kind->second;
        if (given) {
            continue;
        }
        auto& row = kinds_[kind->second];
        ++row.operations;
        row.blocking = row.blocking && instance.blocking;
        row.least_bytes = std::min(row.least_bytes, bytes);
        row.most_bytes = std::max(row.most_bytes, bytes);
    }
}

void CollectiveSplit::replay(Buffer& buffer, const Instance& instance, std::span<const Slot> slots,
                             Algorithm algorithm) const {
    const auto size = static_cast<std::uint32_t>(slots.size());
    const auto& members = program_.members[static_cast<std::size_t>(instance.comm)];
    buffer.members.resize(size);
    buffer.ranks.resize(size);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        const auto number = members_.member(instance, rank_at(rank), size);
        const auto& one = slots[rank];
        // A member that only looks on may have no record.
        buffer.members[number] = one.location != kNoLocation
                                     ? CollectiveReplay::Member{one.enter_ps, one.location}
                                     : CollectiveReplay::Member{0, location_of(members, rank_at(rank))};
        if (one.location != kNoLocation && !program_.layouts.empty()) {
            auto& gives = buffer.members[number].gives = blocks_of(program_, one.layout);
            auto& gets = buffer.members[number].gets = blocks_of(program_, one.received);
            // Without a root each member sends and receives in each round.
            gives.one_processor = gets.one_processor = !one.rooted && gives.stride_bytes != 0 && gets.stride_bytes != 0;
        }
        buffer.ranks[number] = rank;
    }
    buffer.replay.run(members_.pattern(instance), algorithm, buffer.members);
}

/// How far from its members' measured ends replays of an operation are at best, as the logarithm of a mean distance:
/// nearer than the clock's tick, or a hundredth of the operation's duration, says nothing.
double CollectiveSplit::least_distance(std::span<const Slot> slots) const {
    constexpr double kNear = 0.01;
    double took = 0;
    std::size_t count = 0;
    for (const auto& one : slots) {
        if (one.location != kNoLocation) {
            took += static_cast<double>(std::max<std::int64_t>(0, one.until_ps - one.since_ps));
            ++count;
        }
    }
    const double tick = 1e12 / static_cast<double>(program_.ticks_per_second);
    return std::log(std::max({1.0, tick, kNear * took / static_cast<double>(std::max<std::size_t>(1, count))}));
}

/// Likewise the distance of what `buffer` has replayed.
double CollectiveSplit::distance(const Buffer& buffer, const Instance& instance, std::span<const Slot> slots) const {
    const auto size = static_cast<std::uint32_t>(slots.size());
    double sum = 0;
    std::size_t count = 0;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        const auto& one = slots[rank];
        if (one.location != kNoLocation) {
            const auto end = std::max(buffer.replay.end(members_.member(instance, rank_at(rank), size)), one.since_ps);
            sum += std::abs(static_cast<double>(end - one.until_ps));
            ++count;
        }
    }
    return std::log(std::max(1.0, sum / static_cast<double>(std::max<std::size_t>(1, count))));
}

/// What the library's profile selects.
std::optional<Algorithm> CollectiveSplit::stated(const CollectiveKind& kind) const noexcept {
    const auto& by = parameters_.library[static_cast<std::size_t>(LibraryProperty::collectives)];
    if (!by) {
        return std::nullopt;
    }
    return selected(static_cast<Collectives>(*by),
                    {kind.operation, kind.members, kind.most_bytes, program_.has_groups(kind.comm)}, kind.blocking);
}

/// Of every kind, some operations spread over the run are replayed with each candidate; the least typical distance, a
/// geometric mean over the operations, has it. One that other traffic disturbs is far from all candidates, and must not
/// outvote one that nothing disturbs.
void CollectiveSplit::choose(unsigned threads) {
    std::vector<std::vector<std::uint32_t>> sampled(kinds_.size());
    std::vector<std::uint64_t> seen(kinds_.size());
    const auto& instances = members_.instances();
    for (std::uint32_t i = 0; i < instances.size(); ++i) {
        const auto kind = instances[i].kind;
        if (kind == kNoKind) {
            continue;
        }
        const auto most =
            std::clamp(kSampledMembers / std::max(1U, kinds_[kind].members), kFewestSampled, kMostSampled);
        const auto step = std::max<std::uint64_t>(1, kinds_[kind].operations / most);
        if (seen[kind]++ % step == 0 && sampled[kind].size() < most) {
            sampled[kind].push_back(i);
        }
    }
    for_each_parallel(kinds_.size(), threads, 1, [&](std::size_t at, unsigned) {
        auto& kind = kinds_[at];
        if (kind.members < 2) {
            return;  // it sends nothing
        }
        Buffer buffer(*this);
        const auto of = [&](std::uint32_t i) { return members_.slots(i); };
        // [k]: of the operations from the k-th sampled one on, at best.
        std::vector<double> least(sampled[at].size() + 1);
        for (auto k = sampled[at].size(); k-- > 0;) {
            least[k] = least[k + 1] + least_distance(of(sampled[at][k]));
        }
        const auto count = static_cast<double>(std::max<std::size_t>(1, sampled[at].size()));
        kind.error_ps = kind.second_error_ps = INFINITY;
        const auto by_profile = stated(kind);
        const auto possible =
            by_profile ? std::span<const Algorithm>(&*by_profile, 1)
                       : candidates({kind.operation, kind.members, kind.most_bytes, program_.has_groups(kind.comm)});
        for (const auto algorithm : possible) {
            double sum = 0;
            for (std::size_t k = 0; k < sampled[at].size(); ++k) {
                if (std::exp((sum + least[k]) / count) >= kind.second_error_ps) {
                    sum = INFINITY;  // it cannot be among the best two any more
                    break;
                }
                const auto& instance = instances[sampled[at][k]];
                const auto mine = of(sampled[at][k]);
                replay(buffer, instance, mine, algorithm);
                sum += std::max(distance(buffer, instance, mine), least[k] - least[k + 1]);
            }
            const double error = std::exp(sum / count);
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

/// The replayed end differs from the measured one: what a member leaves is shifted with it, and no longer than it would
/// be behind the later of both.
void CollectiveSplit::use_nics(const Buffer& buffer, const Instance& instance, std::span<const Slot> slots,
                               std::vector<NicRequest>& uses) const {
    const auto size = static_cast<std::uint32_t>(slots.size());
    // Only the location itself uses its own end of the memory, and a NIC that it has alone.
    const auto own = [&](const Slot& one, bool between_nodes) {
        return !between_nodes || alone_[index(one.location)] != 0;
    };
    for (const auto& early : buffer.replay.early()) {
        const auto& one = slots[buffer.ranks[early.member]];
        // A location that computes until it enters waits for nothing before.
        if (own(one, early.between_nodes) && one.left_ps <= early.ready_ps) {
            continue;
        }
        uses.push_back({one.location,
                        {.from_ps = early.ready_ps,
                         .service_ps = early.service_ps,
                         .between_nodes = early.between_nodes,
                         .receiving = early.receiving,
                         .queues = true}});
    }
    for (std::uint32_t rank = 0; rank < slots.size(); ++rank) {
        const auto& one = slots[rank];
        if (one.location == kNoLocation) {
            continue;
        }
        const auto number = members_.member(instance, rank_at(rank), size);
        const auto end = std::max(one.until_ps, buffer.replay.end(number));
        const auto work = std::min(buffer.replay.last_work(number), one.until_ps - one.enter_ps);
        if (work > 0 && one.receives) {
            uses.push_back({one.location,
                            {.from_ps = one.until_ps - work,
                             .service_ps = work,
                             .between_nodes = false,
                             .receiving = false,
                             .queues = false,
                             .processor = true}});
        }
        for (const bool between_nodes : {false, true}) {
            for (const bool receiving : {false, true}) {
                const auto busy = std::max(end, buffer.replay.busy_until(number, between_nodes, receiving)) - end;
                if (busy == 0 || (!receiving && own(one, between_nodes) && one.next_ps >= one.until_ps + busy)) {
                    continue;
                }
                uses.push_back({one.location,
                                {.from_ps = one.until_ps,
                                 .service_ps = busy,
                                 .between_nodes = between_nodes,
                                 .receiving = receiving,
                                 .queues = false}});
            }
        }
    }
}

void CollectiveSplit::replay_all(unsigned threads) {
    const auto& instances = members_.instances();
    struct Sums {
        WidePs measured = 0, predicted = 0, residual = 0, deficit = 0;
    };
    constexpr std::size_t kAtOnce = 16;
    const auto workers = std::max(1U, threads);
    std::vector<std::optional<Buffer>> buffers(workers);
    std::vector<std::vector<Sums>> sums(workers, std::vector<Sums>(kinds_.size()));
    // By operation: then the requests to a location's NICs are nearly in the order of time.
    Arena requests(program_.spill.get());
    std::vector<std::span<NicRequest>> uses(instances.size());
    std::vector<std::vector<NicRequest>> found_uses(workers);
    // Where others have the messages, it is not known whether there are any.
    const bool messages = waits_ == nullptr ||
                          std::ranges::any_of(program_.timelines, [](const auto& one) { return !one.sends.empty(); });
    for_each_parallel(instances.size(), threads, kAtOnce, [&](std::size_t i, unsigned thread) {
        const auto& instance = instances[i];
        if (instance.kind == kNoKind) {
            return;
        }
        auto& buffer = buffers[thread];
        if (!buffer.has_value()) {
            buffer.emplace(*this);
        }
        const auto mine = members_.slots(static_cast<std::uint32_t>(i));
        const auto size = static_cast<std::uint32_t>(mine.size());
        replay(*buffer, instance, mine, kinds_[instance.kind].algorithm);
        if (messages) {
            found_uses[thread].clear();
            use_nics(*buffer, instance, mine, found_uses[thread]);
            uses[i] = requests.copy(found_uses[thread]);
        }
        auto& sum = sums[thread][instance.kind];
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            const auto& one = mine[rank];
            if (one.location == kNoLocation) {
                continue;
            }
            const auto number = members_.member(instance, rank_at(rank), size);
            const auto found = buffer->replay.parts(number, one.since_ps);
            auto& wanted = wanted_[offset_[index(one.location)] + one.index];
            for (std::size_t part = 0; part < kReplayedParts; ++part) {
                wanted[part] = static_cast<float>(found[part]);
            }
            const auto measured = std::max<std::int64_t>(0, one.until_ps - one.since_ps);
            const auto predicted = std::max<std::int64_t>(0, buffer->replay.end(number) - one.since_ps);
            sum.measured += measured;
            sum.predicted += predicted;
            sum.residual += std::max<std::int64_t>(0, measured - predicted);
            sum.deficit += std::max<std::int64_t>(0, predicted - measured);
        }
    });
    std::vector<std::size_t> counts(program_.timelines.size());
    for (const auto& of_one : uses) {
        for (const auto& one : of_one) {
            ++counts[index(one.location)];
        }
    }
    nic_uses_ = {std::make_unique<Arena>(program_.spill.get()), {}};
    for (auto& count : counts) {
        nic_uses_.of.push_back(nic_uses_.memory->take<NicUse>(count));
        count = 0;
    }
    for (const auto& of_one : uses) {
        for (const auto& one : of_one) {
            const auto location = index(one.location);
            nic_uses_.of[location][counts[location]++] = one.use;
        }
        Spill::look();
    }
    for (const auto of_location : nic_uses_.of) {
        sort_nearly_sorted(of_location, std::less<>());
        Spill::look();
    }
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
    // Which members arrived last is a fact; the machine's costs precede the queues that follow from them.
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
    const auto& instances = members_.instances();
    if (operation.instance == kNone || instances[operation.instance].kind == kNoKind) {
        return std::nullopt;
    }
    return instances[operation.instance].kind;
}

std::vector<CollectiveSplit::Step> CollectiveSplit::way(std::size_t location, std::uint32_t operation) const {
    const auto& one = program_.timelines[location].collectives[operation];
    std::vector<Step> steps;
    const auto kind = kind_of(one);
    if (!kind.has_value()) {
        return steps;
    }
    const auto& instance = members_.instances()[one.instance];
    const auto& members = program_.members[static_cast<std::size_t>(instance.comm)];
    std::vector<Slot> slots;
    for (const auto there : members) {
        const auto& others = program_.timelines[index(there)].collectives;
        std::uint32_t at = 0;
        while (at < others.size() && others[at].instance != one.instance) {
            ++at;
        }
        slots.push_back(at < others.size() ? CollectiveMembers::slot(program_, *waits_, others[at], index(there), at)
                                           : Slot{});
    }
    Buffer buffer(*this);
    replay(buffer, instance, slots, kinds_[*kind].algorithm);
    const auto rank = *members_.rank_of(instance.comm, location_at(location));
    buffer.replay.back(
        members_.member(instance, rank, members_.size_of(instance)), slots[index(rank)].since_ps,
        [&](CollectivePart part, std::int64_t begin, std::int64_t end) { steps.push_back({part, begin, end}); });
    std::ranges::reverse(steps);
    return steps;
}

}  // namespace logpost::replay
