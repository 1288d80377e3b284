#pragma once

/// What happened in a simulation, kept whole: every message with the time of each of its steps, every call with what it
/// did, every interval in which a processor worked for a message. The archive and the truth are both written from this.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "machine.hpp"

namespace logpost::truth {

inline constexpr Time kNever = -1;
inline constexpr std::size_t kNone = ~std::size_t{0};

/// One message and when each of its steps was; kNever: it had no such step.
struct Message {
    int sender = 0, receiver = 0, tag = 0;
    std::uint64_t bytes = 0;
    Layout layout;
    bool rendezvous = false;
    bool internal = false;  ///< of a collective's tree: the archive does not show it
    Time L = 0;

    std::size_t send_call = kNone, complete_call = kNone;  ///< of the sender
    std::size_t post_call = kNone, receive_call = kNone;   ///< of the receiver

    Time overhead_begin = kNever, overhead_end = kNever, middleware_end = kNever;
    Time request_arrival = kNever, request_begin = kNever, request_end = kNever;  ///< rendezvous: at the receiver
    Time clear_arrival = kNever, clear_begin = kNever, clear_end = kNever;        ///< rendezvous: at the sender
    Time injection = kNever;                                                      ///< ready for the sending NIC
    Time sent_begin = kNever;                                                     ///< the NIC starts with it
    Time sent_end = kNever;                         ///< its last byte left: the send is complete
    Time received_begin = kNever;                   ///< the receiving NIC starts with it
    Time arrival = kNever;                          ///< its last byte is there
    Time serve_begin = kNever, serve_end = kNever;  ///< the receiver's processor completes the receive
};

enum class Work : std::uint8_t { send_overhead, recv_overhead, middleware, collective };

/// An interval in which a processor worked for a message.
struct Busy {
    Time begin, end;
    std::size_t message;
    Work work;
};

/// What a call started or completed.
struct Operation {
    enum class Kind : std::uint8_t { send, isend, isend_complete, irecv, irecv_complete, recv };
    Kind kind;
    std::size_t message;
    std::uint64_t request = 0;
};

enum class Collective : std::uint8_t { none, barrier, bcast, reduce, allreduce, alltoall, allgather, gather, scatter };

struct Call {
    std::string region;
    Time enter = 0, leave = 0;
    std::vector<Operation> operations{};
    Collective collective = Collective::none;
    std::size_t instance = 0;  ///< which collective operation
    int root = -1;
    std::uint64_t sent = 0, received = 0;
};

/// A user region's begin or end, between calls.
struct Mark {
    Time time;
    std::string region;
    bool enter;
};

struct RankRecord {
    std::vector<Call> calls;
    std::vector<Mark> marks;
    std::vector<Busy> busy;
    Time end = 0;
};

struct Record {
    Machine machine;
    std::vector<RankRecord> ranks;
    std::vector<Message> messages;
};

}  // namespace logpost::truth
