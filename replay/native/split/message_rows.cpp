#include "replay/native/split/message_rows.hpp"

#include <algorithm>

#include "replay/native/memory/threads.hpp"
#include "replay/native/program/message_facts.hpp"
#include "replay/native/program/wide.hpp"

namespace logpost::replay {
namespace {

void add(PairSum& sum, const PairSum& more) {
    sum.messages += more.messages;
    sum.bytes += more.bytes;
    sum.envelope_ps += more.envelope_ps;
    for (std::size_t part = 0; part < kParts; ++part) {
        sum.parts[part] += more.parts[part];
    }
    // Deficits are the model's and may be of any size: their sum saturates.
    add_saturating(sum.deficit_ps, more.deficit_ps);
}

}  // namespace

void MessageRows::resize(std::size_t n) {
    for (auto& column : ids) {
        column.resize(n);
    }
    bytes.resize(n);
    recv_bytes.resize(n);
    rendezvous.resize(n);
    locality.resize(n);
    clock_violation.resize(n);
    for (auto& column : times) {
        column.resize(n);
    }
}

MessageTable::MessageTable(const MessageModel& model, const CallNumbers& numbers, MessageId begin)
    : model_(model),
      numbers_(numbers),
      pairs_(model.program().timelines.size()),
      location_(index(begin.location)),
      receive_(begin.receive) {}

std::vector<MessageTable::Slice> MessageTable::next_slices(std::size_t limit) {
    const auto& timelines = model_.program().timelines;
    std::vector<Slice> slices;
    rows_ = 0;
    while (rows_ < limit && location_ < timelines.size()) {
        const auto& receives = timelines[location_].receives;
        Slice slice{location_, receive_, receive_, rows_};
        while (slice.end < receives.size() && rows_ < limit) {
            rows_ += receives[slice.end].match == kNone ? 0 : 1;
            ++slice.end;
        }
        slices.push_back(slice);
        receive_ = slice.end;
        if (receive_ == receives.size()) {
            ++location_;
            receive_ = 0;
        }
    }
    return rows_ == 0 ? std::vector<Slice>() : slices;
}

void MessageTable::fill(const std::vector<Slice>& slices, unsigned threads, MessageRows& rows) {
    rows.resize(rows_);
    std::vector<std::vector<std::int32_t>> slots(std::max(threads, 1U));
    for_each_parallel(slices.size(), threads, 1,
                      [&](std::size_t i, unsigned thread) { fill(slices[i], rows, slots[thread]); });
}

void MessageTable::fill(const Slice& slice, MessageRows& rows, std::vector<std::int32_t>& slot) {
    const auto& program = model_.program();
    const auto& timeline = program.timelines[slice.location];
    auto& pairs = pairs_[slice.location];
    slot.resize(program.timelines.size(), kUndefined);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        slot[index(pairs[i].sender)] = static_cast<std::int32_t>(i);
    }
    std::size_t row = slice.row;
    for (std::uint32_t i = slice.begin; i < slice.end; ++i) {
        const auto& received = timeline.receives[i];
        if (received.match == kNone) {
            continue;
        }
        const MessageId id{location_at(slice.location), i};
        const auto& message = model_.record(id);
        const auto parts = model_.partition(id);
        const auto totals = parts.totals();
        const auto& sender = program.timelines[index(received.peer)];
        const auto& sent = sender.sends[received.match];
        const auto& t = message.times;
        const std::int64_t enter = message.violation ? t.rw1 : t.s0;

        rows.ids[MessageRows::send_location][row] = number(received.peer);
        rows.ids[MessageRows::recv_location][row] = number(id.location);
        rows.ids[MessageRows::comm][row] = sent.comm;
        rows.ids[MessageRows::tag][row] = sent.tag;
        rows.ids[MessageRows::layout][row] = sender.layouts.empty() ? kUndefined : model_.layout(id);
        rows.ids[MessageRows::send_callpath][row] = sender.calls[sent.call].callpath;
        rows.ids[MessageRows::recv_callpath][row] = timeline.calls[received.complete_call].callpath;
        rows.ids[MessageRows::window][row] = model_.windows().at(enter);
        const auto from = index(received.peer);
        rows.ids[MessageRows::send_call][row] = numbers_.of(from, sent.call);
        rows.ids[MessageRows::send_complete_call][row] = numbers_.of(from, sent.complete_call);
        rows.ids[MessageRows::recv_post_call][row] = numbers_.of(slice.location, received.call);
        rows.ids[MessageRows::recv_call][row] = numbers_.of(slice.location, received.complete_call);
        rows.ids[MessageRows::hops][row] = program.placement.hops(received.peer, id.location);
        rows.ids[MessageRows::send_number][row] = static_cast<std::int32_t>(received.match);
        rows.ids[MessageRows::recv_number][row] = static_cast<std::int32_t>(i);
        rows.bytes[row] = sent.bytes;
        rows.recv_bytes[row] = received.bytes;
        rows.rendezvous[row] = model_.stages(id).rendezvous ? 1 : 0;
        rows.locality[row] = static_cast<std::uint8_t>(message.locality);
        rows.clock_violation[row] = message.violation ? 1 : 0;
        const std::int64_t envelope = t.rw1 - parts.begin();
        rows.times[MessageRows::send_enter][row] = t.s0;
        rows.times[MessageRows::send_leave][row] = t.s1;
        rows.times[MessageRows::send_complete][row] = completion_of_send(program, id).leave;
        rows.times[MessageRows::recv_post][row] = timeline.calls[received.call].enter_ps;
        rows.times[MessageRows::recv_enter][row] = t.rw0;
        rows.times[MessageRows::recv_leave][row] = t.rw1;
        rows.times[MessageRows::envelope][row] = envelope;
        for (std::size_t part = 0; part < kParts; ++part) {
            rows.times[MessageRows::first_part + part][row] = totals[part];
        }
        rows.times[MessageRows::deficit][row] = parts.deficit_ps;
        rows.times[MessageRows::clamped][row] = t.s0 - enter;
        ++row;

        if (!model_.of_interest(id)) {
            continue;
        }
        auto& place = slot[index(received.peer)];
        if (place == kUndefined) {
            place = static_cast<std::int32_t>(pairs.size());
            pairs.push_back({.sender = received.peer});
        }
        add(pairs[static_cast<std::size_t>(place)], {.sender = received.peer,
                                                     .messages = 1,
                                                     .bytes = sent.bytes,
                                                     .envelope_ps = envelope,
                                                     .parts = totals,
                                                     .deficit_ps = parts.deficit_ps});
    }
    for (const auto& pair : pairs) {
        slot[index(pair.sender)] = kUndefined;
    }
}

void add_pairs(std::vector<PairSum>& sums, const std::vector<PairSum>& further) {
    for (const auto& pair : further) {
        const auto found = std::ranges::find(sums, pair.sender, &PairSum::sender);
        if (found == sums.end()) {
            sums.push_back(pair);
        } else {
            add(*found, pair);
        }
    }
}

}  // namespace logpost::replay
