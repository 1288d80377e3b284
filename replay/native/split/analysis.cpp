#include "replay/native/split/analysis.hpp"

#include <algorithm>
#include <utility>

#include "replay/native/memory/threads.hpp"
#include "replay/native/program/message_facts.hpp"
#include "replay/native/program/wide.hpp"

namespace logpost::replay {

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
      messages_(model_, numbers_),
      account_memory_(program.spill.get()),
      accounts_(accounted_.size()),
      callpaths_(accounted_.size()),
      found_accounts_(replayed_ ? replayed_->accounts : std::vector<FoundAccount>{}),
      account_files_(replayed_ ? replayed_->account_files : std::vector<std::shared_ptr<const void>>{}),
      time_cells_(accounted_, model_.windows()),
      found_pairs_(replayed_ ? replayed_->pairs : std::vector<std::vector<PairSum>>{}) {
    std::vector<std::size_t> first(program.timelines.size());
    std::vector<std::size_t> of_accounted;
    std::size_t calls = 0;
    for (const auto location : accounted_) {
        first[location] = calls;
        of_accounted.push_back(program.timelines[location].calls.size());
        calls += of_accounted.back();
    }
    numbers_ = CallNumbers(std::move(first));
    call_blocks_ = replay::call_blocks(of_accounted);
}

bool Analysis::next_messages(std::size_t limit, MessageRows& rows) {
    return !is_written() && messages_.next(limit, threads_, rows, [](std::size_t) {});
}

bool Analysis::next_calls(std::size_t block, std::size_t limit, CallRows& rows) {
    return !is_written() && replay::next_calls(
                                program_, accounted_, numbers_, call_blocks_[block], limit, rows,
                                [this](auto& of) { open_account(of); }, [this](auto& of) { close_account(of); });
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

void Analysis::open_account(CallBlock& block) const {
    const auto location = accounted_[block.item];
    block.open = std::make_unique<LocationAccount>(
        model_, transfers_, collective_split_, location, causes_->collectives().waits_of(location),
        PhaseLine(program_.spans[location], interest(location), times_off(program_, program_.timelines[location])),
        causes_->on_path()[location], causes_->wait_ends()[location]);
}

void Analysis::close_account(CallBlock& block) {
    const auto item = block.item;
    if (is_written()) {
        const auto& found = found_accounts_[accounted_[item]];
        accounts_[item] = found.rows;
        callpaths_[item] = found.callpaths;
        time_cells_.add(item, {found.program_cells.begin(), found.program_cells.end()});
        return;
    }
    const auto account = std::move(block.open);
    account->finish();
    accounts_[item] = account_memory_.copy(account->rows());
    callpaths_[item] = account_memory_.copy(PackedRows<CallpathExposure>::pack(account->callpaths()));
    time_cells_.add(item, std::move(account->program_cells()));
}

namespace {

constexpr std::size_t kRowsAtOnce = std::size_t{1} << 16U;

}  // namespace

const std::vector<std::span<const AccountRow>>& Analysis::accounts() {
    if (std::ranges::all_of(call_blocks_, [](const CallBlock& block) { return block.item == block.end; })) {
        return accounts_;
    }
    for_each_parallel(call_blocks_.size(), threads_, 1, [&](std::size_t block, unsigned) {
        if (is_written()) {
            for (auto& of = call_blocks_[block]; of.item < of.end; ++of.item) {
                close_account(of);
            }
            return;
        }
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
    if (is_written()) {
        return found_pairs_;
    }
    MessageRows unread;
    while (next_messages(kRowsAtOnce, unread)) {
    }
    return messages_.pairs();
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
