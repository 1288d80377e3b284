#include "ledger.hpp"

#include <algorithm>
#include <map>

namespace logpost::truth {
namespace {

/// Lays segments one after the other.
class Line {
  public:
    explicit Line(Time begin) : cursor_(begin) {}
    void until(Time end, Cause cause) {
        if (end > cursor_) {
            segments_.push_back({cursor_, end, cause});
            cursor_ = end;
        }
    }
    [[nodiscard]] Time cursor() const noexcept { return cursor_; }
    std::vector<Segment> take() { return std::move(segments_); }

  private:
    Time cursor_;
    std::vector<Segment> segments_;
};

/// [cursor, posted]: the receive was not posted. While the receiver handled other messages, its processor was the
/// cause.
void unposted(Line& line, const Record& record, std::size_t id, Time posted) {
    const auto& busy = record.ranks[static_cast<std::size_t>(record.messages[id].receiver)].busy;
    auto at = std::ranges::lower_bound(busy, line.cursor(), {}, &Busy::end);
    for (; at != busy.end() && at->begin < posted; ++at) {
        if (at->message != id) {
            line.until(std::min(at->begin, posted), Cause::late_receiver);
            line.until(std::min(at->end, posted), Cause::processor_queueing);
        }
    }
    line.until(posted, Cause::late_receiver);
}

/// [cursor, sent]: the message was not sent. It is the reply to the last message that its sender has received from its
/// receiver; while that one waited for the sender's processor, which handled others, the processor was the cause.
void unreplied(Line& line, const Record& record, std::size_t id, Time sent) {
    const auto& reply = record.messages[id];
    const auto& server = record.ranks[static_cast<std::size_t>(reply.sender)];
    const auto request = std::ranges::find_if(server.busy.rbegin(), server.busy.rend(), [&](const Busy& one) {
        return one.work == Work::recv_overhead && record.messages[one.message].sender == reply.receiver &&
               record.messages[one.message].receiver == reply.sender && !record.messages[one.message].internal &&
               server.calls[record.messages[one.message].receive_call].leave <= sent;
    });
    if (request != server.busy.rend()) {
        const auto& one = record.messages[request->message];
        const Time there = one.rendezvous ? one.request_arrival : one.arrival;
        const Time served = std::min(sent, one.rendezvous ? one.request_begin : one.serve_begin);
        auto at = std::ranges::lower_bound(server.busy, std::max(line.cursor(), there), {}, &Busy::end);
        for (; at != server.busy.end() && at->begin < served; ++at) {
            if (at->message != request->message) {
                line.until(std::max(at->begin, there), Cause::late_sender);
                line.until(std::min(at->end, served), Cause::processor_queueing);
            }
        }
    }
    line.until(sent, Cause::late_sender);
}

Cause cause_of(Work work) {
    switch (work) {
        case Work::send_overhead:
            return Cause::send_overhead;
        case Work::recv_overhead:
            return Cause::recv_overhead;
        case Work::middleware:
            return Cause::middleware;
        case Work::collective:
            return Cause::collective;
    }
    return Cause::residual;
}

/// A call by name that moves no data.
Cause cause_without_operation(const Call& call) {
    if (call.region == "MPI_Irecv") {
        return Cause::recv_overhead;
    }
    return Cause::mpi_other;
}

}  // namespace

Awaited awaited(const Record& record) {
    struct Instance {
        Time latest = 0, root = 0;
    };
    std::map<std::size_t, Instance> instances;
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
        for (const auto& call : record.ranks[rank].calls) {
            if (call.collective != Collective::none && call.part != Part::completion) {
                auto& instance = instances[call.instance];
                instance.latest = std::max(instance.latest, call.enter);
                if (call.root == static_cast<int>(rank)) {
                    instance.root = call.enter;
                }
            }
        }
    }
    return [instances](const Call& call, int number) {
        const auto& instance = instances.at(call.instance);
        Time until = call.enter;
        switch (call.collective) {
            case Collective::bcast:
            case Collective::scatter:
                until = call.root == number ? until : instance.root;
                break;
            case Collective::reduce:
            case Collective::gather:
                until = call.root == number ? instance.latest : until;
                break;
            default:
                until = instance.latest;
        }
        return std::clamp(until, call.enter, call.leave);
    };
}

