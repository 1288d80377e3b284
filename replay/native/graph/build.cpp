#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "replay/native/graph/attention.hpp"
#include "replay/native/graph/calibrated.hpp"
#include "replay/native/graph/calls_in_time.hpp"
#include "replay/native/graph/draft.hpp"
#include "replay/native/graph/overlapped.hpp"
#include "replay/native/graph/synchronous.hpp"
#include "replay/native/graph/transfers.hpp"
#include "replay/native/graph/turns.hpp"
#include "replay/native/memory/release.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/program/message_facts.hpp"
#include "replay/native/program/phases.hpp"
#include "replay/native/servers/endpoints.hpp"

namespace logpost::replay {
namespace {

class Builder {
  public:
    Builder(const Program& program, const Parameters& machine, const Parameters& planned, const Surroundings* elsewhere,
            const Network* network, bool overlapped, bool nics_share, bool with_steps)
        : program_(program),
          planned_(planned),
          elsewhere_(elsewhere),
          network_(network),
          overlapped_(overlapped),
          with_steps_(with_steps),
          draft_(machine, program.placement, elsewhere == nullptr ? program.placement : elsewhere->placement),
          locations_(program.timelines.size()),
          calls_(program) {
        draft_.contention = network != nullptr;
        draft_.nics_share = nics_share;
        draft_.numbered =
            draft_.contention || moved() || overlapped || (planned.asynchronous_progress && OneSided::in(program));
    }

    Graph build() {
        reserve();
        add_calls();
        add_sends();
        add_turns();
        decide_synchronous_sends(program_, draft_, classes_);
        add_receives();
        if (OneSided::in(program_)) {
            OneSided one_sided(draft_, program_, events_, planned_.asynchronous_progress,
                               {bases_, sending_, receiving_, answering_, exchanged_});
            add_collectives(draft_, program_, one_sided.gates(), events_.leaves, of_collectives_);
            one_sided.start();
            add_own_edges();
            const auto edges = draft_.edges;
            const auto order = order_with_completions(one_sided);
            draft_.edges = edges;
            draft_.incoming = Incoming();
            one_sided.follow(order);
            if (!with_steps_) {
                draft_.grants = {};
            }
        } else {
            add_collectives(draft_, program_, events_.enters, events_.leaves, of_collectives_);
            add_own_edges();
        }
        // The memory of what the edges contain by now holds for what is built next.
        release(calls_, bases_, completions_, classes_, origins_);
        give_back_unused(draft_.edges.size() * sizeof(DraftEdge));
        auto order = first_order();
        make_room({&sending_, &of_collectives_.sending});
        add_queue(order, sending_);
        add_queue(order, of_collectives_.sending);
        release(sending_, of_collectives_.sending);
        give_back_unused(draft_.nodes * sizeof(QueuedMessage));
        order.update(draft_);
        make_room({&receiving_, &of_collectives_.receiving, &answering_}, served_);
        add_queue(order, receiving_);
        add_queue(order, of_collectives_.receiving);
        release(receiving_, of_collectives_.receiving);
        give_back_unused(draft_.nodes * sizeof(QueuedMessage));
        order.update(draft_);
        add_processors(order);
        release(served_, answering_);
        order.update(draft_);
        const auto library = draft_.library;
        auto graph =
            calibrated(std::move(draft_), std::move(order).taken(), std::move(events_), exchanged_, program_, network_);
        graph.rebuilt = rebuilt_;
        graph.library = library;
        // Empty where calls move, or wait for transfers: then nothing is known.
        apart_.resize(graph.messages.size(), apart_.empty() ? 0 : std::numeric_limits<std::int64_t>::max());
        graph.apart_ps = std::move(apart_);
        return graph;
    }

  private:
    /// Where what follows a message's sending starts: after the overhead if `ready`, else before it.
    struct Origin {
        std::uint32_t node = kNone;
        bool ready = false;
    };
    struct Served {
        std::uint32_t call;
        QueuedMessage message;
    };

    [[nodiscard]] NodeOrder first_order() {
        try {
            return NodeOrder(draft_);
        } catch (const Cycle& cycle) {
            throw CycleError("the recorded calls wait for each other in a circle: " + calls_of(cycle, events_));
        }
    }

