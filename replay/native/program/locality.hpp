#pragma once

/// Localities of two ends of a message.

#include <cstddef>
#include <cstdint>

namespace logpost::replay {

/// How far apart two ends of a message are; the order is that of the machine schema.
enum class Locality : std::uint8_t { self, same_socket, same_node, other_node };
inline constexpr std::size_t kLocalities = 4;

}  // namespace logpost::replay
