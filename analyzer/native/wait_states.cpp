#include "wait_states.hpp"

#include <algorithm>
#include <otf2/OTF2_Events.h>

#include "call_operations.hpp"

namespace logpost::analyzer {
namespace {

void count(WaitTotals& totals, WaitState state, std::int64_t wait) noexcept {
    if (wait > 0) {
        auto& total = totals[static_cast<std::size_t>(state)];
        total.wait_ps += wait;
        ++total.count;
    }
}

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

void collective_states(WaitTotals& totals, const CollectiveWaits& collectives, const Collective& operation,
                       std::size_t location) {
    if (operation.instance == kNone || operation.complete_call != operation.call) {
        return;
    }
    const auto& instance = collectives.instance(operation.instance);
    const auto until = [&](std::int64_t time) { return std::min(time, operation.end_ps) - operation.begin_ps; };
    if (operation.operation == OTF2_COLLECTIVE_OP_BARRIER) {
        count(totals, WaitState::wait_at_barrier, until(instance.latest_begin));
    } else if (is_nxn(operation.operation)) {
        if (operation.bytes_received > 0) {
            count(totals, WaitState::wait_at_nxn, until(instance.latest_begin));
        }
    } else if (is_from_root(operation.operation) && !collectives.is_root(operation, location)) {
        count(totals, WaitState::late_broadcast, until(instance.root_begin));
    } else if (is_to_root(operation.operation) && collectives.is_root(operation, location) &&
               instance.earliest_non_root != INT64_MAX) {
        count(totals, WaitState::early_reduce, until(instance.earliest_non_root));
    }
}

}  // namespace

WaitTotals wait_states(const Trace& trace, const CollectiveWaits& collectives, std::size_t location) {
    WaitTotals totals{};
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
        std::int64_t late_sender = 0;
        std::int64_t late_receiver = 0;
        for (const auto& operation : done) {
            if (operation.kind == Kind::receive_complete) {
                const auto& receive = mine.receives[operation.index];
                if (receive.match == kNone) {
                    continue;
                }
                const auto& sender = trace.traces[static_cast<std::size_t>(receive.peer)];
                const auto sent = sender.calls[sender.sends[receive.match].call].enter_ps;
                late_sender = std::max(late_sender, std::min(sent, call.leave_ps) - call.enter_ps);
            } else if (operation.kind == Kind::send_complete || operation.kind == Kind::send_whole) {
                const auto& send = mine.sends[operation.index];
                if (send.match == kNone) {
                    continue;
                }
                const auto& receiver = trace.traces[static_cast<std::size_t>(send.peer)];
                const auto posted = receiver.calls[receiver.receives[send.match].call].enter_ps;
                if (call.leave_ps > posted) {
                    late_receiver = std::max(late_receiver, posted - call.enter_ps);
                }
            } else if (operation.kind == Kind::collective) {
                collective_states(totals, collectives, mine.collectives[operation.index], location);
            }
        }
        count(totals, WaitState::late_sender, late_sender);
        if (kind != RegionKind::wait_multi || late_sender <= 0) {
            count(totals, WaitState::late_receiver, late_receiver);
        }
    }
    return totals;
}

}  // namespace logpost::analyzer