    /// Where messages and operations contradict completed accesses, these were not found as they were.
    [[nodiscard]] NodeOrder order_with_completions(OneSided& one_sided) {
        const auto known = draft_.edges.size();
        one_sided.order_completions();
        try {
            return NodeOrder(draft_);
        } catch (const Cycle&) {
            draft_.edges.resize(known);
            return first_order();
        }
    }

    [[nodiscard]] bool takes_part(std::size_t location) const noexcept { return program_.accounted[location] != 0; }

    /// Whether a receive and its send are in the graph.
    [[nodiscard]] bool followed(std::size_t location, const MessageEnd& receive) const noexcept {
        return receive.match != kNone && receive.complete_call != kNone && takes_part(location) &&
               takes_part(index(receive.peer));
    }

    /// Memory that is not used costs none, and a column that grows needs it twice.
    void reserve() {
        std::size_t calls = 0;
        std::size_t messages = 0;
        for (std::size_t l = 0; l < locations_; ++l) {
            calls += program_.timelines[l].calls.size() + 1;
            messages += program_.timelines[l].receives.size() + program_.timelines[l].transfers.size();
        }
        draft_.measured.reserve(2 * calls);
        draft_.edges.reserve(2 * calls + 12 * messages);
    }

    void add_calls() {
        classes_.resize(locations_);
        events_.enters.resize(locations_);
        events_.leaves.resize(locations_);
        events_.begins.assign(locations_, kNone);
        events_.ends.assign(locations_, kNone);
        origins_.resize(locations_);
        bases_.resize(locations_);
        completions_.resize(locations_);
        sending_.resize(locations_);
        receiving_.resize(locations_);
        of_collectives_.sending.resize(locations_);
        of_collectives_.receiving.resize(locations_);
        answering_.resize(locations_);
        served_.resize(locations_);
        const auto computes = [&](std::size_t l, std::int32_t callpath) {
            return draft_.model({.kind = EdgeModel::Kind::compute, .location = location_at(l), .callpath = callpath});
        };
        std::vector<std::uint32_t> last(locations_, kNone);
        for (std::size_t l = 0; l < locations_; ++l) {
            if (takes_part(l)) {
                const auto& timeline = program_.timelines[l];
                last[l] = events_.begins[l] = draft_.add_event(timeline.first_ps);
                events_.enters[l].reserve(timeline.calls.size());
                events_.leaves[l].reserve(timeline.calls.size());
                completions_[l].assign(timeline.calls.size(), 0);
                timeline.receives.for_each([&](std::size_t, const MessageEnd& receive) {
                    if (followed(l, receive)) {
                        ++completions_[l][receive.complete_call];
                    }
                });
            }
        }
        std::vector<std::vector<std::uint32_t>> waits(locations_);
        for (std::size_t l = 0; overlapped_ && l < locations_; ++l) {
            if (takes_part(l)) {
                waits[l] = overlapped_waits(program_, program_.timelines[l]);
            }
        }
        std::vector<std::uint32_t> moved(locations_);  // waits of a row whose following work is moved yet
        calls_.for_each([&](std::size_t l, std::uint32_t number) {
            const auto& calls = program_.timelines[l].calls;
            const auto& call = calls[number];
            if (moved[l] > 0) {
                exchanged_.work.emplace_back(draft_.next_edge(), 0);
                --moved[l];
            }
            auto enter = draft_.add_event(call.enter_ps);
            draft_.add_edge(last[l], enter, computes(l, call.callpath));
            for (std::uint32_t i = number; !waits[l].empty() && i < number + waits[l][number]; ++i) {
                const auto ready = enter;
                enter = draft_.add_event(call.enter_ps);
                exchanged_.work.emplace_back(draft_.next_edge(), calls[i + 1].enter_ps - calls[i].leave_ps);
                draft_.add_edge(ready, enter, computes(l, calls[i + 1].callpath));
                ++moved[l];
            }
            last[l] = draft_.add_event(call.leave_ps);
            events_.enters[l].push_back(enter);
            events_.leaves[l].push_back(last[l]);
        });
        for (std::size_t l = 0; l < locations_; ++l) {
            const auto before = takes_part(l) ? start_up_calls(program_, l) : 0;
            for (std::size_t call = 0; call < before; ++call) {
                draft_.measured.set_fixed(events_.enters[l][call]);
                draft_.measured.set_fixed(events_.leaves[l][call]);
            }
            if (takes_part(l)) {
                events_.ends[l] = draft_.add_event(program_.timelines[l].last_ps);
                draft_.add_edge(last[l], events_.ends[l], computes(l, -1));
            }
        }
    }

