#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay/native/cost/library.hpp"
#include "replay/native/cost/table.hpp"
#include "replay/native/program/locality.hpp"

namespace logpost::replay {

/// LogGP parameters for messages up to a size; times in picoseconds (LogGP: Alexandrov et al.; LOGPC eq. 1).
struct Range {
    std::uint64_t up_to_bytes = 0;
    double L = 0;
    double o_s = 0, o_s_per_byte = 0;
    double o_r = 0, o_r_per_byte = 0;
    double g = 0;
    double G = 0;
};

struct LocalityParameters {
    std::vector<Range> ranges;                 ///< sorted by up_to_bytes; the last also serves everything larger
    std::optional<std::uint64_t> eager_limit;  ///< absent: every message is taken as eager
    bool across_network = false;               ///< the values are those of messages between nodes

    /// The range that a message of `bytes` falls into: the only place that says so.
    [[nodiscard]] std::size_t range_of(double bytes) const noexcept;
    /// Whether a message of this size is sent by rendezvous.
    [[nodiscard]] bool rendezvous(double bytes) const noexcept {
        return eager_limit.has_value() && bytes > static_cast<double>(*eager_limit);
    }
};

/// Middleware latency l_mw over (message size, stride), measured with blocks of one size (LOG3P).
struct MiddlewareTable {
    double block_bytes = 0;  ///< of the blocks that were measured; 0: the machine does not state it
    Surface l_mw;            ///< picoseconds over bytes and stride in bytes
};

/// l_mw of one layout, in picoseconds, from which no other is read.
struct MeasuredLayout {
    double bytes = 0, block_bytes = 0, stride_bytes = 0;
    double l_mw = 0;
};

struct Middleware {
    std::vector<MiddlewareTable> tables;  ///< blocks ascending
    std::vector<MeasuredLayout> alone;    ///< by bytes, block and stride ascending; they precede the tables
};

/// What an interrupt and a DMA add at the receiver of a long message (LOGPC eq. 2).
struct Dma {
    double G_m = 0;           ///< memory's gap per byte, picoseconds
    double header_bytes = 0;  ///< a: bytes that arrive before the interrupt
};

/// Which of a machine's values make up a message that is not strided.
enum class Terms : std::uint8_t {
    loggp,  ///< o_s | L + (B-1) G | o_r
    log3p,  ///< o_mw/2 | o_net | o_mw/2
};

struct Parameters {
    std::array<LocalityParameters, kLocalities> localities;
    Middleware middleware;
    Middleware middleware_self;  ///< of a message that one processor packs and unpacks; empty: not measured
    Curve o_mw, o_net, T_mem;    ///< LOG3P over bytes; empty where the machine does not state them
    Curve put, get;              ///< T of one-sided transfers within a node over bytes, likewise
    Surface o_burst;             ///< OVL's o(S, b) over bytes and messages in a burst
    std::optional<Dma> dma;
    double per_hop = 0;               ///< latency of one more hop, picoseconds
    std::optional<double> mean_hops;  ///< hops that L stands for; absent: L holds for every distance
    Terms terms = Terms::loggp;
    double reduction_per_byte = 0;  // gamma, ps: of an operand that is combined with another one
    std::int32_t nics_per_node = 1;
    bool asynchronous_progress = false;  ///< a posted receive matches a rendezvous request outside of MPI
    bool endpoints_queue = true;         ///< messages wait for NICs that serve others
    bool processors_queue = true;        ///< messages wait for processors that serve others
    bool links_queue = true;             ///< messages wait for links that others use
    Library library;                     ///< what the library profile states
    /// Whether the network itself matches both ends of a message that waits for its receiver: its data leave then, and
    /// no request or clear-to-send crosses before them.
    [[nodiscard]] bool matches() const noexcept {
        const auto& stated = library[static_cast<std::size_t>(LibraryProperty::synchronous_sends)];
        return stated.has_value() && *stated == static_cast<std::uint8_t>(Synchronous::match);
    }
};

}  // namespace logpost::replay
