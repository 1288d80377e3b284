#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/native/memory/arena.hpp"

namespace logpost::replay {

/// What collective operations ask of a location's NIC while the location is outside of them, so that point-to-point
/// messages meet it there; and the work of its processor with which the location leaves them.
struct NicUse {
    std::int64_t from_ps;
    std::int64_t service_ps;
    bool between_nodes;  ///< else the location's own end of the node's memory
    bool receiving;
    bool queues;  ///< a message that arrives before the location does, and waits its turn; else what is in the queue
                  ///< when the location leaves: the NIC is busy for so long
    bool processor = false;  ///< it is the processor that works
    auto operator<=>(const NicUse&) const = default;
};

/// By location, ascending.
struct NicUses {
    std::unique_ptr<Arena> memory;
    std::vector<std::span<NicUse>> of;
};

}  // namespace logpost::replay
