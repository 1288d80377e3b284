/// The replay of MessageModel's processors: each a FIFO server of what messages ask of it inside of calls.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "replay/native/memory/gallop.hpp"
#include "replay/native/memory/nearly_sorted.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/servers/fifo.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {

/// Something that a location's processor does for a message.
struct MessageModel::Job {
    enum class Kind : std::uint8_t {
        start,       ///< o_s and half of l_mw, at the begin of the send call
        completion,  ///< half of l_mw and o_r, from when message and completing call are there
        request,     ///< o_ctl: sends the CTS for a rendezvous' RTS
        clear,       ///< o_ctl: starts the data after a CTS
    };
    std::int64_t ready;
    std::int64_t service;
    std::uint32_t index;  ///< of the message's end here: among the receives (completion, request) or the sends
    Kind kind;
};

namespace {

/// When a processor worked for messages: intervals in order, without overlap.
class Busy {
  public:
    void clear() {
        begins_.clear();
        before_.assign(1, 0);
        hint_ = 0;
    }
    /// In the order of the begins.
    void add(std::int64_t begin, std::int64_t length) {
        begins_.push_back(begin);
        before_.push_back(before_.back() + length);
    }
    /// Time within [begin, end]. Fast for roughly ascending intervals: the search starts where the last one
    /// ended.
    [[nodiscard]] std::int64_t between(std::int64_t begin, std::int64_t end) noexcept {
        return begin < end ? until(end) - until(begin) : 0;
    }

  private:
    [[nodiscard]] std::int64_t until(std::int64_t time) noexcept {
        hint_ = partition_point_near(0, begins_.size(), hint_, [&](std::size_t i) { return begins_[i] < time; });
        if (hint_ == 0) {
            return 0;
        }
        const std::int64_t length = before_[hint_] - before_[hint_ - 1];
        return before_[hint_ - 1] + std::min(length, time - begins_[hint_ - 1]);
    }

    std::size_t hint_ = 0;
    std::vector<std::int64_t> begins_;
    std::vector<std::int64_t> before_;
};

/// What one call completes.
struct CallEnd {
    std::int64_t last = 0;  ///< when the last of it is complete
    std::uint32_t completions = 0;
};

}  // namespace

/// True: some handshake waited otherwise than was assumed.
bool MessageModel::replay_processors() {
    const auto& mine = block_.locations;
    std::vector<std::uint8_t> changed(mine.size());
    for_each_parallel(mine.size(), threads_, 1,
                      [&](std::size_t i, unsigned) { changed[i] = replay_processor(mine[i]) ? 1 : 0; });
    return std::ranges::find(changed, 1) != changed.end();
}

/// From the senders' lists, whose processors are known, to the receivers'.
void MessageModel::collect_late_replies() {
    std::vector<std::vector<LateReply>> received(late_replies_.size());
    for (const auto& sent : late_replies_) {
        for (const auto& reply : sent) {
            received[index(reply.message.location)].push_back(reply);
        }
    }
    for (auto& replies : received) {
        std::ranges::sort(replies, {}, [](const LateReply& reply) { return reply.message.receive; });
    }
    late_replies_ = std::move(received);
}

