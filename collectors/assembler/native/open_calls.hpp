// The call that a thread was in when its process ended, as the words of the attribute `logpost:open`.
#pragma once

#include <string>

#include "model.hpp"
#include "request_events.hpp"

namespace logpost::assembler {

// What the call waited for: "recv from=1 tag=7 comm=0", "send to=1 tag=7 comm=0", "collective comm=0", "call" when that
// is not known; of a call that completes requests, their operations joined by "; " behind "requests=N: ". Ranks are
// those of the archive, `any` is a wildcard, `comm` the archive's communicator.
std::string what_is_open(const Job& job, const Process& process, const RequestEvents& requests, std::uint32_t thread,
                         const lp_open& open);

}  // namespace logpost::assembler