    [[nodiscard]] Blocks blocks(const Timeline& sender, std::uint32_t send, std::size_t& next) const noexcept {
        while (next < sender.layouts.size() && sender.layouts[next].send < send) {
            ++next;
        }
        if (next == sender.layouts.size() || sender.layouts[next].send != send) {
            return {};
        }
        const auto& layout = program_.layouts[static_cast<std::size_t>(sender.layouts[next].layout)];
        return layout.blocks <= 1 && layout.stride_bytes == 0
                   ? Blocks{}
                   : Blocks{.block_bytes = layout.block_bytes, .stride_bytes = layout.stride_bytes};
    }

    /// What the calls of a location start. A call that starts several messages, or one while it receives, does so one
    /// after the other.
    void add_sends() {
        std::vector<std::vector<std::uint8_t>> several(locations_);  // 1: the call starts more than one message
        std::vector<std::uint32_t> next(locations_);
        std::vector<std::size_t> layout(locations_);
        for (std::size_t l = 0; l < locations_; ++l) {
            if (!takes_part(l)) {
                continue;
            }
            const auto& sends = program_.timelines[l].sends;
            check_order(sends);
            check_order(program_.timelines[l].receives);
            bases_[l] = events_.enters[l];
            origins_[l].resize(sends.size());
            classes_[l].assign(sends.size(), kNone);
            several[l].resize(program_.timelines[l].calls.size());
            for (std::uint32_t i = 1; i < sends.size(); ++i) {
                if (sends[i].call == sends[i - 1].call) {
                    several[l][sends[i].call] = 1;
                }
            }
        }
        calls_.for_each([&](std::size_t l, std::uint32_t call) {
            const auto& sends = program_.timelines[l].sends;
            for (auto& i = next[l]; i < sends.size() && sends[i].call == call; ++i) {
                add_send(l, i, several[l][call] != 0, layout[l]);
            }
        });
    }

    /// Sends that wait in their calls for the messages before them to leave.
    void add_turns() {
        const Turns turns(program_, draft_, classes_, completions_);
        if (!overlapped_ && !OneSided::in(program_)) {
            apart_ = turns.apart_ps();
        }
        for (std::size_t l = 0; l < locations_; ++l) {
            turns.for_each(l, [&](const Turn& turn) {
                draft_.add_edge(events_.leaves[l][turn.before], events_.leaves[l][turn.call],
                                draft_.message_model(turn.message, kTermTurn));
            });
        }
    }

    template <class Ends>
    static void check_order(const Ends& ends) {
        for (std::size_t i = 1; i < ends.size(); ++i) {
            if (ends[i].call < ends[i - 1].call) {
                throw std::invalid_argument("the ends of messages are not in the order of their calls");
            }
        }
    }

    void add_send(std::size_t l, std::uint32_t i, bool one_of_several, std::size_t& layout) {
        const auto& timeline = program_.timelines[l];
        const auto& send = timeline.sends[i];
        if (send.peer == kNoLocation) {
            return;
        }
        const auto message = draft_.message_class(location_at(l), send.peer, send.bytes, blocks(timeline, i, layout));
        classes_[l][i] = message;
        const auto overhead = draft_.message_model(message, kTermSend);
        if (!one_of_several && completions_[l][send.call] == 0) {
            draft_.add_edge(events_.enters[l][send.call], events_.leaves[l][send.call], overhead);
            origins_[l][i] = {events_.enters[l][send.call], false};
            bases_[l][send.call] = kNone;  // the edge is there
        } else {
            const auto ready = draft_.add_node();
            draft_.add_edge(bases_[l][send.call], ready, overhead);
            bases_[l][send.call] = ready;
            origins_[l][i] = {ready, true};
        }
    }

    void add_receives() {
        std::vector<std::uint32_t> next(locations_);
        calls_.for_each([&](std::size_t l, std::uint32_t call) {
            const auto& receives = program_.timelines[l].receives;
            for (auto& i = next[l]; i < receives.size() && receives[i].call <= call; ++i) {
                if (followed(l, receives[i])) {
                    add_message(l, i);
                }
            }
        });
    }

