#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace logpost::replay {

/// How far apart two ends of a message are; the order is that of the machine schema.
enum class Locality : std::uint8_t { self, same_socket, same_node, other_node };
inline constexpr std::size_t kLocalities = 4;

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
};

/// Middleware latency l_mw over (message size, stride), LOG3P: a grid with logarithmic axes.
struct MiddlewareTable {
    std::vector<double> bytes;    ///< ascending, > 0
    std::vector<double> strides;  ///< ascending, > 0
    std::vector<double> l_mw;     ///< picoseconds, bytes-major

    [[nodiscard]] bool empty() const noexcept { return l_mw.empty(); }
    /// Bilinear in the logarithms of size and stride; held constant beyond the grid's edges.
    [[nodiscard]] double at(double message_bytes, double stride_bytes) const;
};

struct Parameters {
    std::array<LocalityParameters, kLocalities> localities;
    MiddlewareTable middleware;
    std::int32_t nics_per_node = 1;
    bool asynchronous_progress = false;  ///< a posted receive matches a rendezvous request outside of MPI
};

/// The stages of one message under LogGP (table at the end of spec/replay.md section 8), in picoseconds.
struct MessageStages {
    std::int64_t o_s = 0;
    std::int64_t o_r = 0;
    std::int64_t l_mw = 0;  ///< middleware latency, half at each end
    std::int64_t L = 0;
    std::int64_t serialization = 0;  ///< (B - 1) G
    std::int64_t service = 0;        ///< max(g, B G): how long an endpoint is taken
    std::int64_t o_control = 0;      ///< overhead of a zero-byte control message of the rendezvous
    bool rendezvous = false;
};

/// `stride_bytes` <= 0: contiguous.
MessageStages message_stages(const Parameters& parameters, Locality locality, std::uint64_t bytes,
                             std::int64_t stride_bytes);

}  // namespace logpost::replay
