#pragma once

/// One rank of a GOAL schedule: what it computes, sends and receives, and what waits for what, as text.
///
/// Time between calls is a `calc`. A send is a `send`, which the call that completes it requires; a blocking receive is
/// a `recv`, which the next operation requires. A nonblocking receive is a `recv`, which the next operation requires
/// only to have begun (`irequires`), and the call that completes it is a `calc 0` that requires it. A collective
/// operation is its messages, at the place of its last call. Any other call is a `calc` of its own time.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/native/program/ids.hpp"

namespace logpost::analyzer {

/// The calls of a rank in program order.
struct GoalCalls {
    std::span<const std::int32_t> call;
    std::span<const std::int64_t> enter_ps;
    std::span<const std::int64_t> leave_ps;
    /// The call's duration if it sends and completes nothing.
    std::span<const std::int64_t> own_ps;
};

/// Messages by the call that begins this end of them, in the order of requests.
struct GoalMessages {
    std::span<const std::int32_t> call;
    /// Row of the run's messages.
    std::span<const std::int64_t> message;
    /// Rank of the schedule.
    std::span<const std::int32_t> peer;
    std::span<const std::int32_t> tag;
    std::span<const std::uint64_t> bytes;
    /// The call that begins a send also completes it; empty for receives.
    std::span<const std::uint8_t> blocking;
};

/// Ends of messages by the call that completes them.
struct GoalCompletions {
    std::span<const std::int32_t> call;
    /// Place in GoalMessages.
    std::span<const std::int64_t> of;
};

/// Collective operations by the call that completes them.
struct GoalCollectives {
    std::span<const std::int32_t> call;
    std::span<const std::int32_t> instance;
    std::span<const std::int64_t> entered_ps;
    /// When its last member entered.
    std::span<const std::int64_t> latest_ps;
    std::span<const std::int32_t> tag;
    /// Place in GoalShapes; -1: no messages are known.
    std::span<const std::int32_t> shape;
};

/// What the rank sends and receives in collective operations of a kind: `begin` has one entry more than shapes.
struct GoalShapes {
    std::span<const std::int64_t> begin;
    /// Of a message: whether the rank sends it.
    std::span<const std::uint8_t> sends;
    std::span<const std::int32_t> peer;
    std::span<const std::uint64_t> bytes;
};

/// All of a rank. The caller keeps the columns.
struct GoalRankColumns {
    std::int64_t first_ps = 0;
    std::int64_t last_ps = 0;
    GoalCalls calls;
    GoalMessages sends;
    GoalMessages receives;
    GoalCompletions sent;
    GoalCompletions received;
    GoalCollectives collectives;
    GoalShapes shapes;
};

enum class GoalKind : std::uint8_t { calc, send, recv };

/// Some operations of a rank, in order.
struct GoalPart {
    std::string text;
    /// Label of the first one.
    std::int64_t first = 0;
    std::vector<GoalKind> kind;
    /// -1: none
    std::vector<std::int32_t> call;
    /// -1: of a collective operation, or a calc
    std::vector<std::int64_t> message;
    /// -1: of no collective operation
    std::vector<std::int32_t> instance;
    /// Calls of the run that are written.
    std::int64_t calls = 0;
    /// Messages' ends of 0 bytes, written as 1.
    std::int64_t empty = 0;
};

/// Writes a rank part by part.
class GoalRank {
  public:
    /// Times are in units of `unit_ps`, rounded without drift.
    GoalRank(const GoalRankColumns& columns, std::int64_t unit_ps);

    /// The operations of the next calls, until there are at least `operations`; the last part has the time to the end.
    GoalPart next(std::size_t operations);
    /// All is written.
    [[nodiscard]] bool ended() const noexcept { return ended_; }

  private:
    struct Named {
        std::int32_t call = -1;
        std::int64_t message = -1;
        std::int32_t instance = -1;
    };

    void write_call(std::size_t i);
    void complete(std::int32_t call, std::int64_t before);
    void write_collective(std::size_t i, std::int64_t leave_ps);
    void calc(std::int64_t ps, std::int32_t call, std::span<const std::int64_t> also = {});
    std::int64_t transfer(GoalKind kind, std::uint64_t bytes, replay::Rank peer, std::int32_t tag, const Named& named,
                          bool only_begun);
    /// Appends label and dependencies of the operation whose line is in the text; the next one needs it.
    std::int64_t close(GoalKind kind, const Named& named, std::span<const std::int64_t> also, bool only_begun);
    void require(std::span<const std::int64_t> also);
    void label();

    GoalRankColumns columns_;
    std::int64_t unit_ps_;
    GoalPart part_;
    std::int64_t count_ = 0;
    std::int64_t at_ps_;
    std::int64_t computed_ps_ = 0;
    std::int64_t written_units_ = 0;
    std::size_t next_call_ = 0;
    std::size_t next_send_ = 0;
    std::size_t next_receive_ = 0;
    std::size_t next_sent_ = 0;
    std::size_t next_received_ = 0;
    std::size_t next_collective_ = 0;
    bool ended_ = false;
    /// Operations that the next one requires, to be done and to have begun.
    std::vector<std::int64_t> after_;
    std::vector<std::int64_t> begun_;
    /// Operation of each send or receive that is not complete; -1: none.
    std::vector<std::int64_t> open_sends_;
    std::vector<std::int64_t> open_receives_;
    std::vector<std::int64_t> waits_;
    std::vector<std::int64_t> sorted_;
};

}  // namespace logpost::analyzer
