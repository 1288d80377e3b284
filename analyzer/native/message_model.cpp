#include "message_model.hpp"

#include <algorithm>

#include "call_operations.hpp"
#include "parallel.hpp"
#include "replay/native/fifo.hpp"

namespace logpost::analyzer {
namespace {

using replay::Locality;

/// One customer of a FIFO server.
struct Customer {
    std::int64_t time;
    std::int64_t service;
    MessageId id;
    std::uint64_t bytes;
    std::int32_t here;  // location that acts as the endpoint
    std::int32_t peer;
};

/// Counts distinct partners per window without a set per window.
class PeerCounter {
  public:
    void add(std::int32_t window, std::int32_t peer) {
        const auto key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(window)) << 32U) |
                         static_cast<std::uint32_t>(peer);
        if (keys_.empty() || keys_.back() != key) {
            keys_.push_back(key);
        }
        if (keys_.size() >= limit_) {
            compact();
            limit_ = std::max<std::size_t>(limit_, 2 * keys_.size());
        }
    }

    template <class Visit>
    void for_each(Visit&& visit) {
        compact();
        for (const auto key : keys_) {
            visit(static_cast<std::int32_t>(key >> 32U));
        }
    }

  private:
    void compact() {
        std::ranges::sort(keys_);
        keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    }

    std::vector<std::uint64_t> keys_;
    std::size_t limit_ = 4096;
};

/// Processor time that message overheads take on one location: disjoint blocks in time order.
class BusyBlocks {
  public:
    void add(std::int64_t begin, std::int64_t end) {
        if (begin < end) {
            blocks_.push_back({begin, end, blocks_.empty() ? 0 : blocks_.back().upto});
            blocks_.back().upto += end - begin;
        }
    }

    [[nodiscard]] std::int64_t between(std::int64_t begin, std::int64_t end) const noexcept {
        return begin < end ? before(end) - before(begin) : 0;
    }

  private:
    struct Block {
        std::int64_t begin;
        std::int64_t end;
        std::int64_t upto;  // total of this block and all before
    };

    /// Busy time before `time`.
    [[nodiscard]] std::int64_t before(std::int64_t time) const noexcept {
        const auto next = std::ranges::partition_point(blocks_, [&](const Block& b) { return b.begin < time; });
        if (next == blocks_.begin()) {
            return 0;
        }
        const auto& last = *(next - 1);
        return last.upto - std::max<std::int64_t>(0, last.end - time);
    }

    std::vector<Block> blocks_;
};

}  // namespace

MessageModel::MessageModel(const Trace& trace, const replay::Parameters& parameters, Windows windows, unsigned threads)
    : trace_(trace), parameters_(parameters), windows_(windows), threads_(threads) {}

Locality MessageModel::locality(std::int32_t a, std::int32_t b) const noexcept {
    if (a == b) {
        return Locality::self;
    }
    const auto& one = trace_.locations[static_cast<std::size_t>(a)];
    const auto& other = trace_.locations[static_cast<std::size_t>(b)];
    if (one.group == other.group && one.group != kUndefined) {
        return Locality::self;
    }
    return one.node == other.node ? Locality::same_node : Locality::other_node;
}

