#include "message_model.hpp"

#include <bit>

#include "parallel.hpp"

namespace logpost::analyzer {
namespace {

/// The distinct stages of the messages to one location: most programs send few sizes, so each is computed once.
class StageTable {
  public:
    StageTable(const replay::Parameters& parameters, std::vector<replay::MessageStages>& rows)
        : parameters_(parameters), rows_(rows) {}

    std::uint32_t row(replay::Locality locality, std::uint64_t bytes, std::int64_t stride) {
        const Key key{bytes, stride, locality};
        if (key != last_) {
            last_ = key;
            const auto [place, added] = index_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
            if (added) {
                rows_.push_back(message_stages(parameters_, locality, bytes, stride));
            }
            last_row_ = place->second;
        }
        return last_row_;
    }

    /// The row like `row` but with the other protocol.
    std::uint32_t with_other_protocol(std::uint32_t row) {
        const auto [place, added] = other_.try_emplace(row, static_cast<std::uint32_t>(rows_.size()));
        if (added) {
            auto changed = rows_[row];
            changed.rendezvous = !changed.rendezvous;
            rows_.push_back(changed);
        }
        return place->second;
    }

  private:
    struct Key {
        std::uint64_t bytes = UINT64_MAX;
        std::int64_t stride = -1;
        replay::Locality locality = replay::Locality::self;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept {
            constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
            return (key.bytes * kOdd) ^ std::rotl(static_cast<std::uint64_t>(key.stride) * kOdd, 29) ^
                   static_cast<std::uint64_t>(key.locality);
        }
    };
    const replay::Parameters& parameters_;
    std::vector<replay::MessageStages>& rows_;
    std::unordered_map<Key, std::uint32_t, Hash> index_;
    std::unordered_map<std::uint32_t, std::uint32_t> other_;
    Key last_;
    std::uint32_t last_row_ = 0;
};

}  // namespace

MessageModel::MessageModel(const Trace& trace, const replay::Parameters& parameters, Windows windows, unsigned threads)
    : trace_(trace), parameters_(parameters), windows_(windows), threads_(threads), places_(trace) {}

std::int32_t MessageModel::layout(MessageId id) const noexcept {
    const auto& received = trace_.traces[static_cast<std::size_t>(id.location)].receives[id.receive];
    const auto& layouts = trace_.traces[static_cast<std::size_t>(received.peer)].layouts;
    std::size_t low = 0;
    std::size_t high = layouts.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (layouts[middle].send < received.match) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < layouts.size() && layouts[low].send == received.match ? layouts[low].layout : kUndefined;
}

void MessageModel::build_records(std::size_t location) {
    const auto& trace = trace_.traces[location];
    auto& records = records_[location];
    records.resize(trace.receives.size());
    StageTable table(parameters_, stages_[location]);
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        const auto& received = trace.receives[i];
        if (received.match == kNone) {
            continue;
        }
        const MessageId id{static_cast<std::int32_t>(location), i};
        auto& record = records[i];
        record.matched = true;
        record.times = measured_times(trace_, id);
        record.locality = places_.between(received.peer, id.location);
        record.violation = record.times.violates_causality();
        const auto& sender = trace_.traces[static_cast<std::size_t>(received.peer)];
        std::int64_t stride = 0;
        if (!sender.layouts.empty()) {
            const auto row = layout(id);
            stride = row == kUndefined ? 0 : trace_.layouts[static_cast<std::size_t>(row)].stride_bytes;
        }
        record.stages = table.row(record.locality, sender.sends[received.match].bytes, stride);
        const bool by_size = stages_[location][record.stages].rendezvous;
        if (is_rendezvous(trace_, id, record.times, by_size) != by_size) {
            record.stages = table.with_other_protocol(record.stages);
        }
        const auto& stages = stages_[location][record.stages];
        if (record.violation) {
            record.injection = record.times.rw1;
            continue;
        }
        if (stages.rendezvous) {
            record.handshake = handshake(
                record.times, stages, parameters_.asynchronous_progress,
                [&](std::int64_t time) { return first_in_mpi(trace, time); },
                [&](std::int64_t time) { return first_in_mpi(sender, time); });
        }
        record.injection = replay::injection(record.times, stages, record.handshake);
    }
}

std::int64_t MessageModel::arrival(MessageId id) const noexcept {
    const auto& message = record(id);
    if (message.violation) {
        return message.times.rw1;
    }
    const auto& planned = stages(id);
    return message.injection + message.send_endpoint + planned.L + planned.serialization + message.recv_endpoint;
}

replay::Partition MessageModel::partition(MessageId id) const noexcept {
    const auto& message = record(id);
    return replay::partition(message.times, stages(id),
                             {.send_endpoint = message.send_endpoint,
                              .recv_endpoint = message.recv_endpoint,
                              .cpu_queue = message.cpu_queue,
                              .network = 0,
                              .receiver_busy = message.receiver_busy,
                              .held_until = message.held_until},
                             message.handshake);
}

void MessageModel::replay_queues() {
    const std::size_t locations = trace_.traces.size();
    records_.resize(locations);
    stages_.resize(locations);
    loads_.assign(locations * 2 * static_cast<std::size_t>(windows_.count), {});
    parallel_for(threads_, locations, [&](std::size_t location) { build_records(location); });
    replay_endpoints(false);
    replay_endpoints(true);
    std::vector<std::uint64_t> messages(locations);
    std::vector<std::uint64_t> violations(locations);
    parallel_for(threads_, locations, [&](std::size_t location) {
        replay_processor(location);
        for (const auto& message : records_[location]) {
            messages[location] += message.matched ? 1 : 0;
            violations[location] += message.violation ? 1 : 0;
        }
    });
    for (std::size_t location = 0; location < locations; ++location) {
        messages_ += messages[location];
        violations_ += violations[location];
    }
}

}  // namespace logpost::analyzer
