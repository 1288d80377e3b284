#include "replay/native/split/account.hpp"

#include <algorithm>
#include <utility>

#include "replay/native/program/shape.hpp"

namespace logpost::replay {
namespace {

using OperationKind = CallOperation::Kind;

/// The category of a call that started and completed nothing that the archive records.
std::uint8_t category_without_record(CallKind kind) noexcept {
    switch (kind) {
        case CallKind::send_nonblocking:
        case CallKind::start:
            return category_of(Part::send_overhead);
        case CallKind::receive_nonblocking:
            return category_of(Part::recv_overhead);
        case CallKind::send:
        case CallKind::send_synchronous:
        case CallKind::send_buffered:
        case CallKind::receive:
        case CallKind::send_receive:
            // To MPI_PROC_NULL, or cut off by the end of the program: the archive does not say what it did.
            return kResidual;
        case CallKind::barrier:
        case CallKind::collective:
        case CallKind::collective_nonblocking:
            return kCollective;
        default:
            return kMpiOther;
    }
}

/// Whether an operation only makes or frees a handle or memory.
bool manages(Operation operation) noexcept {
    return shape(operation) == Shape::agreement;
}

}  // namespace

LocationAccount::LocationAccount(const MessageModel& model, const TransferModel& transfers,
                                 const CollectiveSplit& divided, std::size_t location, std::vector<std::int64_t> met,
                                 const PhaseLine& phases, std::span<const Span> path, const WaitEnds& waits)
    : model_(model),
      transfers_(transfers),
      divided_(divided),
      location_(location),
      met_(std::move(met)),
      timeline_(model.program().timelines[location]),
      operations_(timeline_),
      controls_(model.controls(location)),
      cursor_(timeline_.first_ps),
      phases_(phases),
      path_(path),
      waits_(waits),
      fine_cell_(model.windows().cell_at(timeline_.first_ps)),
      cell_end_(std::min(end_of_fine_cell(), phases_[0].end_ps)),
      slot_of_callpath_((model.program().callpaths() + 1) * kPhases, kUndefined) {}

std::int64_t LocationAccount::end_of_fine_cell() const noexcept {
    const auto& windows = model_.windows();
    return fine_cell_ + 1 < windows.count * windows.cells ? (fine_cell_ + 1) * windows.cell_ps() : INT64_MAX;
}

void LocationAccount::flush_cell() {
    const bool kept = model_.windows().cells > 1 && phases_[piece_].phase == Phase::program;
    for (std::size_t category = 0; category < kCategories; ++category) {
        if (kept && cell_[category] != 0) {
            program_cells_.push_back(
                {cell_[category], fine_cell_, Phase::program, static_cast<std::uint8_t>(category)});
        }
        in_window_[category] += cell_[category];
    }
    cell_.fill(0);
}

void LocationAccount::flush_window() {
    const auto window = fine_cell_ / model_.windows().cells;
    for (std::size_t category = 0; category < kCategories; ++category) {
        if (in_window_[category] != 0) {
            rows_.push_back({in_window_[category], window, phases_[piece_].phase, static_cast<std::uint8_t>(category)});
        }
    }
    in_window_.fill(0);
}

void LocationAccount::next_cell() {
    flush_cell();
    const bool phase_ends = phases_[piece_].end_ps <= cell_end_;
    const bool cell_ends = end_of_fine_cell() <= cell_end_;
    if (phase_ends || (cell_ends && (fine_cell_ + 1) % model_.windows().cells == 0)) {
        flush_window();
    }
    fine_cell_ += cell_ends ? 1 : 0;
    piece_ += phase_ends ? 1 : 0;
    cell_end_ = std::min(end_of_fine_cell(), phases_[piece_].end_ps);
}

void LocationAccount::add(Exposed& exposed, std::uint8_t category, std::int64_t begin, std::int64_t end) {
    // Time only moves forward here, so the cell is a cursor.
    while (begin < end) {
        while (begin >= cell_end_) {
            next_cell();
        }
        const std::int64_t length = std::min(end, cell_end_) - begin;
        cell_[category] += length;
        exposed[category] += length;
        count(timeline_.calls[call_].callpath, category, begin, length);
        begin += length;
    }
}

void LocationAccount::count(std::int32_t callpath, std::uint8_t category, std::int64_t begin, std::int64_t length) {
    auto& at = at_callpath(callpath);
    at.exposed[category] += length;
    if (category == kCollective) {
        at.in_collectives[static_cast<std::size_t>(inside_)] += length;
    }
    if (category != kCompute) {
        at.waited[category] += std::clamp<std::int64_t>(waited_until_ - begin, 0, length);
    }
    while (!path_.empty() && path_.front().end_ps <= begin) {
        path_ = path_.subspan(1);
    }
    for (const auto& stretch : path_) {
        if (stretch.begin_ps >= begin + length) {
            break;
        }
        at.on_path[category] += std::min(stretch.end_ps, begin + length) - std::max(stretch.begin_ps, begin);
    }
}

void LocationAccount::compute_until(std::int64_t end) {
    const auto following = call_ < timeline_.calls.size() ? timeline_.calls[call_].callpath : kUndefined;
    while (cursor_ < end) {
        while (cursor_ >= cell_end_) {
            next_cell();
        }
        const std::int64_t length = std::min(end, cell_end_) - cursor_;
        cell_[kCompute] += length;
        count(following, kCompute, cursor_, length);
        cursor_ += length;
    }
}

CallpathExposure& LocationAccount::at_callpath(std::int32_t callpath) {
    // One call's stretches follow each other.
    if (callpath == last_callpath_ && piece_ == last_piece_) {
        return callpaths_[last_place_];
    }
    const auto phase = phases_[piece_].phase;
    auto& slot = slot_of_callpath_[static_cast<std::size_t>(callpath + 1) * kPhases + static_cast<std::size_t>(phase)];
    if (slot == kUndefined) {
        slot = static_cast<std::int32_t>(callpaths_.size());
        callpaths_.push_back({.callpath = callpath, .phase = phase});
    }
    last_callpath_ = callpath;
    last_piece_ = piece_;
    last_place_ = static_cast<std::size_t>(slot);
    return callpaths_[last_place_];
}

/// Labels [begin, end] by the segments that cover it; instants not covered are residual.
void LocationAccount::lay(Exposed& exposed, const Partition* parts, std::int64_t begin, std::int64_t end) {
    if (parts != nullptr) {
        for (const auto* segment = parts->begin_segment(); segment != parts->end_segment() && begin < end; ++segment) {
            if (segment->end <= begin) {
                continue;
            }
            const std::int64_t from = std::min(segment->begin, end);
            if (from > begin) {
                add(exposed, kResidual, begin, from);
                begin = from;
            }
            const std::int64_t to = std::min(segment->end, end);
            add(exposed, category_of(segment->part), begin, to);
            begin = std::max(begin, to);
        }
    }
    add(exposed, kResidual, begin, end);
}

MessageId LocationAccount::message_of(const CallOperation& operation) const noexcept {
    if (operation.kind == OperationKind::receive_complete) {
        const MessageId id{location_at(location_), operation.index};
        return model_.record(id).matched ? id : kNoMessage;
    }
    return operation.of_message() ? MessageModel::of_send(timeline_.sends[operation.index]) : kNoMessage;
}

/// When a send was complete. An eager send is complete when its call returns; its distant record is not read.
std::int64_t LocationAccount::sent(const CallOperation& operation, MessageId id) const noexcept {
    const auto call = timeline_.sends[operation.index].call;
    return call == call_ || model_.has_rendezvous(id.location) ? model_.sent(id) : timeline_.calls[call].leave_ps;
}

/// The processor's work in a call, in order: the call's messages and the handshakes that progress in it.
void LocationAccount::gather_work(const Call& call, std::span<const CallOperation> operations, std::uint32_t primary) {
    work_.clear();
    const auto add_work = [&](std::int64_t begin, std::int64_t length, Part part) {
        if (length > 0) {
            work_.push_back({begin, length, category_of(part)});
        }
    };
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
        const auto& operation = operations[i];
        if (i == primary || operation.kind == OperationKind::send_complete) {
            continue;  // a send's completion costs nothing, and its record is far away
        }
        const auto id = message_of(operation);
        if (id.receive == kNone || model_.record(id).violation) {
            continue;
        }
        const auto& planned = model_.stages(id);
        if (operation.kind == OperationKind::receive_complete) {
            const std::int64_t second = planned.l_mw - planned.l_mw / 2;
            const std::int64_t begin = model_.served(id) - planned.o_r - second;
            add_work(begin, second, Part::middleware);
            add_work(begin + second, planned.o_r, Part::recv_overhead);
        } else {
            add_work(model_.started(id), planned.o_s, Part::send_overhead);
            add_work(model_.started(id) + planned.o_s, planned.l_mw / 2, Part::middleware);
        }
    }
    const auto message = primary == kNone ? kNoMessage : message_of(operations[primary]);
    while (control_ < controls_.size() && controls_[control_].begin < call.enter_ps) {
        ++control_;
    }
    for (auto i = control_; i < controls_.size() && controls_[i].begin < call.leave_ps; ++i) {
        const auto& control = controls_[i];
        if (control.message.location != message.location || control.message.receive != message.receive) {
            add_work(control.begin, control.length, control.part);
        }
    }
    std::ranges::stable_sort(work_, {}, &Work::begin);
}

