/// A transfer leaves its origin once it is permitted, queues at the origin's NIC, and is at its target L later; what
/// its origin waits for returns after another L, from where the target attends to it unless hardware does:
///
///     put       injected -> there -> attended -> acknowledged
///     get       injected -> requested -> attended, at the target's NIC -> back
///
/// A put that needs no acknowledgement is complete when its last byte has left. What has to permit a transfer (the
/// exposure of its target, a lock's holder) is waited for, and so are transfers by those whose memory they change.

#include "replay/native/graph/transfers.hpp"

#include <algorithm>

#include "replay/native/graph/attention.hpp"
#include "replay/native/program/message_facts.hpp"

namespace logpost::replay {
namespace {

std::uint64_t key(std::uint32_t number, std::size_t location) noexcept {
    return static_cast<std::uint64_t>(number) << 32U | static_cast<std::uint32_t>(location);
}

/// The target of a transfer; one to none known stays at its origin.
Location target_of(const Transfer& one, std::size_t origin) noexcept {
    return one.target == kNoLocation ? location_at(origin) : one.target;
}

/// By call: whether it completes a transfer.
std::vector<std::uint8_t> completing_calls(const Timeline& timeline) {
    std::vector<std::uint8_t> found(timeline.calls.size());
    timeline.transfers.for_each([&](std::size_t, const Transfer& one) {
        for (const auto completing : {one.complete_call, one.remote_call}) {
            if (completing != kNone) {
                found[completing] = 1;
            }
        }
    });
    return found;
}

/// The first call of an epoch that lasts until its permission; kNone: none.
std::uint32_t waiting_call(const Timeline& timeline, const Epoch& epoch, std::int64_t until_ps) noexcept {
    const auto last = epoch.end_call == kNone ? static_cast<std::uint32_t>(timeline.calls.size()) - 1 : epoch.end_call;
    for (auto call = epoch.begin_call; call <= last; ++call) {
        if (timeline.calls[call].leave_ps >= until_ps) {
            return call;
        }
    }
    return kNone;
}

}  // namespace

OneSided::OneSided(Draft& draft, const Program& program, const Events& events, bool asynchronous, Started started)
    : draft_(draft),
      program_(program),
      events_(events),
      started_(started),
      waits_(program),
      model_(program, draft.machine, waits_, draft.machine.asynchronous_progress),
      attended_(!model_.asynchronous()),
      asynchronous_(asynchronous),
      injected_(program.timelines.size()),
      granted_(program.timelines.size()),
      there_(program.timelines.size()) {}

bool OneSided::in(const Program& program) {
    return std::ranges::any_of(program.timelines, [](const Timeline& timeline) {
        return !timeline.transfers.empty() || !timeline.epochs.empty();
    });
}

std::vector<std::vector<std::uint32_t>> OneSided::gates() {
    auto found = events_.enters;
    for_each_location([&](std::size_t l) {
        const auto& timeline = program_.timelines[l];
        const auto completes = completing_calls(timeline);
        timeline.collectives.for_each([&](std::size_t, const Collective& one) {
            const bool synchronizes = one.operation == Operation::fence || one.operation == Operation::barrier;
            if (synchronizes && one.instance != kNone && one.complete_call == one.call && completes[one.call] != 0) {
                const auto node = draft_.add_node();
                draft_.add_edge(events_.enters[l][one.call], node, Draft::kMeasured);
                gates_[key(one.call, l)] = {node, one.instance};
                found[l][one.call] = node;
            }
        });
    });
    return found;
}

void OneSided::start() {
    for_each_location([&](std::size_t l) { start(l); });
}

void OneSided::order_completions() {
    for_each_location([&](std::size_t l) {
        const auto& epochs = program_.timelines[l].epochs;
        for (std::uint32_t i = 0; i < epochs.size(); ++i) {
            const auto& permission = model_.permission(l, i);
            if (permission.call == kNone || !takes_part(permission.by)) {
                continue;
            }
            const auto by = index(permission.by);
            const auto entered = events_.enters[by][permission.call];
            if (epochs[i].kind == Epoch::Kind::exposure && epochs[i].end_call != kNone) {
                draft_.add_edge(entered, events_.leaves[l][epochs[i].end_call], Draft::kMeasured);
            }
            const auto first =
                epochs[i].locks() ? waiting_call(program_.timelines[l], epochs[i], permission.at_ps) : kNone;
            if (first != kNone &&
                program_.timelines[l].calls[first].leave_ps == program_.timelines[by].calls[permission.call].enter_ps) {
                const auto granted = draft_.add_node();
                draft_.add_edge(entered, granted, Draft::kMeasured);
                draft_.add_edge(granted, events_.leaves[l][first], Draft::kMeasured);
                draft_.grants.push_back({granted, location_at(l), epochs[i].begin_call});
            }
        }
    });
}

void OneSided::follow(const NodeOrder& order) {
    order_ = &order;
    find_closings();
    for_each_location([&](std::size_t l) { permit(l); });
    for_each_location([&](std::size_t l) {
        there_[l].resize(program_.timelines[l].transfers.size());
        for (std::uint32_t i = 0; i < there_[l].size(); ++i) {
            transfer(l, i);
        }
    });
    for_each_location([&](std::size_t l) { follow_changes(l); });
}

template <class Body>
void OneSided::for_each_location(Body&& body) const {
    for (std::size_t l = 0; l < program_.timelines.size(); ++l) {
        if (program_.accounted[l] != 0) {
            body(l);
        }
    }
}

bool OneSided::takes_part(Location location) const noexcept {
    return location != kNoLocation && program_.accounted[index(location)] != 0;
}

/// `count` empty messages in a row.
std::uint32_t OneSided::notices(Location from, Location to, std::uint16_t count) {
    return draft_.model({.kind = EdgeModel::Kind::message,
                         .terms = kTermLatency,
                         .count = count,
                         .message = draft_.message_class(from, to, 0)});
}

bool OneSided::before(std::uint32_t event, std::uint32_t other) const noexcept {
    return order_->before(event, other);
}

/// `target`, an enter or leave, waits for an instant, unless it was before that. Whether it does.
bool OneSided::wait(const Instant& instant, std::uint32_t target, std::uint32_t model) {
    if (!before(instant.event, target)) {
        return false;
    }
    draft_.add_edge(instant.node, target, model);
    return true;
}

/// The calls of each operation that completes transfers, by instance and location.
void OneSided::find_closings() {
    for_each_location([&](std::size_t l) {
        program_.timelines[l].collectives.for_each([&](std::size_t, const Collective& one) {
            if (one.instance != kNone && one.complete_call != kNone) {
                closings_[key(one.instance, l)] = one.complete_call;
                const auto left = events_.leaves[l][one.complete_call];
                const auto [first, added] = first_out_.try_emplace(one.instance, left);
                first->second = !added && before(left, first->second) ? left : first->second;
            }
        });
    });
}

/// When a location's epochs could begin, and which calls waited for that.
void OneSided::permit(std::size_t l) {
    const auto here = location_at(l);
    const auto& timeline = program_.timelines[l];
    granted_[l].resize(timeline.epochs.size());
    for (std::uint32_t i = 0; i < timeline.epochs.size(); ++i) {
        const auto& epoch = timeline.epochs[i];
        const auto& permission = model_.permission(l, i);
        if (permission.call == kNone || !takes_part(permission.by)) {
            ask_for_lock(l, epoch, permission);
            continue;
        }
        const auto by = index(permission.by);
        const auto entered = events_.enters[by][permission.call];
        if (epoch.kind == Epoch::Kind::exposure) {
            if (epoch.end_call != kNone) {
                wait({entered, entered}, events_.leaves[l][epoch.end_call], notices(permission.by, here, 1));
            }
            continue;
        }
        const auto first = waiting_call(timeline, epoch, permission.at_ps);
        if (first == kNone) {
            continue;
        }
        const auto left = events_.leaves[l][first];
        auto source = epoch.locks() ? events_.leaves[by][permission.call] : entered;
        source = before(source, left) ? source : entered;  // a holder may return later than its lock is free
        if (before(source, left)) {
            granted_[l][i] = {notice(source, epoch, permission.by, here), source};
            wait(granted_[l][i], left, Draft::kMeasured);
            draft_.grants.push_back({granted_[l][i].node, location_at(l), epoch.begin_call});
        }
    }
}

/// Where a permission has arrived at its location: a lock's is sent to its memory, and from there to its next holder;
/// one of all memory is nowhere.
std::uint32_t OneSided::notice(std::uint32_t source, const Epoch& epoch, Location by, Location here) {
    const auto node = draft_.add_node();
    if (!epoch.locks()) {
        draft_.add_edge(source, node, notices(by, here, 1));
    } else if (epoch.peer == kNoLocation) {
        draft_.add_edge(source, node, Draft::kMeasured);
    } else {
        const auto free = draft_.add_node();
        draft_.add_edge(source, free, notices(by, epoch.peer, 1));
        draft_.add_edge(free, node, notices(epoch.peer, here, 1));
    }
    return node;
}

/// A lock that is free is requested and granted, where its call lasts that long.
void OneSided::ask_for_lock(std::size_t l, const Epoch& epoch, const Permission& permission) {
    if (!epoch.locks() || epoch.peer == kNoLocation || permission.by != kNoLocation) {
        return;
    }
    const auto& call = program_.timelines[l].calls[epoch.begin_call];
    if (call.leave_ps - call.enter_ps >= model_.grant_ps(epoch, kNoLocation, location_at(l))) {
        draft_.add_edge(events_.enters[l][epoch.begin_call], events_.leaves[l][epoch.begin_call],
                        notices(location_at(l), epoch.peer, 2));
    }
}

/// The transfers that a location starts, one after the other: from the calls that start them to their injections.
void OneSided::start(std::size_t l) {
    const auto& timeline = program_.timelines[l];
    const auto& transfers = timeline.transfers;
    auto busy = completing_calls(timeline);  // and those that start more than one transfer
    for (std::uint32_t i = 1; i < transfers.size(); ++i) {
        if (transfers[i].call == transfers[i - 1].call) {
            busy[transfers[i].call] = 1;
        }
    }
    for (std::uint32_t i = 0; i < transfers.size(); ++i) {
        const auto& one = transfers[i];
        const auto entered = events_.enters[l][one.call];
        auto& base = started_.bases[l][one.call];
        const auto overhead = draft_.message_model(class_of(one, l), kTermSend);
        const auto injected = draft_.add_node();
        injected_[l].push_back(injected);
        if (base == entered && busy[one.call] == 0) {
            draft_.add_edge(entered, events_.leaves[l][one.call], overhead);
            base = kNone;  // the edge is there
        }
        if (base == kNone) {
            draft_.add_edge(entered, injected, overhead);
        } else {
            const auto ready = draft_.add_node();
            draft_.add_edge(base, ready, overhead);
            draft_.add_edge(ready, injected, Draft::kMeasured);
            base = ready;
        }
    }
}

void OneSided::transfer(std::size_t l, std::uint32_t i) {
    const auto injected = permitted(l, i);
    if (program_.timelines[l].transfers[i].kind == Transfer::Kind::put) {
        put(l, i, injected);
    } else {
        fetch(l, i, injected);
    }
}

/// A transfer's injection, which follows its epoch's permission.
OneSided::Instant OneSided::permitted(std::size_t l, std::uint32_t i) {
    const auto started = events_.enters[l][program_.timelines[l].transfers[i].call];
    const Instant injected{injected_[l][i], started};
    const auto epoch = model_.epoch_of(l, i);
    if (epoch == kNone || granted_[l][epoch].node == kNone) {
        return injected;
    }
    const auto& granted = granted_[l][epoch];
    draft_.add_edge(granted.node, injected.node, Draft::kMeasured);
    return {injected.node, before(started, granted.event) ? granted.event : started};
}

/// What a get or an atomic brings leaves the NIC of its target.
void OneSided::fetch(std::size_t l, std::uint32_t i, const Instant& injected) {
    const auto& one = program_.timelines[l].transfers[i];
    const auto here = location_at(l);
    const auto target = target_of(one, l);
    const auto message = class_of(one, l);
    const Instant requested{draft_.add_node(), injected.event};
    const auto request = draft_.message_class(here, target, 0, {}, carried(one));
    draft_.add_edge(injected.node, requested.node, draft_.message_model(request, kTermLatency));
    const auto attended = attend(l, i, requested, Draft::kMeasured, false);
    started_.sending[index(target)].push_back(draft_.at_nic(attended.node, message));
    const auto back = draft_.add_node();
    draft_.add_message(attended.node, back, draft_.message_model(message, kTermLatency | control()), target, here);
    started_.receiving[l].push_back(draft_.at_nic(back, message));
    complete(l, one.complete_call, {back, attended.event},
             draft_.message_model(message, kTermSerialization | kTermReceive));
    there_[l][i] = requested;
}

void OneSided::put(std::size_t l, std::uint32_t i, const Instant& injected) {
    const auto& one = program_.timelines[l].transfers[i];
    const auto here = location_at(l);
    const auto target = target_of(one, l);
    const auto message = class_of(one, l);
    const auto bytes = draft_.message_model(message, kTermSerialization);
    const Instant there{draft_.add_node(), injected.event};
    const auto crossings = draft_.crossings.size();
    started_.sending[l].push_back(draft_.at_nic(injected.node, message));
    draft_.add_message(injected.node, there.node, draft_.message_model(message, kTermLatency), here, target);
    started_.receiving[index(target)].push_back(draft_.at_nic(there.node, message));
    if (one.complete_call != one.remote_call) {
        const auto edge = draft_.next_edge();
        if (complete(l, one.complete_call, injected, bytes) && draft_.crossings.size() > crossings) {
            draft_.crossings.back().sent_edge = edge;
        }
    }
    if (one.remote_call != kNone) {
        complete(l, one.remote_call, attend(l, i, there, bytes, true),
                 draft_.message_model(message, kTermLatency | control()));
    }
    change_memory(l, i, there, bytes);
    there_[l][i] = there;
}

/// What a target's processor spends on a reply, as a term of its return.
std::uint8_t OneSided::control() const noexcept {
    return attended_ && !asynchronous_ ? kTermControl : 0;
}

/// When the target has what it returns: at once, or in its next call that attends to others.
OneSided::Instant OneSided::attend(std::size_t l, std::uint32_t i, const Instant& there, std::uint32_t model,
                                   bool remotely) {
    const auto& one = program_.timelines[l].transfers[i];
    Instant attended{draft_.add_node(), there.event};
    draft_.add_edge(there.node, attended.node, model);
    const auto completing = remotely ? one.remote_call : one.complete_call;
    if (!attended_ || completing == kNone) {
        return attended;
    }
    const auto first = draft_.next_edge();
    if (takes_part(one.target) && one.target != location_at(l)) {
        const auto t = index(one.target);
        const auto& target = program_.timelines[t];
        const auto last = static_cast<std::uint32_t>(target.calls.size());
        const auto call =
            last == 0 ? kNone : answering_call(program_, target, 0, last - 1, model_.pending(l, i, remotely));
        const auto answer = call == kNone ? kNone : events_.enters[t][call];
        if (answer != kNone && before(answer, events_.leaves[l][completing])) {
            draft_.add_edge(answer, attended.node, Draft::kMeasured);
            attended.event = before(attended.event, answer) ? answer : attended.event;
        }
    }
    const auto message = class_of(one, l);
    const auto answering = draft_.message_model(message, kTermControl);
    if (!asynchronous_) {
        started_.answering[index(target_of(one, l))].push_back({attended.node, answering});
        return attended;
    }
    const auto answered = draft_.add_node();
    draft_.add_edge(attended.node, answered, answering);
    started_.exchanged.only_recorded.emplace_back(first, draft_.next_edge());
    draft_.add_edge(attended.node, answered, Draft::kMeasured);
    return {answered, attended.event};
}

/// Of a transfer of location l.
std::uint32_t OneSided::class_of(const Transfer& one, std::size_t l) {
    return draft_.message_class(location_at(l), target_of(one, l), one.bytes, {}, carried(one));
}

/// Whether the call that completes a transfer waits for it.
bool OneSided::complete(std::size_t l, std::uint32_t call, const Instant& instant, std::uint32_t model) {
    if (call == kNone) {
        return false;
    }
    if (const auto node = gate(l, call, instant); node != kNone) {
        draft_.add_edge(instant.node, node, model);
        return true;
    }
    return wait(instant, needed_at(program_, events_, l, call, 0), model);
}

/// Where a fence or barrier begins to wait for others, having completed what it has to; kNone: the call is none, or
/// others have left it before the instant.
std::uint32_t OneSided::gate(std::size_t l, std::uint32_t call, const Instant& instant) const {
    const auto found = gates_.find(key(call, l));
    return found != gates_.end() && before(instant.event, first_out_.at(found->second.instance)) ? found->second.node
                                                                                                 : kNone;
}

/// The target's calls that wait for a put: of the fence or barrier that completes it, and of its exposure.
void OneSided::change_memory(std::size_t l, std::uint32_t i, const Instant& there, std::uint32_t model) {
    const auto& one = program_.timelines[l].transfers[i];
    if (!takes_part(one.target) || one.target == location_at(l)) {
        return;
    }
    const auto t = index(one.target);
    const auto completing = one.remote_call != kNone ? one.remote_call : one.complete_call;
    const auto* closing = completing == kNone ? nullptr : model_.collective_of(l, completing);
    if (closing != nullptr && closing->instance != kNone) {
        if (const auto call = closings_.find(key(closing->instance, t)); call != closings_.end()) {
            wait(there, events_.leaves[t][call->second], model);
        }
    }
    if (const auto number = model_.epoch_of(l, i); number != kNone) {
        const auto& epoch = program_.timelines[l].epochs[number];
        if (epoch.kind == Epoch::Kind::access && epoch.match != kNone) {
            const auto& exposure = program_.timelines[t].epochs[epoch.match];
            if (exposure.end_call != kNone) {
                wait(there, events_.leaves[t][exposure.end_call], model);
            }
        }
    }
}

/// Calls that wait for a change of their memory follow the transfer that made it.
void OneSided::follow_changes(std::size_t l) {
    const auto& timeline = program_.timelines[l];
    for (std::uint32_t i = 0; i < timeline.epochs.size(); ++i) {
        const auto& permission = model_.permission(l, i);
        if (permission.change == kNone || !takes_part(permission.by)) {
            continue;
        }
        const auto origin = index(permission.by);
        const auto& change = program_.timelines[origin].transfers[permission.change];
        wait(there_[origin][permission.change], events_.leaves[l][timeline.epochs[i].begin_call],
             draft_.message_model(class_of(change, origin), kTermSerialization));
    }
}

}  // namespace logpost::replay