std::int64_t MessageModel::in_mpi(std::size_t location, std::int64_t time) const noexcept {
    const auto& calls = trace_.traces[location].calls;
    std::size_t low = 0;
    std::size_t high = calls.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (calls[middle].leave_ps < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == calls.size() ? INT64_MAX : std::max(time, calls[low].enter_ps);
}

replay::MessageTimes MessageModel::times(MessageId id) const noexcept {
    const auto& receiver = trace_.traces[static_cast<std::size_t>(id.location)];
    const auto& received = receiver.receives[id.receive];
    const auto& sender = trace_.traces[static_cast<std::size_t>(received.peer)];
    const auto& sent = sender.sends[received.match];
    const auto& send_call = sender.calls[sent.call];
    const auto& receive_call = receiver.calls[received.complete_call];
    replay::MessageTimes times;
    times.s0 = send_call.enter_ps;
    times.s1 = send_call.leave_ps;
    times.sw0 = times.s0;
    times.sw1 = times.s1;
    if (sent.complete_call != sent.call && sent.complete_call != kNone) {
        const auto& completed = sender.calls[sent.complete_call];
        times.sw0 = completed.enter_ps;
        times.sw1 = completed.leave_ps;
    }
    times.rw0 = receive_call.enter_ps;
    times.rw1 = receive_call.leave_ps;
    times.r0 = received.call == received.complete_call ? times.rw0 : receiver.calls[received.call].enter_ps;
    return times;
}

ModelledMessage MessageModel::model(MessageId id) const {
    const auto& received = receive(id);
    const auto& sender = trace_.traces[static_cast<std::size_t>(received.peer)];
    const auto& sent = sender.sends[received.match];
    ModelledMessage message;
    message.times = times(id);
    message.locality = locality(received.peer, id.location);
    std::int64_t stride = 0;
    if (!sender.layouts.empty()) {
        std::size_t low = 0;
        std::size_t high = sender.layouts.size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (sender.layouts[middle].send < received.match) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < sender.layouts.size() && sender.layouts[low].send == received.match) {
            message.layout = sender.layouts[low].layout;
            stride = trace_.layouts[static_cast<std::size_t>(message.layout)].stride_bytes;
        }
    }
    message.stages = message_stages(parameters_, message.locality, sent.bytes, stride);
    const auto& t = message.times;
    switch (trace_.regions[static_cast<std::size_t>(sender.calls[sent.call].region)].kind) {
        case RegionKind::send_synchronous:
            message.stages.rendezvous = true;
            break;
        case RegionKind::send_buffered:
            message.stages.rendezvous = false;
            break;
        default:
            // A send that was complete before its receive was posted cannot have waited for it.
            if (sent.complete_call != kNone && t.sw1 <= t.r0) {
                message.stages.rendezvous = false;
            }
    }
    if (message.stages.rendezvous && !t.violates_causality()) {
        message.handshake = handshake(
            t, message.stages, parameters_.asynchronous_progress,
            [&](std::int64_t time) { return in_mpi(static_cast<std::size_t>(id.location), time); },
            [&](std::int64_t time) { return in_mpi(static_cast<std::size_t>(received.peer), time); });
    }
    return message;
}

std::int64_t MessageModel::arrival(MessageId id, const ModelledMessage& message) const noexcept {
    if (message.times.violates_causality()) {
        return message.times.rw1;
    }
    const auto& wait = waits(id);
    return injection(message.times, message.stages, message.handshake) + wait.send_endpoint + message.stages.L +
           message.stages.serialization + wait.recv_endpoint;
}

replay::Partition MessageModel::partition(MessageId id) const { return partition(id, model(id)); }

replay::Partition MessageModel::partition(MessageId id, const ModelledMessage& message) const noexcept {
    const auto& wait = waits(id);
    return replay::partition(message.times, message.stages,
                             {.send_endpoint = wait.send_endpoint,
                              .recv_endpoint = wait.recv_endpoint,
                              .cpu_queue = wait.cpu_queue,
                              .network = 0,
                              .receiver_busy = wait.receiver_busy,
                              .held_until = wait.held_until},
                             message.handshake);
}

/// Locations that share an endpoint: each alone for messages within a node, those behind one NIC for the others.
std::vector<std::vector<std::size_t>> MessageModel::endpoint_groups() const {
    const auto nics = static_cast<std::size_t>(std::max(1, parameters_.nics_per_node));
    std::vector<std::vector<std::size_t>> groups(trace_.nodes.size() * nics);
    std::vector<std::size_t> seen(trace_.nodes.size(), 0);
    for (std::size_t location = 0; location < trace_.locations.size(); ++location) {
        const auto node = trace_.locations[location].node;
        const auto& trace = trace_.traces[location];
        if (trace.sends.empty() && trace.receives.empty()) {
            continue;
        }
        if (node == kUndefined) {
            groups.push_back({location});
        } else {
            const auto n = static_cast<std::size_t>(node);
            groups[n * nics + seen[n]++ % nics].push_back(location);
        }
    }
    return groups;
}

