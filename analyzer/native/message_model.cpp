#include "message_model.hpp"

#include <algorithm>
#include <memory>

#include "stage_table.hpp"
#include "threads.hpp"

namespace logpost::analyzer {
namespace {

/// How many messages ahead their sending ends are asked for: about a memory latency's worth of work.
constexpr std::uint32_t kAhead = 12;

}  // namespace

MessageModel::MessageModel(const Trace& trace, const replay::Parameters& parameters, Windows windows, unsigned threads)
    : trace_(trace), parameters_(parameters), windows_(windows), threads_(threads), places_(trace) {}

namespace {

/// Row of Trace::layouts of one send; kUndefined: contiguous or not stated.
std::int32_t layout_of_send(const LocationTrace& sender, std::uint32_t send) noexcept {
    const auto& layouts = sender.layouts;
    std::size_t low = 0;
    std::size_t high = layouts.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (layouts[middle].send < send) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < layouts.size() && layouts[low].send == send ? layouts[low].layout : kUndefined;
}

}  // namespace

std::int32_t MessageModel::layout(MessageId id) const noexcept {
    const auto& received = trace_.traces[static_cast<std::size_t>(id.location)].receives[id.receive];
    return layout_of_send(trace_.traces[static_cast<std::size_t>(received.peer)], received.match);
}

std::int64_t MessageModel::stride(const LocationTrace& sender, std::uint32_t send) const noexcept {
    const auto row = sender.layouts.empty() ? kUndefined : layout_of_send(sender, send);
    return row == kUndefined ? 0 : trace_.layouts[static_cast<std::size_t>(row)].stride_bytes;
}

void MessageModel::build_records(std::size_t location) {
    const auto& trace = trace_.traces[location];
    const auto records = records_[location];
    StageTable table(parameters_, stages_[location]);
    for (std::uint32_t i = 0; i < trace.receives.size(); ++i) {
        const auto& received = trace.receives[i];
        auto& record = *std::construct_at(&records[i]);
        // First the sending end, later, when that is there, its call.
        if (i + 2 * kAhead < trace.receives.size()) {
            const auto& soon = trace.receives[i + 2 * kAhead];
            if (soon.match != kNone) {
                __builtin_prefetch(&trace_.traces[static_cast<std::size_t>(soon.peer)].sends[soon.match]);
            }
            const auto& next = trace.receives[i + kAhead];
            if (next.match != kNone) {
                const auto& sender = trace_.traces[static_cast<std::size_t>(next.peer)];
                __builtin_prefetch(&sender.calls[sender.sends[next.match].call]);
            }
        }
        if (received.match == kNone) {
            continue;
        }
        const MessageId id{static_cast<std::int32_t>(location), i};
        record.matched = true;
        record.times = measured_times(trace_, id);
        record.locality = places_.between(received.peer, id.location);
        record.violation = record.times.violates_causality();
        const auto& sender = trace_.traces[static_cast<std::size_t>(received.peer)];
        record.stages = table.row(record.locality, sender.sends[received.match].bytes, stride(sender, received.match));
        const bool by_size = stages_[location][record.stages].rendezvous;
        if (is_rendezvous(trace_, id, by_size) != by_size) {
            record.stages = table.with_other_protocol(record.stages);
        }
        const auto& stages = stages_[location][record.stages];
        if (record.violation) {
            record.arrival = record.times.rw1;
            continue;
        }
        replay::Handshake handshake;
        if (stages.rendezvous) {
            handshake = replay::handshake(
                record.times, completion_of_send(trace_, id).enter, stages, parameters_.asynchronous_progress,
                [&](std::int64_t time) { return first_in_mpi(trace, time); },
                [&](std::int64_t time) { return first_in_mpi(sender, time); });
            rendezvous_[location].push_back({i, handshake});
        }
        record.arrival = replay::injection(record.times, stages, handshake);
    }
}

replay::Handshake MessageModel::handshake_of(MessageId id) const noexcept {
    if (!stages(id).rendezvous || record(id).violation) {
        return {};
    }
    return std::ranges::lower_bound(rendezvous_[static_cast<std::size_t>(id.location)], id.receive, {},
                                    &Rendezvous::receive)
        ->handshake;
}

replay::Partition MessageModel::partition(MessageId id) const noexcept {
    const auto& message = record(id);
    const auto& planned = stages(id);
    const auto& processor = processor_[static_cast<std::size_t>(id.location)][id.receive];
    const auto handshake = handshake_of(id);
    // The arrival holds both waits for a NIC: what is not the sender's is the receiver's.
    const std::int64_t unhindered = replay::injection(message.times, planned, handshake) + message.send_endpoint +
                                    planned.L + planned.serialization;
    return replay::partition(message.times, planned,
                             {.send_endpoint = message.send_endpoint,
                              .recv_endpoint = message.violation ? 0 : message.arrival - unhindered,
                              .cpu_queue = processor.cpu_queue,
                              .network = 0,
                              .receiver_busy = processor.receiver_busy,
                              .held_until = processor.held_until},
                             handshake);
}

void MessageModel::replay_endpoints() {
    const std::size_t locations = trace_.traces.size();
    std::size_t total = 0;
    for (const auto& trace : trace_.traces) {
        total += trace.receives.size();
    }
    record_memory_ = HugeArray<MessageRecord>(total);
    processor_memory_ = HugeArray<ProcessorWaits>(total);
    std::size_t begin = 0;
    for (const auto& trace : trace_.traces) {
        records_.emplace_back(record_memory_.data() + begin, trace.receives.size());
        processor_.emplace_back(processor_memory_.data() + begin, trace.receives.size());
        begin += trace.receives.size();
    }
    rendezvous_.resize(locations);
    stages_.resize(locations);
    processor_replayed_.resize(locations);
    loads_.assign(locations * 2 * static_cast<std::size_t>(windows_.count), {});
    std::vector<std::uint64_t> messages(locations);
    std::vector<std::uint64_t> violations(locations);
    for_each_parallel(locations, threads_, 1, [&](std::size_t location, unsigned) {
        build_records(location);
        for (const auto& message : records_[location]) {
            messages[location] += message.matched ? 1 : 0;
            violations[location] += message.violation ? 1 : 0;
        }
    });
    for (std::size_t location = 0; location < locations; ++location) {
        messages_ += messages[location];
        violations_ += violations[location];
    }
    replay_endpoints(false);
    replay_endpoints(true);
}

}  // namespace logpost::analyzer