    /// Whether a class's bytes alone ask for a handshake where the program would run.
    [[nodiscard]] bool planned_rendezvous(std::uint32_t message) {
        while (planned_rendezvous_.size() <= message) {
            const auto& of = draft_.messages[planned_rendezvous_.size()];
            const auto& [locality, hops] = of.planned;
            planned_rendezvous_.push_back(message_cost(planned_, locality, of.bytes, of.layout, 1, hops).rendezvous);
        }
        return planned_rendezvous_[message];
    }

    void add_message(std::size_t l, std::uint32_t number) {
        const auto& receive = program_.timelines[l].receives[number];
        const auto s = index(receive.peer);
        const auto& sender = program_.timelines[s];
        const auto& send = sender.sends[receive.match];
        const auto message = classes_[s][receive.match];
        const auto origin = origins_[s][receive.match];
        const int overhead = origin.ready ? 0 : kTermSend;
        const MessageId id{location_at(l), number};
        const bool requests_then = planned_rendezvous(message);
        const bool recorded = is_rendezvous(program_, id, draft_.cost(message).rendezvous);
        const bool asynchronous = draft_.machine.asynchronous_progress;
        bool rendezvous = recorded;
        if (requests_then != draft_.cost(message).rendezvous) {
            const auto mode = program_.kind(sender.calls[send.call]);
            rendezvous = mode == CallKind::send_synchronous || (mode != CallKind::send_buffered && requests_then);
        }
        const bool by_size = draft_.cost(message).rendezvous || requests_then;
        auto way = Synchronous::handshake;
        if (draft_.machine.matches()) {
            way = Synchronous::match;
        } else if (recorded && !by_size) {
            way = draft_.library_value<Synchronous>(LibraryProperty::synchronous_sends);
        }
        const bool pushed = rendezvous && way == Synchronous::push;
        const bool matched = rendezvous && way == Synchronous::match;
        const bool changed = rendezvous != recorded || (rendezvous && way == Synchronous::handshake &&
                                                        planned_.asynchronous_progress != asynchronous);
        rebuilt_ += changed ? 1 : 0;

        const auto inject = draft_.add_node();
        MessageSteps steps{.origin = origin.node, .inject = inject, .bytes = send.bytes};
        if (rendezvous && way == Synchronous::handshake) {
            steps.match = draft_.add_node();
            handshake(l, receive, send, message, origin, steps.match, inject);
        } else {
            draft_.add_edge(origin.node, inject, draft_.message_model(message, overhead));
        }
        if (matched) {
            draft_.add_edge(events_.enters[l][receive.call], inject, Draft::kMeasured);
        }
        const auto first_byte = draft_.add_node();
        const auto crossings = draft_.crossings.size();
        draft_.add_message(inject, first_byte, draft_.message_model(message, kTermLatency), receive.peer,
                           location_at(l));
        const auto complete = events_.leaves[l][receive.complete_call];
        const auto completion = draft_.message_model(message, kTermSerialization | kTermReceive);
        const auto service = draft_.message_model(message, kTermReceive);
        const auto needed = needed_at(program_, events_, l, receive.complete_call, draft_.cost(message).L);
        steps.first_byte = first_byte;
        steps.received = needed;
        if (needed != complete) {
            draft_.add_edge(bases_[l][receive.complete_call], complete, service);
            draft_.add_edge(first_byte, needed, completion);
        } else if (completions_[l][receive.complete_call] == 1) {
            draft_.add_edge(first_byte, complete, completion);
            draft_.add_edge(bases_[l][receive.complete_call], complete, service);
        } else {
            const auto served = draft_.add_node();
            steps.received = served;
            draft_.add_edge(first_byte, served, completion);
            draft_.add_edge(bases_[l][receive.complete_call], served, service);
            draft_.add_edge(served, complete, Draft::kMeasured);
            served_[l].push_back({receive.complete_call, {served, service}});
        }
        sending_[s].push_back(draft_.at_nic(inject, message));
        receiving_[l].push_back(draft_.at_nic(first_byte, message));
        if (pushed && send.complete_call != kNone) {
            steps.sent = acknowledge(l, receive, send, message, first_byte);
        } else if (matched && send.complete_call != kNone) {
            steps.sent = needed_at(program_, events_, s, send.complete_call, draft_.cost(message).L);
            draft_.add_edge(first_byte, steps.sent, draft_.message_model(message, kTermSerialization));
        } else if (rendezvous && send.complete_call != kNone) {
            if (draft_.crossings.size() > crossings) {
                draft_.crossings.back().sent_edge = draft_.next_edge();
            }
            steps.sent = needed_at(program_, events_, s, send.complete_call, draft_.cost(message).L);
            draft_.add_edge(inject, steps.sent, draft_.message_model(message, kTermSerialization));
        }
        if (!rendezvous && !recorded) {
            steps.taken = hold(l, receive, send, message);
        }
        if (with_steps_) {
            note(steps, l, receive, send);
        }
        // A probe right before the receive waits for the same message.
        const auto& calls = program_.timelines[l].calls;
        if (!rendezvous && receive.call == receive.complete_call && receive.call > 0 &&
            program_.kind(calls[receive.call - 1]) == CallKind::probe &&
            calls[receive.call - 1].leave_ps > sender.calls[send.call].enter_ps) {
            draft_.add_edge(first_byte, events_.leaves[l][receive.call - 1],
                            draft_.message_model(message, kTermSerialization));
        }
        if (changed) {
            draft_.measured.set_fresh(complete);
            draft_.measured.set_fresh(events_.leaves[s][send.complete_call == kNone ? send.call : send.complete_call]);
        }
    }

