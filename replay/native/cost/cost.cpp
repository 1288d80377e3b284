#include "replay/native/cost/cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace logpost::replay {
namespace {

constexpr double kNotStated = std::numeric_limits<double>::quiet_NaN();

std::int64_t picoseconds(double value) {
    return std::llround(std::min(std::max(0.0, value), static_cast<double>(kMostCostPs)));
}

double read(const Curve& curve, double bytes, CostTerms& terms) {
    if (curve.empty()) {
        return kNotStated;
    }
    const auto found = curve.at(bytes);
    terms.beyond_sizes |= found.beyond_size;
    return found.value;
}

/// LOGPC eq. (2): the processor copies what the network has not yet delivered, so that only the excess shows.
double after_dma(const Dma& dma, const Range& range, double bytes) {
    const double busy = range.o_r + range.o_r_per_byte * bytes + dma.header_bytes * range.G + bytes * dma.G_m;
    return std::max(0.0, busy - std::max(0.0, bytes - 1) * range.G);
}

/// Long messages are those of the last range; the data of short ones come with their header.
const Dma* dma_of(const Parameters& parameters, const LocalityParameters& here, std::size_t row) {
    const bool copied = parameters.dma.has_value() && here.across_network && row + 1 == here.ranges.size();
    return copied ? &*parameters.dma : nullptr;
}

/// The derivative of max(a, b) to the right.
double slope_of_max(double a, double slope_a, double b, double slope_b) {
    if (a == b) {
        return std::max(slope_a, slope_b);
    }
    return a > b ? slope_a : slope_b;
}

void loggp(const Parameters& parameters, Locality locality, double bytes, CostTerms& terms) {
    const auto& here = parameters.localities[static_cast<std::size_t>(locality)];
    const auto row = here.range_of(bytes);
    const auto& range = here.ranges[row];
    terms.o_s = range.o_s + range.o_s_per_byte * bytes;
    terms.o_r = range.o_r + range.o_r_per_byte * bytes;
    terms.L = range.L;
    terms.serialization = std::max(0.0, bytes - 1) * range.G;
    terms.service = std::max(range.g, bytes * range.G);
    terms.o_control = here.ranges.front().o_s;
    if (const auto* dma = dma_of(parameters, here, row)) {
        terms.o_r = after_dma(*dma, range, bytes);
    }
}

void log3p(const Parameters& parameters, Locality locality, double bytes, CostTerms& terms) {
    terms.o_s = terms.o_r = read(parameters.o_mw, bytes, terms) / 2;
    const auto& wire = locality == Locality::self ? parameters.T_mem : parameters.o_net;
    const double whole = read(wire, bytes, terms);
    terms.L = std::min(whole, wire.empty() ? kNotStated : wire.at(1).value);
    terms.serialization = terms.service = whole - terms.L;
    terms.o_control = parameters.o_mw.empty() ? kNotStated : parameters.o_mw.at(0).value / 2;
}

/// What one byte costs is the latency there and back, of all sizes alike.
void tabulated(const Curve& lasts, double bytes, CostTerms& terms) {
    const double whole = read(lasts, bytes, terms);
    const double first = std::min(whole, lasts.at(1).value);
    terms.L = first / 2;
    terms.serialization = terms.service = whole - first;
}

std::tuple<double, double, double> layout_of(const MeasuredLayout& measured) {
    return {measured.bytes, measured.block_bytes, measured.stride_bytes};
}

}  // namespace

const Curve* transfer_time(const Parameters& parameters, Locality locality, Carried carried) noexcept {
    if (carried == Carried::message || locality == Locality::other_node) {
        return nullptr;
    }
    const auto& lasts = carried == Carried::put ? parameters.put : parameters.get;
    return lasts.empty() ? nullptr : &lasts;
}

Middleware middleware_tables(Middleware middleware) {
    for (auto& table : middleware.tables) {
        for (auto& curve : table.l_mw.curves) {
            if (curve.x.front() > table.block_bytes) {
                curve.x.insert(curve.x.begin(), table.block_bytes);
                curve.y.insert(curve.y.begin(), 0.0);
            }
        }
    }
    std::ranges::sort(middleware.alone, {}, layout_of);
    return middleware;
}

Reading middleware_latency(const Middleware& middleware, double bytes, double block_bytes, double stride_bytes) {
    const auto& tables = middleware.tables;
    const double stride = std::abs(stride_bytes);
    const double smallest = tables.empty() ? 0 : tables.front().block_bytes;
    const double block = block_bytes > 0 ? block_bytes : smallest;
    if (stride <= block || bytes <= block) {
        return {};
    }
    const std::tuple wanted{bytes, block, stride};
    const auto same = std::ranges::lower_bound(middleware.alone, wanted, {}, layout_of);
    if (same != middleware.alone.end() && layout_of(*same) == wanted) {
        return {.value = same->l_mw};
    }
    if (tables.empty()) {
        return {};
    }
    if (block <= smallest || tables.size() == 1) {
        return tables.front().l_mw.at(smallest > 0 ? bytes * (smallest / block) : bytes, stride);
    }
    const auto above = std::ranges::lower_bound(tables, block, {}, &MiddlewareTable::block_bytes);
    const auto& large = above == tables.end() ? tables.back() : *above;
    const auto few = bytes > large.block_bytes ? large.l_mw.at(bytes, stride) : Reading{};
    if (large.block_bytes == block) {
        return few;
    }
    const auto& small = *(above == tables.end() ? above - 2 : above - 1);
    const auto many = small.l_mw.at(bytes, stride);
    const double share = (bytes / block - bytes / large.block_bytes) /
                         (bytes / small.block_bytes - bytes / large.block_bytes);  // < 0: beyond the largest
    const double value = few.value + share * (many.value - few.value);
    return {.value = share < 0 ? std::clamp(value, 0.0, few.value) : value,
            .beyond_size = few.beyond_size || many.beyond_size,
            .beyond_second = few.beyond_second || many.beyond_second};
}

