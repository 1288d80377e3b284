#pragma once

/// Which locations of a program have an account.

#include <cstddef>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// The locations that get an account.
inline std::vector<std::size_t> accounted_locations(const Program& program) {
    std::vector<std::size_t> result;
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        if (program.accounted[location] != 0) {
            result.push_back(location);
        }
    }
    return result;
}

}  // namespace logpost::replay
