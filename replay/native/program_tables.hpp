#pragma once

/// A program from the columns of a run's tables: what was written of an archive's program, read back.

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/program.hpp"

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
    Rows<std::int32_t> instance, location, comm, root, call, complete_call, rma_window;
    Rows<std::uint8_t> operation;
    Rows<std::int64_t> enter_ps, leave_ps;
    Rows<std::uint64_t> bytes_sent, bytes_received;
};

/// Table `transfers`: by location, then start. kind: a code of `Transfer::Kind`.
struct TransferColumns {
    Rows<std::int32_t> location, target, rma_window, call, complete_call, remote_call;
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

struct ProgramColumns {
    LocationColumns locations;
    CallColumns calls;
    MessageColumns messages;
    UnmatchedColumns unmatched;
    CollectiveColumns collectives;
    TransferColumns transfers;
    EpochColumns epochs;
};

/// Fills the timelines, placement and accounted locations of `program`, and then the spans; the definitions (kinds,
/// layouts, members, ...) are there already. Throws std::invalid_argument where the tables contradict each other.
void fill_program(Program& program, const ProgramColumns& columns);

}  // namespace logpost::replay
