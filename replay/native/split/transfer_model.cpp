#include "replay/native/split/transfer_model.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "replay/native/cost/blocks_of.hpp"
#include "replay/native/program/message_facts.hpp"
#include "replay/native/servers/fifo.hpp"
#include "replay/native/split/fit.hpp"

namespace logpost::replay {

/// What was measured of a transfer, and what the model wants.
struct TransferModel::Plan {
    std::int64_t s0, s1;  // the call that starts it
    std::int64_t w0, w1;  // the call that completes it
    bool completed;
    Permission permission;
    const Collective* closing;  // the collective that completes it
    Cost cost;
    std::int64_t pack;     // half of l_mw, where the data are
    std::int64_t unpack;   // where they go
    std::int64_t ready;    // when its origin can begin with it
    std::int64_t reached;  // when its request, or its last byte, is at the target
    std::int64_t pending;  // since when it waits for the target: it is there, or was left with more to do
    std::int64_t attended;
    bool round_trip;  // its origin waits for an answer of the target
};

TransferModel::TransferModel(const Program& program, const Parameters& parameters, const CollectiveWaits& collectives,
                             bool asynchronous)
    : program_(program),
      parameters_(parameters),
      collectives_(collectives),
      asynchronous_(asynchronous),
      permissions_(program),
      queued_(program.timelines.size()) {
    queue();
    permit_changes();
    asynchronous_ = asynchronous_ || serves_unattended();
}

Cost TransferModel::cost(std::size_t location, const Transfer& transfer) const {
    const auto here = location_at(location);
    const auto there = transfer.target == kNoLocation ? here : transfer.target;
    const auto hops = parameters_.mean_hops.has_value() ? program_.placement.hops(here, there) : kUndefined;
    return message_cost(parameters_, program_.placement.between(here, there), transfer.bytes, {}, 1, hops,
                        carried(transfer));
}

std::int64_t TransferModel::middleware(std::size_t location, const Transfer& transfer, std::int32_t layout) const {
    if (layout == kUndefined) {
        return 0;
    }
    const auto here = location_at(location);
    const auto there = transfer.target == kNoLocation ? here : transfer.target;
    const auto between = program_.placement.between(here, there);
    return message_cost(parameters_, between, transfer.bytes, blocks_of(program_, layout)).l_mw / 2;
}

std::int64_t TransferModel::notice_ps(Location from, Location to) const {
    return from == kNoLocation ? 0 : message_cost(parameters_, program_.placement.between(from, to), 0, {}).L;
}

std::int64_t TransferModel::grant_ps(const Epoch& lock, Location from, Location to) const {
    if (lock.peer == kNoLocation) {
        return 0;
    }
    return notice_ps(from == kNoLocation ? to : from, lock.peer) + notice_ps(lock.peer, to);
}

const Collective* TransferModel::collective_of(std::size_t location, std::uint32_t call) const noexcept {
    const auto& collectives = program_.timelines[location].collectives;
    const auto at = collectives.partition_point([&](const Collective& one) { return one.call < call; });
    return at < collectives.size() && collectives[at].call == call ? &collectives[at] : nullptr;
}

/// A location's transfers leave one after the other.
void TransferModel::queue() {
    for (std::size_t l = 0; l < program_.timelines.size(); ++l) {
        const auto& timeline = program_.timelines[l];
        queued_[l].assign(timeline.transfers.size(), 0);
        FifoServer endpoint(parameters_.endpoints_queue);
        for (std::uint32_t i = 0; i < timeline.transfers.size(); ++i) {
            const auto& transfer = timeline.transfers[i];
            if (transfer.kind == Transfer::Kind::put) {  // what a get brings leaves its target
                const auto planned = plan(l, i, false);
                queued_[l][i] = endpoint.wait(planned.ready + planned.pack, planned.cost.service);
            }
        }
    }
}

/// A wait for a change ends with the transfer that arrives last before its end: later ones changed nothing for it.
void TransferModel::permit_changes() {
    struct Arrival {
        std::int64_t at;
        std::int64_t started;
        Location origin;
        std::uint32_t transfer;
    };
    const auto locations = program_.timelines.size();
    std::vector<std::uint8_t> waits(locations, 0);
    for (std::size_t l = 0; l < locations; ++l) {
        program_.timelines[l].epochs.for_each([&](std::size_t, const Epoch& epoch) {
            waits[l] = waits[l] != 0 || epoch.kind == Epoch::Kind::change ? 1 : 0;
        });
    }
    std::map<std::pair<Location, std::int32_t>, std::vector<Arrival>> arrivals;  // by target and window
    for (std::size_t l = 0; l < locations; ++l) {
        const auto& timeline = program_.timelines[l];
        for (std::uint32_t i = 0; i < timeline.transfers.size(); ++i) {
            const auto& transfer = timeline.transfers[i];
            const auto target = transfer.target;
            if (target == kNoLocation || waits[index(target)] == 0 || transfer.kind == Transfer::Kind::get ||
                index(target) == l) {
                continue;
            }
            const auto planned = plan(l, i, false);
            arrivals[{target, transfer.rma_window}].push_back(
                {planned.ready + planned.pack + queued_[l][i] + planned.cost.L + planned.cost.serialization, planned.s0,
                 location_at(l), i});
        }
    }
    for (auto& [key, list] : arrivals) {
        std::ranges::stable_sort(list, {}, &Arrival::at);
    }
    for (std::size_t l = 0; l < locations; ++l) {
        const auto& timeline = program_.timelines[l];
        for (std::uint32_t i = 0; i < timeline.epochs.size(); ++i) {
            const auto& epoch = timeline.epochs[i];
            const auto to = arrivals.find({location_at(l), epoch.rma_window});
            if (epoch.kind != Epoch::Kind::change || to == arrivals.end()) {
                continue;
            }
            const auto end = timeline.calls[epoch.begin_call].leave_ps;
            const auto after = std::ranges::upper_bound(to->second, end, {}, &Arrival::at);
            if (after != to->second.begin()) {
                const auto& last = *std::prev(after);
                permissions_.of(l, i) = {last.started, category_of(Part::late_sender), last.origin, kNone, kNone,
                                         last.transfer};
            }
        }
    }
}

std::int64_t TransferModel::attends(std::size_t location, std::int64_t time, std::int64_t limit) const noexcept {
    const auto& timeline = program_.timelines[location];
    const auto& calls = timeline.calls;
    const auto last = calls.partition_point([&](const Call& call) { return call.enter_ps < limit; });
    const auto at = answering_call(program_, timeline, 0, static_cast<std::uint32_t>(last), time);
    return at == calls.size() ? INT64_MAX : std::max(time, calls[at].enter_ps);
}

/// When a target that was in a call as the transfer reached it left the transfer with more to do (its lock was granted
/// and its data had yet to be fetched, or half of its data had arrived): its origin waited, and the target stayed away
/// for longer than the reply lasts, and than the transfer lasted once the target was back. Else when it reached it.
std::int64_t TransferModel::left_pending(std::size_t target, const Plan& plan, std::int64_t reply) const noexcept {
    const auto& timeline = program_.timelines[target];
    const auto& calls = timeline.calls;
    const auto last =
        static_cast<std::uint32_t>(calls.partition_point([&](const Call& call) { return call.enter_ps < plan.w1; }));
    const auto first = answering_call(program_, timeline, 0, last, plan.reached);
    if (first == last || calls[first].enter_ps > plan.reached || calls[first].leave_ps < plan.w0) {
        return plan.reached;
    }
    const auto left = calls[first].leave_ps;
    const auto second = answering_call(program_, timeline, first + 1, last, left);
    if (second == last) {
        return plan.reached;
    }
    const auto back = calls[second].enter_ps;
    return back - left > std::max(reply, plan.w1 - back) ? left : plan.reached;
}

TransferModel::Plan TransferModel::plan(std::size_t location, std::uint32_t number, bool remotely) const {
    const auto& timeline = program_.timelines[location];
    const auto& transfer = timeline.transfers[number];
    const auto& start = timeline.calls[transfer.call];
    const bool put = transfer.kind == Transfer::Kind::put;
    const auto complete = remotely ? transfer.remote_call : transfer.complete_call;
    const auto& end = timeline.calls[complete == kNone ? transfer.call : complete];
    Plan plan{.s0 = start.enter_ps,
              .s1 = start.leave_ps,
              .w0 = end.enter_ps,
              .w1 = end.leave_ps,
              .completed = complete != kNone,
              .permission = {},
              .closing = complete == kNone ? nullptr : collective_of(location, complete),
              .cost = cost(location, transfer),
              .pack = middleware(location, transfer, put ? transfer.layout : transfer.target_layout),
              .unpack = middleware(location, transfer, put ? transfer.target_layout : transfer.layout),
              .ready = 0,
              .reached = 0,
              .pending = 0,
              .attended = 0,
              .round_trip = !put || (complete != kNone && transfer.remote_call == complete)};
    if (const auto epoch = epoch_of(location, number); epoch != kNone) {
        plan.permission = permission(location, epoch);
    }
    const auto overhead = std::min(plan.cost.o_s, std::min(plan.s1, plan.w1) - plan.s0);
    plan.ready = std::max(plan.s0 + overhead, std::min(plan.permission.at_ps, plan.w1));
    plan.reached = plan.ready + (put ? plan.pack : 0) + queued_[location][number] + plan.cost.L +
                   (put ? plan.cost.serialization : 0);
    plan.pending = plan.reached;
    plan.attended = plan.reached;
    const bool needs_target =
        !asynchronous_ && plan.round_trip && transfer.target != kNoLocation && transfer.target != location_at(location);
    if (needs_target && plan.reached < plan.w1) {
        const auto reply = plan.cost.o_control + plan.cost.L +
                           (put ? plan.unpack : plan.pack + plan.cost.serialization + plan.unpack + plan.cost.o_r);
        plan.pending = left_pending(index(transfer.target), plan, reply);
        plan.attended = std::min(plan.w1, attends(index(transfer.target), plan.pending, plan.w1));
    }
    return plan;
}

std::int64_t TransferModel::pending(std::size_t location, std::uint32_t transfer, bool remotely) const {
    return plan(location, transfer, remotely).pending;
}

bool TransferModel::serves_unattended() const {
    std::uint64_t unattended = 0;
    std::uint64_t attended = 0;
    for (std::size_t l = 0; l < program_.timelines.size(); ++l) {
        const auto& transfers = program_.timelines[l].transfers;
        for (std::uint32_t i = 0; i < transfers.size(); ++i) {
            const auto& transfer = transfers[i];
            if (transfer.target == kNoLocation || transfer.target == location_at(l)) {
                continue;
            }
            const auto planned = plan(l, i, false);
            if (!planned.completed || !planned.round_trip || planned.closing != nullptr) {
                continue;  // unknown when it was complete at its target, or all were inside to complete it
            }
            const auto at = attends(index(transfer.target), planned.reached, INT64_MAX);
            if (at - planned.reached > planned.cost.L + 2 * planned.cost.o_control) {
                if (planned.w1 < at) {
                    ++unattended;
                } else if (planned.w0 <= planned.reached) {
                    ++attended;
                }
            }
        }
    }
    return unattended > attended;
}

TransferPartition TransferModel::partition(std::size_t location, std::uint32_t index, bool remotely) const {
    const auto kind = program_.timelines[location].transfers[index].kind;
    const auto planned = plan(location, index, remotely);
    const auto& cost = planned.cost;
    TransferPartition parts(planned.s0);
    const auto called = std::min(planned.s1, planned.w1);
    parts.place_until(category_of(Part::send_overhead), std::min(planned.s0 + cost.o_s, called));
    parts.deficit_ps = planned.s0 + cost.o_s - parts.cursor();
    if (planned.permission.at_ps > planned.s1) {
        parts.place_until(kResidual, called);  // its call did not wait for the permission
    }
    parts.place_until(planned.permission.category, std::min(planned.permission.at_ps, planned.w1));

    // The way in the order of time: what leaves the origin, what the target does, and what comes back.
    struct Step {
        std::uint8_t category;
        std::int64_t wanted;
        std::uint8_t tier;
    };
    const auto control = asynchronous_ || !planned.round_trip ? 0 : cost.o_control;
    const auto there = planned.round_trip ? cost.L : 0;
    const bool put = kind == Transfer::Kind::put;
    const std::array<Step, 10> steps = {{
        {category_of(Part::middleware), put ? planned.pack : 0, 1},
        {category_of(Part::endpoint_contention), queued_[location][index], 2},
        {category_of(Part::latency), there, 1},
        {category_of(Part::serialization), put ? cost.serialization : 0, 1},
        {category_of(Part::processor_queueing), planned.attended - planned.pending, 0},
        {category_of(Part::recv_overhead), control, 1},
        {category_of(Part::middleware), put ? planned.unpack : planned.pack, 1},
        {category_of(Part::latency), there, 1},
        {put ? category_of(Part::recv_overhead) : category_of(Part::serialization), put ? 0 : cost.serialization, 1},
        {category_of(Part::middleware), put ? 0 : planned.unpack, 1},
    }};
    std::array<Stage, 11> stages{};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        stages[i] = {.wanted_ps = planned.completed ? steps[i].wanted : 0, .tier = steps[i].tier, .granted_ps = 0};
    }
    stages.back() = {.wanted_ps = planned.completed && !put ? cost.o_r : 0, .tier = 1, .granted_ps = 0};
    const auto fitted = fit(planned.w1 - parts.cursor(), stages);
    parts.deficit_ps += fitted.deficit_ps;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const auto category = i < steps.size() ? steps[i].category : category_of(Part::recv_overhead);
        parts.place_until(category, parts.cursor() + stages[i].granted_ps);
    }
    parts.planned_end = parts.cursor() + fitted.deficit_ps;
    // It is complete, and its origin elsewhere; then the origin waits for others, not for it.
    parts.place_until(kResidual, std::min(planned.s1, planned.w0));
    parts.place_until(category_of(Part::processor_queueing), std::min(planned.w0, planned.w1));
    if (planned.closing != nullptr) {
        const auto wait = collectives_.wait(*planned.closing, location);
        parts.place_until(kCollectiveWait, std::min(planned.closing->begin_ps + wait, planned.w1));
        parts.place_until(kCollective, planned.w1);
    }
    parts.place_until(kResidual, planned.w1);
    return parts;
}

}  // namespace logpost::replay