void MessageModel::replay_endpoints(bool receiving) {
    struct Task {
        bool between_nodes;
        std::vector<std::size_t> locations;
    };
    std::vector<Task> tasks;
    for (std::size_t location = 0; location < trace_.locations.size(); ++location) {
        tasks.push_back({false, {location}});
    }
    for (auto& group : endpoint_groups()) {
        tasks.push_back({true, std::move(group)});
    }
    parallel_for(threads_, tasks.size(), [&](std::size_t index) {
        const auto& task = tasks[index];
        std::vector<Customer> customers;
        for (const auto location : task.locations) {
            const auto& trace = trace_.traces[location];
            const auto& ends = receiving ? trace.receives : trace.sends;
            const auto here = static_cast<std::int32_t>(location);
            for (std::uint32_t i = 0; i < ends.size(); ++i) {
                const auto& end = ends[i];
                if (end.match == kNone ||
                    (locality(here, end.peer) == Locality::other_node) != task.between_nodes) {
                    continue;
                }
                const MessageId id = receiving ? MessageId{here, i} : of_send(end);
                const auto message = model(id);
                if (message.times.violates_causality()) {
                    continue;
                }
                std::int64_t time = injection(message.times, message.stages, message.handshake);
                if (receiving) {
                    time += waits(id).send_endpoint + message.stages.L;
                }
                customers.push_back({time, message.stages.service, id, end.bytes, here, end.peer});
            }
        }
        const auto earlier = [](const Customer& a, const Customer& b) {
            return a.time != b.time ? a.time < b.time : a.here < b.here;
        };
        if (!std::ranges::is_sorted(customers, earlier)) {
            std::ranges::stable_sort(customers, earlier);
        }
        replay::FifoServer server;
        std::vector<PeerCounter> peers(task.locations.size());
        for (const auto& customer : customers) {
            const std::int64_t wait = server.wait(customer.time, customer.service);
            (receiving ? waits(customer.id).recv_endpoint : waits(customer.id).send_endpoint) = wait;
            const auto window = windows_.at(customer.time);
            auto& load = loads_[(static_cast<std::size_t>(customer.here) * 2 + (receiving ? 1 : 0)) *
                                    static_cast<std::size_t>(windows_.count) +
                                static_cast<std::size_t>(window)];
            ++load.messages;
            load.bytes += customer.bytes;
            load.busy_ps += customer.service;
            load.queued_ps += wait;
            const auto place = std::ranges::lower_bound(task.locations, static_cast<std::size_t>(customer.here)) -
                               task.locations.begin();
            peers[static_cast<std::size_t>(place)].add(window, customer.peer);
        }
        for (std::size_t i = 0; i < task.locations.size(); ++i) {
            peers[i].for_each([&](std::int32_t window) {
                ++loads_[(task.locations[i] * 2 + (receiving ? 1 : 0)) * static_cast<std::size_t>(windows_.count) +
                         static_cast<std::size_t>(window)]
                      .peers;
            });
        }
    });
}

