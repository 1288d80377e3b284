#include "replay/native/split/partition.hpp"

#include <algorithm>

#include "replay/native/split/fit.hpp"

namespace logpost::replay {
namespace {

std::int64_t positive(std::int64_t value) noexcept {
    return std::max<std::int64_t>(0, value);
}

std::int64_t first_half(std::int64_t l_mw) noexcept {
    return l_mw / 2;
}
std::int64_t second_half(std::int64_t l_mw) noexcept {
    return l_mw - l_mw / 2;
}

/// o_s and half of the middleware, limited by the send call.
struct Block {
    std::int64_t overhead = 0;
    std::int64_t middleware = 0;
    std::int64_t deficit = 0;
};

Block block(std::int64_t limit, std::int64_t overhead, std::int64_t middleware) noexcept {
    if (overhead + middleware <= limit) {
        return {overhead, middleware, 0};
    }
    std::array<Stage, 2> stages{{{.wanted_ps = overhead}, {.wanted_ps = middleware}}};
    const auto result = fit(positive(limit), stages);
    return {stages[0].granted_ps, stages[1].granted_ps, result.deficit_ps};
}

Block send_block(const MessageTimes& times, const MessageStages& stages, std::int64_t begun) noexcept {
    return block(std::min(times.s1, times.rw1) - times.s0 - begun, stages.o_s, first_half(stages.l_mw));
}

/// Lays out the time between the receiver's enter of the completing call (or the arrival in it) and its overhead:
/// the queue for its processor up to the model, the wait for the call's other requests, and what is left.
void place_tail(Partition& parts, std::int64_t until, const MessageWaits& waits) noexcept {
    const std::int64_t queue = std::min(waits.cpu_queue, positive(until - parts.cursor()));
    parts.place(Part::processor_queueing, queue);
    const std::int64_t held = std::min(waits.held_until, until) - parts.cursor();
    parts.place(Part::processor_queueing, positive(held));
    parts.place(Part::residual, until - parts.cursor());
}

struct Planned {
    Part part;
    std::uint8_t tier;
    std::int64_t wanted;
};

/// Places planned stages in their order in time into [cursor, until], then the wait for the call's other requests,
/// then the residual. `planned_end` is where the plan ends if everything fits.
template <std::size_t N>
void place_fitted(Partition& parts, std::int64_t until, const std::array<Planned, N>& plan,
                  const MessageWaits& waits) noexcept {
    std::int64_t wanted = 0;
    for (const auto& stage : plan) {
        wanted += stage.wanted;
    }
    if (wanted <= until - parts.cursor()) {
        for (const auto& stage : plan) {
            parts.place(stage.part, stage.wanted);
        }
    } else {
        std::array<Stage, N> stages;
        for (std::size_t i = 0; i < N; ++i) {
            stages[i] = {.wanted_ps = plan[i].wanted, .tier = plan[i].tier};
        }
        parts.deficit_ps += fit(until - parts.cursor(), stages).deficit_ps;
        for (std::size_t i = 0; i < N; ++i) {
            parts.place(plan[i].part, stages[i].granted_ps);
        }
    }
    parts.place(Part::processor_queueing, positive(std::min(waits.held_until, until) - parts.cursor()));
    parts.place(Part::residual, until - parts.cursor());
}

void place_eager(Partition& parts, std::int64_t until, const MessageTimes& times, const MessageStages& stages,
                 const MessageWaits& waits) noexcept {
    const std::int64_t arrival =
        parts.cursor() + waits.send_endpoint + stages.L + stages.serialization + waits.network + waits.recv_endpoint;
    parts.planned_arrival = arrival;
    if (times.rw0 <= arrival) {
        place_fitted<6>(parts, until,
                        {{{Part::endpoint_contention, 1, waits.send_endpoint},
                          {Part::latency, 0, stages.L},
                          {Part::network_contention, 2, waits.network},
                          {Part::endpoint_contention, 1, waits.recv_endpoint},
                          {Part::serialization, 0, stages.serialization},
                          {Part::processor_queueing, 1, waits.cpu_queue}}},
                        waits);
        return;
    }
    parts.place(Part::endpoint_contention, waits.send_endpoint);
    parts.place(Part::latency, stages.L);
    parts.place(Part::network_contention, waits.network);
    parts.place(Part::endpoint_contention, waits.recv_endpoint);
    parts.place(Part::serialization, stages.serialization);
    const std::int64_t unposted = positive(std::min(times.r0, times.rw0) - arrival);
    const std::int64_t busy = std::min(waits.receiver_busy, unposted);
    parts.place(Part::processor_queueing, busy);
    parts.place(Part::late_receiver, unposted - busy);
    parts.place(Part::processor_queueing, times.rw0 - parts.cursor());
    place_tail(parts, until, waits);
}

void place_rendezvous(Partition& parts, std::int64_t until, const MessageTimes& times, const MessageStages& stages,
                      const MessageWaits& waits, const Handshake& facts) noexcept {
    const std::int64_t request = parts.cursor() + stages.L_control;
    const std::int64_t matched = std::max(facts.matched, request);
    const std::int64_t unposted = positive(std::min(times.r0, matched) - request);
    const std::int64_t unattended = matched - request - unposted;
    const std::int64_t clear = matched + stages.o_control + stages.L_control;
    const std::int64_t sender_away = positive(facts.sender_ready - clear);
    const std::int64_t start = clear + sender_away + stages.o_control;
    const std::int64_t arrival =
        start + waits.send_endpoint + stages.L + stages.serialization + waits.network + waits.recv_endpoint;
    parts.planned_arrival = arrival;
    // Facts precede models: the waits are served first where the plan is longer than the measured time.
    const std::int64_t busy = std::min(waits.receiver_busy, unposted);
    const std::array<Planned, 14> plan{{{Part::latency, 1, stages.L_control},
                                        {Part::processor_queueing, 0, busy},
                                        {Part::late_receiver, 0, unposted - busy},
                                        {Part::processor_queueing, 0, unattended},
                                        {Part::recv_overhead, 1, stages.o_control},
                                        {Part::latency, 1, stages.L_control},
                                        {Part::processor_queueing, 0, sender_away},
                                        {Part::send_overhead, 1, stages.o_control},
                                        {Part::endpoint_contention, 2, waits.send_endpoint},
                                        {Part::latency, 1, stages.L},
                                        {Part::network_contention, 3, waits.network},
                                        {Part::endpoint_contention, 2, waits.recv_endpoint},
                                        {Part::serialization, 1, stages.serialization},
                                        {Part::processor_queueing, 2, waits.cpu_queue}}};
    if (times.rw0 <= arrival) {
        place_fitted(parts, until, plan, waits);
        return;
    }
    for (std::size_t i = 0; i + 1 < plan.size(); ++i) {
        parts.place(plan[i].part, plan[i].wanted);
    }
    parts.place(Part::processor_queueing, times.rw0 - parts.cursor());
    place_tail(parts, until, waits);
}

}  // namespace

std::array<std::int64_t, kParts> Partition::totals() const noexcept {
    std::array<std::int64_t, kParts> sums{};
    for (const auto* segment = begin_segment(); segment != end_segment(); ++segment) {
        sums[static_cast<std::size_t>(segment->part)] += segment->end - segment->begin;
    }
    return sums;
}

std::int64_t send_block_end(const MessageTimes& times, const MessageStages& stages, std::int64_t begun) noexcept {
    const std::int64_t limit = positive(std::min(times.s1, times.rw1) - times.s0);
    return times.s0 + std::min(limit, begun + stages.o_s + first_half(stages.l_mw));
}

std::int64_t injection(const MessageTimes& times, const MessageStages& stages, const Handshake& handshake,
                       std::int64_t begun) noexcept {
    return stages.rendezvous ? handshake.sender_ready + stages.o_control : send_block_end(times, stages, begun);
}

Partition partition(const MessageTimes& times, const MessageStages& stages, const MessageWaits& waits,
                    const Handshake& handshake) noexcept {
    const bool violation = times.violates_causality();
    const std::int64_t sent = violation ? times.rw1 : times.s0;
    Partition parts(std::min(sent, times.rw0));
    if (waits.sender_busy > 0) {
        parts.place(Part::late_sender, waits.sender_from - times.rw0);
        parts.place(Part::processor_queueing, std::min(waits.sender_busy, positive(sent - parts.cursor())));
    }
    parts.place(Part::late_sender, sent - parts.cursor());
    if (violation) {
        parts.planned_arrival = times.rw1;
        return parts;
    }
    const std::int64_t begun = std::min(waits.begun, positive(std::min(times.s1, times.rw1) - times.s0));
    parts.place(Part::processor_queueing, begun);
    const auto sending = send_block(times, stages, begun);
    parts.place(Part::send_overhead, sending.overhead);
    parts.place(Part::middleware, sending.middleware);
    const std::int64_t free_for_receive = times.rw1 - std::max(times.rw0, parts.cursor());
    const auto receiving = block(free_for_receive, stages.o_r, second_half(stages.l_mw));
    parts.deficit_ps = sending.deficit + receiving.deficit;
    parts.recv_overhead_ps = receiving.overhead;
    const std::int64_t until = times.rw1 - receiving.overhead - receiving.middleware;
    if (stages.rendezvous) {
        place_rendezvous(parts, until, times, stages, waits, handshake);
    } else {
        place_eager(parts, until, times, stages, waits);
    }
    parts.place(Part::middleware, receiving.middleware);
    parts.place(Part::recv_overhead, receiving.overhead);
    return parts;
}

}  // namespace logpost::replay