    /// A blocking send of an eager message that ended when its receiver's library ran again, nearer to that than to the
    /// end of its own work: libraries of one memory return once the receiver has taken the message out of its queue
    /// (Open MPI's btl/vader). It waits for that enter, which is returned; kNone: for none.
    std::uint32_t hold(std::size_t l, const MessageEnd& receive, const MessageEnd& send, std::uint32_t message) {
        const auto s = index(receive.peer);
        const auto& sender = program_.timelines[s];
        const auto& call = sender.calls[send.call];
        const auto kind = program_.kind(call);
        const auto& cost = draft_.cost(message);
        const auto ready = call.enter_ps + cost.o_s + cost.l_mw / 2;
        if (send.complete_call != send.call || (kind != CallKind::send && kind != CallKind::send_receive) ||
            call.leave_ps - ready <= cost.L + cost.serialization) {
            return kNone;
        }
        const auto& calls = program_.timelines[l].calls;
        const auto at = answering_call(program_, program_.timelines[l], 0, receive.complete_call, ready);
        const auto enter = calls[at].enter_ps;
        if (enter <= ready || enter >= call.leave_ps || call.leave_ps - enter >= enter - ready ||
            (kind == CallKind::send_receive && receives_later(sender, send.call, enter))) {
            return kNone;
        }
        draft_.add_edge(events_.enters[l][at], events_.leaves[s][send.call], Draft::kMeasured);
        return events_.enters[l][at];
    }

    /// Whether a call completes a message that was sent at that time or later.
    [[nodiscard]] bool receives_later(const Timeline& timeline, std::uint32_t call, std::int64_t time_ps) const {
        auto i = timeline.receives.partition_point([&](const MessageEnd& one) { return one.call < call; });
        for (; i < timeline.receives.size() && timeline.receives[i].call == call; ++i) {
            const auto& one = timeline.receives[i];
            if (one.match == kNone || one.peer == kNoLocation) {
                return true;  // when it was sent is not known
            }
            const auto& from = program_.timelines[index(one.peer)];
            if (from.calls[from.sends[one.match].call].enter_ps >= time_ps) {
                return true;
            }
        }
        return false;
    }

