// Blocking collectives, and the creation and destruction of communicators, which OTF2 counts among them.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>

#include "event_writer.hpp"
#include "overwritten.hpp"
#include "process_ids.hpp"

namespace logpost::assembler {

// A root as OTF2 spells it.
std::uint32_t root_of(std::int32_t root);

class CollectiveEvents {
  public:
    CollectiveEvents(ProcessIds& ids, const Process& process, Halves& halves)
        : ids_(ids), process_(process), halves_(halves) {}

    // An operation that a member has overwritten is left out.

    void blocking(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_collective& c,
                  OTF2_CollectiveOp operation);

    // A call that made `call.comm` of `call.parent`, and one that freed `call.parent`.
    void comm_made(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_comm_call& call);
    void comm_freed(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_comm_call& call);
    // The predefined communicators appear within MPI_Init and disappear within MPI_Finalize.
    void predefined(EventWriter& out, std::uint64_t enter, std::uint64_t leave, bool appear);

    // The event that a communicator is there, or no more.
    void created(EventWriter& out, std::uint64_t time, std::uint32_t local);
    void destroyed(EventWriter& out, std::uint64_t time, std::uint32_t local);

  private:
    // The communicator over which a call on communicators is collective; false: not known.
    bool over(const lp_comm_call& call, OTF2_CommRef& ref);

    ProcessIds& ids_;
    const Process& process_;
    Halves& halves_;
};

}  // namespace logpost::assembler
