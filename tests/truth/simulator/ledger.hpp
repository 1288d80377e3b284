#pragma once

/// The truth of a simulation: each message as segments with their causes, each rank's time by cause. Derived from what
/// happened (steps of messages, work of processors), never from a model of it.

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "record.hpp"

namespace logpost::truth {

enum class Cause : std::uint8_t {
    compute,
    late_sender,
    send_overhead,
    middleware,
    endpoint_contention,
    latency,
    serialization,
    network_contention,
    late_receiver,
    processor_queueing,
    recv_overhead,
    residual,
    collective_wait,
    collective,
    mpi_other,
    lock_wait,
};
inline constexpr std::size_t kCauses = 16;
inline constexpr std::array<std::string_view, kCauses> kCauseNames{
    "compute",         "late_sender",        "send_overhead", "middleware",         "endpoint_contention", "latency",
    "serialization",   "network_contention", "late_receiver", "processor_queueing", "recv_overhead",       "residual",
    "collective_wait", "collective",         "mpi_other",     "lock_wait"};

struct Segment {
    Time begin, end;
    Cause cause;
};

using Sums = std::array<Time, kCauses>;

/// The segments of one visible, received message: from the earlier of its send call's and its completing receive call's
/// enter to the latter's leave, without gap.
std::vector<Segment> segments(const Record& record, std::size_t message);

/// The segments of one completed transfer: from its call's enter to the leave of the call that completes it, without
/// gap.
std::vector<Segment> transfer_segments(const Record& record, std::size_t transfer);

/// The time of each rank by cause, from 0 to its end. In a call that completes several operations, an instant has the
/// cause of the operation that completes last; the processor's work for another one overrides it.
std::vector<Sums> accounts(const Record& record);

/// The time of one thread of a rank.
struct ThreadSums {
    Time parallel = 0, imbalance = 0, communication = 0, serial = 0, idle_communication = 0, idle_serial = 0,
         not_in_team = 0;
};

/// Of each rank's threads, where it has several; each adds up to the rank's end.
std::vector<std::vector<ThreadSums>> thread_accounts(const Record& record);

/// Until when a member of a collective operation waits for those that the operation's definition names, by call and
/// rank.
using Awaited = std::function<Time(const Call& call, int rank)>;
Awaited awaited(const Record& record);

/// The rest of each rank's time in collective operations by cause; late_sender: members on the way that entered later
/// than those.
std::vector<Sums> in_collectives(const Record& record);

[[nodiscard]] Sums sum(const std::vector<Segment>& segments);

}  // namespace logpost::truth
