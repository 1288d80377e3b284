#include "replay/native/waits/delays.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "replay/native/memory/arena.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/waits/charges.hpp"
#include "replay/native/waits/comparison.hpp"
#include "replay/native/waits/ledger.hpp"
#include "replay/native/waits/synchronizations.hpp"

namespace logpost::replay {
namespace {

/// A wait, in the order in which waits are charged: the one whose cause was last first.
struct Charged {
    std::int64_t cause_ps;
    Location location;
    std::uint32_t wait;  // of the location's
};

/// As many as all waits.
std::span<const Charged> in_order(const Program& program, const Waits& waits, std::size_t count, Arena& memory) {
    const auto all = memory.take<Charged>(count);
    auto* next = all.data();
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        const auto mine = waits.of(location);
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const auto& cause = program.timelines[index(mine[i].cause)].calls[mine[i].cause_call];
            std::construct_at(next++, cause.enter_ps, location_at(location), static_cast<std::uint32_t>(i));
        }
        Spill::look();
    }
    std::ranges::sort(all, [](const Charged& a, const Charged& b) {
        return std::tuple(b.cause_ps, b.location, b.wait) < std::tuple(a.cause_ps, a.location, a.wait);
    });
    return all;
}

/// Waits that are compared at once, before they are charged one by one: at least as many as hide that threads begin, in
/// a megabyte or two, and some of each location, so that what is read of it is read once for all of these.
constexpr std::size_t kFewest = std::size_t{1} << 14U;
constexpr std::size_t kMost = std::size_t{1} << 16U;
constexpr std::size_t kOfEach = 16;
/// Of those, the neighbours that one thread compares before it takes others.
constexpr std::size_t kInRow = 256;

/// A wait of a block with what its comparison found: all that charging it needs.
struct Compared {
    std::int64_t length_ps = 0;
    Excess excess;  // where it is compared
    std::uint32_t call = 0;
    std::int32_t callpath = kUndefined;  // of the call that waited
    Location cause = kNoLocation;
    std::uint32_t cause_call = 0;
    std::uint32_t begin = 0;  // of its shares
    std::uint32_t shares = 0;
    unsigned thread = kNone;  // kNone: not compared
    WaitKind kind{};
    bool of_interest = false;
};

/// The comparisons of a block of waits, by place in the block.
class ComparedBlock {
  public:
    ComparedBlock(const Program& program, const Waits& waits, const ActiveTimes& active,
                  Synchronizations& synchronizations, const std::vector<Span>& interest, unsigned threads)
        : program_(program),
          waits_(waits),
          synchronizations_(synchronizations),
          interest_(interest),
          threads_(std::max(threads, 1U)),
          shares_(threads_) {
        for (unsigned thread = 0; thread < threads_; ++thread) {
            comparisons_.emplace_back(program, active, synchronizations);
        }
    }

    /// Looks up the waits of a block, and compares those of interest.
    void compare(std::span<const Charged> block) {
        // Neighbours in memory follow each other; in time, each wait is of another location.
        next_.assign(program_.timelines.size() + 1, 0);
        for (const auto& wait : block) {
            ++next_[index(wait.location) + 1];
        }
        for (std::size_t location = 1; location < next_.size(); ++location) {
            next_[location] += next_[location - 1];
        }
        order_.resize(block.size());
        place_of_.resize(block.size());
        for (std::uint32_t i = 0; i < block.size(); ++i) {
            place_of_[i] = next_[index(block[i].location)]++;
            order_[place_of_[i]] = i;
        }
        compared_.assign(block.size(), {});
        for (auto& shares : shares_) {
            shares.clear();
        }
        for_each_parallel(block.size(), threads_, kInRow, [&](std::size_t place, unsigned thread) {
            const auto i = order_[place];
            const auto& wait = waits_.of(index(block[i].location))[block[i].wait];
            const auto& call = program_.timelines[index(block[i].location)].calls[wait.call];
            auto& found = compared_[place];  // next to those that the same thread writes
            found.length_ps = wait.until_ps - call.enter_ps;
            found.call = wait.call;
            found.callpath = call.callpath;
            found.cause = wait.cause;
            found.cause_call = wait.cause_call;
            found.kind = wait.kind;
            found.of_interest = wait.kind != WaitKind::start_up && wait.kind != WaitKind::shut_down &&
                                interest_[index(block[i].location)].contains(call.enter_ps);
            if (found.of_interest) {
                one(found, block[i], thread);
            }
        });
    }
    [[nodiscard]] const Compared& operator[](std::size_t i) const noexcept { return compared_[place_of_[i]]; }
    /// The comparison of a wait of the block, whether of interest or not.
    const Excess& of(std::size_t i, const Charged& wait) {
        auto& found = compared_[place_of_[i]];
        if (found.thread == kNone) {
            one(found, wait, 0);
        }
        return found.excess;
    }
    /// Of a wait that is compared.
    [[nodiscard]] std::span<const DelayShare> shares(std::size_t i) const noexcept {
        const auto& of = (*this)[i];
        return std::span(shares_[of.thread]).subspan(of.begin, of.shares);
    }

