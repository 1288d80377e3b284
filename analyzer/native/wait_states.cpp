#include "wait_states.hpp"

#include <otf2/OTF2_Events.h>
#include <algorithm>

#include "call_operations.hpp"

namespace logpost::analyzer {
namespace {

/// Adds up the wait states of one location in ticks.
///
/// A time in picoseconds is floor(ticks * 10^12 / resolution) from the trace's start; as a tick is longer than a
/// picosecond, rounding back finds the tick again, and sums of ticks carry no rounding.
class Totals {
  public:
    explicit Totals(const Trace& trace) : ticks_per_second_(trace.ticks_per_second) {}

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

bool is_nxn(std::uint8_t operation) noexcept {
    switch (operation) {
        case OTF2_COLLECTIVE_OP_ALLGATHER:
        case OTF2_COLLECTIVE_OP_ALLGATHERV:
        case OTF2_COLLECTIVE_OP_ALLTOALL:
        case OTF2_COLLECTIVE_OP_ALLTOALLW:
        case OTF2_COLLECTIVE_OP_ALLREDUCE:
        case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
        case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
            return true;
        default:
            return false;  // Alltoallv is not one for Scalasca: a rank may exchange nothing with another
    }
}

bool is_from_root(std::uint8_t operation) noexcept {
    return operation == OTF2_COLLECTIVE_OP_BCAST || operation == OTF2_COLLECTIVE_OP_SCATTER ||
           operation == OTF2_COLLECTIVE_OP_SCATTERV;
}

bool is_to_root(std::uint8_t operation) noexcept {
    return operation == OTF2_COLLECTIVE_OP_REDUCE || operation == OTF2_COLLECTIVE_OP_GATHER ||
           operation == OTF2_COLLECTIVE_OP_GATHERV;
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
    if (operation.operation == OTF2_COLLECTIVE_OP_BARRIER) {
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

WaitTotals wait_states(const Trace& trace, const CollectiveWaits& collectives, std::size_t location) {
    Totals totals(trace);
    const auto& mine = trace.traces[location];
    using Kind = CallOperation::Kind;
    const CallOperations operations(mine);
    for (std::uint32_t c = 0; c < mine.calls.size(); ++c) {
        const auto done = operations.of(c);
        if (done.empty()) {
            continue;
        }
        const auto& call = mine.calls[c];
        const auto kind = trace.regions[static_cast<std::size_t>(call.region)].kind;
        if (kind == RegionKind::test) {
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
                const auto& sender = trace.traces[static_cast<std::size_t>(receive.peer)];
                const auto sent = sender.calls[sender.sends[receive.match].call].enter_ps;
                late_sender.offer(call.enter_ps, std::min(sent, call.leave_ps));
            } else if (operation.kind == Kind::send_complete || operation.kind == Kind::send_whole) {
                const auto& send = mine.sends[operation.index];
                if (send.match == kNone) {
                    continue;
                }
                const auto& receiver = trace.traces[static_cast<std::size_t>(send.peer)];
                const auto posted = receiver.calls[receiver.receives[send.match].call].enter_ps;
                if (call.leave_ps > posted) {
                    late_receiver.offer(call.enter_ps, posted);
                }
            } else if (operation.kind == Kind::collective) {
                collective_states(totals, collectives, mine.collectives[operation.index], location);
            }
        }
        totals.count(WaitState::late_sender, late_sender.from_ps, late_sender.until_ps);
        if (kind != RegionKind::wait_multi || !late_sender.found()) {
            totals.count(WaitState::late_receiver, late_receiver.from_ps, late_receiver.until_ps);
        }
    }
    return totals.totals();
}

}  // namespace logpost::analyzer
