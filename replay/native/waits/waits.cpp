#include "replay/native/waits/waits.hpp"

#include <algorithm>

#include "replay/native/memory/threads.hpp"
#include "replay/native/program/accounted.hpp"
#include "replay/native/program/shape.hpp"
#include "replay/native/waits/call_operations.hpp"
#include "replay/native/waits/message_waits.hpp"
#include "replay/native/waits/one_sided_waits.hpp"

namespace logpost::replay {
namespace {

WaitKind kind_of(Operation operation) noexcept {
    if (operation == Operation::barrier) {
        return WaitKind::barrier;
    }
    switch (shape(operation)) {
        case Shape::one_to_all:
            return WaitKind::one_to_all;
        case Shape::all_to_one:
            return WaitKind::all_to_one;
        case Shape::prefix:
            return WaitKind::prefix;
        case Shape::agreement:
            return WaitKind::creation;
        default:
            return WaitKind::all_to_all;
    }
}

/// The calls of the ranks by which they begin or end the program; without a latest member where a rank has none, or
/// some left before the last had entered.
template <class Bound>
Rendezvous rendezvous(const Program& program, CallKind kind, Bound&& bounds) {
    Rendezvous all;
    all.calls.assign(program.timelines.size(), kNone);
    for (const auto location : accounted_locations(program)) {
        if (program.placement[location].rank == kNoRank) {
            continue;
        }
        const auto& calls = program.timelines[location].calls;
        const auto found = calls.partition_point([&](const Call& call) { return !bounds(location, call); });
        if (found == calls.size() || program.kind(calls[found]) != kind) {
            return {};
        }
        const auto& call = calls[found];
        const auto number = static_cast<std::uint32_t>(found);
        all.calls[location] = number;
        all.earliest_end = std::min(all.earliest_end, call.leave_ps);
        if (call.enter_ps > all.latest.begin) {
            all.latest = {call.enter_ps, location_at(location), number};
        }
    }
    if (all.latest.begin > all.earliest_end) {
        return {};
    }
    return all;
}

/// The latest of the waits of one call.
class LatestWait {
  public:
    LatestWait(std::uint32_t number, const Call& call)
        : call_(call), wait_{call.enter_ps, number, kNoLocation, kNone, {}} {}

    void offer(WaitKind kind, std::int64_t until, Location cause, std::uint32_t cause_call) noexcept {
        until = std::min(until, call_.leave_ps);
        if (until > wait_.until_ps && cause != kNoLocation) {
            wait_ = {until, wait_.call, cause, cause_call, kind};
        }
    }
    [[nodiscard]] bool found() const noexcept { return wait_.cause != kNoLocation; }
    [[nodiscard]] const Wait& operator*() const noexcept { return wait_; }

  private:
    const Call& call_;
    Wait wait_;
};

}  // namespace

Waits::Waits(const Program& program, const CollectiveWaits& collectives, const std::vector<Span>& interest,
             unsigned threads)
    : memory_(program.spill.get()), waits_(program.timelines.size()), states_(program.timelines.size()) {
    start_up_ = rendezvous(program, CallKind::initialize, [&](std::size_t location, const Call& call) {
        return call.leave_ps >= program.spans[location].begin_ps;
    });
    shut_down_ = rendezvous(program, CallKind::finalize, [&](std::size_t location, const Call& call) {
        return call.enter_ps >= program.spans[location].end_ps;
    });
    const auto accounted = accounted_locations(program);
    const OneSidedWaits one_sided(program);
    for_each_parallel(accounted.size(), threads, 1, [&](std::size_t i, unsigned) {
        const auto location = accounted[i];
        const auto here = location_at(location);
        const auto& mine = program.timelines[location];
        const CallOperations operations(mine);
        WaitStates states(program, collectives, location, interest.empty() ? Span{} : interest[location]);
        thread_local std::vector<Wait> waits;
        waits.clear();
        const auto of_epochs = one_sided.of(location);
        auto of_epoch = of_epochs.begin();
        const auto together = [&](const Rendezvous& all, WaitKind kind, std::uint32_t c, LatestWait& latest) {
            if (!all.calls.empty() && all.calls[location] == c && all.latest.location != here) {
                latest.offer(kind, all.latest.begin, all.latest.location, all.latest.call);
            }
        };
        for (std::uint32_t c = 0; c < mine.calls.size(); ++c) {
            const auto& call = mine.calls[c];
            LatestWait latest(c, call);
            const auto done = operations.of(c);
            together(start_up_, WaitKind::start_up, c, latest);
            together(shut_down_, WaitKind::shut_down, c, latest);
            if (!done.empty()) {
                const auto messages = message_waits(program, mine, call, done);
                states.add(call, messages, done);
                for (const auto& [kind, wait] : {std::pair{WaitKind::late_sender, messages.late_sender},
                                                 std::pair{WaitKind::late_receiver, messages.late_receiver}}) {
                    if (wait.found() && wait.cause != here) {
                        latest.offer(kind, wait.until_ps, wait.cause, wait.cause_call);
                    }
                }
            }
            for (const auto& operation : done) {
                if (operation.kind != CallOperation::Kind::collective) {
                    continue;
                }
                const auto& collective = mine.collectives[operation.index];
                if (collective.complete_call != c) {
                    continue;  // no location waits in a call that only begins
                }
                const auto needed = collectives.needed(collective, location);
                if (needed.location != here) {
                    latest.offer(kind_of(collective.operation), std::min(needed.begin, collective.end_ps),
                                 needed.location, needed.call);
                }
            }
            for (; of_epoch != of_epochs.end() && of_epoch->call == c; ++of_epoch) {
                latest.offer(of_epoch->kind, of_epoch->until_ps, of_epoch->cause, of_epoch->cause_call);
            }
            if (latest.found()) {
                waits.push_back(*latest);
            }
        }
        waits_[location] = memory_.copy(waits);
        states_[location] = states.totals();
    });
}

}  // namespace logpost::replay
