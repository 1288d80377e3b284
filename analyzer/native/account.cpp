#include "account.hpp"

#include <otf2/OTF2_Events.h>
#include <algorithm>

namespace logpost::analyzer {
namespace {

using Kind = CallOperation::Kind;

/// The category of a call that started and completed nothing that the archive records.
std::uint8_t category_without_record(RegionKind kind) noexcept {
    switch (kind) {
        case RegionKind::send_nonblocking:
        case RegionKind::start:
            return category_of(replay::Part::send_overhead);
        case RegionKind::receive_nonblocking:
            return category_of(replay::Part::recv_overhead);
        case RegionKind::send:
        case RegionKind::send_synchronous:
        case RegionKind::send_buffered:
        case RegionKind::receive:
        case RegionKind::send_receive:
            // To MPI_PROC_NULL, or cut off by the end of the program: the archive does not say what it did.
            return kResidual;
        case RegionKind::barrier:
        case RegionKind::collective:
        case RegionKind::collective_nonblocking:
            return kCollective;
        default:
            return kMpiOther;
    }
}

}  // namespace

LocationAccount::LocationAccount(const MessageModel& model, const CollectiveWaits& collectives, std::size_t location)
    : model_(model),
      collectives_(collectives),
      location_(location),
      trace_(model.trace().traces[location]),
      operations_(trace_),
      cursor_(trace_.first_ps),
      window_(model.windows().at(trace_.first_ps)),
      window_end_((window_ + 1) * model.windows().width_ps),
      windows_(static_cast<std::size_t>(model.windows().count)),
      slot_of_callpath_(model.trace().callpaths.size(), kUndefined) {}

void LocationAccount::add_window(std::uint8_t category, std::int64_t begin, std::int64_t end) {
    // Time only goes forward here, so the window is a cursor.
    while (begin >= window_end_ && window_ + 1 < model_.windows().count) {
        ++window_;
        window_end_ += model_.windows().width_ps;
    }
    while (end > window_end_ && window_ + 1 < model_.windows().count) {
        windows_[static_cast<std::size_t>(window_)][category] += window_end_ - begin;
        begin = window_end_;
        ++window_;
        window_end_ += model_.windows().width_ps;
    }
    windows_[static_cast<std::size_t>(window_)][category] += end - begin;
}

void LocationAccount::add(Exposed& exposed, std::uint8_t category, std::int64_t begin, std::int64_t end) {
    if (begin < end) {
        exposed[category] += end - begin;
        add_window(category, begin, end);
    }
}

CallpathExposure& LocationAccount::at_callpath(std::int32_t callpath) {
    auto& slot = slot_of_callpath_[static_cast<std::size_t>(callpath)];
    if (slot == kUndefined) {
        slot = static_cast<std::int32_t>(callpaths_.size());
        callpaths_.push_back({.callpath = callpath});
    }
    return callpaths_[static_cast<std::size_t>(slot)];
}

/// Labels [begin, end] by the segments that cover it; instants not covered are residual.
void LocationAccount::lay(Exposed& exposed, const replay::Partition* parts, std::int64_t begin, std::int64_t end) {
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
    if (operation.kind == Kind::receive_complete) {
        const MessageId id{static_cast<std::int32_t>(location_), operation.index};
        return model_.record(id).matched ? id : kNoMessage;
    }
    return operation.kind == Kind::collective ? kNoMessage : MessageModel::of_send(trace_.sends[operation.index]);
}

void LocationAccount::account_messages(Exposed& exposed, const Call& call, std::span<const CallOperation> operations) {
    if (operations.size() == 1) {
        const auto id = message_of(operations.front());
        if (id.receive == kNone) {
            lay(exposed, nullptr, call.enter_ps, call.leave_ps);
        } else {
            const auto parts = model_.partition(id);
            lay(exposed, &parts, call.enter_ps, call.leave_ps);
        }
        return;
    }
    overrides_.clear();
    std::int64_t latest = INT64_MIN;
    MessageId primary = kNoMessage;
    std::uint32_t primary_operation = kNone;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
        const auto& operation = operations[i];
        const auto id = message_of(operation);
        if (id.receive == kNone) {
            continue;
        }
        const auto& planned = model_.stages(id);
        // The instant that the call waited for: the arrival of a receive, the acceptance of a rendezvous send. A send
        // that only starts here counts last, in the order of the starts.
        std::int64_t instant = INT64_MIN + 1 + i;
        if (operation.kind == Kind::receive_complete) {
            instant = model_.arrival(id);
            overrides_.push_back({instant, planned.o_r, category_of(replay::Part::recv_overhead), i});
        } else {
            if (operation.kind != Kind::send_start) {
                instant = planned.rendezvous ? model_.arrival(id) - planned.L
                                             : send_block_end(model_.record(id).times, planned);
            }
            if (operation.kind != Kind::send_complete) {
                overrides_.push_back({call.enter_ps, planned.o_s, category_of(replay::Part::send_overhead), i});
            }
        }
        if (primary_operation == kNone || instant >= latest) {
            latest = instant;
            primary = id;
            primary_operation = i;
        }
    }
    if (primary_operation == kNone) {
        lay(exposed, nullptr, call.enter_ps, call.leave_ps);
        return;
    }
    const auto parts = model_.partition(primary);
    std::erase_if(overrides_, [&](const Override& o) { return o.operation == primary_operation; });
    std::ranges::stable_sort(overrides_, {}, &Override::begin);
    // The processor does one thing at a time: the overheads of the other messages follow each other.
    std::int64_t cursor = call.enter_ps;
    for (const auto& other : overrides_) {
        const std::int64_t begin = std::clamp(other.begin, cursor, call.leave_ps);
        const std::int64_t end = std::min(begin + other.length, call.leave_ps);
        lay(exposed, &parts, cursor, begin);
        add(exposed, other.category, begin, end);
        cursor = end;
    }
    lay(exposed, &parts, cursor, call.leave_ps);
}

