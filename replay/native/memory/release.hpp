#pragma once

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <cstddef>
#include <utility>

namespace logpost::replay {

/// Gives back the memory of containers. `column = {}` assigns an empty list to a vector, which keeps its memory.
template <class... Containers>
void release(Containers&... containers) {
    (static_cast<void>(containers = Containers()), ...);
}

/// Gives memory back to the system after columns of `bytes` were freed, if that is worth the way through the heap:
/// glibc keeps what large columns leave for columns that are never made.
inline void give_back_unused(std::size_t bytes) noexcept {
    constexpr std::size_t kWorthIt = std::size_t{4} << 20U;
#ifdef __GLIBC__
    if (bytes >= kWorthIt) {
        malloc_trim(0);
    }
#endif
}

}  // namespace logpost::replay
