// Nonblocking operations: requests that are started, tested, completed, cancelled or freed. MPI gives a handle anew as
// soon as its request is done, which the log of another thread may show later: so each handle has a queue.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "collective_events.hpp"
#include "event_writer.hpp"
#include "overwritten.hpp"
#include "pending.hpp"
#include "process_ids.hpp"
#include "window_events.hpp"

namespace logpost::assembler {

class RequestEvents {
  public:
    RequestEvents(ProcessIds& ids, CollectiveEvents& collectives, WindowEvents& windows, Halves& halves, Tally& tally)
        : ids_(ids), collectives_(collectives), windows_(windows), halves_(halves), tally_(tally) {}

    // Writes a request's first event and puts it into the queue of its handle.
    void start(EventWriter& out, std::uint64_t time, std::uint64_t handle, Pending p);
    // A persistent request was made: nothing is written before it is started.
    void make(std::uint64_t handle, std::uint32_t thread, Pending p) {
        p.thread = thread;
        persistent_[handle] = p;
    }
    // A persistent request has another handle from now on.
    void replaced(std::uint64_t before, std::uint64_t now);
    void start_persistent(EventWriter& out, std::uint64_t time, std::uint64_t handle);

    void tested(EventWriter& out, std::uint64_t time, std::uint64_t handle);
    void complete(EventWriter& out, std::uint64_t time, const lp_done& done);
    void freed(std::uint64_t handle, std::uint32_t thread);

    static constexpr std::uint64_t open = UINT64_MAX;  // a request that is not closed

    // Recording is on again: `carried` are the thread's pending requests. Of others that were, what ends
    // them is written here, in the call that stands for the time without records.
    void resume(EventWriter& out, std::uint64_t time, const std::vector<lp_carried>& carried);

    // A request of a thread began where no record is left, and the thread's own events have it later or, where it is
    // `closed` at some time, no more: until then other threads may complete it.
    void began_unseen(std::uint64_t handle, std::uint32_t thread, Pending p, std::uint64_t closed);
    // Of a thread's requests of that kind those that are not closed are known now.
    void take_over(std::uint32_t thread);

    // Requests that another thread has ended while it was off.
    void resume(EventWriter& out, std::uint64_t time, const std::vector<lp_ended>& ended);

    // The operation of a handle's oldest request; nullptr: there is none.
    const Pending* waiting(std::uint64_t handle, std::uint32_t thread) const;
    // Requests that were not completed.
    std::uint64_t pending() const;

  private:
    struct Unseen {
        Pending request;
        std::uint64_t closed;
    };

    void begin_unseen(EventWriter& out, std::uint64_t time, std::uint64_t handle);
    void end_unseen(EventWriter& out, std::uint64_t time, const Pending& p);
    void end(EventWriter& out, std::uint64_t time, const lp_done& done, const Pending& p);
    bool take(std::uint64_t handle, std::uint32_t thread, Pending& p);
    void receive_done(EventWriter& out, std::uint64_t time, lp_done done, const lp_message& requested,
                      std::uint64_t id);

    ProcessIds& ids_;
    CollectiveEvents& collectives_;
    WindowEvents& windows_;
    Halves& halves_;
    Tally& tally_;
    std::uint64_t requests_ = 0;
    std::unordered_map<std::uint64_t, std::deque<Pending>> pending_;  // in the order in which they were started
    std::unordered_map<std::uint64_t, Pending> persistent_;
    std::unordered_map<std::uint64_t, std::deque<Unseen>> unseen_;  // in the order in which they were started
};

}  // namespace logpost::assembler
