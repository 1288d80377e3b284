#pragma once

/// What happened in a simulation, kept whole: every message with the time of each of its steps, every call with what it
/// did, every interval in which a processor worked for a message. The archive and the truth are both written from this.

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// One one-sided transfer and when each of its steps was; kNever: it had no such step.
struct Transfer {
    int origin = 0, target = 0;
    std::uint64_t bytes = 0;
    bool put = true;  ///< else a get
    Time L = 0;

    std::size_t call = kNone, complete_call = kNone;  ///< of the origin
    bool remotely = false;                            ///< its completion makes sure of the target, too

    Time overhead_begin = kNever, overhead_end = kNever;
    Time sent_begin = kNever;  ///< the origin's NIC starts with it; of a get with its request
    Time received_begin = kNever;
    Time at_target = kNever;                           ///< its last byte, or its request, is at the target
    Time attend_begin = kNever, attend_end = kNever;   ///< the target's processor, or its NIC, serves it
    Time answer_begin = kNever;                        ///< the target's NIC starts with the answer
    Time answer_received = kNever, answered = kNever;  ///< its first and last byte at the origin
    Time done = kNever;                                ///< the origin knows
};

/// A wait for somebody, in a call of one-sided communication.
struct Permission {
    enum class Kind : std::uint8_t { post, complete, lock };
    Kind kind;
    Time until;            ///< when the awaited rank gave way
    std::size_t transfer;  ///< the last one of the rank that completed; kNone: none
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
    enum class Kind : std::uint8_t {
        send,
        isend,
        isend_complete,
        irecv,
        irecv_complete,
        recv,
        transfer,           ///< `message` counts transfers
        transfer_complete,  ///< likewise
        post,               ///< `message` is the peer from here on
        start,
        complete,
        wait,
        request_lock,
        release_lock,
    };
    Kind kind;
    std::size_t message;
    std::uint64_t request = 0;
};

enum class Collective : std::uint8_t {
    none,
    barrier,
    bcast,
    reduce,
    allreduce,
    alltoall,
    allgather,
    reduce_scatter,
    gather,
    scatter,
    fence
};

/// What of a collective operation a call is.
enum class Part : std::uint8_t { whole, start, completion };

struct Call {
    std::string region;
    Time enter = 0, leave = 0;
    std::vector<Operation> operations{};
    Collective collective = Collective::none;
    Part part = Part::whole;
    std::uint64_t request = 0;     ///< of a nonblocking one
    std::size_t instance = 0;      ///< which collective operation
    std::size_t communicator = 0;  ///< that it is of
    int root = -1;                 ///< as a rank of all
    std::uint64_t sent = 0, received = 0;
    bool one_sided = false;
    std::optional<Permission> permission{};
};

/// A collective operation of neighbours: OTF2 has no record for it, and the archive its call alone.
inline bool of_neighbours(const Call& call) {
    return call.region.starts_with("MPI_Neighbor_");
}

/// A user region's begin or end, between calls.
struct Mark {
    Time time;
    std::string region;
    bool enter;
};

/// A parallel region: how long each thread works before each of its barriers, the last one of which ends it.
struct Parallel {
    Time begin;
    std::string region;
    std::vector<std::vector<Time>> phases;  ///< by thread; the first one is the rank's own
};

/// A parallel region and the barrier that ends a phase of it, as OPARI2 names them.
inline std::string parallel_name(const std::string& region) {
    return std::string("!$omp parallel @").append(region);
}
inline std::string barrier_name(const std::string& region, std::size_t phase, std::size_t phases) {
    return std::string(phase + 1 == phases ? "!$omp implicit barrier @" : "!$omp barrier @").append(region);
}

struct RankRecord {
    std::vector<Call> calls;
    std::vector<Parallel> parallels;
    std::vector<Mark> marks;
    std::vector<Busy> busy;
    Time end = 0;
};

/// The ranks of a communicator, in its order.
using Members = std::vector<int>;

struct Record {
    Machine machine;
    std::vector<Members> communicators{};  ///< the first one has all ranks
    std::vector<RankRecord> ranks;
    std::vector<Message> messages;
    std::vector<Transfer> transfers;
};

}  // namespace logpost::truth
