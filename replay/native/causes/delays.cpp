#include "replay/native/causes/delays.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "replay/native/causes/synchronizations.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/threads.hpp"

namespace logpost::replay {
namespace {

using Costs = std::array<double, kWaitKinds>;

/// What the waits of one location are charged for later ones, going back in time.
///
/// An interval of the location in which it waited, and then delayed another, charges each of those waits in proportion
/// to its length. At most one interval is open for each partner.
class Charges {
  public:
    /// From now on, back to the call `until`, each picosecond of waiting costs so much.
    void open(std::uint32_t until, const Costs& rates) {
        auto& ends = ends_[until];
        for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
            ends[kind] += rates[kind];
            rates_[kind] += rates[kind];
        }
    }
    /// The rates at a call, once those of intervals that begin at it or later are closed.
    const Costs& at(std::uint32_t call) {
        while (!ends_.empty() && std::prev(ends_.end())->first >= call + 1) {
            const auto last = std::prev(ends_.end());
            for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
                rates_[kind] -= last->second[kind];
            }
            ends_.erase(last);
        }
        if (ends_.empty()) {
            rates_.fill(0);  // no rounding errors are left behind
        }
        return rates_;
    }

  private:
    std::map<std::uint32_t, Costs> ends_;  // by the call at which they end, plus 1: 0 is the location's begin
    Costs rates_{};
};

struct Share {
    std::uint32_t place;
    double delay_ps;
};

/// What the delaying location did beyond the waiting one since they were last synchronized.
class Comparison {
  public:
    Comparison(const Program& program, const std::vector<std::optional<ActiveTime>>& active,
               Synchronizations& synchronizations)
        : program_(program),
          active_(active),
          synchronizations_(synchronizations),
          mine_(CodePlace::count(program.callpaths())),
          theirs_(mine_),
          mine_by_caller_(mine_),
          theirs_by_caller_(mine_),
          excess_by_caller_(mine_) {}

    void compare(std::size_t waiting, const Wait& wait) {
        const auto delaying = static_cast<std::size_t>(wait.cause);
        const auto since = synchronizations_.before(delaying, wait.cause_call, static_cast<std::int32_t>(waiting));
        begin_ = since.call;
        waited_ps_ = static_cast<double>(active_[delaying]->waited(begin_, wait.cause_call));
        profile(delaying, since, wait.cause_call, mine_);
        profile(waiting, synchronizations_.before(waiting, wait.call, wait.cause), wait.call, theirs_);
        by_caller(mine_, mine_by_caller_);
        by_caller(theirs_, theirs_by_caller_);
        // A function's time on both locations is compared; its excess is that of the calls which the time lies before.
        excess_by_caller_.clear();
        for (const auto place : mine_.places()) {
            excess_by_caller_.add(caller(place), std::max<std::int64_t>(0, mine_[place] - theirs_[place]));
        }
        shares_.clear();
        delay_ps_ = 0;
        for (const auto place : mine_.places()) {
            const auto excess = mine_[place] - theirs_[place];
            const auto of = caller(place);
            const auto delay = mine_by_caller_[of] - theirs_by_caller_[of];
            if (excess > 0 && delay > 0) {
                const auto share = static_cast<double>(delay) * static_cast<double>(excess) /
                                   static_cast<double>(excess_by_caller_[of]);
                shares_.push_back({place, share});
                delay_ps_ += share;
            }
        }
    }

    /// The call at which the delaying location's interval begins; kNone: its begin.
    [[nodiscard]] std::uint32_t begin() const noexcept { return begin_; }
    [[nodiscard]] const std::vector<Share>& shares() const noexcept { return shares_; }
    [[nodiscard]] double delay_ps() const noexcept { return delay_ps_; }
    [[nodiscard]] double waited_ps() const noexcept { return waited_ps_; }

  private:
    /// Active time from a synchronization, of which only the completion counts, to a call.
    void profile(std::size_t location, const Synchronization& since, std::uint32_t until, PlaceTimes& times) {
        times.clear();
        active_[location]->collect(since.call, until, times);
        if (since.call != kNone) {
            const auto in_call = active_[location]->in_call(since.call);
            times.add(active_[location]->place_of(since.call), std::min(since.completion_ps, in_call) - in_call);
        }
    }
    /// Computation is compared by the function that contains the call after it.
    [[nodiscard]] std::uint32_t caller(std::uint32_t place) const noexcept {
        const auto of = CodePlace::of(place);
        if (of.in_call || of.callpath == kUndefined) {
            return place;
        }
        return CodePlace{program_.callers[static_cast<std::size_t>(of.callpath)], false}.code();
    }
    void by_caller(const PlaceTimes& times, PlaceTimes& callers) const {
        callers.clear();
        for (const auto place : times.places()) {
            callers.add(caller(place), times[place]);
        }
    }

    const Program& program_;
    const std::vector<std::optional<ActiveTime>>& active_;
    Synchronizations& synchronizations_;
    PlaceTimes mine_, theirs_, mine_by_caller_, theirs_by_caller_, excess_by_caller_;
    std::vector<Share> shares_;
    std::uint32_t begin_ = kNone;
    double delay_ps_ = 0;
    double waited_ps_ = 0;
};

/// Sums of costs by location, place, kind and callpath of the waits.
class Ledger {
  public:
    explicit Ledger(const Program& program) : rows_(program.timelines.size()) {}

    struct Sum {
        double short_term = 0;
        double long_term = 0;
    };
    Sum& at(std::size_t location, std::uint32_t place, WaitKind kind, std::int32_t wait_callpath) {
        const auto key = (static_cast<std::uint64_t>(place * kWaitKinds + static_cast<std::size_t>(kind)) << 32U) |
                         static_cast<std::uint32_t>(wait_callpath);
        return rows_[location][key];
    }

