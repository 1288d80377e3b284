/// The deterministic FIFO replays of MessageModel: NICs at both ends, and the receiver's processor.

#include <algorithm>
#include <memory>

#include "message_model.hpp"
#include "nearly_sorted.hpp"
#include "replay/native/fifo.hpp"
#include "stage_table.hpp"
#include "threads.hpp"

namespace logpost::analyzer {
namespace {

using replay::Locality;

/// Counts distinct partners per window without a set per window.
class PeerCounter {
  public:
    void add(std::int32_t window, std::int32_t peer) {
        const auto key =
            (static_cast<std::uint64_t>(static_cast<std::uint32_t>(window)) << 32U) | static_cast<std::uint32_t>(peer);
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

/// What one call does for its messages.
struct CallWork {
    std::int64_t sending = 0;    // overheads of the messages that it started, at its begin
    std::int64_t receiving = 0;  // overheads of those that it completed, at its end
    std::int64_t last = 0;       // latest instant that it waited for
    std::uint32_t completions = 0;
};

/// Processor time that message overheads take on one location, where each call holds as much of them as it is long.
class BusyTime {
  public:
    /// Limits the work to the calls' lengths and sums it up.
    BusyTime(const Column<Call>& calls, std::span<CallWork> work, std::vector<std::int64_t>& before)
        : calls_(calls), work_(work), before_(before) {
        before.clear();
        std::int64_t sum = 0;
        for (std::size_t c = 0; c < calls.size(); ++c) {
            before.push_back(sum);
            if (work[c].sending + work[c].receiving > 0) {
                const std::int64_t length = calls[c].leave_ps - calls[c].enter_ps;
                work[c].sending = std::min(work[c].sending, length);
                work[c].receiving = std::min(work[c].receiving, length - work[c].sending);
                sum += work[c].sending + work[c].receiving;
            }
        }
    }

    /// Fast when asked in roughly ascending order: the search starts where the last one ended.
    [[nodiscard]] std::int64_t between(std::int64_t begin, std::int64_t end) noexcept {
        return begin < end ? before(end) - before(begin) : 0;
    }

  private:
    [[nodiscard]] std::int64_t before(std::int64_t time) noexcept {
        // Gallop from the hint to an interval that holds the first call at or after `time`, then bisect it.
        std::size_t low = hint_;
        std::size_t high = hint_;
        for (std::size_t step = 1; high < calls_.size() && calls_[high].enter_ps < time; step *= 2) {
            low = high;
            high = std::min(high + step, calls_.size());
        }
        for (std::size_t step = 1; low > 0 && calls_[low - 1].enter_ps >= time; step *= 2) {
            high = low;
            low -= std::min(low, step);
        }
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (calls_[middle].enter_ps < time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        hint_ = low;
        if (hint_ == 0) {
            return 0;
        }
        const auto c = hint_ - 1;
        const std::int64_t receiving = time - (calls_[c].leave_ps - work_[c].receiving);
        return before_[c] + std::min(work_[c].sending, time - calls_[c].enter_ps) +
               std::clamp<std::int64_t>(receiving, 0, work_[c].receiving);
    }

    std::size_t hint_ = 0;
    const Column<Call>& calls_;
    std::span<const CallWork> work_;
    const std::vector<std::int64_t>& before_;
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

/// The messages that leave a location, when they do, in program order. Of an eager message that is known at the sender
/// alone: its record, far away, is asked only for a rendezvous.
void MessageModel::leaving(std::size_t location, bool between_nodes, std::vector<Customer>& customers) const {
    const auto& trace = trace_.traces[location];
    const auto here = static_cast<std::int32_t>(location);
    std::vector<replay::MessageStages> rows;
    StageTable table(parameters_, rows);
    for (std::uint32_t i = 0; i < trace.sends.size(); ++i) {
        const auto& send = trace.sends[i];
        if (send.match == kNone) {
            continue;
        }
        const auto distance = places_.between(here, send.peer);
        if ((distance == Locality::other_node) != between_nodes) {
            continue;
        }
        const auto& call = trace.calls[send.call];
        const auto& planned = rows[table.row(distance, send.bytes, stride(trace, i))];
        const auto kind = trace_.regions[static_cast<std::size_t>(call.region)].kind;
        const bool eager =
            kind == RegionKind::send_buffered || (!planned.rendezvous && kind != RegionKind::send_synchronous);
        const std::int64_t overhead = std::min(call.leave_ps - call.enter_ps, planned.o_s + planned.l_mw / 2);
        const std::int64_t time = eager ? call.enter_ps + overhead : record(of_send(send)).arrival;
        customers.push_back({time, planned.service, here, i});
    }
}

/// The messages that arrive at a location, when their first byte does, in the order of the receive requests. One that
/// contradicts causality has no such time.
void MessageModel::arriving(std::size_t location, bool between_nodes, std::vector<Customer>& customers) const {
    const auto here = static_cast<std::int32_t>(location);
    const auto records = records_[location];
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        const auto& message = records[i];
        if (!message.matched || message.violation || (message.locality == Locality::other_node) != between_nodes) {
            continue;
        }
        const auto& planned = stages_[location][message.stages];
        customers.push_back({message.arrival + message.send_endpoint + planned.L, planned.service, here, i});
    }
}

/// One endpoint: the messages in one direction of the locations that share it.
void MessageModel::replay_endpoint(std::span<const std::size_t> locations, bool between_nodes, bool receiving) {
    std::vector<Customer> customers;
    for (const auto location : locations) {
        if (receiving) {
            arriving(location, between_nodes, customers);
        } else {
            leaving(location, between_nodes, customers);
        }
    }
    sort_nearly_sorted(customers, [](const Customer& a, const Customer& b) {
        return a.time != b.time ? a.time < b.time : a.here < b.here;
    });
    replay::FifoServer server;
    std::vector<PeerCounter> peers(locations.size());
    for (const auto& customer : customers) {
        const std::int64_t wait = server.wait(customer.time, customer.service);
        const auto here = static_cast<std::size_t>(customer.here);
        const auto& ends = receiving ? trace_.traces[here].receives : trace_.traces[here].sends;
        const auto& end = ends[customer.index];
        if (receiving) {
            auto& message = records_[here][customer.index];
            message.arrival = customer.time + stages_[here][message.stages].serialization + wait;
        } else if (wait > 0) {
            change(of_send(end)).send_endpoint = wait;
        }
        const auto window = windows_.at(customer.time);
        auto& load = loads_[load_index(here, receiving, window)];
        ++load.messages;
        load.bytes += end.bytes;
        load.busy_ps += customer.service;
        load.queued_ps += wait;
        const auto place = locations.size() == 1 ? 0 : std::ranges::lower_bound(locations, here) - locations.begin();
        peers[static_cast<std::size_t>(place)].add(window, end.peer);
    }
    for (std::size_t i = 0; i < locations.size(); ++i) {
        peers[i].for_each([&](std::int32_t window) { ++loads_[load_index(locations[i], receiving, window)].peers; });
    }
}

/// Messages within a node queue at the location's own end of the memory, messages between nodes at their node's NIC.
/// One kind after the other: both count into the loads of their locations.
void MessageModel::replay_endpoints(bool receiving) {
    const auto nics = endpoint_groups();
    for_each_parallel(trace_.traces.size(), threads_, 1,
                      [&](std::size_t location, unsigned) { replay_endpoint({&location, 1}, false, receiving); });
    for_each_parallel(nics.size(), threads_, 1,
                      [&](std::size_t nic, unsigned) { replay_endpoint(nics[nic], true, receiving); });
}

/// The receiver's processor as a FIFO server of receive overheads (LoPC), the overheads that kept it busy before a late
/// receive was posted, and how long a call that completes several requests was held by the last of them.
void MessageModel::replay_processor(std::size_t location) {
    const auto& trace = trace_.traces[location];
    if (processor_replayed_[location] != 0) {
        return;
    }
    processor_replayed_[location] = 1;
    if (trace.receives.empty()) {
        return;
    }
    struct Ready {
        std::int64_t time;
        std::uint32_t receive;
    };
    // Kept from location to location: fresh pages would cost more than what is done with them.
    thread_local std::vector<Ready> ready;
    thread_local std::vector<CallWork> calls;
    thread_local std::vector<std::int64_t> busy_before;
    thread_local std::vector<std::uint32_t> late;
    ready.clear();
    late.clear();
    calls.assign(trace.calls.size(), {});
    const auto records = records_[location];
    const auto waits = processor_[location];
    const auto& table = stages_[location];
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        const auto& message = records[i];
        std::construct_at(&waits[i]);
        if (!message.matched || message.violation) {
            continue;
        }
        const auto& planned = table[message.stages];
        ready.push_back({std::max(message.arrival, message.times.rw0), i});
        if (!planned.rendezvous && message.times.r0 > message.arrival) {
            late.push_back(i);
        }
        auto& call = calls[trace.receives[i].complete_call];
        call.receiving += planned.o_r;
        call.last = std::max(call.last, message.arrival);
        ++call.completions;
    }
    sort_nearly_sorted(ready, [](const Ready& a, const Ready& b) { return a.time < b.time; });
    replay::FifoServer processor;
    for (const auto& customer : ready) {
        waits[customer.receive].cpu_queue = processor.wait(customer.time, table[records[customer.receive].stages].o_r);
    }

    const auto here = static_cast<std::int32_t>(location);
    std::vector<replay::MessageStages> rows;
    StageTable own(parameters_, rows);
    for (std::uint32_t i = 0; i < trace.sends.size(); ++i) {
        const auto& send = trace.sends[i];
        if (send.match == kNone) {
            continue;
        }
        // The sending overhead knows nothing of the receiver: the message's record, far away, is not needed for it.
        const auto& planned = rows[own.row(places_.between(here, send.peer), send.bytes, 0)];
        calls[send.call].sending += planned.o_s;
        if (planned.rendezvous && send.complete_call != kNone && stages(of_send(send)).rendezvous) {
            auto& call = calls[send.complete_call];
            call.last = std::max(call.last, arrival(of_send(send)) - planned.L);
            ++call.completions;
        }
    }
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        if (records[i].matched) {
            const auto& call = calls[trace.receives[i].complete_call];
            waits[i].held_until = call.completions > 1 ? call.last : 0;
        }
    }
    if (late.empty()) {
        return;
    }
    BusyTime busy(trace.calls, calls, busy_before);
    for (const auto receive : late) {
        waits[receive].receiver_busy = busy.between(records[receive].arrival, records[receive].times.r0);
    }
}

}  // namespace logpost::analyzer
