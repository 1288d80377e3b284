#pragma once

#include <utility>

namespace logpost::replay {

/// Gives back the memory of containers. `column = {}` assigns an empty list to a vector, which keeps its memory.
template <class... Containers>
void release(Containers&... containers) {
    (static_cast<void>(containers = Containers()), ...);
}

}  // namespace logpost::replay