  private:
    void one(Compared& found, const Charged& wait, unsigned thread) {
        auto& shares = shares_[thread];
        found.begin = static_cast<std::uint32_t>(shares.size());
        found.excess =
            comparisons_[thread].compare(index(wait.location), waits_.of(index(wait.location))[wait.wait], shares);
        found.shares = static_cast<std::uint32_t>(shares.size()) - found.begin;
        found.thread = thread;
    }

    const Program& program_;
    const Waits& waits_;
    const Synchronizations& synchronizations_;
    const std::vector<Span>& interest_;
    unsigned threads_;
    std::vector<Comparison> comparisons_;          // by thread
    std::vector<std::vector<DelayShare>> shares_;  // by thread
    std::vector<Compared> compared_;               // in the order in which they are compared
    std::vector<std::uint32_t> order_;             // by that place: the place in the block
    std::vector<std::uint32_t> place_of_;          // the other way round
    std::vector<std::uint32_t> next_;              // by location: the place of its next wait
};

}  // namespace

std::vector<DelayCost> delay_costs(const Program& program, const CollectiveWaits& collectives, const Waits& waits,
                                   const std::vector<Span>& interest, unsigned threads) {
    Synchronizations synchronizations(program, collectives, waits, threads);
    Arena active_memory(program.spill.get());
    ActiveTimes active(program.timelines.size());
    for_each_parallel(active.size(), threads, 1, [&](std::size_t location, unsigned) {
        active[location].emplace(program.timelines[location], waits.of(location), program.callpaths(), active_memory);
    });
    ComparedBlock compared(program, waits, active, synchronizations, interest, threads);
    std::vector<Charges> charges(program.timelines.size());
    std::array<WidePs, kWaitKinds> total{};
    Ledger ledger(program.timelines.size());
    std::size_t count = 0;
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        count += waits.of(location).size();
    }
    Arena memory(program.spill.get());
    const auto all = in_order(program, waits, count, memory);
    const auto batch = std::clamp(kOfEach * program.timelines.size(), kFewest, kMost);
    for (std::size_t begin = 0; begin < all.size(); begin += batch) {
        const auto block = all.subspan(begin, std::min(batch, all.size() - begin));
        compared.compare(block);
        for (std::size_t i = 0; i < block.size(); ++i) {
            const auto& wait = compared[i];
            auto costs = charges[index(block[i].location)].at(wait.call);
            std::array<std::uint8_t, kWaitKinds> charging{};  // kinds of the waits that it is charged for
            std::size_t charged = 0;
            for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
                costs[kind] *= static_cast<double>(wait.length_ps);
                if (costs[kind] > 0) {
                    charging[charged++] = static_cast<std::uint8_t>(kind);
                }
            }
            if (wait.of_interest) {
                total[static_cast<std::size_t>(wait.kind)] += wait.length_ps;
            } else if (charged == 0) {
                continue;
            }
            const auto& excess = compared.of(i, block[i]);
            const auto whole = excess.delay_ps + excess.waited_ps;
            if (!(whole > 0)) {
                continue;
            }
            const auto direct = wait.of_interest ? std::min(static_cast<double>(wait.length_ps) / whole, 1.0) : 0.0;
            const auto delaying = index(wait.cause);
            for (const auto& [place, delay] : compared.shares(i)) {
                if (direct > 0) {
                    ledger.at(delaying, place, wait.kind, wait.callpath).short_term += direct * delay;
                }
                for (const auto kind : std::span(charging).first(charged)) {
                    ledger.at(delaying, place, static_cast<WaitKind>(kind), wait.callpath).long_term +=
                        costs[kind] / whole * delay;
                }
            }
            if (excess.waited_ps > 0) {
                for (auto& cost : costs) {
                    cost = std::max(cost, 0.0) / whole;
                }
                costs[static_cast<std::size_t>(wait.kind)] += direct;
                charges[delaying].at(wait.cause_call);
                charges[delaying].open(excess.begin == kNone ? 0 : excess.begin + 1, costs);
            }
        }
    }
    return ledger.rows(total);
}

}  // namespace logpost::replay
