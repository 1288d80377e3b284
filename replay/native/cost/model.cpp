#include "replay/native/cost/model.hpp"

#include <algorithm>

namespace logpost::replay {
namespace {

/// What a model has in addition to o_s, L and o_r (docs/split.md, section 8).
struct Has {
    Terms terms;
    bool sizes;       ///< values depend on the size: G, overheads per byte, ranges
    bool middleware;  ///< l_mw
    bool dma;         ///< G_m, a
    bool distances;   ///< L per hop
    bool bursts;      ///< o(S, b)
    bool transfers;   ///< T of one-sided transfers
    bool endpoints;   ///< messages wait for a NIC
    bool processor;   ///< messages wait for a processor: C_r
    bool links;       ///< messages wait for links of the network: C_n
};

constexpr std::array<Has, kModels> kHas{{
    {Terms::loggp, true, true, true, true, true, true, true, true, true},          // full
    {Terms::loggp, true, false, false, false, false, false, true, false, false},   // loggp
    {Terms::loggp, true, false, true, false, false, false, true, true, true},      // logpc
    {Terms::log3p, true, true, false, false, false, false, false, false, false},   // log3p
    {Terms::loggp, false, false, false, false, false, false, true, false, false},  // logp
}};

/// LogP's values are those of a small message, whatever the size.
void forget_sizes(LocalityParameters& locality) {
    locality.ranges.resize(std::min<std::size_t>(1, locality.ranges.size()));
    for (auto& range : locality.ranges) {
        range.o_s_per_byte = range.o_r_per_byte = range.G = 0;
    }
}

}  // namespace

std::optional<Model> model_named(std::string_view name) noexcept {
    const auto found = std::ranges::find(kModelNames, name);
    if (found == kModelNames.end()) {
        return std::nullopt;
    }
    return static_cast<Model>(found - kModelNames.begin());
}

Parameters reduced(Parameters machine, Model model) {
    const auto& has = kHas[static_cast<std::size_t>(model)];
    machine.terms = has.terms;
    if (!has.sizes) {
        std::ranges::for_each(machine.localities, forget_sizes);
    }
    if (!has.middleware) {
        machine.middleware = machine.middleware_self = {};
    }
    if (!has.dma) {
        machine.dma.reset();
    }
    if (!has.distances) {
        machine.mean_hops.reset();
    }
    if (!has.bursts) {
        machine.o_burst = {};
    }
    if (!has.transfers) {
        machine.put = machine.get = {};
    }
    machine.endpoints_queue = has.endpoints;
    machine.processors_queue = has.processor;
    machine.links_queue = has.links;
    return machine;
}

}  // namespace logpost::replay
