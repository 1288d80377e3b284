#include "replay/native/split/message_model.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "replay/native/cost/blocks_of.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/program/bursts.hpp"
#include "replay/native/servers/endpoints.hpp"
#include "replay/native/split/stage_table.hpp"

namespace logpost::replay {

void MessageModel::Totals::add(const Totals& other) noexcept {
    messages += other.messages;
    violations += other.violations;
    beyond_sizes += other.beyond_sizes;
    beyond_strides += other.beyond_strides;
    between_nodes = between_nodes || other.between_nodes;
    asynchronous_progress = asynchronous_progress || other.asynchronous_progress;
}

MessageModel::MessageModel(const Program& program, const Parameters& parameters, Windows windows,
                           std::vector<Span> interest, unsigned threads, NicUses nic_uses)
    : program_(program),
      parameters_(parameters),
      windows_(windows),
      interest_(std::move(interest)),
      threads_(threads),
      nic_uses_(std::move(nic_uses)) {
    block_.locations.resize(program.timelines.size());
    std::iota(block_.locations.begin(), block_.locations.end(), std::size_t{0});
    reserve();
    count_bursts();
    build_records();
    if (attendance_.shows_progress()) {
        parameters_.asynchronous_progress = true;
        build_records();
    }
    if (totals_.between_nodes) {
        block_.nics = endpoint_groups(program_, parameters_.nics_per_node);
    }
    replay_queues();
    nic_uses_ = {};
    departures_ = {};
    departure_stages_ = {};
    share_links();
}

MessageModel::MessageModel(const Program& program, const Parameters& parameters, Windows windows, NicUses nic_uses,
                           SplitBlock block)
    : program_(program),
      parameters_(parameters),
      windows_(windows),
      threads_(1),
      block_(std::move(block)),
      nic_uses_(std::move(nic_uses)) {
    load_rows_.resize(program.timelines.size());
    for (std::size_t i = 0; i < block_.locations.size(); ++i) {
        load_rows_[block_.locations[i]] = static_cast<std::uint32_t>(i);
    }
    reserve();
    count_bursts();
    build_records();
}

MessageModel::MessageModel(const Program& program, const Parameters& parameters, Windows windows,
                           std::vector<Span> interest, unsigned threads, const Replayed& blocks)
    : program_(program),
      parameters_(parameters),
      windows_(windows),
      interest_(std::move(interest)),
      threads_(threads),
      totals_(blocks.totals) {
    parameters_.asynchronous_progress = totals_.asynchronous_progress;
    count_bursts();
    const bool has_loads = std::ranges::any_of(blocks.found, [](const Found& one) { return !one.loads.empty(); });
    for (const auto& one : blocks.found) {
        records_.push_back(one.records);
        processor_.push_back(one.processor);
        rendezvous_.push_back(one.rendezvous);
        stages_.push_back(one.stages);
        if (has_loads) {
            loads_.insert(loads_.end(), one.loads.begin(), one.loads.end());
            loads_.resize(records_.size() * 2 * static_cast<std::size_t>(windows_.count));
        }
        late_replies_.emplace_back(one.late_replies.begin(), one.late_replies.end());
    }
    collect_late_replies();
    share_links();
}

void MessageModel::share_links() {
    if (parameters_.links_queue && totals_.between_nodes) {
        network_ = NetworkContention(*this, threads_);
    }
}

std::size_t MessageModel::place_in_block(MessageId id) const noexcept {
    const auto& sent = block_.sent[index(id.location)];
    return sent.empty() ? id.receive
                        : static_cast<std::size_t>(std::ranges::lower_bound(sent, id.receive) - sent.begin());
}

bool MessageModel::take(const MessageWait& wait) noexcept {
    if (index(wait.location) >= records_.size()) {
        return false;
    }
    const auto& records = records_[index(wait.location)];
    const MessageId id{wait.location, wait.receive};
    if (place(id) >= records.size()) {
        return false;
    }
    if (wait.server == MessageWait::Server::sending_nic) {
        change(id).send_endpoint = wait.wait_ps;
        return true;
    }
    auto* const entry = rendezvous_of(id);
    if (entry == nullptr) {
        return false;
    }
    (wait.server == MessageWait::Server::receiver ? entry->request_wait : entry->clear_wait) = wait.wait_ps;
    return true;
}

void MessageModel::leave() {
    settle_handshakes();
    replay_endpoints(false);
}

bool MessageModel::arrive() {
    replay_endpoints(true);
    late_replies_.assign(program_.timelines.size(), {});
    return replay_processors();
}

std::vector<MessageWait> MessageModel::left() const {
    std::vector<MessageWait> found;
    for (std::size_t location = 0; location < block_.sent.size(); ++location) {
        const auto& sent = block_.sent[location];
        for (std::size_t i = 0; i < sent.size(); ++i) {
            if (const auto wait = records_[location][i].send_endpoint; wait > 0) {
                found.push_back({location_at(location), sent[i], wait, MessageWait::Server::sending_nic});
            }
        }
    }
    return found;
}

std::vector<MessageWait> MessageModel::replied() const {
    std::vector<MessageWait> found;
    for (const auto location : block_.locations) {
        for (const auto& entry : rendezvous_[location]) {
            if (entry.request_wait > 0) {
                found.push_back(
                    {location_at(location), entry.receive, entry.request_wait, MessageWait::Server::receiver});
            }
        }
        program_.timelines[location].sends.for_each([&](std::size_t, const MessageEnd& send) {
            const auto* const entry = send.match == kNone ? nullptr : rendezvous_of(of_send(send));
            if (entry != nullptr && entry->clear_wait > 0) {
                found.push_back({send.peer, send.match, entry->clear_wait, MessageWait::Server::sender});
            }
        });
    }
    return found;
}

MessageModel::Found MessageModel::found(std::size_t location) {
    const auto windows = static_cast<std::size_t>(windows_.count);
    return {.records = records_[location],
            .processor = processor_[location],
            .rendezvous = rendezvous_[location],
            .stages = stages_[location],
            .loads = {&loads_[load_index(location, false, 0)], 2 * windows},
            .late_replies = late_replies_[location]};
}

MessageModel::Totals MessageModel::totals() const noexcept {
    auto totals = totals_;
    totals.asynchronous_progress = parameters_.asynchronous_progress;
    return totals;
}

std::int64_t MessageModel::leaves(MessageId id) const noexcept {
    const auto& message = record(id);
    return injection(message.times, stages(id), handshake_of(id), begun(id)) + message.send_endpoint;
}

std::int32_t MessageModel::layout(MessageId id) const noexcept {
    const auto& received = program_.timelines[index(id.location)].receives[id.receive];
    return layout_of_send(program_.timelines[index(received.peer)], received.match);
}

Blocks MessageModel::blocks(const Timeline& sender, std::uint32_t send) const noexcept {
    auto found = blocks_of(program_, sender.layouts.empty() ? kUndefined : layout_of_send(sender, send));
    found.one_processor =
        found.stride_bytes != 0 && sender.sends[send].match != kNone && is_exchanged(of_send(sender.sends[send]));
    return found;
}

bool MessageModel::is_exchanged(MessageId id) const noexcept {
    const auto& timeline = program_.timelines[index(id.location)];
    const auto& received = timeline.receives[id.receive];
    if (timeline.layouts.empty()) {
        return false;
    }
    const auto& sends = timeline.sends;
    auto at = sends.partition_point([&](const MessageEnd& send) { return send.call <= received.complete_call; });
    while (at-- > 0) {
        const auto& send = sends[at];
        if (send.call != received.complete_call && send.complete_call != received.complete_call) {
            if (send.complete_call < received.complete_call) {
                return false;
            }
        } else if (send.peer == received.peer &&
                   layout_of_send(timeline, static_cast<std::uint32_t>(at)) != kUndefined) {
            return true;
        }
    }
    return false;
}

MessageModel::Counts MessageModel::build_records(std::size_t location) {
    Counts counts;
    const auto& timeline = program_.timelines[location];
    const auto records = records_[location];
    thread_local std::vector<MessageStages> distinct;
    thread_local std::vector<Rendezvous> asking;
    distinct.clear();
    asking.clear();
    StageTable table(parameters_, distinct);
    // Of a location of another block, what this one sends to it.
    const auto sent_here = block_.sent.empty() ? std::span<const std::uint32_t>{} : block_.sent[location];
    for (std::size_t at = 0; at < records.size(); ++at) {
        const auto i = sent_here.empty() ? static_cast<std::uint32_t>(at) : sent_here[at];
        const auto& received = timeline.receives[i];
        auto& record = *std::construct_at(&records[at]);
        if (received.match == kNone) {
            continue;
        }
        const MessageId id{location_at(location), i};
        record.matched = true;
        record.times = measured_times(program_, id);
        record.locality = program_.placement.between(received.peer, id.location);
        record.violation = record.times.violates_causality();
        const auto& sender = program_.timelines[index(received.peer)];
        record.stages = table.row(record.locality, sender.sends[received.match].bytes, blocks(sender, received.match),
                                  burst(received.peer, received.match), hops(received.peer, id.location));
        const bool by_size = distinct[record.stages].rendezvous;
        if (is_rendezvous(program_, id, by_size) != by_size) {
            record.stages = table.with_other_protocol(record.stages);
        }
        const auto& stages = distinct[record.stages];
        auto& totals = counts.totals;
        ++totals.messages;
        totals.between_nodes = totals.between_nodes || record.locality == Locality::other_node;
        totals.violations += record.violation ? 1 : 0;
        totals.beyond_sizes += stages.beyond_sizes ? 1 : 0;
        totals.beyond_strides += stages.beyond_strides ? 1 : 0;
        counts.sizes_differ = counts.sizes_differ || sender.sends[received.match].bytes != received.bytes;
        if (record.violation) {
            record.arrival = record.times.rw1;
            continue;
        }
        const auto& sent = sender.sends[received.match];
        record.queued = received.match > 0 && sender.sends[received.match - 1].call == sent.call;
        if (stages.rendezvous) {
            const std::int64_t request = send_block_end(record.times, stages, begun(id)) + stages.L_control;
            const auto ready = request_ready(
                record.times, request, parameters_.asynchronous_progress,
                [&](std::int64_t time) { return attends(location, time, record.times.rw0, received.call); });
            asking.push_back({.receive = i, .handshake = {}, .request_ready = ready});
            if (!parameters_.asynchronous_progress) {
                judge_attendance(id, stages, request, ready, counts.attendance);  // while both ends' calls are near
            }
        } else {
            record.arrival = injection(record.times, stages, {}, begun(id));
        }
    }
    counts.attendance.handshakes = asking.size();
    stages_[location] = found_memory_->copy(distinct);
    rendezvous_[location] = found_memory_->copy(asking);
    return counts;
}

void MessageModel::plan_departures(std::size_t location) {
    const auto& timeline = program_.timelines[location];
    const auto here = location_at(location);
    thread_local std::vector<MessageStages> distinct;
    distinct.clear();
    StageTable table(parameters_, distinct);
    std::int64_t before = 0;  // processor time of the call's sends up to this one
    std::uint32_t last_call = kNone;
    timeline.sends.for_each([&](std::size_t at, const MessageEnd& send) {
        const auto i = static_cast<std::uint32_t>(at);
        auto& departure = *std::construct_at(&departures_[location][at]);
        if (send.call != last_call) {
            last_call = send.call;
            before = 0;
        }
        if (send.match == kNone) {
            return;
        }
        departure.matched = true;
        departure.distance = program_.placement.between(here, send.peer);
        departure.stages =
            table.row(departure.distance, send.bytes, blocks(timeline, i), burst(here, i), hops(here, send.peer));
        const auto& planned = distinct[departure.stages];
        const auto& call = timeline.calls[send.call];
        const auto kind = program_.kind(call);
        departure.may_ask =
            kind == CallKind::send_synchronous || (planned.rendezvous && kind != CallKind::send_buffered);
        departure.also_receives = kind == CallKind::send_receive;
        departure.follows = before > 0;
        before += work_to_send(planned);
        departure.cut = before > call.leave_ps - call.enter_ps;
        departure.end_ps = departure.cut ? call.leave_ps : call.enter_ps + before;
    });
    departure_stages_[location] = found_memory_->copy(distinct);
}

bool MessageModel::progresses(std::size_t location, std::size_t call) const noexcept {
    const auto& timeline = program_.timelines[location];
    const auto kind = program_.kind(timeline.calls[call]);
    if (kind != CallKind::send && kind != CallKind::send_synchronous) {
        return makes_progress(kind, true);
    }
    const auto first = timeline.sends.partition_point([&](const MessageEnd& send) { return send.call < call; });
    if (first == timeline.sends.size() || timeline.sends[first].call != call) {
        return makes_progress(kind, false);
    }
    const auto& send = timeline.sends[first];
    if (send.match == kNone) {
        return makes_progress(kind, false);  // its peer may not be known
    }
    const auto locality = program_.placement.between(location_at(location), send.peer);
    const bool by_size =
        parameters_.localities[static_cast<std::size_t>(locality)].rendezvous(static_cast<double>(send.bytes));
    const bool waits = send.complete_call == send.call && is_rendezvous(program_, of_send(send), by_size);
    return makes_progress(kind, waits);
}

std::int64_t MessageModel::attends(std::size_t location, std::int64_t time, std::int64_t limit,
                                   std::uint32_t near) const noexcept {
    const auto& calls = program_.timelines[location].calls;
    auto at = calls.partition_point_near(near, [&](const Call& call) { return over_at(call, time); });
    while (at < calls.size() && calls[at].enter_ps < limit && !progresses(location, at)) {
        ++at;
    }
    return at == calls.size() ? INT64_MAX : std::max(time, calls[at].enter_ps);
}

std::int64_t MessageModel::begun(MessageId id) const noexcept {
    if (!record(id).queued) {
        return 0;
    }
    const auto& received = program_.timelines[index(id.location)].receives[id.receive];
    const auto& sender = program_.timelines[index(received.peer)];
    const auto call = sender.sends[received.match].call;
    std::int64_t before = 0;
    for (auto i = received.match; i > 0 && sender.sends[i - 1].call == call; --i) {
        const auto& other = sender.sends[i - 1];
        if (other.match == kNone) {
            continue;
        }
        const auto locality = program_.placement.between(received.peer, other.peer);
        const auto cost = message_cost(parameters_, locality, other.bytes, blocks(sender, i - 1),
                                       burst(received.peer, i - 1), hops(received.peer, other.peer));
        before += work_to_send(cost);
    }
    return before;
}

std::int64_t MessageModel::served(MessageId id) const noexcept {
    const auto& message = record(id);
    const auto& planned = stages(id);
    const auto& processor = processor_[index(id.location)][id.receive];
    return std::max(message.arrival, message.times.rw0) + processor.cpu_queue + planned.o_r +
           (planned.l_mw - planned.l_mw / 2);
}

std::int64_t MessageModel::sent(MessageId id) const noexcept {
    const auto& message = record(id);
    const auto& planned = stages(id);
    const auto before = begun(id);
    if (!planned.rendezvous) {
        return send_block_end(message.times, planned, before);
    }
    return injection(message.times, planned, handshake_of(id), before) + message.send_endpoint + planned.serialization;
}

/// Counts a rendezvous, whose request is there at `request` and can be answered at `ready`, by whether it waited for a
/// side that was outside of MPI.
void MessageModel::judge_attendance(MessageId id, const MessageStages& planned, std::int64_t request,
                                    std::int64_t ready, Attendance& counts) const noexcept {
    const auto& times = record(id).times;
    const auto completion = completion_of_send(program_, id);
    const std::int64_t posted = std::max(request, times.r0);
    const std::int64_t clear = ready + planned.o_control + planned.L_control;
    const std::int64_t attended_at = answered(id, clear);
    // Judged where somebody was away for longer than a control message takes.
    const std::int64_t notable = planned.L_control + 2 * planned.o_control;
    if (attended_at - clear > notable) {
        if (times.rw1 < attended_at) {
            ++counts.unattended;
        } else if (times.rw0 <= clear) {
            ++counts.attended;
        }
    } else if (ready - posted > notable && completion.leave > completion.enter) {
        if (completion.leave < ready) {
            ++counts.unattended;
        } else if (completion.enter <= posted) {
            ++counts.attended;
        }
    }
}

/// When the sender of a rendezvous, whose processor must do so, can answer the clear-to-send that is there at `clear`.
std::int64_t MessageModel::answered(MessageId id, std::int64_t clear) const noexcept {
    const auto& received = program_.timelines[index(id.location)].receives[id.receive];
    const auto sender = index(received.peer);
    const auto completing = completion_of_send(program_, id).enter;
    return clear_ready(clear, completing, false, [&](std::int64_t time) {
        return attends(sender, time, completing, program_.timelines[sender].sends[received.match].call);
    });
}

/// When each side sends its part of the handshake: when it can at the earliest, and how long other work delays it.
void MessageModel::settle_handshakes() {
    for_each_parallel(rendezvous_.size(), threads_, 1, [&](std::size_t location, unsigned) {
        for (auto& entry : rendezvous_[location]) {
            const MessageId id{location_at(location), entry.receive};
            auto& message = change(id);
            const auto& planned = stages(id);
            entry.handshake.matched = entry.request_ready + entry.request_wait;
            const std::int64_t clear = entry.handshake.matched + planned.o_control + planned.L_control;
            entry.clear_ready = parameters_.asynchronous_progress ? clear : answered(id, clear);
            entry.handshake.sender_ready = entry.clear_ready + entry.clear_wait;
            message.arrival = injection(message.times, planned, entry.handshake);
        }
    });
}

/// The queues of NICs and processors. A handshake waits for processors, and what it delays occupies NICs and processors
/// later: where any waited, once more with its new times.
void MessageModel::replay_queues() {
    for (int round = 0; round < kRounds; ++round) {
        leave();
        if (!arrive()) {
            break;
        }
        if (round + 1 < kRounds) {
            forget_queues();
        }
    }
    collect_late_replies();
}

/// Back to when each message is ready for its NIC, and leaves its sender's processor.
void MessageModel::forget_queues() {
    std::ranges::fill(loads_, EndpointLoad{});
    for_each_parallel(block_.locations.size(), threads_, 1, [&](std::size_t at, unsigned) {
        const auto location = block_.locations[at];
        for (std::uint32_t i = 0; i < records_[location].size(); ++i) {
            auto& message = records_[location][i];
            message.send_endpoint = 0;
            const MessageId id{location_at(location), i};
            if (message.matched && !message.violation && !stages(id).rendezvous) {
                message.arrival = injection(message.times, stages(id), {}, begun(id));
            }
        }
        plan_departures(location);
    });
}

const MessageModel::Rendezvous* MessageModel::rendezvous_of(MessageId id) const noexcept {
    const auto mine = rendezvous_[index(id.location)];
    const auto found = std::ranges::lower_bound(mine, id.receive, {}, &Rendezvous::receive);
    return found != mine.end() && found->receive == id.receive ? &*found : nullptr;
}

std::vector<MessageModel::Control> MessageModel::controls(std::size_t location) const {
    std::vector<Control> result;
    // Most programs have no rendezvous: then no message need be looked at.
    if (parameters_.asynchronous_progress || std::ranges::all_of(rendezvous_, &std::span<Rendezvous>::empty)) {
        return result;
    }
    for (const auto& entry : rendezvous_[location]) {
        const MessageId id{location_at(location), entry.receive};
        result.push_back({entry.handshake.matched, stages(id).o_control, Part::recv_overhead, id});
    }
    program_.timelines[location].sends.for_each([&](std::size_t, const MessageEnd& send) {
        if (send.match == kNone || record(of_send(send)).violation || !stages(of_send(send)).rendezvous) {
            return;
        }
        const auto id = of_send(send);
        result.push_back({rendezvous_of(id)->handshake.sender_ready, stages(id).o_control, Part::send_overhead, id});
    });
    std::ranges::stable_sort(result, {}, &Control::begin);
    return result;
}

Handshake MessageModel::handshake_of(MessageId id) const noexcept {
    if (!stages(id).rendezvous || record(id).violation) {
        return {};
    }
    return rendezvous_of(id)->handshake;
}

Partition MessageModel::partition(MessageId id) const noexcept {
    const auto& message = record(id);
    const auto& planned = stages(id);
    const auto& processor = processor_[index(id.location)][id.receive];
    const auto handshake = handshake_of(id);
    // The arrival holds both waits for a NIC: what is not the sender's is the receiver's. In the last round a processor
    // may turn out to be free later than the arrival assumed: then there was no wait.
    const std::int64_t before = begun(id);
    const std::int64_t unhindered = injection(message.times, planned, handshake, before) + message.send_endpoint +
                                    planned.L + planned.serialization;
    const auto& replies = late_replies_[index(id.location)];
    const auto reply =
        std::ranges::lower_bound(replies, id.receive, {}, [](const LateReply& late) { return late.message.receive; });
    const bool has_busy_sender = reply != replies.end() && reply->message.receive == id.receive;
    const std::int64_t recv_endpoint = message.violation ? 0 : std::max<std::int64_t>(0, message.arrival - unhindered);
    return replay::partition(message.times, planned,
                             {.send_endpoint = message.send_endpoint,
                              .recv_endpoint = recv_endpoint,
                              .cpu_queue = processor.cpu_queue,
                              .network = network_.of(id),
                              .receiver_busy = processor.receiver_busy,
                              .held_until = processor.held_until,
                              .begun = before,
                              .sender_from = has_busy_sender ? reply->from : 0,
                              .sender_busy = has_busy_sender ? reply->busy : 0},
                             handshake);
}

void MessageModel::reserve() {
    const std::size_t locations = program_.timelines.size();
    // A location's departures lie where the replay of its processor, which needs them last, writes what it finds.
    const auto either = [](const Timeline& timeline) {
        constexpr std::size_t kOne = sizeof(ProcessorWaits);
        static_assert(alignof(Departure) <= alignof(ProcessorWaits));
        return std::max(timeline.receives.size(), (timeline.sends.size() * sizeof(Departure) + kOne - 1) / kOne);
    };
    std::size_t receives = 0;
    std::size_t in_all = 0;
    records_.resize(locations);
    processor_.resize(locations);
    departures_.resize(locations);
    for (const auto location : block_.locations) {
        receives += program_.timelines[location].receives.size();
        in_all += either(program_.timelines[location]);
    }
    for (const auto& sent : block_.sent) {
        receives += sent.size();
    }
    memory_ = std::make_unique<Arena>(program_.spill.get());
    auto* record = memory_->take<MessageRecord>(receives).data();
    auto* waits = memory_->take<ProcessorWaits>(in_all).data();
    for (const auto location : block_.locations) {
        const auto& timeline = program_.timelines[location];
        records_[location] = {record, timeline.receives.size()};
        processor_[location] = {waits, timeline.receives.size()};
        departures_[location] = {reinterpret_cast<Departure*>(waits), timeline.sends.size()};
        record += timeline.receives.size();
        waits += either(timeline);
    }
    for (std::size_t location = 0; location < block_.sent.size(); ++location) {
        if (const auto n = block_.sent[location].size(); n > 0) {
            records_[location] = {record, n};
            record += n;
        }
    }
    rendezvous_.resize(locations);
    stages_.resize(locations);
    departure_stages_.resize(locations);
    found_memory_ = std::make_unique<Arena>(program_.spill.get());
    loads_.assign(block_.locations.size() * 2 * static_cast<std::size_t>(windows_.count), {});
}

void MessageModel::forget_messages() noexcept {
    records_ = {};
    processor_ = {};
    rendezvous_ = {};
    late_replies_ = {};
    bursts_ = {};
    stages_ = {};
    memory_.reset();
    found_memory_.reset();
}

/// Only where the machine says what a burst costs.
void MessageModel::count_bursts() {
    if (parameters_.o_burst.empty()) {
        return;
    }
    bursts_.resize(program_.timelines.size());
    for_each_parallel(bursts_.size(), threads_, 1, [&](std::size_t location, unsigned) {
        bursts_[location] = burst_lengths(program_, program_.timelines[location]);
    });
}

void MessageModel::build_records() {
    const auto& mine = block_.locations;
    std::vector<Counts> counts(mine.size());
    found_memory_->clear();
    for_each_parallel(mine.size(), threads_, 1, [&](std::size_t i, unsigned) {
        counts[i] = build_records(mine[i]);
        plan_departures(mine[i]);  // now that its calls are near
    });
    totals_ = {};
    attendance_ = {};
    for (const auto& one : counts) {
        totals_.add(one.totals);
        attendance_.add(one.attendance);
        sizes_differ_ = sizes_differ_ || one.sizes_differ;
    }
    for (std::size_t location = 0; location < block_.sent.size(); ++location) {
        if (!block_.sent[location].empty()) {
            const auto there = build_records(location);
            totals_.between_nodes = totals_.between_nodes || there.totals.between_nodes;
        }
    }
}

}  // namespace logpost::replay
