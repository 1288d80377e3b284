#pragma once

/// The parts of a message's measured time.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace logpost::replay {

enum class Part : std::uint8_t {
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
};
inline constexpr std::size_t kParts = 11;

/// Names of the parts, in their order: the one place that the tables have them from.
inline constexpr std::string_view kPartNames[kParts] = {
    "late_sender",        "send_overhead", "middleware",         "endpoint_contention", "latency", "serialization",
    "network_contention", "late_receiver", "processor_queueing", "recv_overhead",       "residual"};

}  // namespace logpost::replay