CostTerms cost_terms(const Parameters& parameters, Locality locality, const MessageShape& message) {
    CostTerms terms;
    const auto* lasts = transfer_time(parameters, locality, message.carried);
    if (lasts != nullptr) {
        tabulated(*lasts, message.bytes, terms);
    } else if (parameters.terms == Terms::loggp) {
        loggp(parameters, locality, message.bytes, terms);
    } else {
        log3p(parameters, locality, message.bytes, terms);
    }
    if (message.burst > 1 && !parameters.o_burst.empty() && lasts == nullptr) {
        const auto o = parameters.o_burst.at(message.bytes, message.burst);
        terms.o_s = o.value;
        terms.beyond_sizes |= o.beyond_size;
    }
    const auto& here = parameters.localities[static_cast<std::size_t>(locality)];
    if (message.hops >= 0 && parameters.mean_hops.has_value() && here.across_network && lasts == nullptr) {
        terms.L = std::max(0.0, terms.L + parameters.per_hop * (message.hops - *parameters.mean_hops));
    }
    const auto of = [&message](const Middleware& middleware) {
        return middleware_latency(middleware, message.bytes, message.block_bytes, message.stride_bytes);
    };
    const auto& own = parameters.middleware_self;
    const bool has_own = !(own.tables.empty() && own.alone.empty());
    auto l_mw = of(locality == Locality::self && has_own ? own : parameters.middleware);
    if (message.one_processor && locality != Locality::self && has_own) {
        // Two ends that overlap are never slower than one processor that does the work of both.
        const auto alone = of(own);
        l_mw = alone.value > l_mw.value ? alone : l_mw;
    }
    terms.l_mw = l_mw.value;
    terms.beyond_sizes |= l_mw.beyond_size;
    terms.beyond_strides = l_mw.beyond_second;
    const bool matched = parameters.matches();
    terms.L_control = matched ? 0 : terms.L;
    if (matched || parameters.asynchronous_progress) {
        terms.o_control = 0;  // the NICs answer each other
    }
    terms.rendezvous = here.rendezvous(message.bytes);
    return terms;
}

CostTerms cost_slopes(const Parameters& parameters, const Parameters& step, Locality locality,
                      const MessageShape& message) {
    CostTerms slopes;
    if (parameters.terms != Terms::loggp || transfer_time(parameters, locality, message.carried) != nullptr) {
        return slopes;
    }
    const auto& here = parameters.localities[static_cast<std::size_t>(locality)];
    const double bytes = message.bytes;
    const auto row = here.range_of(bytes);
    const auto& range = here.ranges[row];
    const auto& grows = step.localities[static_cast<std::size_t>(locality)].ranges[row];
    const double behind_first = std::max(0.0, bytes - 1);
    if (message.burst <= 1 || parameters.o_burst.empty()) {
        slopes.o_s = grows.o_s + grows.o_s_per_byte * bytes;
    }
    slopes.o_r = grows.o_r + grows.o_r_per_byte * bytes;
    if (const auto* dma = dma_of(parameters, here, row)) {
        const double excess =
            range.o_r + range.o_r_per_byte * bytes + (dma->header_bytes - behind_first) * range.G + bytes * dma->G_m;
        slopes.o_r = slope_of_max(0.0, 0.0, excess, slopes.o_r + (dma->header_bytes - behind_first) * grows.G);
    }
    slopes.L = grows.L;
    if (message.hops >= 0 && parameters.mean_hops.has_value() && here.across_network) {
        const double L = range.L + parameters.per_hop * (message.hops - *parameters.mean_hops);
        slopes.L = slope_of_max(0.0, 0.0, L, grows.L);
    }
    slopes.serialization = behind_first * grows.G;
    slopes.service = slope_of_max(range.g, grows.g, bytes * range.G, bytes * grows.G);
    slopes.o_control = parameters.matches() || parameters.asynchronous_progress
                           ? 0.0
                           : step.localities[static_cast<std::size_t>(locality)].ranges.front().o_s;
    return slopes;
}

Cost message_cost(const Parameters& parameters, Locality locality, std::uint64_t bytes, const Blocks& layout,
                  double burst, std::int32_t hops, Carried carried) {
    const auto terms = cost_terms(parameters, locality,
                                  {.bytes = static_cast<double>(bytes),
                                   .block_bytes = static_cast<double>(layout.block_bytes),
                                   .stride_bytes = static_cast<double>(layout.stride_bytes),
                                   .one_processor = layout.one_processor,
                                   .burst = burst,
                                   .hops = static_cast<double>(hops),
                                   .carried = carried});
    return {.o_s = picoseconds(terms.o_s),
            .o_r = picoseconds(terms.o_r),
            .l_mw = picoseconds(terms.l_mw),
            .L = picoseconds(terms.L),
            .serialization = picoseconds(terms.serialization),
            .service = picoseconds(terms.service),
            .o_control = picoseconds(terms.o_control),
            .L_control = picoseconds(terms.L_control),
            .rendezvous = terms.rendezvous,
            .beyond_sizes = terms.beyond_sizes,
            .beyond_strides = terms.beyond_strides};
}

}  // namespace logpost::replay
