#include "replay/native/waits/wait_states.hpp"

#include <algorithm>

#include "replay/native/program/shape.hpp"

namespace logpost::replay {
namespace {

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

}  // namespace

WaitStates::WaitStates(const Program& program, const CollectiveWaits& collectives, std::size_t location, Span interest)
    : program_(program), collectives_(collectives), location_(location), interest_(interest) {}

void WaitStates::add(const Call& call, const MessageWaitStates& waits, std::span<const CallOperation> done) noexcept {
    if (!interest_.contains(call.enter_ps)) {
        return;
    }
    count(WaitState::late_sender, waits.late_sender.from_ps, waits.late_sender.until_ps);
    count(WaitState::late_receiver, waits.late_receiver.from_ps, waits.late_receiver.until_ps);
    const auto kind = program_.kind(call);
    // Start-up and shut-down are separate waits.
    if (kind == CallKind::test || kind == CallKind::initialize || kind == CallKind::finalize) {
        return;
    }
    for (const auto& operation : done) {
        if (operation.kind == CallOperation::Kind::collective) {
            add(program_.timelines[location_].collectives[operation.index]);
        }
    }
}

void WaitStates::add(const Collective& operation) noexcept {
    if (operation.instance == kNone || operation.complete_call != operation.call) {
        return;
    }
    const auto needed = collectives_.needed(operation, location_).begin;
    const auto waits = [&](WaitState state, std::int64_t until) {
        count(state, operation.begin_ps, std::min(until, operation.end_ps));
    };
    if (operation.operation == Operation::barrier) {
        waits(WaitState::wait_at_barrier, needed);
    } else if (operation.operation == Operation::fence) {
        waits(WaitState::wait_at_fence, needed);
    } else if (shape(operation.operation) == Shape::agreement) {
        waits(WaitState::wait_at_creation, needed);
    } else if (is_nxn(operation.operation)) {
        if (operation.bytes_received > 0) {
            waits(WaitState::wait_at_nxn, needed);
        }
    } else if (is_from_root(operation.operation)) {
        waits(WaitState::late_broadcast, needed);
    } else if (is_to_root(operation.operation) && collectives_.is_root(operation, location_)) {
        const auto first = collectives_.instance(operation.instance).earliest_non_root;
        waits(WaitState::early_reduce, first == INT64_MAX ? operation.begin_ps : first);
    }
}

void WaitStates::count(WaitState state, std::int64_t from_ps, std::int64_t until_ps) noexcept {
    if (until_ps > from_ps) {
        auto& total = totals_[static_cast<std::size_t>(state)];
        total.wait_ticks += ticks(until_ps) - ticks(from_ps);
        ++total.count;
    }
}

/// A time in picoseconds is floor(ticks * 10^12 / resolution) from the program's start; as a tick is longer than a
/// picosecond, rounding back finds the tick again, and sums of ticks carry no rounding.
std::int64_t WaitStates::ticks(std::int64_t ps) const noexcept {
    __extension__ using Wide = __int128;
    constexpr Wide kPsPerSecond = 1'000'000'000'000;
    return static_cast<std::int64_t>(
        (static_cast<Wide>(ps) * static_cast<Wide>(program_.ticks_per_second) + kPsPerSecond / 2) / kPsPerSecond);
}

}  // namespace logpost::replay