/// Waits for the processor, the work for others that a message met before its receive was posted, and how long a call
/// that completes several requests was held by the others.
bool MessageModel::replay_processor(std::size_t location) {
    const auto& timeline = program_.timelines[location];
    const auto here = location_at(location);
    // Kept from location to location: fresh pages would cost more than what is done with them.
    thread_local std::vector<Job> jobs, sending, all;
    thread_local std::vector<CallEnd> ends;
    thread_local std::vector<std::uint32_t> late;
    thread_local Busy busy;
    jobs.clear();
    sending.clear();
    late.clear();
    ends.assign(timeline.calls.size(), {});
    const auto records = records_[location];
    const auto waits = processor_[location];
    const auto& table = stages_[location];
    const auto service = [&](std::uint32_t receive) {
        const auto& planned = table[records[receive].stages];
        return planned.o_r + planned.l_mw - planned.l_mw / 2;
    };
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        const auto& message = records[i];
        if (!message.matched || message.violation) {
            continue;
        }
        jobs.push_back({std::max(message.arrival, message.times.rw0), service(i), i, Job::Kind::completion});
        const auto& planned = table[message.stages];
        if (!planned.rendezvous && message.times.r0 > message.arrival) {
            late.push_back(i);
        }
    }
    const bool alone = parameters_.asynchronous_progress;
    for (const auto& entry : rendezvous_[location]) {
        const auto& message = records[entry.receive];
        if (!alone || message.locality != Locality::other_node) {  // else only what a NIC does for it
            jobs.push_back({entry.request_ready, table[message.stages].o_control, entry.receive, Job::Kind::request});
        }
        late.push_back(entry.receive);
    }

    // A message is the reply to what its sender had last received from that rank. One that did not wait made none late.
    thread_local std::vector<std::pair<std::uint32_t, std::uint32_t>> replies;  // send, and receive of the request
    // kNone everywhere between locations: to fill it for each would cost the square of all.
    thread_local std::vector<std::uint32_t> last_of;
    replies.clear();
    last_of.resize(program_.timelines.size(), kNone);
    std::uint32_t taken = 0;
    timeline.sends.for_each([&](std::size_t at, const MessageEnd& send) {
        const auto begin = timeline.calls[send.call].enter_ps;
        for (; taken < records.size() && records[taken].times.rw1 <= begin; ++taken) {
            const auto& request = records[taken];
            if (request.matched && !request.violation) {
                last_of[index(timeline.receives[taken].peer)] = taken;
            }
        }
        const auto request = send.match != kNone ? last_of[index(send.peer)] : kNone;
        if (request != kNone && records[request].arrival + service(request) < records[request].times.rw1) {
            replies.emplace_back(static_cast<std::uint32_t>(at), request);
        }
    });
    for (std::uint32_t i = 0; i < taken; ++i) {
        if (records[i].matched && !records[i].violation) {
            last_of[index(timeline.receives[i].peer)] = kNone;
        }
    }

    // Else only what competes with a completion matters, and nothing does where processors do not queue.
    const bool every_job = (!late.empty() || !replies.empty()) && parameters_.processors_queue;
    const auto departures = departures_[location];
    std::int64_t started = 0;
    for (std::uint32_t i = 0; i < departures.size(); ++i) {
        const auto& departure = departures[i];
        if (!departure.matched) {
            continue;
        }
        const auto& planned = departure_stages_[location][departure.stages];
        if (!departure.follows) {
            started = departure.cut ? timeline.calls[timeline.sends[i].call].enter_ps
                                    : departure.end_ps - work_to_send(planned);
        }
        if (every_job || departure.also_receives) {
            sending.push_back({started, departure.end_ps - started, i, Job::Kind::start});
        }
        started = departure.end_ps;
        if (!departure.may_ask) {
            continue;
        }
        const auto& send = timeline.sends[i];
        const auto id = of_send(send);
        const auto* entry = rendezvous_of(id);
        if (entry == nullptr) {
            continue;  // the trace proves it eager, or it contradicts causality
        }
        if (!alone) {
            sending.push_back({entry->clear_ready, planned.o_control, i, Job::Kind::clear});
        }
        if (send.complete_call != kNone) {
            auto& end = ends[send.complete_call];
            end.last = std::max(end.last, sent(id));
            ++end.completions;
        }
    }

    std::ranges::uninitialized_value_construct(waits);  // in place of the departures

    // When a handshake's message is there: it may wait for a call that makes progress, and others with it.
    const auto arrived = [&](const Job& job) {
        if (job.kind == Job::Kind::request) {
            const auto& message = records[job.index];
            const MessageId id{here, job.index};
            const auto& planned = table[message.stages];
            return std::max(send_block_end(message.times, planned, begun(id)) + planned.L_control, message.times.r0);
        }
        if (job.kind == Job::Kind::clear) {
            const auto id = of_send(timeline.sends[job.index]);
            return rendezvous_of(id)->handshake.matched + stages(id).o_control + stages(id).L_control;
        }
        return job.ready;
    };
    const auto earlier = [&](const Job& a, const Job& b) {
        return a.ready != b.ready ? a.ready < b.ready : arrived(a) < arrived(b);
    };
    // Each in its own order is nearly sorted; together they are not.
    sort_nearly_sorted(jobs, earlier);
    sort_nearly_sorted(sending, earlier);
    if (sending.empty()) {
        all.swap(jobs);
    } else {
        all.resize(jobs.size() + sending.size());
        // A Sendrecv sends before it takes what was there when it began.
        std::ranges::merge(sending, jobs, all.begin(), earlier);
    }
    FifoServer processor(parameters_.processors_queue);
    busy.clear();
    // What it does last in a collective operation, whose end is measured, delays nothing here that was not late anyway.
    auto uses = location < nic_uses_.of.size() && every_job ? std::span<const NicUse>(nic_uses_.of[location])
                                                            : std::span<const NicUse>{};
    const auto collectives_until = [&](std::int64_t time) {
        for (; !uses.empty() && uses.front().from_ps < time; uses = uses.subspan(1)) {
            if (uses.front().processor) {
                busy.add(uses.front().from_ps, uses.front().service_ps);
            }
        }
    };
    // A call is work for the one message that it completes from when that is there until its end. A rendezvous within a
    // node is there with its request: no NIC moves its data, so this processor does, or waits for the one that does.
    const auto worked_until = [&](const Job& job, std::int64_t begin) {
        const std::int64_t planned = begin + job.service;
        if (job.kind != Job::Kind::completion && job.kind != Job::Kind::request) {
            return planned;
        }
        const auto& message = records[job.index];
        const auto kind = program_.kind(timeline.calls[timeline.receives[job.index].complete_call]);
        const bool completes_one = kind == CallKind::receive || kind == CallKind::wait;
        const bool is_there = job.kind == Job::Kind::completion ||
                              (begin >= message.times.rw0 && message.locality != Locality::other_node);
        return completes_one && is_there ? std::max(planned, message.times.rw1) : planned;
    };
    bool changed = false;
    for (auto next = all.begin(); next != all.end();) {
        const auto& job = *next++;
        const std::int64_t wait = processor.wait(job.ready, job.service);
        if (every_job) {
            const std::int64_t begin = job.ready + wait;
            collectives_until(begin);
            std::int64_t until = worked_until(job, begin);
            if (next != all.end()) {
                until = std::min(until, next->ready);
            }
            if (!uses.empty()) {
                until = std::min(until, uses.front().from_ps);
            }
            if (const auto length = std::max(job.service, until - begin); length > 0) {
                busy.add(begin, length);
            }
        }
        switch (job.kind) {
            case Job::Kind::start:
                break;
            case Job::Kind::completion: {
                waits[job.index].cpu_queue = wait;
                auto& end = ends[timeline.receives[job.index].complete_call];
                end.last = std::max(end.last, job.ready + wait + job.service);
                ++end.completions;
                break;
            }
            case Job::Kind::request: {
                if (alone) {
                    break;
                }
                auto* entry = rendezvous_of({here, job.index});
                changed |= entry->request_wait != wait;
                entry->request_wait = wait;
                break;
            }
            case Job::Kind::clear: {
                auto* entry = rendezvous_of(of_send(timeline.sends[job.index]));
                changed |= entry->clear_wait != wait;
                entry->clear_wait = wait;
                break;
            }
        }
    }
    collectives_until(INT64_MAX);
    timeline.receives.for_each([&](std::size_t at, const MessageEnd& received) {
        const auto i = static_cast<std::uint32_t>(at);
        if (records[i].matched && !records[i].violation) {
            const auto& end = ends[received.complete_call];
            waits[i].held_until = end.completions > 1 ? end.last - service(i) : 0;
        }
    });
    for (const auto receive : late) {
        const auto& message = records[receive];
        const auto& planned = table[message.stages];
        const MessageId id{here, receive};
        const std::int64_t there = planned.rendezvous
                                       ? send_block_end(message.times, planned, begun(id)) + planned.L_control
                                       : message.arrival;
        waits[receive].receiver_busy = busy.between(there, std::min(message.times.r0, message.times.rw0));
    }
    for (const auto& [send, request] : replies) {
        const auto id = of_send(timeline.sends[send]);
        const auto& reply = record(id);
        const auto& asking = records[request];
        if (!reply.matched || reply.violation || reply.times.rw0 >= reply.times.s0) {
            continue;
        }
        const auto& planned = table[asking.stages];
        const MessageId its{here, request};
        const std::int64_t there =
            planned.rendezvous ? send_block_end(asking.times, planned, begun(its)) + planned.L_control : asking.arrival;
        const std::int64_t from = std::max(there, reply.times.rw0);
        const std::int64_t served = planned.rendezvous
                                        ? handshake_of(its).matched
                                        : std::max(asking.arrival, asking.times.rw0) + waits[request].cpu_queue;
        const std::int64_t work = busy.between(from, std::min(served, asking.times.rw1));
        if (work > 0) {
            late_replies_[location].push_back({id, from, work});
        }
    }
    return changed;
}

}  // namespace logpost::replay