void LocationAccount::account_messages(Exposed& exposed, const Call& call, std::span<const CallOperation> operations) {
    // The operation that the call waited for is the one that completes last. A send that only starts here counts only
    // among its like, in the order of the starts.
    std::int64_t latest = INT64_MIN;
    std::uint32_t primary = kNone;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
        const auto& operation = operations[i];
        const auto id = message_of(operation);
        if (id.receive == kNone) {
            continue;
        }
        std::int64_t instant = INT64_MIN + 1 + i;
        if (operations.size() > 1 && operation.kind == OperationKind::receive_complete) {
            instant = model_.served(id);
        } else if (operations.size() > 1 && operation.kind != OperationKind::send_start) {
            instant = sent(operation, id);
        }
        if (primary == kNone || instant >= latest) {
            latest = instant;
            primary = i;
        }
    }
    gather_work(call, operations, primary);
    if (primary == kNone) {
        lay_call(exposed, call, nullptr);
    } else {
        const auto parts = model_.partition(message_of(operations[primary]));
        lay_call(exposed, call, &parts);
    }
}

void LocationAccount::lay_call(Exposed& exposed, const Call& call, const Partition* parts) {
    // The processor does one thing at a time: its work for the other messages follows each other.
    std::int64_t cursor = call.enter_ps;
    for (const auto& other : work_) {
        const std::int64_t begin = std::clamp(other.begin, cursor, call.leave_ps);
        const std::int64_t end = std::min(begin + other.length, call.leave_ps);
        lay(exposed, parts, cursor, begin);
        add(exposed, other.category, begin, end);
        cursor = end;
    }
    lay(exposed, parts, cursor, call.leave_ps);
}

