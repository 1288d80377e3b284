#include "replay/native/split/analysis.hpp"

#include <algorithm>
#include <utility>

#include "replay/native/memory/threads.hpp"
#include "replay/native/program/message_facts.hpp"
#include "replay/native/program/wide.hpp"

namespace logpost::replay {

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

void CallRows::resize(std::size_t n) {
    call.resize(n);
    location.resize(n);
    region.resize(n);
    callpath.resize(n);
    enter.resize(n);
    leave.resize(n);
    for (auto& column : exposed) {
        column.clear();
    }
}

void TransferRows::resize(std::size_t n) {
    for (auto& column : ids) {
        column.resize(n);
    }
    bytes.resize(n);
    kind.resize(n);
    locality.resize(n);
    for (auto& column : times) {
        column.resize(n);
    }
}

namespace {

/// Exposed times before they enter the columns of `CallRows`, some rows at a time: most calls have time in few
/// categories, and a column in which no row has any is never made.
class ExposedRows {
  public:
    explicit ExposedRows(CallRows& rows) : rows_(rows) {}

    /// The next row.
    void put(const std::array<std::int64_t, kCategories>& exposed) {
        for (std::size_t column = 0; column < kColumns; ++column) {
            times_[column][held_] = exposed[column + 1];
            any_[column] |= exposed[column + 1];
        }
        if (++held_ == kHeld) {
            flush();
        }
    }

    /// Puts the rows that are still held into the columns.
    void flush() {
        for (std::size_t column = 0; column < kColumns; ++column) {
            if (any_[column] == 0) {
                continue;
            }
            auto& all = rows_.exposed[column];
            all.resize(rows_.call.size());  // once: then it has that size
            std::copy_n(times_[column].begin(), held_, all.begin() + static_cast<std::ptrdiff_t>(row_));
            any_[column] = 0;
        }
        row_ += held_;
        held_ = 0;
    }

  private:
    static constexpr std::size_t kColumns = kCategories - 1;
    static constexpr std::size_t kHeld = 128;

    CallRows& rows_;
    std::size_t row_ = 0;
    std::size_t held_ = 0;
    std::array<std::array<std::int64_t, kHeld>, kColumns> times_;  // NOLINT: written before it is read
    std::array<std::int64_t, kColumns> any_{};
};

/// Of a column in a mapped file.
template <class T>
void release_column(void (*release)(const void*, std::size_t), const Column<T>& column) {
    if (!column.empty() && column.is_placed()) {
        release(&column[0], column.size() * sizeof(T));
    }
}

}  // namespace

Windows windows_of(const Program& program) {
    const auto accounted = accounted_locations(program);
    std::size_t calls = 0;
    for (const auto location : accounted) {
        calls += program.timelines[location].calls.size();
    }
    const auto groups = std::min(accounted.size(), TimeCells::kMostGroups);
    return Windows::over(program.length_ps, accounted.size()).with_cells(groups, calls);
}

Analysis::Analysis(const Program& program, const Parameters& parameters, std::vector<Span> interest, unsigned threads)
    : Analysis(program, parameters, threads, std::make_shared<Causes>(program, std::move(interest), threads)) {}

Analysis::Analysis(const Program& program, const Parameters& parameters, unsigned threads,
                   std::shared_ptr<Causes> causes, std::shared_ptr<const ReplayedBlocks> replayed)
    : program_(program),
      threads_(threads),
      accounted_(accounted_locations(program)),
      causes_(std::move(causes)),
      collective_split_(program, parameters, causes_->collectives(), threads,
                        replayed ? &replayed->operations : nullptr),
      replayed_(std::move(replayed)),
      model_(replayed_ ? MessageModel(program, parameters, windows_of(program), causes_->given_interest(), threads,
                                      replayed_->messages)
                       : MessageModel(program, parameters, windows_of(program), causes_->given_interest(), threads,
                                      collective_split_.take_nic_uses())),
      transfers_(program, parameters, causes_->collectives(), model_.asynchronous_progress()),
      first_call_(program.timelines.size()),
      account_memory_(program.spill.get()),
      accounts_(accounted_.size()),
      callpaths_(accounted_.size()),
      found_accounts_(replayed_ ? replayed_->accounts : std::vector<FoundAccount>{}),
      account_files_(replayed_ ? replayed_->account_files : std::vector<std::shared_ptr<const void>>{}),
      release_(replayed_ ? replayed_->release : nullptr),
      time_cells_(accounted_, model_.windows()),
      pairs_(program.timelines.size()) {
    std::size_t calls = 0;
    for (const auto location : accounted_) {
        first_call_[location] = calls;
        calls += program.timelines[location].calls.size();
    }
    divide_calls();
}

void Analysis::fill_messages(const Slice& slice, MessageRows& rows, std::vector<std::int32_t>& slot) {
    const auto& timeline = program_.timelines[slice.item];
    auto& pairs = pairs_[slice.item];
    slot.resize(program_.timelines.size(), kUndefined);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        slot[index(pairs[i].sender)] = static_cast<std::int32_t>(i);
    }
    std::size_t row = slice.row;
    for (std::uint32_t i = slice.begin; i < slice.end; ++i) {
        const auto& received = timeline.receives[i];
        if (received.match == kNone) {
            continue;
        }
        const MessageId id{location_at(slice.item), i};
        const auto& message = model_.record(id);
        const auto parts = model_.partition(id);
        const auto totals = parts.totals();
        const auto& sender = program_.timelines[index(received.peer)];
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
        rows.ids[MessageRows::send_call][row] = call_id(from, sent.call);
        rows.ids[MessageRows::send_complete_call][row] = call_id(from, sent.complete_call);
        rows.ids[MessageRows::recv_post_call][row] = call_id(slice.item, received.call);
        rows.ids[MessageRows::recv_call][row] = call_id(slice.item, received.complete_call);
        rows.ids[MessageRows::hops][row] = program_.placement.hops(received.peer, id.location);
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
        rows.times[MessageRows::send_complete][row] = completion_of_send(program_, id).leave;
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
        auto& pair = pairs[static_cast<std::size_t>(place)];
        ++pair.messages;
        pair.bytes += sent.bytes;
        pair.envelope_ps += envelope;
        for (std::size_t part = 0; part < kParts; ++part) {
            pair.parts[part] += totals[part];
        }
        // Deficits are the model's and may be of any size: their sum saturates.
        add_saturating(pair.deficit_ps, parts.deficit_ps);
    }
    for (const auto& pair : pairs) {
        slot[index(pair.sender)] = kUndefined;
    }
}

