#pragma once

/// Vectors of numbers that are written before they are read: no time is spent on zeros.

#include <memory>
#include <utility>
#include <vector>

namespace logpost::replay {

/// Leaves what is constructed without a value as it is.
template <class T>
struct LeftUnset : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = LeftUnset<U>;
    };

    LeftUnset() = default;
    template <class U>
    explicit(false) LeftUnset(const LeftUnset<U>& /*other*/) noexcept {}

    template <class U, class... Values>
    void construct(U* place, Values&&... values) {
        if constexpr (sizeof...(values) > 0) {
            std::construct_at(place, std::forward<Values>(values)...);
        }
    }
};

template <class T>
using Unset = std::vector<T, LeftUnset<T>>;

}  // namespace logpost::replay