void LocationAccount::account_collective(Exposed& exposed, const Call& call,
                                         std::span<const CallOperation> operations) {
    std::int64_t wait = 0;
    for (const auto& operation : operations) {
        const auto& collective = trace_.collectives[operation.index];
        if (collective.operation >= OTF2_COLLECTIVE_OP_CREATE_HANDLE) {
            add(exposed, kMpiOther, call.enter_ps, call.leave_ps);
            return;
        }
        if (collective.call == call_ && collective.complete_call == call_) {
            wait = std::max(wait, collectives_.wait(collective, location_));
        }
    }
    const std::int64_t until = std::min(call.enter_ps + wait, call.leave_ps);
    add(exposed, kCollectiveWait, call.enter_ps, until);
    add(exposed, kCollective, until, call.leave_ps);
}

const Exposed& LocationAccount::next() {
    const auto& call = trace_.calls[call_];
    Exposed& exposed = exposed_;
    exposed.fill(0);
    if (call.enter_ps > cursor_) {
        add_window(kCompute, cursor_, call.enter_ps);
    }
    const auto operations = operations_.of(call_);
    if (operations.empty()) {
        const auto kind = model_.trace().regions[static_cast<std::size_t>(call.region)].kind;
        add(exposed, category_without_record(kind), call.enter_ps, call.leave_ps);
    } else if (std::ranges::all_of(operations, [](const auto& o) { return o.kind == Kind::collective; })) {
        account_collective(exposed, call, operations);
    } else {
        account_messages(exposed, call, operations);
    }
    cursor_ = std::max(cursor_, call.leave_ps);
    auto& callpath = at_callpath(call.callpath);
    ++callpath.calls;
    for (std::size_t category = 0; category < kCategories; ++category) {
        callpath.exposed[category] += exposed[category];
    }
    ++call_;
    return exposed;
}

void LocationAccount::finish() {
    if (trace_.last_ps > cursor_) {
        add_window(kCompute, cursor_, trace_.last_ps);
        cursor_ = trace_.last_ps;
    }
}

}  // namespace logpost::analyzer