bool Analysis::next_messages(std::size_t limit, MessageRows& rows) {
    std::vector<Slice> slices;
    std::size_t count = 0;
    while (count < limit && message_location_ < program_.timelines.size()) {
        const auto& receives = program_.timelines[message_location_].receives;
        Slice slice{message_location_, message_receive_, message_receive_, count};
        while (slice.end < receives.size() && count < limit) {
            count += receives[slice.end].match == kNone ? 0 : 1;
            ++slice.end;
        }
        slices.push_back(slice);
        message_receive_ = slice.end;
        if (message_receive_ == receives.size()) {
            ++message_location_;
            message_receive_ = 0;
        }
    }
    if (count == 0) {
        return false;
    }
    rows.resize(count);
    std::vector<std::vector<std::int32_t>> slots(std::max(threads_, 1U));
    for_each_parallel(slices.size(), threads_, 1,
                      [&](std::size_t i, unsigned thread) { fill_messages(slices[i], rows, slots[thread]); });
    for (const auto& slice : slices) {
        if (slice.end == program_.timelines[slice.item].receives.size()) {
            release_messages(slice.item);
        }
    }
    return true;
}

void Analysis::release_messages(std::size_t location) const {
    if (release_ == nullptr) {
        return;
    }
    const auto& found = replayed_->messages.found[location];
    release_(found.records.data(), found.records.size_bytes());
    release_(found.processor.data(), found.processor.size_bytes());
    release_column(release_, program_.timelines[location].sends);
    release_column(release_, program_.timelines[location].receives);
}

void Analysis::release_calls(std::size_t location) const {
    if (release_ != nullptr) {
        const auto& calls = found_accounts_[location].calls;
        release_(calls.data(), calls.size_bytes());
        release_column(release_, program_.timelines[location].calls);
    }
}