/// The receiver's processor as a FIFO server of receive overheads (LoPC), the overheads that kept it busy before a late
/// receive was posted, and how long a call that completes several requests was held by the last of them.
void MessageModel::replay_processor(std::size_t location) {
    const auto& trace = trace_.traces[location];
    if (trace.receives.empty()) {
        return;
    }
    struct Ready {
        std::int64_t time;
        std::int64_t service;
        std::uint32_t receive;
    };
    struct Late {
        std::int64_t arrival;
        std::int64_t posted;
        std::uint32_t receive;
    };
    std::vector<Ready> ready;
    std::vector<Late> late;
    std::vector<std::int64_t> arrivals(trace.receives.size(), INT64_MIN);
    const auto here = static_cast<std::int32_t>(location);
    for (std::uint32_t i = 0; i < trace.receives.size(); ++i) {
        const MessageId id{here, i};
        if (!matched(id)) {
            continue;
        }
        const auto message = model(id);
        if (message.times.violates_causality()) {
            continue;
        }
        arrivals[i] = arrival(id, message);
        ready.push_back({std::max(arrivals[i], message.times.rw0), message.stages.o_r, i});
        if (!message.stages.rendezvous && std::min(message.times.r0, message.times.rw0) > arrivals[i]) {
            late.push_back({arrivals[i], std::min(message.times.r0, message.times.rw0), i});
        }
    }
    const auto earlier = [](const Ready& a, const Ready& b) { return a.time < b.time; };
    if (!std::ranges::is_sorted(ready, earlier)) {
        std::ranges::stable_sort(ready, earlier);
    }
    auto& waits = waits_[location];
    replay::FifoServer processor;
    for (const auto& customer : ready) {
        waits[customer.receive].cpu_queue = processor.wait(customer.time, customer.service);
    }

    const CallOperations operations(trace);
    BusyBlocks busy;
    using Kind = CallOperation::Kind;
    for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
        const auto done = operations.of(c);
        if (done.empty()) {
            continue;
        }
        std::int64_t sending = 0;
        std::int64_t receiving = 0;
        std::int64_t last = INT64_MIN;
        std::size_t completions = 0;
        for (const auto& operation : done) {
            if (operation.kind == Kind::receive_complete) {
                ++completions;
                last = std::max(last, arrivals[operation.index]);
                if (!late.empty() && arrivals[operation.index] != INT64_MIN) {
                    receiving += model({here, operation.index}).stages.o_r;
                }
            } else if (operation.kind != Kind::collective) {
                const auto& send = trace.sends[operation.index];
                if (send.match == kNone || (operation.kind == Kind::send_start && late.empty())) {
                    continue;
                }
                const auto message = model(of_send(send));
                if (operation.kind != Kind::send_complete) {
                    sending += message.stages.o_s;
                }
                if (operation.kind != Kind::send_start && message.stages.rendezvous) {
                    ++completions;
                    last = std::max(last, arrival(of_send(send), message) - message.stages.L);
                }
            }
        }
        if (completions > 1) {
            for (const auto& operation : done) {
                if (operation.kind == Kind::receive_complete) {
                    waits[operation.index].held_until = std::max<std::int64_t>(0, last);
                }
            }
        }
        if (!late.empty()) {
            const auto& call = trace.calls[c];
            const std::int64_t length = call.leave_ps - call.enter_ps;
            sending = std::min(sending, length);
            receiving = std::min(receiving, length - sending);
            busy.add(call.enter_ps, call.enter_ps + sending);
            busy.add(call.leave_ps - receiving, call.leave_ps);
        }
    }
    for (const auto& message : late) {
        waits[message.receive].receiver_busy = busy.between(message.arrival, message.posted);
    }
}

void MessageModel::replay_queues() {
    const std::size_t locations = trace_.traces.size();
    waits_.resize(locations);
    loads_.assign(locations * 2 * static_cast<std::size_t>(windows_.count), {});
    std::vector<std::uint64_t> messages(locations);
    std::vector<std::uint64_t> violations(locations);
    parallel_for(threads_, locations, [&](std::size_t location) {
        const auto& receives = trace_.traces[location].receives;
        waits_[location].resize(receives.size());
        for (std::uint32_t i = 0; i < receives.size(); ++i) {
            const MessageId id{static_cast<std::int32_t>(location), i};
            if (matched(id)) {
                ++messages[location];
                violations[location] += times(id).violates_causality() ? 1 : 0;
            }
        }
    });
    for (std::size_t location = 0; location < locations; ++location) {
        messages_ += messages[location];
        violations_ += violations[location];
    }
    replay_endpoints(false);
    replay_endpoints(true);
    parallel_for(threads_, locations, [&](std::size_t location) { replay_processor(location); });
}

}  // namespace logpost::analyzer