std::vector<Segment> segments(const Record& record, std::size_t id) {
    const auto& m = record.messages[id];
    const auto& sender = record.ranks[static_cast<std::size_t>(m.sender)].calls;
    const auto& receiver = record.ranks[static_cast<std::size_t>(m.receiver)].calls;
    const Time s0 = sender[m.send_call].enter;
    const Time r0 = receiver[m.post_call].enter;
    const Time rw0 = receiver[m.receive_call].enter;
    const Time rw1 = receiver[m.receive_call].leave;
    Line line(std::min(s0, rw0));
    unreplied(line, record, id, s0);
    line.until(m.overhead_begin, Cause::processor_queueing);  // its call starts others before it
    line.until(m.overhead_end, Cause::send_overhead);
    line.until(m.middleware_end, Cause::middleware);
    if (m.rendezvous) {
        line.until(m.request_arrival, Cause::latency);
        unposted(line, record, id, std::min(r0, m.request_begin));
        line.until(m.request_begin, Cause::processor_queueing);
        line.until(m.request_end, Cause::recv_overhead);
        line.until(m.clear_arrival, Cause::latency);
        line.until(m.clear_begin, Cause::processor_queueing);
        line.until(m.clear_end, Cause::send_overhead);
    }
    line.until(m.sent_begin, Cause::endpoint_contention);
    line.until(m.sent_begin + m.L, Cause::latency);
    line.until(m.received_begin, Cause::endpoint_contention);
    line.until(m.arrival, Cause::serialization);
    unposted(line, record, id, std::min(r0, rw0));
    line.until(m.serve_begin, Cause::processor_queueing);
    const Time whole = record.machine.middleware(m.bytes, m.layout);
    line.until(m.serve_begin + whole - whole / 2, Cause::middleware);
    line.until(m.serve_end, Cause::recv_overhead);
    line.until(rw1, Cause::processor_queueing);  // held by the call's other requests
    return line.take();
}

std::vector<Segment> transfer_segments(const Record& record, std::size_t id) {
    const auto& t = record.transfers[id];
    const auto& origin = record.ranks[static_cast<std::size_t>(t.origin)].calls;
    const auto& complete = origin[t.complete_call];
    Line line(origin[t.call].enter);
    line.until(t.overhead_begin, Cause::residual);
    line.until(t.overhead_end, Cause::send_overhead);
    line.until(t.sent_begin, Cause::endpoint_contention);
    if (t.put && !t.remotely) {
        // Its origin may use its memory again: that says nothing of the target.
        line.until(t.done, Cause::serialization);
    } else {
        line.until(t.sent_begin + t.L, Cause::latency);
        line.until(t.received_begin, Cause::endpoint_contention);
        line.until(t.at_target, t.put ? Cause::serialization : Cause::latency);
        line.until(t.attend_begin, Cause::processor_queueing);
        line.until(t.attend_end, Cause::recv_overhead);
        line.until(t.answer_begin, Cause::endpoint_contention);
        line.until(t.answer_begin + t.L, Cause::latency);
        line.until(t.answer_received, Cause::endpoint_contention);
        line.until(t.answered, Cause::serialization);
        const Time o_r = t.put ? 0 : record.machine.between(t.origin, t.target).o_r;
        line.until(t.done - o_r, Cause::processor_queueing);
        line.until(t.done, Cause::recv_overhead);
    }
    line.until(origin[t.call].leave, Cause::residual);
    line.until(complete.enter, Cause::processor_queueing);  // its origin was elsewhere
    if (complete.collective == Collective::fence) {
        line.until(awaited(record)(complete, t.origin), Cause::collective_wait);
        line.until(complete.leave, Cause::collective);
    }
    line.until(complete.leave, Cause::processor_queueing);  // held by the call's other transfers
    return line.take();
}

Sums sum(const std::vector<Segment>& segments) {
    Sums sums{};
    for (const auto& segment : segments) {
        sums[static_cast<std::size_t>(segment.cause)] += segment.end - segment.begin;
    }
    return sums;
}

