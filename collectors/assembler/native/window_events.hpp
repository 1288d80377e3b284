// One-sided communication: windows, accesses by their origin, what completes them, and what separates them.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "event_writer.hpp"
#include "overwritten.hpp"
#include "process_ids.hpp"

namespace logpost::assembler {

class WindowEvents {
  public:
    WindowEvents(ProcessIds& ids, Process& process, Halves& halves, Tally& tally)
        : ids_(ids), process_(process), halves_(halves), tally_(tally) {}

    // Windows appear and disappear within collective calls.
    void made(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_rma_call& call);
    void freed(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_rma_call& call);

    // Starts an access; returns its matching id, 0: it is none (to no target, or through an unknown window).
    std::uint64_t access(EventWriter& out, std::uint64_t time, const lp_transfer& x);
    // The request of an access was found complete, and incomplete.
    void request_done(EventWriter& out, std::uint64_t time, const lp_transfer& x, std::uint64_t id);
    // The call that started it ends with it complete: at its origin, or on both sides.
    void done(EventWriter& out, std::uint64_t time, const lp_transfer& x, std::uint64_t id);
    void request_tested(EventWriter& out, std::uint64_t time, const lp_transfer& x, std::uint64_t id);

    // `ranks`: in the window, of the call's group.
    void synchronize(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_lock& lock,
                     const std::vector<std::uint64_t>& ranks);
    void collective(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_rma_collective& c,
                    OTF2_CollectiveOp operation);
    // Recording is on again: no access from before is known to be pending.
    void resume(EventWriter& out, std::uint64_t time);
    // The library ends, and with it what stands for all of its memory.
    void finalized(EventWriter& out, std::uint64_t enter, std::uint64_t leave);

  private:
    enum class Where { origin, target };

    // Accesses to one target that are not known to be complete there, in the order of their ids.
    struct Access {
        std::uint64_t id;
        bool at_origin;  // complete there
    };
    struct Target {
        std::vector<Access> accesses;
        std::size_t first = 0;  // all before it are complete at the origin
    };
    struct Window {
        std::map<std::int32_t, Target> targets;
        OTF2_GroupRef access = OTF2_UNDEFINED_GROUP;  // of the open epochs
        OTF2_GroupRef exposure = OTF2_UNDEFINED_GROUP;
    };

    bool ref(std::uint32_t local, OTF2_RmaWinRef& win);
    OTF2_GroupRef group(std::uint32_t local, const std::vector<std::uint64_t>& ranks);
    // Completes the accesses to a target, or to all; written at the target where `written` says so.
    void complete(EventWriter& out, std::uint64_t time, std::uint32_t local, std::int32_t target, Where where,
                  bool written);

    ProcessIds& ids_;
    Process& process_;
    Halves& halves_;
    Tally& tally_;
    std::uint64_t accesses_ = 0;
    std::unordered_map<std::uint32_t, Window> windows_;  // by local id
};

}  // namespace logpost::assembler