    /// Request, match, clear-to-send: the receiver sends the CTS in the call that the recorded times say, and so does
    /// the sender; with asynchronous progress the posted receive and the send suffice.
    void handshake(std::size_t l, const MessageEnd& receive, const MessageEnd& send, std::uint32_t message,
                   Origin origin, std::uint32_t match, std::uint32_t inject) {
        const auto s = index(receive.peer);
        const auto& receiver = program_.timelines[l];
        const auto& sender = program_.timelines[s];
        const auto& cost = draft_.cost(message);
        const int overhead = origin.ready ? 0 : kTermSend;
        if (planned_.asynchronous_progress) {
            draft_.add_edge(origin.node, match, draft_.message_model(message, overhead | kTermLatency));
            draft_.add_edge(events_.enters[l][receive.call], match, Draft::kMeasured);
            draft_.add_edge(match, inject, draft_.message_model(message, kTermLatency));
            return;
        }
        const auto sent =
            send.complete_call == kNone ? static_cast<std::uint32_t>(sender.calls.size() - 1) : send.complete_call;
        const auto request = std::max(receiver.calls[receive.call].enter_ps,
                                      sender.calls[send.call].enter_ps + cost.o_s + cost.l_mw / 2 + cost.L);
        auto answer = answering_call(program_, receiver, receive.call, receive.complete_call, request);
        if (receiver.calls[answer].enter_ps >= sender.calls[sent].leave_ps) {
            answer = receive.call;  // the sender was done before: the CTS was sent earlier than the calls show
        }
        draft_.add_edge(origin.node, match, draft_.message_model(message, overhead | kTermLatency | kTermControl));
        draft_.add_edge(events_.enters[l][answer], match, draft_.message_model(message, kTermControl));
        const auto clear = std::max(request, receiver.calls[answer].enter_ps) + cost.o_control + cost.L;
        auto reply = answering_call(program_, sender, send.call, sent, clear);
        if (sender.calls[reply].enter_ps >= receiver.calls[receive.complete_call].leave_ps) {
            reply = send.call;  // the message had arrived by then: likewise
        }
        draft_.add_edge(match, inject, draft_.message_model(message, kTermLatency | kTermControl));
        if (reply != send.call) {
            draft_.add_edge(events_.enters[s][reply], inject, draft_.message_model(message, kTermControl));
        }
    }

    /// A message whose data went at once completes at its sender when its match is known there.
    std::uint32_t acknowledge(std::size_t l, const MessageEnd& receive, const MessageEnd& send, std::uint32_t message,
                              std::uint32_t first_byte) {
        const auto s = index(receive.peer);
        const auto latency = draft_.message_model(message, kTermLatency);
        const auto done = needed_at(program_, events_, s, send.complete_call, draft_.cost(message).L);
        draft_.add_edge(first_byte, done, latency);
        if (program_.timelines[l].calls[receive.call].enter_ps <
            program_.timelines[s].calls[send.complete_call].leave_ps) {
            draft_.add_edge(events_.enters[l][receive.call], done, latency);
        }
        return done;
    }

    /// Calls by location become those of the whole program.
    void note(MessageSteps steps, std::size_t l, const MessageEnd& receive, const MessageEnd& send) {
        if (first_calls_.empty()) {
            std::uint32_t calls = 0;
            for (const auto& enters : events_.enters) {
                first_calls_.push_back(calls);
                calls += static_cast<std::uint32_t>(enters.size());
            }
        }
        const auto s = index(receive.peer);
        steps.send_call = first_calls_[s] + send.call;
        steps.sent_call = send.complete_call == kNone ? kNone : first_calls_[s] + send.complete_call;
        steps.post_call = first_calls_[l] + receive.call;
        steps.received_call = first_calls_[l] + receive.complete_call;
        draft_.steps.push_back(steps);
    }

    void add_own_edges() {
        calls_.for_each([&](std::size_t l, std::uint32_t call) { add_own_edge(l, call); });
    }

    /// From each call's enter, or the last thing that it started, to its leave.
    void add_own_edge(std::size_t l, std::uint32_t call) {
        const auto base = bases_[l][call];
        if (base != kNone && (completions_[l][call] == 0 || base != events_.enters[l][call])) {
            const bool moves = moves_data(program_.kind(program_.timelines[l].calls[call]));
            draft_.add_edge(base, events_.leaves[l][call], moves ? Draft::kMeasured : Draft::kOwn);
        }
    }

    /// Whether messages meet at other NICs than as the program ran.
    [[nodiscard]] bool moved() const noexcept {
        return elsewhere_ != nullptr || planned_.nics_per_node != draft_.machine.nics_per_node;
    }

    /// Messages queue at an endpoint: within a node at the location's own, between nodes at the NIC.
    void add_queue(const NodeOrder& order, const std::vector<MessageQueue>& queued) {
        const auto first = draft_.next_edge();
        add_servers(order, queued, draft_.recorded, draft_.machine.nics_per_node, &QueuedMessage::far);
        if (moved()) {
            exchanged_.only_recorded.push_back({first, draft_.next_edge()});
            add_servers(order, queued, draft_.planned, planned_.nics_per_node, &QueuedMessage::far_then);
            exchanged_.only_planned.push_back({exchanged_.only_recorded.back().second, draft_.next_edge()});
        }
    }