void Analysis::fill_transfer(std::size_t location, std::uint32_t index, std::size_t row, TransferRows& rows) const {
    const auto& timeline = program_.timelines[location];
    const auto& transfer = timeline.transfers[index];
    const auto here = location_at(location);
    const auto& start = timeline.calls[transfer.call];
    const auto& end = timeline.calls[transfer.complete_call == kNone ? transfer.call : transfer.complete_call];
    const auto parts = transfers_.partition(location, index);
    const auto totals = parts.totals();
    const auto epoch = transfers_.epoch_of(location, index);
    const auto there = transfer.target == kNoLocation ? here : transfer.target;
    rows.ids[TransferRows::location][row] = number(here);
    rows.ids[TransferRows::target][row] = number(transfer.target);
    rows.ids[TransferRows::rma_window][row] = transfer.rma_window;
    rows.ids[TransferRows::number][row] = static_cast<std::int32_t>(index);
    rows.ids[TransferRows::callpath][row] = start.callpath;
    rows.ids[TransferRows::complete_callpath][row] = transfer.complete_call == kNone ? kUndefined : end.callpath;
    rows.ids[TransferRows::window][row] = model_.windows().at(start.enter_ps);
    rows.ids[TransferRows::call][row] = call_id(location, transfer.call);
    rows.ids[TransferRows::complete_call][row] = call_id(location, transfer.complete_call);
    rows.ids[TransferRows::remote_call][row] = call_id(location, transfer.remote_call);
    rows.ids[TransferRows::hops][row] = program_.placement.hops(here, there);
    rows.ids[TransferRows::epoch][row] = epoch == kNone ? kUndefined : static_cast<std::int32_t>(epoch);
    rows.ids[TransferRows::layout][row] = transfer.layout;
    rows.ids[TransferRows::target_layout][row] = transfer.target_layout;
    rows.bytes[row] = transfer.bytes;
    rows.kind[row] = static_cast<std::uint8_t>(transfer.kind);
    rows.locality[row] = static_cast<std::uint8_t>(program_.placement.between(here, there));
    rows.times[TransferRows::start][row] = start.enter_ps;
    rows.times[TransferRows::start_leave][row] = start.leave_ps;
    rows.times[TransferRows::complete_enter][row] = end.enter_ps;
    rows.times[TransferRows::complete_leave][row] = end.leave_ps;
    rows.times[TransferRows::envelope][row] = end.leave_ps - start.enter_ps;
    for (std::size_t part = 0; part < totals.size(); ++part) {
        rows.times[TransferRows::first_part + part][row] = totals[part];
    }
    rows.times[TransferRows::deficit][row] = parts.deficit_ps;
}

bool Analysis::next_transfers(std::size_t limit, TransferRows& rows) {
    std::vector<std::pair<std::size_t, std::uint32_t>> wanted;
    while (wanted.size() < limit && transfer_location_ < program_.timelines.size()) {
        if (transfer_ < program_.timelines[transfer_location_].transfers.size()) {
            wanted.emplace_back(transfer_location_, transfer_++);
        } else {
            ++transfer_location_;
            transfer_ = 0;
        }
    }
    if (wanted.empty()) {
        return false;
    }
    rows.resize(wanted.size());
    constexpr std::size_t kAtOnce = 256;
    for_each_parallel(wanted.size(), threads_, kAtOnce,
                      [&](std::size_t i, unsigned) { fill_transfer(wanted[i].first, wanted[i].second, i, rows); });
    return true;
}

/// Blocks of about as many calls as a batch has rows: a location with more calls is a separate block.
void Analysis::divide_calls() {
    constexpr std::size_t kCalls = std::size_t{1} << 15U;
    std::size_t calls = kCalls;
    for (std::size_t item = 0; item < accounted_.size(); ++item) {
        if (calls >= kCalls) {
            call_blocks_.push_back({.item = item, .end = item, .open = nullptr, .found = {}});
            calls = 0;
        }
        calls += program_.timelines[accounted_[item]].calls.size();
        call_blocks_.back().end = item + 1;
    }
}

void Analysis::open_account(CallBlock& block) const {
    const auto location = accounted_[block.item];
    if (!found_accounts_.empty()) {
        block.found = PackedRows<Exposed>::Reader(found_accounts_[location].calls);
        return;
    }
    block.open = std::make_unique<LocationAccount>(
        model_, transfers_, collective_split_, location, causes_->collectives().waits_of(location),
        PhaseLine(program_.spans[location], interest(location), times_off(program_, program_.timelines[location])),
        causes_->on_path()[location], causes_->wait_ends()[location]);
}