namespace {

/// A one-sided call: what it had to be permitted first, then the transfer that completes last, then the rest.
template <class Add>
void one_sided(const Record& record, int number, const Call& call, const Awaited& waits, Add add) {
    Time at = call.enter;
    Cause rest = Cause::residual;
    if (call.collective == Collective::fence) {
        const Time until = waits(call, number);
        add(Cause::collective_wait, at, until);
        at = until;
        rest = Cause::collective;
    }
    std::size_t last = kNone;
    for (const auto& operation : call.operations) {
        const bool of_transfer =
            operation.kind == Operation::Kind::transfer || operation.kind == Operation::Kind::transfer_complete;
        if (of_transfer && (last == kNone || record.transfers[operation.message].done >= record.transfers[last].done)) {
            last = operation.message;
        }
    }
    if (call.permission.has_value()) {
        const auto& permission = *call.permission;
        const Time until = std::clamp(permission.until, at, call.leave);
        add(permission.kind == Permission::Kind::post       ? Cause::late_receiver
            : permission.kind == Permission::Kind::complete ? Cause::late_sender
                                                            : Cause::lock_wait,
            at, until);
        at = until;
        rest = Cause::latency;  // of the notice
        if (last == kNone) {
            last = permission.transfer;
        }
    }
    if (last != kNone) {
        for (const auto& segment : transfer_segments(record, last)) {
            const Time end = std::min(call.leave, segment.end);
            add(segment.cause, std::max(at, segment.begin), end);
            at = std::max(at, end);
        }
    }
    add(rest, at, call.leave);
}

Sums account(const Record& record, int number, const Awaited& waits) {
    const auto& rank = record.ranks[static_cast<std::size_t>(number)];
    Sums sums{};
    const auto add = [&](Cause cause, Time begin, Time end) {
        sums[static_cast<std::size_t>(cause)] += std::max<Time>(0, end - begin);
    };
    Time cursor = 0;
    auto busy = rank.busy.begin();
    for (const auto& call : rank.calls) {
        add(Cause::compute, cursor, call.enter);
        cursor = call.leave;
        while (busy != rank.busy.end() && busy->end <= call.enter) {
            ++busy;
        }
        if (call.one_sided) {
            one_sided(record, number, call, waits, add);
            continue;
        }
        // The call that starts one does what the operation has to do; of one of neighbours no archive states more.
        if (call.part == Part::start || of_neighbours(call)) {
            add(Cause::collective, call.enter, call.leave);
            continue;
        }
        if (call.collective != Collective::none) {
            const auto until = waits(call, number);
            add(Cause::collective_wait, call.enter, until);
            add(Cause::collective, until, call.leave);
            continue;
        }
        // The operation that completes last.
        std::size_t last = kNone;
        Time latest = kNever;
        for (const auto& operation : call.operations) {
            if (operation.message == kNone || operation.kind == Operation::Kind::irecv) {
                continue;
            }
            const auto& m = record.messages[operation.message];
            Time instant = m.middleware_end;
            if (operation.kind == Operation::Kind::recv || operation.kind == Operation::Kind::irecv_complete) {
                instant = m.serve_end;
            } else if (operation.kind != Operation::Kind::isend && m.rendezvous) {
                instant = m.sent_end;
            }
            if (instant >= latest) {
                latest = instant;
                last = operation.message;
            }
        }
        std::vector<Segment> of_last;
        if (last != kNone && record.messages[last].receive_call != kNone) {
            of_last = segments(record, last);
        }
        const auto fill = [&](Time begin, Time end) {
            for (const auto& segment : of_last) {
                add(segment.cause, std::max(begin, segment.begin), std::min(end, segment.end));
            }
            if (of_last.empty()) {
                add(last == kNone ? cause_without_operation(call) : Cause::residual, begin, end);
            } else {
                add(Cause::residual, begin, std::min(end, of_last.front().begin));
                add(Cause::residual, std::max(begin, of_last.back().end), end);
            }
        };
        Time at = call.enter;
        for (auto work = busy; work != rank.busy.end() && work->begin < call.leave; ++work) {
            fill(at, work->begin);
            add(cause_of(work->work), work->begin, work->end);
            at = work->end;
        }
        fill(at, call.leave);
    }
    add(Cause::compute, cursor, rank.end);
    return sums;
}

}  // namespace

std::vector<Sums> accounts(const Record& record) {
    const auto waits = awaited(record);
    std::vector<Sums> result;
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
        result.push_back(account(record, static_cast<int>(rank), waits));
    }
    return result;
}

std::vector<std::vector<ThreadSums>> thread_accounts(const Record& record) {
    std::vector<std::vector<ThreadSums>> result;
    for (const auto& rank : record.ranks) {
        std::size_t count = 1;
        for (const auto& parallel : rank.parallels) {
            count = std::max(count, parallel.phases.front().size());
        }
        std::vector<ThreadSums> threads(count == 1 ? 0 : count);
        Time inside = 0;
        for (const auto& parallel : rank.parallels) {
            for (const auto& phase : parallel.phases) {
                const auto longest = std::ranges::max(phase);
                inside += longest;
                for (std::size_t t = 0; t < threads.size(); ++t) {
                    if (t < phase.size()) {
                        threads[t].parallel += phase[t];
                        threads[t].imbalance += longest - phase[t];
                    } else {
                        threads[t].not_in_team += longest;
                    }
                }
            }
        }
        Time called = 0;
        for (const auto& call : rank.calls) {
            called += call.leave - call.enter;
        }
        for (std::size_t t = 0; t < threads.size(); ++t) {
            (t == 0 ? threads[t].communication : threads[t].idle_communication) = called;
            (t == 0 ? threads[t].serial : threads[t].idle_serial) = rank.end - inside - called;
        }
        result.push_back(std::move(threads));
    }
    return result;
}

}  // namespace logpost::truth
