#include "analyzer/archive/native/export/goal_rank.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <string_view>
#include <utility>

namespace logpost::analyzer {
namespace {

void append(std::string& text, std::string_view what) {
    text.append(what);
}

void append(std::string& text, std::integral auto number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text.append(digits, end);
}

/// Rows before `call` are of calls that are not the rank's.
std::size_t skipped(std::span<const std::int32_t> calls, std::size_t from, std::int32_t call) {
    while (from < calls.size() && calls[from] < call) {
        ++from;
    }
    return from;
}

bool of(std::span<const std::int32_t> calls, std::size_t row, std::int32_t call) {
    return row < calls.size() && calls[row] == call;
}

}  // namespace

GoalRank::GoalRank(const GoalRankColumns& columns, std::int64_t unit_ps)
    : columns_(columns),
      unit_ps_(unit_ps),
      at_ps_(columns.first_ps),
      open_sends_(columns.sends.call.size(), -1),
      open_receives_(columns.receives.call.size(), -1) {}

GoalPart GoalRank::next(std::size_t operations) {
    part_ = GoalPart{};
    part_.first = count_;
    while (next_call_ < columns_.calls.call.size() && part_.kind.size() < operations) {
        write_call(next_call_++);
        ++part_.calls;
    }
    if (next_call_ == columns_.calls.call.size() && !ended_) {
        if (columns_.last_ps > at_ps_) {
            calc(columns_.last_ps - at_ps_, -1);
        }
        ended_ = true;
    }
    return std::move(part_);
}

void GoalRank::write_call(std::size_t i) {
    const auto& [calls, enters, leaves, own] = columns_.calls;
    const std::int32_t call = calls[i];
    if (enters[i] > at_ps_) {
        calc(enters[i] - at_ps_, -1);
    }
    at_ps_ = leaves[i];
    const std::int64_t before = count_;
    const auto& sends = columns_.sends;
    for (next_send_ = skipped(sends.call, next_send_, call); of(sends.call, next_send_, call); ++next_send_) {
        const std::size_t row = next_send_;
        open_sends_[row] = transfer(GoalKind::send, sends.bytes[row], replay::Rank{sends.peer[row]}, sends.tag[row],
                                    {call, sends.message[row], -1}, sends.blocking[row] == 0);
    }
    const auto& receives = columns_.receives;
    for (next_receive_ = skipped(receives.call, next_receive_, call); of(receives.call, next_receive_, call);
         ++next_receive_) {
        const std::size_t row = next_receive_;
        open_receives_[row] = transfer(GoalKind::recv, receives.bytes[row], replay::Rank{receives.peer[row]},
                                       receives.tag[row], {call, receives.message[row], -1}, true);
    }
    complete(call, before);
    const auto& ended = columns_.collectives.call;
    next_collective_ = skipped(ended, next_collective_, call);
    const bool collective = of(ended, next_collective_, call);
    for (; of(ended, next_collective_, call); ++next_collective_) {
        write_collective(next_collective_, leaves[i]);
    }
    if (count_ == before && !collective) {
        calc(own[i], call);
    }
}

void GoalRank::complete(std::int32_t call, std::int64_t before) {
    waits_.clear();
    const auto collect = [&](const GoalCompletions& ends, std::size_t& row, std::vector<std::int64_t>& begun) {
        for (row = skipped(ends.call, row, call); of(ends.call, row, call); ++row) {
            const auto place = static_cast<std::size_t>(ends.of[row]);
            if (begun[place] >= 0) {
                waits_.push_back(std::exchange(begun[place], -1));
            }
        }
    };
    collect(columns_.received, next_received_, open_receives_);
    collect(columns_.sent, next_sent_, open_sends_);
    if (std::ranges::any_of(waits_, [before](std::int64_t number) { return number < before; })) {
        calc(0, call, waits_);
    } else if (!waits_.empty()) {
        // What the call itself has begun and completes is required by the next operation.
        require(waits_);
    }
}

void GoalRank::write_collective(std::size_t i, std::int64_t leave_ps) {
    const auto& [calls, instances, entered, latest, tags, shapes] = columns_.collectives;
    if (shapes[i] < 0) {
        // All wait for the last one, if the times say so; the time after that is the call's own.
        calc(leave_ps - std::max(entered[i], std::min(latest[i], leave_ps)), calls[i]);
        return;
    }
    const auto shape = static_cast<std::size_t>(shapes[i]);
    const auto& known = columns_.shapes;
    for (auto k = static_cast<std::size_t>(known.begin[shape]); k < static_cast<std::size_t>(known.begin[shape + 1]);
         ++k) {
        transfer(known.sends[k] != 0 ? GoalKind::send : GoalKind::recv, known.bytes[k], replay::Rank{known.peer[k]},
                 tags[i], {calls[i], -1, instances[i]}, false);
    }
}

void GoalRank::calc(std::int64_t ps, std::int32_t call, std::span<const std::int64_t> also) {
    // Rounded sums, not sums of rounded times: they do not drift.
    computed_ps_ += ps;
    const std::int64_t length = (computed_ps_ + unit_ps_ / 2) / unit_ps_ - written_units_;
    written_units_ += length;
    label();
    append(part_.text, ": calc ");
    append(part_.text, length);
    append(part_.text, "\n");
    close(GoalKind::calc, {call, -1, -1}, also, false);
}

std::int64_t GoalRank::transfer(GoalKind kind, std::uint64_t bytes, replay::Rank peer, std::int32_t tag,
                                const Named& named, bool only_begun) {
    part_.empty += bytes == 0 ? 1 : 0;
    label();
    append(part_.text, kind == GoalKind::send ? ": send " : ": recv ");
    append(part_.text, std::max<std::uint64_t>(bytes, 1));
    append(part_.text, kind == GoalKind::send ? "b to " : "b from ");
    append(part_.text, replay::number(peer));
    append(part_.text, " tag ");
    append(part_.text, tag);
    append(part_.text, "\n");
    return close(kind, named, {}, only_begun);
}

void GoalRank::require(std::span<const std::int64_t> also) {
    sorted_.assign(after_.begin(), after_.end());
    std::ranges::sort(sorted_);
    for (const std::int64_t number : also) {
        if (!std::ranges::binary_search(sorted_, number)) {
            after_.push_back(number);
        }
    }
    if (!begun_.empty() && !after_.empty()) {
        sorted_.assign(after_.begin(), after_.end());
        std::ranges::sort(sorted_);
        std::erase_if(begun_, [this](std::int64_t number) { return std::ranges::binary_search(sorted_, number); });
    }
}

std::int64_t GoalRank::close(GoalKind kind, const Named& named, std::span<const std::int64_t> also, bool only_begun) {
    if (!also.empty()) {
        require(also);
    }
    for (const auto& [how, numbers] : {std::pair{" requires l", &after_}, std::pair{" irequires l", &begun_}}) {
        for (const std::int64_t number : *numbers) {
            label();
            append(part_.text, how);
            append(part_.text, number);
            append(part_.text, "\n");
        }
    }
    after_.clear();
    begun_.clear();
    (only_begun ? begun_ : after_).push_back(count_);
    part_.kind.push_back(kind);
    part_.call.push_back(named.call);
    part_.message.push_back(named.message);
    part_.instance.push_back(named.instance);
    return count_++;
}

void GoalRank::label() {
    append(part_.text, "l");
    append(part_.text, count_);
}

}  // namespace logpost::analyzer
