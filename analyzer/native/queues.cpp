/// The deterministic FIFO replays of MessageModel: NICs at both ends, and the receiver's processor.

#include <algorithm>

#include "call_operations.hpp"
#include "message_model.hpp"
#include "nearly_sorted.hpp"
#include "parallel.hpp"
#include "replay/native/fifo.hpp"

namespace logpost::analyzer {
namespace {

using replay::Locality;

/// One message at an endpoint.
struct Customer {
    std::int64_t time;
    MessageId id;
    std::int32_t here;  // location that acts as the endpoint
    std::int32_t peer;
};

/// Counts distinct partners per window without a set per window.
class PeerCounter {
  public:
    void add(std::int32_t window, std::int32_t peer) {
        const auto key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(window)) << 32U) |
                         static_cast<std::uint32_t>(peer);
        // A pattern of partners repeats: what was just added need not be kept again.
        auto& recent = recent_[static_cast<std::uint32_t>(peer) % kRecent];
        if (recent == key) {
            return;
        }
        recent = key;
        keys_.push_back(key);
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

    static constexpr std::size_t kRecent = 16;
    std::array<std::uint64_t, kRecent> recent_ = [] {
        std::array<std::uint64_t, kRecent> none{};
        none.fill(UINT64_MAX);
        return none;
    }();
    std::vector<std::uint64_t> keys_;
    std::size_t limit_ = 4096;
};

/// Processor time that message overheads take on one location: disjoint blocks in time order.
class BusyBlocks {
  public:
    void add(std::int64_t begin, std::int64_t end) {
        if (begin < end) {
            const std::int64_t before = blocks_.empty() ? 0 : blocks_.back().upto;
            blocks_.push_back({begin, end, before + end - begin});
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

/// Locations that share a NIC: the ranks of a node are dealt to its NICs in turn.
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
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
    return groups;
}

/// Messages between nodes queue at their node's NIC; messages within a node at the location's own end of the memory.
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
                    (places_.between(here, end.peer) == Locality::other_node) != task.between_nodes) {
                    continue;
                }
                const MessageId id = receiving ? MessageId{here, i} : of_send(end);
                const auto& message = record(id);
                if (!message.violation) {
                    const std::int64_t at_receiver = message.injection + message.send_endpoint + stages(id).L;
                    customers.push_back({receiving ? at_receiver : message.injection, id, here, end.peer});
                }
            }
        }
        sort_nearly_sorted(customers, [](const Customer& a, const Customer& b) {
            return a.time != b.time ? a.time < b.time : a.here < b.here;
        });
        replay::FifoServer server;
        std::vector<PeerCounter> peers(task.locations.size());
        for (const auto& customer : customers) {
            auto& message = change(customer.id);
            const std::int64_t service = stages(customer.id).service;
            const std::int64_t wait = server.wait(customer.time, service);
            (receiving ? message.recv_endpoint : message.send_endpoint) = wait;
            const auto window = windows_.at(customer.time);
            auto& load = loads_[load_index(static_cast<std::size_t>(customer.here), receiving, window)];
            ++load.messages;
            load.bytes += trace_.traces[static_cast<std::size_t>(customer.id.location)]
                              .receives[customer.id.receive]
                              .bytes;
            load.busy_ps += service;
            load.queued_ps += wait;
            const auto place =
                task.locations.size() == 1
                    ? 0
                    : std::ranges::lower_bound(task.locations, static_cast<std::size_t>(customer.here)) -
                          task.locations.begin();
            peers[static_cast<std::size_t>(place)].add(window, customer.peer);
        }
        for (std::size_t i = 0; i < task.locations.size(); ++i) {
            peers[i].for_each([&](std::int32_t window) { ++loads_[load_index(task.locations[i], receiving, window)].peers; });
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
        std::uint32_t receive;
    };
    std::vector<Ready> ready;
    std::vector<std::uint32_t> late;
    ready.reserve(trace.receives.size());
    const auto here = static_cast<std::int32_t>(location);
    auto& records = records_[location];
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        const auto& message = records[i];
        if (!message.matched || message.violation) {
            continue;
        }
        const auto arrives = arrival({here, i});
        ready.push_back({std::max(arrives, message.times.rw0), i});
        if (!stages({here, i}).rendezvous && message.times.r0 > arrives) {
            late.push_back(i);
        }
    }
    sort_nearly_sorted(ready, [](const Ready& a, const Ready& b) { return a.time < b.time; });
    replay::FifoServer processor;
    for (const auto& customer : ready) {
        records[customer.receive].cpu_queue = processor.wait(customer.time, stages({here, customer.receive}).o_r);
    }

    const CallOperations operations(trace);
    BusyBlocks busy;
    using Kind = CallOperation::Kind;
    for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
        const auto done = operations.of(c);
        if (done.empty() || (done.size() == 1 && late.empty())) {
            continue;
        }
        std::int64_t sending = 0;
        std::int64_t receiving = 0;
        std::int64_t last = 0;
        std::size_t completions = 0;
        for (const auto& operation : done) {
            if (operation.kind == Kind::collective) {
                continue;
            }
            const bool receive = operation.kind == Kind::receive_complete;
            const MessageId id = receive ? MessageId{here, operation.index} : of_send(trace.sends[operation.index]);
            if (id.receive == kNone || !record(id).matched || record(id).violation) {
                continue;
            }
            const auto& planned = stages(id);
            if (receive) {
                ++completions;
                last = std::max(last, arrival(id));
                receiving += planned.o_r;
                continue;
            }
            if (operation.kind != Kind::send_complete) {
                sending += planned.o_s;
            }
            if (operation.kind != Kind::send_start && planned.rendezvous) {
                ++completions;
                last = std::max(last, arrival(id) - planned.L);
            }
        }
        if (completions > 1) {
            for (const auto& operation : done) {
                if (operation.kind == Kind::receive_complete) {
                    records[operation.index].held_until = last;
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
    for (const auto receive : late) {
        records[receive].receiver_busy = busy.between(arrival({here, receive}), records[receive].times.r0);
    }
}

}  // namespace logpost::analyzer