void LocationAccount::account_collective(Exposed& exposed, const Call& call,
                                         std::span<const CallOperation> operations) {
    std::int64_t wait = 0;
    bool handles = false;
    for (const auto& operation : operations) {
        const auto& collective = timeline_.collectives[operation.index];
        handles |= manages(collective.operation);
        if (collective.complete_call == call_) {  // a nonblocking one began before this call
            wait = std::max(wait, collective.begin_ps + met_[operation.index] - call.enter_ps);
        }
    }
    const std::int64_t until = std::min(call.enter_ps + wait, call.leave_ps);
    add(exposed, kCollectiveWait, call.enter_ps, until);
    if (handles) {
        add(exposed, kMpiOther, until, call.leave_ps);
        return;
    }
    const auto parts = divide(call, operations, until);
    auto cursor = until;
    for (std::size_t part = 0; part < kCollectiveParts; ++part) {
        inside_ = static_cast<CollectivePart>(part);
        add(exposed, kCollective, cursor, cursor + parts[part]);
        cursor += parts[part];
    }
    inside_ = CollectivePart::not_divided;
}

CollectiveSums LocationAccount::divide(const Call& call, std::span<const CallOperation> operations,
                                       std::int64_t begin) const {
    const auto duration = call.leave_ps - begin;
    // Of several operations, the one that is complete last; what only starts here counts only among its like.
    std::uint32_t last = kNone;
    bool starts = false;
    for (const auto& operation : operations) {
        if (!divided_.divides(location_, operation.index)) {
            continue;
        }
        if (timeline_.collectives[operation.index].complete_call != call_) {
            starts = true;
        } else if (last == kNone || divided_.wanted(location_, operation.index) > divided_.wanted(location_, last)) {
            last = operation.index;
        }
    }
    if (last != kNone) {
        return divided_.parts(location_, last, duration);
    }
    if (starts) {
        return divided_.start(duration);
    }
    CollectiveSums sums{};
    sums[static_cast<std::size_t>(CollectivePart::not_divided)] = duration;
    return sums;
}