void Analysis::close_account(CallBlock& block) {
    const auto item = block.item++;
    block.call = 0;
    if (!found_accounts_.empty()) {
        const auto& found = found_accounts_[accounted_[item]];
        accounts_[item] = found.rows;
        callpaths_[item] = found.callpaths;
        time_cells_.add(item, {found.program_cells.begin(), found.program_cells.end()});
        release_calls(accounted_[item]);
        return;
    }
    const auto account = std::move(block.open);
    account->finish();
    accounts_[item] = account_memory_.copy(account->rows());
    callpaths_[item] = account_memory_.copy(PackedRows<CallpathExposure>::pack(account->callpaths()));
    time_cells_.add(item, std::move(account->program_cells()));
}

namespace {

/// Rows of the next batch of at most `limit`, so that no batch is a small rest.
std::size_t of_equal_size(std::size_t rows, std::size_t limit) noexcept {
    const auto batches = (rows + limit - 1) / limit;
    return batches == 0 ? 0 : (rows + batches - 1) / batches;
}

}  // namespace

bool Analysis::next_calls(std::size_t block, std::size_t limit, CallRows& rows) {
    auto& state = call_blocks_[block];
    if (state.item == state.end) {
        return false;
    }
    std::size_t count = 0;
    for (auto item = state.item; item < state.end; ++item) {
        const auto given = item == state.item ? state.call : 0;
        count += program_.timelines[accounted_[item]].calls.size() - given;
    }
    count = of_equal_size(count, limit);
    rows.resize(count);
    ExposedRows exposed(rows);
    std::size_t row = 0;
    while (state.item < state.end) {
        if (state.call == 0) {
            open_account(state);
        }
        const auto location = accounted_[state.item];
        const auto& timeline = program_.timelines[location];
        for (; row < count && state.call < timeline.calls.size(); ++row) {
            const auto c = state.call++;
            const auto& call = timeline.calls[c];
            exposed.put(state.open ? state.open->next() : state.found.next());
            rows.call[row] = call_id(location, c);
            rows.location[row] = static_cast<std::int32_t>(location);
            rows.region[row] = call.region;
            rows.callpath[row] = call.callpath;
            rows.enter[row] = call.enter_ps;
            rows.leave[row] = call.leave_ps;
        }
        if (state.call < timeline.calls.size()) {
            break;
        }
        close_account(state);
    }
    exposed.flush();
    return true;
}

namespace {

constexpr std::size_t kRowsAtOnce = std::size_t{1} << 16U;

}  // namespace

const std::vector<std::span<const AccountRow>>& Analysis::accounts() {
    if (std::ranges::all_of(call_blocks_, [](const CallBlock& block) { return block.item == block.end; })) {
        return accounts_;
    }
    for_each_parallel(call_blocks_.size(), threads_, 1, [&](std::size_t block, unsigned) {
        CallRows unread;
        while (next_calls(block, kRowsAtOnce, unread)) {
        }
    });
    return accounts_;
}

std::vector<CallpathExposure> Analysis::callpaths(std::size_t item) {
    accounts();
    return PackedRows<CallpathExposure>::unpack(callpaths_[item]);
}

TimeCellRows Analysis::time_cells() {
    accounts();
    return time_cells_.rows(threads_);
}

const std::vector<std::vector<PairSum>>& Analysis::pairs() {
    MessageRows unread;
    while (next_messages(kRowsAtOnce, unread)) {
    }
    return pairs_;
}

void Analysis::forget_messages() {
    accounts();
    pairs();
    delays();
    model_.forget_messages();
    replayed_.reset();
}

std::int64_t Analysis::split_only() {
    std::vector<std::int64_t> sums(program_.timelines.size());
    for_each_parallel(program_.timelines.size(), threads_, 1, [&](std::size_t location, unsigned) {
        const auto receives = static_cast<std::uint32_t>(program_.timelines[location].receives.size());
        for (std::uint32_t i = 0; i < receives; ++i) {
            const MessageId id{location_at(location), i};
            if (model_.record(id).matched) {
                for (const auto part : model_.partition(id).totals()) {
                    sums[location] += part;
                }
            }
        }
    });
    std::int64_t total = 0;
    for (const auto sum : sums) {
        add_saturating(total, sum);
    }
    return total;
}

}  // namespace logpost::replay
