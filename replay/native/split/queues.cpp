/// The deterministic FIFO replays of MessageModel's NICs, at both ends.

#include <algorithm>
#include <memory>
#include <span>

#include "replay/native/memory/nearly_sorted.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/program/wide.hpp"
#include "replay/native/servers/fifo.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {
namespace {

/// Counts distinct partners per window without a set per window.
class PeerCounter {
  public:
    void add(std::int32_t window, Location peer) {
        const auto key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(window)) << 32U) | index(peer);
        // A pattern of partners repeats: what was just added need not be kept again.
        auto& recent = recent_[index(peer) % kRecent];
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

}  // namespace

/// What waits at one endpoint, as runs that are each in order of time once they are closed: of a location, its messages
/// and its other requests to the endpoint.
struct MessageModel::Queue {
    std::vector<QueuedMessage> messages;
    std::vector<std::size_t> ends;  // of the runs

    void clear() noexcept {
        messages.clear();
        ends.clear();
    }
    void close_run() {
        const auto begin = ends.empty() ? 0 : ends.back();
        if (messages.size() > begin) {
            sort_nearly_sorted(std::span(messages).subspan(begin), earlier);
            ends.push_back(messages.size());
        }
    }
    static constexpr auto earlier = [](const QueuedMessage& a, const QueuedMessage& b) noexcept {
        return (a.time < b.time) | ((a.time == b.time) & (a.here < b.here));
    };
};

/// The messages that leave a location, when they do, in program order. Of an eager message that is known at the sender
/// alone: its distant record is read only for a rendezvous.
void MessageModel::leaving(std::size_t location, Queue& within_node, Queue& between_nodes) const {
    const auto& sends = program_.timelines[location].sends;
    const auto here = location_at(location);
    const auto departures = departures_[location];
    for (std::uint32_t i = 0; i < departures.size(); ++i) {
        const auto& departure = departures[i];
        if (!departure.matched) {
            continue;
        }
        const std::int64_t time = departure.may_ask ? record(of_send(sends[i])).arrival : departure.end_ps;
        auto& queue = departure.distance == Locality::other_node ? between_nodes : within_node;
        queue.messages.push_back({time, departure_stages_[location][departure.stages].service, here, i});
    }
}

/// The messages that arrive at a location, when their first byte does, in the order of the receive requests. One that
/// contradicts causality has no such time.
void MessageModel::arriving(std::size_t location, Queue& within_node, Queue& between_nodes) const {
    const auto here = location_at(location);
    const auto records = records_[location];
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        const auto& message = records[i];
        if (!message.matched || message.violation) {
            continue;
        }
        const auto& planned = stages_[location][message.stages];
        auto& queue = message.locality == Locality::other_node ? between_nodes : within_node;
        queue.messages.push_back({message.arrival + message.send_endpoint + planned.L, planned.service, here, i});
    }
}

/// All requests of a location, in one direction, to its own end of the node's memory and to its node's NIC.
void MessageModel::enqueue(std::size_t location, bool receiving, Queue& within_node, Queue& between_nodes) const {
    if (receiving) {
        arriving(location, within_node, between_nodes);
    } else {
        leaving(location, within_node, between_nodes);
    }
    within_node.close_run();
    between_nodes.close_run();
    if (location < nic_uses_.of.size()) {
        for (const auto& use : nic_uses_.of[location]) {
            if (use.receiving == receiving && !use.processor) {
                auto& queue = use.between_nodes ? between_nodes : within_node;
                queue.messages.push_back({use.from_ps, use.service_ps, location_at(location),
                                          use.queues ? QueuedMessage::kOther : QueuedMessage::kBusy});
            }
        }
        within_node.close_run();
        between_nodes.close_run();
    }
}

/// One endpoint: the messages in one direction of the locations that share it.
void MessageModel::replay_endpoint(std::span<const std::size_t> locations, Queue& queue, bool receiving) {
    merge_runs(queue.messages, queue.ends, Queue::earlier);
    FifoServer server(parameters_.endpoints_queue);
    std::vector<PeerCounter> peers(locations.size());
    WindowCursor windows(windows_);
    for (const auto& one : queue.messages) {
        if (one.index == QueuedMessage::kBusy) {
            server.occupy(one.time + one.service);
            continue;
        }
        const std::int64_t wait = server.wait(one.time, one.service);
        if (one.index == QueuedMessage::kOther) {
            continue;
        }
        const auto here = index(one.here);
        const auto& ends = receiving ? program_.timelines[here].receives : program_.timelines[here].sends;
        const auto& end = ends[one.index];
        if (receiving) {
            auto& message = records_[here][one.index];
            message.arrival = one.time + stages_[here][message.stages].serialization + wait;
        } else if (wait > 0) {
            change(of_send(end)).send_endpoint = wait;
        }
        if (!of_interest(receiving ? MessageId{one.here, one.index} : of_send(end))) {
            continue;
        }
        const auto window = windows.at(one.time);
        auto& load = loads_[load_index(here, receiving, window)];
        ++load.messages;
        // A writer may take the buffer's size for what a receive got.
        load.bytes +=
            receiving && sizes_differ_ ? program_.timelines[index(end.peer)].sends[end.match].bytes : end.bytes;
        add_saturating(load.busy_ps, one.service);
        add_saturating(load.queued_ps, wait);
        const auto place = locations.size() == 1 ? 0 : std::ranges::lower_bound(locations, here) - locations.begin();
        peers[static_cast<std::size_t>(place)].add(window, end.peer);
    }
    for (std::size_t i = 0; i < locations.size(); ++i) {
        peers[i].for_each([&](std::int32_t window) { ++loads_[load_index(locations[i], receiving, window)].peers; });
    }
}

/// Messages within a node queue at the location's own end of the memory, messages between nodes at their node's NIC.
/// One kind after the other: both count into the loads of their locations, whose messages are looked at once.
void MessageModel::replay_endpoints(bool receiving) {
    const auto replay_of = [&](std::span<const std::size_t> locations) {
        // Kept from endpoint to endpoint: fresh pages would cost more than what is done with them.
        thread_local Queue own, shared;
        shared.clear();
        for (const auto& location : locations) {
            own.clear();
            enqueue(location, receiving, own, shared);
            replay_endpoint({&location, 1}, own, receiving);
        }
        replay_endpoint(locations, shared, receiving);
    };
    if (totals_.between_nodes) {
        for_each_parallel(block_.nics.size(), threads_, 1,
                          [&](std::size_t nic, unsigned) { replay_of(block_.nics[nic]); });
    } else {
        for_each_parallel(block_.locations.size(), threads_, 1,
                          [&](std::size_t i, unsigned) { replay_of({&block_.locations[i], 1}); });
    }
}

}  // namespace logpost::replay
