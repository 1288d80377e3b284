#include "replay/native/split/wait_states.hpp"

#include <algorithm>

#include "replay/native/split/call_operations.hpp"
#include "replay/native/split/message_waits.hpp"

namespace logpost::replay {
namespace {

/// Adds up the wait states of one location in ticks.
///
/// A time in picoseconds is floor(ticks * 10^12 / resolution) from the program's start; as a tick is longer than a
/// picosecond, rounding back finds the tick again, and sums of ticks carry no rounding.
class Totals {
  public:
    explicit Totals(const Program& program) : ticks_per_second_(program.ticks_per_second) {}

    void count(WaitState state, std::int64_t from_ps, std::int64_t until_ps) noexcept {
        if (until_ps > from_ps) {
            auto& total = totals_[static_cast<std::size_t>(state)];
            total.wait_ticks += ticks(until_ps) - ticks(from_ps);
            ++total.count;
        }
    }

    [[nodiscard]] const WaitTotals& totals() const noexcept { return totals_; }

  private:
    __extension__ using Wide = __int128;

    [[nodiscard]] std::int64_t ticks(std::int64_t ps) const noexcept {
        constexpr Wide kPsPerSecond = 1'000'000'000'000;
        return static_cast<std::int64_t>(
            (static_cast<Wide>(ps) * static_cast<Wide>(ticks_per_second_) + kPsPerSecond / 2) / kPsPerSecond);
    }

    std::uint64_t ticks_per_second_;
    WaitTotals totals_{};
};

bool is_nxn(Operation operation) noexcept {
    switch (operation) {
        case Operation::allgather:
        case Operation::allgatherv:
        case Operation::alltoall:
        case Operation::alltoallw:
        case Operation::allreduce:
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
            return true;
        default:
            return false;  // Alltoallv is not one for Scalasca: a rank may exchange nothing with another
    }
}

bool is_from_root(Operation operation) noexcept {
    return operation == Operation::bcast || operation == Operation::scatter || operation == Operation::scatterv;
}

bool is_to_root(Operation operation) noexcept {
    return operation == Operation::reduce || operation == Operation::gather || operation == Operation::gatherv;
}

void collective_states(Totals& totals, const CollectiveWaits& collectives, const Collective& operation,
                       std::size_t location) {
    if (operation.instance == kNone || operation.complete_call != operation.call) {
        return;
    }
    const auto needed = collectives.needed(operation, location).begin;
    const auto count = [&](WaitState state, std::int64_t until) {
        totals.count(state, operation.begin_ps, std::min(until, operation.end_ps));
    };
    if (operation.operation == Operation::barrier) {
        count(WaitState::wait_at_barrier, needed);
    } else if (operation.operation == Operation::fence) {
        count(WaitState::wait_at_fence, needed);
    } else if (is_nxn(operation.operation)) {
        if (operation.bytes_received > 0) {
            count(WaitState::wait_at_nxn, needed);
        }
    } else if (is_from_root(operation.operation)) {
        count(WaitState::late_broadcast, needed);
    } else if (is_to_root(operation.operation) && collectives.is_root(operation, location)) {
        const auto first = collectives.instance(operation.instance).earliest_non_root;
        count(WaitState::early_reduce, first == INT64_MAX ? operation.begin_ps : first);
    }
}

}  // namespace

WaitTotals wait_states(const Program& program, const CollectiveWaits& collectives, std::size_t location,
                       Span interest) {
    Totals totals(program);
    const auto& mine = program.timelines[location];
    const CallOperations operations(mine);
    for (std::uint32_t c = 0; c < mine.calls.size(); ++c) {
        fetch_ahead(program, mine, operations, c);
        const auto done = operations.of(c);
        if (done.empty()) {
            continue;
        }
        const auto& call = mine.calls[c];
        if (!interest.contains(call.enter_ps)) {
            continue;
        }
        const auto waits = message_waits(program, mine, call, done);
        totals.count(WaitState::late_sender, waits.late_sender.from_ps, waits.late_sender.until_ps);
        totals.count(WaitState::late_receiver, waits.late_receiver.from_ps, waits.late_receiver.until_ps);
        if (program.kind(call) == CallKind::test) {
            continue;
        }
        for (const auto& operation : done) {
            if (operation.kind == CallOperation::Kind::collective) {
                collective_states(totals, collectives, mine.collectives[operation.index], location);
            }
        }
    }
    return totals.totals();
}

}  // namespace logpost::replay
