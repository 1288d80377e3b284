#pragma once

#include <cstdint>

#include "replay/native/cost/parameters.hpp"

namespace logpost::replay {

/// The layout of a message's data in memory: blocks of `block_bytes`, one every `stride_bytes`.
///
/// Data are contiguous where there is one block, no stride, or a stride that is not larger than a block.
struct Blocks {
    std::uint64_t block_bytes = 0;  ///< 0: not stated; then the blocks are those that the machine was measured with
    std::int64_t stride_bytes = 0;  ///< 0: contiguous; negative: the blocks lie backwards
    bool one_processor = false;     ///< each end packs one message and unpacks another one: no two share the work
    bool operator==(const Blocks&) const = default;
};

/// The terms of one message's cost in picoseconds, not rounded. NaN: the machine does not state it.
struct CostTerms {
    double o_s = 0;
    double o_r = 0;
    double l_mw = 0;  ///< middleware latency of a strided message, half at each end
    double L = 0;
    double serialization = 0;  ///< (B - 1) G
    double service = 0;        ///< max(g, B G): how long an endpoint is taken
    double o_control = 0;      ///< overhead of a zero-byte control message of the rendezvous
    double L_control = 0;      ///< latency of one; 0: the network matches, and no message announces another one
    bool rendezvous = false;
    bool beyond_sizes = false;    ///< a table was continued beyond its largest size, or its largest number of blocks
    bool beyond_strides = false;  ///< l_mw of the largest stride stands for a larger one
};

/// No cost is longer than 20 hours: the costs of all stages of a message, on top of a time below 2^62 ps, fit.
inline constexpr std::int64_t kMostCostPs = std::int64_t{1} << 56;

/// The cost of one message in picoseconds: what the split, the queues and the what-if replay compute with.
struct Cost {
    std::int64_t o_s = 0;
    std::int64_t o_r = 0;
    std::int64_t l_mw = 0;  ///< middleware latency, half at each end
    std::int64_t L = 0;
    std::int64_t serialization = 0;  ///< (B - 1) G
    std::int64_t service = 0;        ///< max(g, B G): how long an endpoint is taken
    std::int64_t o_control = 0;      ///< overhead of a zero-byte control message of the rendezvous
    std::int64_t L_control = 0;      ///< as in CostTerms
    bool rendezvous = false;
    bool beyond_sizes = false;    ///< as in CostTerms
    bool beyond_strides = false;  ///< as in CostTerms
};

/// What brings the data. What a machine states of transfers themselves holds within a node.
enum class Carried : std::uint8_t { message, put, get };

/// T over bytes of transfers at this distance, until the origin knows them complete; nullptr: the machine does not
/// state it, and a transfer's terms are those of messages.
[[nodiscard]] const Curve* transfer_time(const Parameters& parameters, Locality locality, Carried carried) noexcept;

/// The cost's name in the split.
using MessageStages = Cost;

/// Tables of l_mw over bytes and stride that start where they must: at one block, which is contiguous and costs
/// nothing; and what was measured alone in order.
Middleware middleware_tables(Middleware middleware);

/// l_mw of strided data, 0 for contiguous data: of a layout that was measured alone its own. With a block's price c + k
/// b (its turn in the loop, and the copy of its b bytes), n blocks of s bytes cost n c + s k: linear in the number of
/// blocks for the same bytes. So it is read between tables of two blocks; above the largest the line continues, limited
/// to that table's value. The price k is not known from one table, nor below the smallest block: then the table is read
/// where it has as many blocks, at n times its own block's bytes.
Reading middleware_latency(const Middleware& middleware, double bytes, double block_bytes, double stride_bytes);

/// What the cost of a message depends on in addition to its machine and locality.
struct MessageShape {
    double bytes = 0;
    double block_bytes = 0;      ///< as in Blocks
    double stride_bytes = 0;     ///< as in Blocks
    bool one_processor = false;  ///< as in Blocks; messages to oneself are
    double burst = 1;  ///< messages initiated back to back; from 2 on o_s is o(S, b) where the machine states it
    double hops = -1;  ///< links on its route; -1: not known, and L holds unchanged
    Carried carried = Carried::message;
};

/// The unrounded terms of a message.
CostTerms cost_terms(const Parameters& parameters, Locality locality, const MessageShape& message);

/// How the unrounded terms grow with x, where the machine's ranges are `parameters` at x and grow by those of `step`
/// with it: derivatives to the right. Tables over sizes (log3P, l_mw, o(S, b), T of transfers) do not grow.
CostTerms cost_slopes(const Parameters& parameters, const Parameters& step, Locality locality,
                      const MessageShape& message);

/// The same as cost_terms, rounded to picoseconds.
Cost message_cost(const Parameters& parameters, Locality locality, std::uint64_t bytes, const Blocks& layout,
                  double burst = 1, std::int32_t hops = -1, Carried carried = Carried::message);

}  // namespace logpost::replay
