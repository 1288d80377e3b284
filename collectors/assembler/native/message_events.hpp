// Blocking point-to-point messages, and what matched probes reported of those that are received later.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "event_writer.hpp"
#include "overwritten.hpp"
#include "process_ids.hpp"

namespace logpost::assembler {

class MessageEvents {
  public:
    MessageEvents(ProcessIds& ids, Halves& halves) : ids_(ids), halves_(halves) {}

    // Nothing is written for a message to or from MPI_PROC_NULL, nor for one whose other half was overwritten.
    void send(EventWriter& out, std::uint64_t time, const lp_message& m);
    void receive(EventWriter& out, std::uint64_t time, const lp_message& m);

    // MPI_Mprobe gave this message a handle.
    void probed(std::uint64_t handle, const lp_message& m) { matched_[handle].push_back(m); }
    // The message that a handle stands for, taken out; one without a peer where no probe is known.
    lp_message matched(std::uint64_t handle);

  private:
    ProcessIds& ids_;
    Halves& halves_;
    std::unordered_map<std::uint64_t, std::deque<lp_message>> matched_;
};

}  // namespace logpost::assembler
