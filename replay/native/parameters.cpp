#include "parameters.hpp"

#include <algorithm>
#include <cmath>

namespace logpost::replay {
namespace {

struct Place {
    std::size_t below;
    double weight;  // of the point above
};

Place locate(const std::vector<double>& axis, double x) {
    if (x <= axis.front()) {
        return {0, 0.0};
    }
    if (x >= axis.back()) {
        return {axis.size() - 1, 0.0};
    }
    const auto above = static_cast<std::size_t>(std::upper_bound(axis.begin(), axis.end(), x) - axis.begin());
    const double low = std::log(axis[above - 1]);
    const double high = std::log(axis[above]);
    return {above - 1, (std::log(x) - low) / (high - low)};
}

std::int64_t picoseconds(double value) {
    return std::llround(std::max(0.0, value));
}

}  // namespace

double MiddlewareTable::at(double message_bytes, double stride_bytes) const {
    const auto row = locate(bytes, message_bytes);
    const auto column = locate(strides, stride_bytes);
    const auto value = [&](std::size_t i, std::size_t j) {
        return l_mw[std::min(i, bytes.size() - 1) * strides.size() + std::min(j, strides.size() - 1)];
    };
    const double low =
        value(row.below, column.below) * (1 - column.weight) + value(row.below, column.below + 1) * column.weight;
    const double high = value(row.below + 1, column.below) * (1 - column.weight) +
                        value(row.below + 1, column.below + 1) * column.weight;
    return low * (1 - row.weight) + high * row.weight;
}

MessageStages message_stages(const Parameters& parameters, Locality locality, std::uint64_t bytes,
                             std::int64_t stride_bytes) {
    const auto& here = parameters.localities[static_cast<std::size_t>(locality)];
    const auto* range = &here.ranges.back();
    for (const auto& candidate : here.ranges) {
        if (bytes <= candidate.up_to_bytes) {
            range = &candidate;
            break;
        }
    }
    const auto B = static_cast<double>(bytes);
    MessageStages stages;
    stages.o_s = picoseconds(range->o_s + range->o_s_per_byte * B);
    stages.o_r = picoseconds(range->o_r + range->o_r_per_byte * B);
    stages.L = picoseconds(range->L);
    stages.serialization = picoseconds((B - 1) * range->G);
    stages.service = picoseconds(std::max(range->g, B * range->G));
    stages.o_control = picoseconds(here.ranges.front().o_s);
    stages.rendezvous = here.eager_limit.has_value() && bytes > *here.eager_limit;
    if (stride_bytes > 0 && !parameters.middleware.empty() && bytes > 0) {
        stages.l_mw = picoseconds(parameters.middleware.at(B, static_cast<double>(stride_bytes)));
    }
    return stages;
}

}  // namespace logpost::replay
