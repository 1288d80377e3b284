#pragma once

/// Samples of LogGP parameters from a trace, for estimates when no machine is given.

#include <array>
#include <cstdint>
#include <vector>

#include "replay/native/parameters.hpp"
#include "replay/native/program.hpp"

namespace logpost::replay {

/// One observation per row; picoseconds.
struct SampleColumn {
    std::vector<std::uint64_t> bytes;
    std::vector<std::int64_t> time_ps;
};

struct LocalitySamples {
    SampleColumn end_to_end;    ///< send enter to receive leave, where the receiver was waiting, for this message last
    SampleColumn send_call;     ///< length of send calls that were over before the receive was posted
    SampleColumn receive_call;  ///< length of receive calls whose message must have been there before
    SampleColumn early_complete;  ///< sends complete before their receive was posted (time: how long before): eager
    SampleColumn
        late_complete;  ///< sends that began before and ended after their receive was posted: may be rendezvous
    std::uint64_t messages = 0;
};

/// Samples per locality class, at most `limit` per column, evenly spread over the trace and the same on every call.
std::array<LocalitySamples, kLocalities> samples(const Program& program, std::size_t limit);

}  // namespace logpost::replay
