#include "world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace logpost::truth {

World::World(Machine machine, int ranks) : inboxes_(static_cast<std::size_t>(ranks)) {
    record_.machine = machine;
    record_.ranks.resize(static_cast<std::size_t>(ranks));
    record_.communicators.emplace_back();
    for (int rank = 0; rank < ranks; ++rank) {
        record_.communicators.front().push_back(rank);
        ranks_.push_back(std::make_unique<Rank>(*this, rank));
    }
}

void World::run(const Program& program) {
    std::vector<Task<>> tasks;
    tasks.reserve(ranks_.size());
    for (auto& rank : ranks_) {
        tasks.push_back(program(*rank));
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        engine_.at(0, [&tasks, i] { tasks[i].start(); });
    }
    engine_.run();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (!tasks[i].done()) {
            throw std::runtime_error("the program deadlocks: rank " + std::to_string(i) + " never ends");
        }
        tasks[i].rethrow();
        auto& rank = record_.ranks[i];
        rank.end =
            std::max(rank.calls.empty() ? 0 : rank.calls.back().leave, rank.marks.empty() ? 0 : rank.marks.back().time);
    }
}

/// The number of a communicator; no members: all ranks.
std::size_t World::communicator(const Members& of) {
    auto& known = record_.communicators;
    const auto at = of.empty() ? known.begin() : std::ranges::find(known, of);
    const auto number = static_cast<std::size_t>(at - known.begin());
    if (at == known.end()) {
        known.push_back(of);
        if (known.size() > kMostCommunicators) {
            throw std::runtime_error("too many communicators");
        }
    }
    return number;
}

World::Nic& World::nic(int rank, int peer) {
    const auto& machine = record_.machine;
    if (machine.node(rank) == machine.node(peer)) {
        return nics_[{-1, rank}];
    }
    return nics_[{machine.node(rank), (rank % machine.ranks_per_node) % machine.nics_per_node}];
}

Cores* World::cores(int rank) {
    const auto& machine = record_.machine;
    if (machine.scheduling.cores_per_node == 0) {
        return nullptr;
    }
    const int node = machine.node(rank);
    return &cores_
                .try_emplace(node, engine_, machine.scheduling, machine.scheduling.cores_per_node,
                             static_cast<std::uint64_t>(node))
                .first->second;
}

/// The payload is ready for the sender's NIC now.
void World::inject(std::size_t id) {
    auto& message = record_.messages[id];
    const auto& between = record_.machine.between(message.sender, message.receiver);
    message.injection = engine_.now();
    auto& out = nic(message.sender, message.receiver);
    message.sent_begin = std::max(engine_.now(), out.free_sending);
    out.free_sending = message.sent_begin + between.service(message.bytes);
    message.sent_end = message.sent_begin + between.serialization(message.bytes);
    if (message.rendezvous) {
        engine_.at(message.sent_end, [this, id] {
            auto& sender = *ranks_[static_cast<std::size_t>(record_.messages[id].sender)];
            if (const auto at = send_request_.find(id); at != send_request_.end()) {
                sender.pending_.at(at->second).complete = true;
            }
            sender.notify();
        });
    }
    engine_.at(message.sent_begin + between.L, [this, id] {
        auto& arriving = record_.messages[id];
        const auto& here = record_.machine.between(arriving.sender, arriving.receiver);
        auto& in = nic(arriving.receiver, arriving.sender);
        arriving.received_begin = std::max(engine_.now(), in.free_receiving);
        in.free_receiving = arriving.received_begin + here.service(arriving.bytes);
        arriving.arrival = arriving.received_begin + here.serialization(arriving.bytes);
        engine_.at(arriving.arrival, [this, id] {
            if (!record_.messages[id].rendezvous) {
                envelope(id);
            }
            ranks_[static_cast<std::size_t>(record_.messages[id].receiver)]->arrived(id);
        });
    });
}

/// A rendezvous' request leaves the sender now.
void World::request(std::size_t id) {
    auto& message = record_.messages[id];
    message.request_arrival = engine_.now() + message.L;
    engine_.at(message.request_arrival, [this, id] { envelope(id); });
}

/// A message is known at its receiver; those of one sender in the order of their sends, whatever their protocol.
void World::envelope(std::size_t id) {
    const auto& message = record_.messages[id];
    auto& inbox = inboxes_[static_cast<std::size_t>(message.receiver)];
    inbox.there[id] = true;
    auto& queue = inbox.on_way[message.sender];
    while (!queue.empty() && inbox.there.contains(queue.front())) {
        const auto first = queue.front();
        queue.pop_front();
        inbox.there.erase(first);
        offer(first);
    }
}

bool World::fits(const Message& message, const Posted& posted) {
    return message.internal == posted.internal && (posted.from == kAnySource || posted.from == message.sender) &&
           (posted.tag == kAnyTag || posted.tag == message.tag);
}

void World::offer(std::size_t id) {
    const auto& message = record_.messages[id];
    auto& inbox = inboxes_[static_cast<std::size_t>(message.receiver)];
    const auto at = std::ranges::find_if(inbox.posted, [&](const Posted& posted) { return fits(message, posted); });
    if (at == inbox.posted.end()) {
        inbox.unexpected.push_back(id);
        ranks_[static_cast<std::size_t>(message.receiver)]->notify();
        return;
    }
    const auto request = at->request;
    inbox.posted.erase(at);
    match(id, request);
}

void World::match(std::size_t id, std::uint64_t request) {
    auto& message = record_.messages[id];
    auto& receiver = *ranks_[static_cast<std::size_t>(message.receiver)];
    receive_request_[id] = request;
    auto& pending = receiver.pending_.at(request);
    pending.message = id;
    message.post_call = pending.call;
    if (message.rendezvous) {
        answer_request(id);
    } else if (message.arrival != kNever && message.arrival <= engine_.now()) {
        receiver.arrived(id);
    }
}

/// A rank's processor handles one of a rendezvous' control messages, as soon as it can.
void World::handle_control(std::size_t id, int rank, Work kind, std::function<void(Time begin, Time end)> done) {
    const auto& message = record_.messages[id];
    const auto work = message.internal ? Work::collective : kind;
    ranks_[static_cast<std::size_t>(rank)]->push(
        {.message = id,
         .first = record_.machine.between(message.sender, message.receiver).o_s,
         .second = 0,
         .first_work = work,
         .second_work = work,
         .completion = false,
         .done = std::move(done)});
}

/// The request has met its receive: the receiver sends a clear-to-send as soon as it can.
void World::answer_request(std::size_t id) {
    auto& message = record_.messages[id];
    if (record_.machine.asynchronous_progress) {
        message.request_begin = message.request_end = engine_.now();
        clear_to_send(id);
        return;
    }
    handle_control(id, message.receiver, Work::recv_overhead, [this, id](Time begin, Time end) {
        record_.messages[id].request_begin = begin;
        record_.messages[id].request_end = end;
        clear_to_send(id);
    });
}

void World::clear_to_send(std::size_t id) {
    record_.messages[id].clear_arrival = engine_.now() + record_.messages[id].L;
    engine_.at(record_.messages[id].clear_arrival, [this, id] {
        auto& message = record_.messages[id];
        if (record_.machine.asynchronous_progress) {
            message.clear_begin = message.clear_end = engine_.now();
            inject(id);
            return;
        }
        handle_control(id, message.sender, Work::send_overhead, [this, id](Time begin, Time end) {
            record_.messages[id].clear_begin = begin;
            record_.messages[id].clear_end = end;
            inject(id);
        });
    });
}

}  // namespace logpost::truth