    /// In whole picoseconds; what is not explained makes each kind's sum that of its waits.
    [[nodiscard]] std::vector<DelayCost> rows(const std::array<std::int64_t, kWaitKinds>& waits) const {
        std::vector<DelayCost> result;
        auto left = waits;
        for (std::size_t location = 0; location < rows_.size(); ++location) {
            const auto begin = result.size();
            for (const auto& [key, sum] : rows_[location]) {
                const auto code = static_cast<std::uint32_t>(key >> 32U);
                DelayCost row{static_cast<std::int32_t>(location),
                              CodePlace::of(code / kWaitKinds),
                              static_cast<std::int32_t>(static_cast<std::uint32_t>(key)),
                              static_cast<WaitKind>(code % kWaitKinds),
                              static_cast<std::int64_t>(sum.short_term),
                              static_cast<std::int64_t>(sum.long_term)};
                if (row.short_term_ps > 0 || row.long_term_ps > 0) {
                    result.push_back(row);
                }
            }
            std::ranges::sort(
                result.begin() + static_cast<std::ptrdiff_t>(begin), result.end(), {},
                [](const DelayCost& row) { return std::tuple(row.place.code(), row.wait_callpath, row.kind); });
        }
        for (auto& row : result) {
            auto& of = left[static_cast<std::size_t>(row.kind)];
            // The last digits of long sums may exceed what there is to share.
            row.short_term_ps = std::min(row.short_term_ps, of);
            of -= row.short_term_ps;
            row.long_term_ps = std::min(row.long_term_ps, of);
            of -= row.long_term_ps;
        }
        for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
            if (left[kind] > 0) {
                result.push_back(
                    {kUndefined, {kUndefined, false}, kUndefined, static_cast<WaitKind>(kind), left[kind], 0});
            }
        }
        return result;
    }

  private:
    std::vector<std::unordered_map<std::uint64_t, Sum>> rows_;
};

/// A wait, in the order in which waits are charged: the one whose cause came last first.
struct Charged {
    std::int64_t cause_ps;
    std::uint32_t location;
    std::uint32_t wait;  // of the location's
};

std::vector<Charged> in_order(const Program& program, const Waits& waits) {
    std::size_t count = 0;
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        count += waits.of(location).size();
    }
    std::vector<Charged> all;
    all.reserve(count);
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        const auto mine = waits.of(location);
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const auto& cause = program.timelines[static_cast<std::size_t>(mine[i].cause)].calls[mine[i].cause_call];
            all.push_back({cause.enter_ps, static_cast<std::uint32_t>(location), static_cast<std::uint32_t>(i)});
        }
    }
    std::ranges::sort(all, [](const Charged& a, const Charged& b) {
        return std::tuple(b.cause_ps, b.location, b.wait) < std::tuple(a.cause_ps, a.location, a.wait);
    });
    return all;
}

}  // namespace

std::vector<DelayCost> delay_costs(const Program& program, const CollectiveWaits& collectives, const Waits& waits,
                                   const std::vector<Span>& interest, unsigned threads) {
    Synchronizations synchronizations(program, collectives, waits, threads);
    std::vector<std::optional<ActiveTime>> active(program.timelines.size());
    for_each_parallel(active.size(), threads, 1, [&](std::size_t location, unsigned) {
        active[location].emplace(program.timelines[location], waits.of(location), program.callpaths());
    });
    Comparison comparison(program, active, synchronizations);
    std::vector<Charges> charges(program.timelines.size());
    std::array<std::int64_t, kWaitKinds> total{};
    Ledger ledger(program);
    for (const auto& [cause_ps, location, number] : in_order(program, waits)) {
        const auto& wait = waits.of(location)[number];
        const auto& call = program.timelines[location].calls[wait.call];
        const auto length = wait.until_ps - call.enter_ps;
        auto costs = charges[location].at(wait.call);
        bool charged = false;
        for (auto& cost : costs) {
            cost *= static_cast<double>(length);
            charged = charged || cost > 0;
        }
        const bool around = wait.kind == WaitKind::start_up || wait.kind == WaitKind::shut_down;
        const bool of_interest = !around && interest[location].contains(call.enter_ps);
        if (of_interest) {
            total[static_cast<std::size_t>(wait.kind)] += length;
        } else if (!charged) {
            continue;
        }
        comparison.compare(location, wait);
        const auto whole = comparison.delay_ps() + comparison.waited_ps();
        if (!(whole > 0)) {
            continue;
        }
        const auto direct = of_interest ? std::min(static_cast<double>(length) / whole, 1.0) : 0.0;
        const auto delaying = static_cast<std::size_t>(wait.cause);
        for (const auto& [place, delay] : comparison.shares()) {
            if (direct > 0) {
                ledger.at(delaying, place, wait.kind, call.callpath).short_term += direct * delay;
            }
            for (std::size_t kind = 0; charged && kind < kWaitKinds; ++kind) {
                if (costs[kind] > 0) {
                    ledger.at(delaying, place, static_cast<WaitKind>(kind), call.callpath).long_term +=
                        costs[kind] / whole * delay;
                }
            }
        }
        if (comparison.waited_ps() > 0) {
            for (auto& cost : costs) {
                cost = std::max(cost, 0.0) / whole;
            }
            costs[static_cast<std::size_t>(wait.kind)] += direct;
            charges[delaying].at(wait.cause_call);
            charges[delaying].open(comparison.begin() == kNone ? 0 : comparison.begin() + 1, costs);
        }
    }
    return ledger.rows(total);
}

}  // namespace logpost::replay
