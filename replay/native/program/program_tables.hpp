#pragma once

/// A program from the columns of a run's tables: what was written of an archive's program, read back.

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

template <class T>
using Rows = std::span<const T>;

/// Table `locations`.
struct LocationColumns {
    Rows<std::int32_t> process, socket, node, rank;
    Rows<std::uint8_t> accounted;
    Rows<std::int64_t> first_ps, last_ps;
};

/// Table `calls`: by location, then time.
struct CallColumns {
    Rows<std::int32_t> location, region, callpath;
    Rows<std::int64_t> enter_ps, leave_ps;
};

/// Table `messages`.
struct MessageColumns {
    Rows<std::int32_t> send_location, recv_location, comm, tag, layout;
    Rows<std::int32_t> send_call, send_complete_call, recv_post_call, recv_call, send_number, recv_number;
    Rows<std::uint64_t> bytes, recv_bytes;
};

/// Table `unmatched`; direction 0: a send, 1: a receive.
struct UnmatchedColumns {
    Rows<std::int32_t> location, number, call, complete_call, peer, comm, tag;
    Rows<std::uint8_t> direction;
    Rows<std::uint64_t> bytes;
};

/// Table `collectives`; operation: a code of `Operation`.
struct CollectiveColumns {
    Rows<std::int32_t> instance, location, comm, root, call, complete_call, rma_window, layout, received_layout;
    Rows<std::uint8_t> operation;
    Rows<std::int64_t> enter_ps, leave_ps;
    Rows<std::uint64_t> bytes_sent, bytes_received;
};

/// Table `transfers`: by location, then start. kind: a code of `Transfer::Kind`.
struct TransferColumns {
    Rows<std::int32_t> location, target, rma_window, call, complete_call, remote_call, layout, target_layout;
    Rows<std::uint8_t> kind;
    Rows<std::uint64_t> bytes;
};

/// Table `epochs`: by location, then begin. kind: a code of `Epoch::Kind`.
struct EpochColumns {
    Rows<std::int32_t> location, peer, rma_window, begin_call, end_call, match;
    Rows<std::uint8_t> kind;
    Rows<std::uint64_t> lock;
    Rows<std::int64_t> acquired_ps;
};

/// Fills the timelines, placement and accounted locations of `program` from tables in pieces, so that a table
/// need not be in memory together with the program; the definitions (kinds, layouts, members, ...) are there already.
/// In this order: locations, all calls, then the other tables in any order, and `finish`. All but `all_calls_read`
/// throw std::invalid_argument where the tables contradict each other.
class ProgramFiller {
  public:
    /// `most_ends`: a location has fewer sends, and fewer receives, than that.
    ProgramFiller(Program& program, const LocationColumns& locations, std::size_t most_ends);
    void calls(const CallColumns& rows);
    void all_calls_read();
    void messages(const MessageColumns& rows);
    void unmatched(const UnmatchedColumns& rows);
    void collectives(const CollectiveColumns& rows);
    void transfers(const TransferColumns& rows);
    void epochs(const EpochColumns& rows);
    /// Checks what needs all rows, and derives the spans. This and `all_calls_read` throw SpillError where the program
    /// has a spill that fails.
    void finish();

  private:
    [[nodiscard]] std::uint32_t call(std::int32_t id, std::size_t location) const;
    [[nodiscard]] std::uint32_t optional_call(std::int32_t id, std::size_t location) const;
    MessageEnd& free_end(Column<MessageEnd>& ends, std::int32_t number) const;

    Program& program_;
    std::size_t locations_;
    std::size_t most_ends_;
    std::size_t read_calls_ = 0;
    std::vector<std::size_t> first_call_;           // by location, in the run
    std::vector<std::vector<SendLayout>> layouts_;  // by location
};

}  // namespace logpost::replay
