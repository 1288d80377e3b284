#pragma once

#include "replay/native/program/network.hpp"
#include "replay/native/program/placement.hpp"

namespace logpost::replay {

/// Where a program's processes are, and the network between their nodes: its own, or another.
struct Surroundings {
    Placement placement;
    Network network;
};

}  // namespace logpost::replay