    void add_servers(const NodeOrder& order, const std::vector<MessageQueue>& queued, const Placement& placement,
                     std::int32_t nics_per_node, bool (QueuedMessage::*far)() const noexcept) {
        std::vector<MessageQueue> servers;
        for (const auto& here : queued) {
            std::ranges::copy_if(here, std::back_inserter(servers.emplace_back()),
                                 [far](const QueuedMessage& one) { return !(one.*far)(); });
        }
        if (!draft_.contention) {  // else NICs take messages in the order that the replay finds
            for (const auto& group : endpoint_groups(program_, placement, nics_per_node)) {
                auto& all = servers.emplace_back();
                for (const auto location : group) {
                    std::ranges::copy_if(queued[location], std::back_inserter(all),
                                         [far](const QueuedMessage& one) { return (one.*far)(); });
                }
            }
        }
        take_turns(order, servers);
    }

    /// Makes room for the edges that lead from queued messages to those behind them.
    void make_room(std::initializer_list<const std::vector<MessageQueue>*> queues,
                   std::span<const std::vector<Served>> served = {}) {
        draft_.incoming.make_room([&](const auto& visit) {
            for (const auto* queue : queues) {
                for (const auto& here : *queue) {
                    for (const auto& one : here) {
                        if (!draft_.contention || !one.far()) {
                            visit(one.node);
                        }
                        if (moved() && (!draft_.contention || !one.far_then())) {
                            visit(one.node);
                        }
                    }
                }
            }
            for (const auto& here : served) {
                std::ranges::for_each(here, visit, [](const Served& one) { return one.message.node; });
            }
        });
    }

    /// Each server serves its messages in the order of their arrival.
    void take_turns(const NodeOrder& order, std::span<MessageQueue> servers) {
        for_each_parallel(servers.size(), std::thread::hardware_concurrency(), 1, [&](std::size_t i, unsigned) {
            std::ranges::sort(servers[i], [&](const QueuedMessage& a, const QueuedMessage& b) {
                return order.before(a.node, b.node);
            });
        });
        for (const auto& queued : servers) {
            for (std::size_t i = 1; i < queued.size(); ++i) {
                draft_.put_edge(queued[i - 1].node, queued[i].node, queued[i - 1].service());
            }
        }
    }

    /// A call that completes several receives does so one after the other, and a target handles transfers so.
    void add_processors(const NodeOrder& order) {
        take_turns(order, answering_);
        for (auto& served : served_) {
            std::ranges::sort(served, [&](const Served& a, const Served& b) {
                return a.call != b.call ? a.call < b.call : order.before(a.message.node, b.message.node);
            });
            for (std::size_t i = 1; i < served.size(); ++i) {
                if (served[i].call == served[i - 1].call) {
                    // Its own completion, once the processor is free of the one before.
                    draft_.put_edge(served[i - 1].message.node, served[i].message.node, served[i].message.service());
                }
            }
        }
    }

    const Program& program_;
    const Parameters& planned_;
    const Surroundings* elsewhere_;
    const Network* network_;
    bool overlapped_;
    bool with_steps_;

    Draft draft_;
    std::size_t locations_;
    CallsInTime calls_;
    Events events_;
    std::vector<std::vector<std::uint32_t>> bases_;        // node by [location][call]: what its completions follow
    std::vector<std::vector<std::uint32_t>> completions_;  // receives by [location][call]
    std::vector<std::vector<std::uint32_t>> classes_;      // message class by [location][send]
    std::vector<std::vector<Origin>> origins_;             // by [location][send]
    std::vector<MessageQueue> sending_, receiving_;        // by location
    MessagesAtNics of_collectives_;                        // messages of collectives
    std::vector<MessageQueue> answering_;                  // likewise: one-sided transfers at their targets
    std::vector<std::vector<Served>> served_;              // by location
    std::vector<bool> planned_rendezvous_;                 // by message class
    std::vector<std::uint32_t> first_calls_;               // by location: calls of the locations before it
    Exchanged exchanged_;
    std::vector<std::int64_t> apart_;  // as Graph::apart_ps
    std::uint64_t rebuilt_ = 0;
};

}  // namespace

Graph build_graph(const Program& program, const Parameters& machine, const Parameters& planned,
                  const Surroundings* elsewhere, const Network* network, bool overlapped, bool nics_share,
                  bool with_steps) {
    return Builder(program, machine, planned, elsewhere, network, overlapped, nics_share, with_steps).build();
}

}  // namespace logpost::replay
