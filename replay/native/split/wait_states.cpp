#include "replay/native/split/wait_states.hpp"

#include <algorithm>

#include "replay/native/split/call_operations.hpp"

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

/// The longest of several waits that end or begin with one call.
struct Longest {
    std::int64_t from_ps = 0;
    std::int64_t until_ps = 0;

    void offer(std::int64_t from, std::int64_t until) noexcept {
        if (until - from > until_ps - from_ps) {
            from_ps = from;
            until_ps = until;
        }
    }
    [[nodiscard]] bool found() const noexcept { return until_ps > from_ps; }
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
    const auto& instance = collectives.instance(operation.instance);
    const auto count = [&](WaitState state, std::int64_t until) {
        totals.count(state, operation.begin_ps, std::min(until, operation.end_ps));
    };
    if (operation.operation == Operation::barrier) {
        count(WaitState::wait_at_barrier, instance.latest_begin);
    } else if (is_nxn(operation.operation)) {
        if (operation.bytes_received > 0) {
            count(WaitState::wait_at_nxn, instance.latest_begin);
        }
    } else if (is_from_root(operation.operation) && !collectives.is_root(operation, location)) {
        count(WaitState::late_broadcast, instance.root_begin);
    } else if (is_to_root(operation.operation) && collectives.is_root(operation, location) &&
               instance.earliest_non_root != INT64_MAX) {
        count(WaitState::early_reduce, instance.earliest_non_root);
    }
}

}  // namespace

WaitTotals wait_states(const Program& program, const CollectiveWaits& collectives, std::size_t location,
                       Span interest) {
    Totals totals(program);
    const auto& mine = program.timelines[location];
    using Kind = CallOperation::Kind;
    const CallOperations operations(mine);
    for (std::uint32_t c = 0; c < mine.calls.size(); ++c) {
        const auto done = operations.of(c);
        if (done.empty()) {
            continue;
        }
        const auto& call = mine.calls[c];
        const auto kind = program.kind(call);
        if (kind == CallKind::test || !interest.contains(call.enter_ps)) {
            continue;
        }
        Longest late_sender;
        Longest late_receiver;
        for (const auto& operation : done) {
            if (operation.kind == Kind::receive_complete) {
                const auto& receive = mine.receives[operation.index];
                if (receive.match == kNone) {
                    continue;
                }
                const auto& sender = program.timelines[static_cast<std::size_t>(receive.peer)];
                const auto sent = sender.calls[sender.sends[receive.match].call].enter_ps;
                late_sender.offer(call.enter_ps, std::min(sent, call.leave_ps));
            } else if (operation.kind == Kind::send_complete || operation.kind == Kind::send_whole) {
                const auto& send = mine.sends[operation.index];
                if (send.match == kNone) {
                    continue;
                }
                const auto& receiver = program.timelines[static_cast<std::size_t>(send.peer)];
                const auto posted = receiver.calls[receiver.receives[send.match].call].enter_ps;
                if (call.leave_ps > posted) {
                    late_receiver.offer(call.enter_ps, posted);
                }
            } else if (operation.kind == Kind::collective) {
                collective_states(totals, collectives, mine.collectives[operation.index], location);
            }
        }
        totals.count(WaitState::late_sender, late_sender.from_ps, late_sender.until_ps);
        if (kind != CallKind::wait_multi || !late_sender.found()) {
            totals.count(WaitState::late_receiver, late_receiver.from_ps, late_receiver.until_ps);
        }
    }
    return totals.totals();
}

}  // namespace logpost::replay
