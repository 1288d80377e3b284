// What requests stand for, as the records say that started or made them.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>

#include "process_ids.hpp"
#include "raw.hpp"

namespace logpost::assembler {

// A request that was started and not yet completed.
struct Pending {
    enum class Kind { nothing, send, receive, both, collective, idup, access };
    Kind kind = Kind::nothing;
    std::uint32_t thread = 0;
    std::uint64_t id = 0;         // of the send, the receive or the collective
    std::uint64_t second_id = 0;  // of the receive of a combined one
    lp_message message{};
    lp_message second{};
    lp_collective collective{};
    OTF2_CollectiveOp operation{};
    std::uint32_t number = 0;  // of a persistent collective operation; 0: it is none
    lp_comm_call comm{};
    lp_transfer access{};
};

// A nonblocking or blocking collective operation, and a persistent one.
Pending collective_of(const ProcessIds& ids, const Record& r);
Pending persistent_of(const ProcessIds& ids, const Record& r);

// The record of a request that was started or made where no records are left.
lp_head carried_head(const lp_carried& c);
// Whether it is a persistent request that is not active.
bool only_made(const lp_carried& c);
// What it stands for; of a send, a collective operation or an access there is no more than an end.
Pending begun(const ProcessIds& ids, const lp_carried& c);

}  // namespace logpost::assembler