void LocationAccount::account_one_sided(Exposed& exposed, const Call& call, std::span<const CallOperation> operations) {
    // Facts first: until when the call waited, and for which location. Then the transfer that completes last.
    Permission longest;
    std::optional<TransferPartition> parts;
    const Epoch* lock = nullptr;
    std::uint8_t rest = kResidual;
    const auto offer = [&](const Permission& permission) {
        // A call that was left before did not wait.
        longest = permission.at_ps > longest.at_ps && permission.at_ps <= call.leave_ps ? permission : longest;
    };
    for (const auto& operation : operations) {
        if (operation.kind == OperationKind::collective) {
            const auto& collective = timeline_.collectives[operation.index];
            offer({collective.begin_ps + met_[operation.index], kCollectiveWait, kNoLocation, kNone});
            rest = manages(collective.operation) ? std::uint8_t{kMpiOther} : std::uint8_t{kCollective};
        } else if (operation.kind == OperationKind::epoch) {
            const auto& epoch = timeline_.epochs[operation.index];
            if (epoch.kind != Epoch::Kind::exposure || epoch.end_call == call_) {
                offer(transfers_.permission(location_, operation.index));
            }
            lock = epoch.locks() && epoch.begin_call == call_ ? &epoch : lock;
        } else {
            if (const auto epoch = transfers_.epoch_of(location_, operation.index); epoch != kNone) {
                offer(transfers_.permission(location_, epoch));
            }
            const auto one =
                transfers_.partition(location_, operation.index, operation.kind == OperationKind::transfer_remote);
            if (!parts.has_value() || one.planned_end >= parts->planned_end) {
                parts = one;
            }
        }
    }
    const auto until = std::clamp(longest.at_ps, call.enter_ps, call.leave_ps);
    add(exposed, longest.category, call.enter_ps, until);
    std::int64_t cursor = until;
    if (parts.has_value()) {
        for (const auto* segment = parts->begin_segment(); segment != parts->end_segment(); ++segment) {
            const auto end = std::min(segment->end, call.leave_ps);
            if (end > cursor) {
                add(exposed, segment->category, cursor, end);
                cursor = end;
            }
        }
    } else {
        if (longest.last != kNone) {
            // The location that ended its access had a transfer in flight.
            const auto in_flight = transfers_.partition(index(longest.by), longest.last);
            for (const auto* segment = in_flight.begin_segment(); segment != in_flight.end_segment(); ++segment) {
                const auto end = std::min(segment->end, call.leave_ps);
                if (end > cursor && segment->category != kResidual) {
                    add(exposed, segment->category, cursor, end);
                    cursor = end;
                }
            }
        }
        // The location that ended the wait sent a notice. A free lock needs a request: a call that was over sooner did
        // not wait for it.
        auto notice = transfers_.notice_ps(longest.by, location_at(location_));
        if (lock != nullptr) {
            notice = transfers_.grant_ps(*lock, longest.by, location_at(location_));
            notice = longest.by == kNoLocation && notice > call.leave_ps - cursor ? 0 : notice;
        }
        const auto noticed = std::min(call.leave_ps, cursor + notice);
        add(exposed, category_of(Part::latency), cursor, noticed);
        cursor = noticed;
    }
    add(exposed, rest, cursor, call.leave_ps);
}

const Exposed& LocationAccount::next() {
    const auto& call = timeline_.calls[call_];
    Exposed& exposed = exposed_;
    exposed.fill(0);
    compute_until(call.enter_ps);
    while (call.enter_ps >= cell_end_) {
        next_cell();
    }
    ++at_callpath(call.callpath).calls;
    const bool waits = wait_ < waits_.calls.size() && waits_.calls[wait_] == call_;
    waited_until_ = waits ? waits_.until_ps[wait_] : call.enter_ps;
    wait_ += waits ? 1 : 0;
    const auto operations = operations_.of(call_);
    if (model_.program().kind(call) == CallKind::not_recorded) {
        add(exposed, kMpiOther, call.enter_ps, call.leave_ps);
    } else if (operations.empty()) {
        const auto kind = model_.program().kind(call);
        const bool of_all = kind == CallKind::initialize || kind == CallKind::finalize;
        const auto until = of_all ? std::min(waited_until_, call.leave_ps) : call.enter_ps;
        add(exposed, kCollectiveWait, call.enter_ps, until);
        add(exposed, category_without_record(kind), until, call.leave_ps);
    } else if (std::ranges::all_of(operations, [](const auto& o) { return o.kind == OperationKind::collective; })) {
        account_collective(exposed, call, operations);
    } else if (std::ranges::none_of(operations, [](const auto& o) { return o.of_message(); })) {
        account_one_sided(exposed, call, operations);
    } else {
        account_messages(exposed, call, operations);
    }
    cursor_ = std::max(cursor_, call.leave_ps);
    ++call_;
    return exposed;
}

void LocationAccount::finish() {
    compute_until(timeline_.last_ps);
    flush_cell();
    flush_window();
}

}  // namespace logpost::replay
