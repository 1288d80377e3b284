#include "collective_events.hpp"

namespace logpost::assembler {
namespace {

void begin(EventWriter& out, std::uint64_t time) {
    check(OTF2_EvtWriter_MpiCollectiveBegin(out.writer, nullptr, out.at(time)), "MpiCollectiveBegin");
}

void end(EventWriter& out, std::uint64_t time, OTF2_CollectiveOp operation, OTF2_CommRef ref, std::uint32_t root,
         std::uint64_t sent, std::uint64_t received, OTF2_AttributeList* attributes = nullptr) {
    check(OTF2_EvtWriter_MpiCollectiveEnd(out.writer, attributes, out.at(time), operation, ref, root, sent, received),
          "MpiCollectiveEnd");
}

void end_of_handle(EventWriter& out, std::uint64_t time, OTF2_CollectiveOp operation, OTF2_CommRef ref) {
    end(out, time, operation, ref, OTF2_UNDEFINED_UINT32, 0, 0);
}

}  // namespace

std::uint32_t root_of(std::int32_t root) {
    switch (root) {
#if OTF2_VERSION_MAJOR >= 3
        case LP_ROOT_SELF:
            return OTF2_COLLECTIVE_ROOT_SELF;
        case LP_ROOT_THIS_GROUP:
            return OTF2_COLLECTIVE_ROOT_THIS_GROUP;
#endif
        default:
            return root >= 0 ? static_cast<std::uint32_t>(root) : OTF2_UNDEFINED_UINT32;
    }
}

void CollectiveEvents::created(EventWriter& out, std::uint64_t time, std::uint32_t local) {
#if OTF2_VERSION_MAJOR >= 3
    OTF2_CommRef ref = 0;
    if (ids_.created_comm(local, ref)) {
        check(OTF2_EvtWriter_CommCreate(out.writer, nullptr, out.at(time), ref), "CommCreate");
    }
#else
    (void)out, (void)time, (void)local;
#endif
}

void CollectiveEvents::destroyed(EventWriter& out, std::uint64_t time, std::uint32_t local) {
#if OTF2_VERSION_MAJOR >= 3
    OTF2_CommRef ref = 0;
    if (ids_.created_comm(local, ref)) {
        check(OTF2_EvtWriter_CommDestroy(out.writer, nullptr, out.at(time), ref), "CommDestroy");
    }
#else
    (void)out, (void)time, (void)local;
#endif
}

void CollectiveEvents::blocking(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_collective& c,
                                OTF2_CollectiveOp operation) {
    if (OTF2_CommRef ref = 0; ids_.comm(c.comm, ref) && halves_.operated(ref)) {
        begin(out, enter);
        end(out, leave, operation, ref, root_of(c.root), c.sent, c.received,
            ids_.layouts(out, c.layout, c.received_layout));
    }
}

bool CollectiveEvents::over(const lp_comm_call& call, OTF2_CommRef& ref) {
    const std::uint32_t local = call.parent != 0 ? call.parent : call.comm;
    return local != 0 && ids_.comm(local, ref) && halves_.operated(ref);
}

void CollectiveEvents::comm_made(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_comm_call& call) {
    if (OTF2_CommRef ref = 0; over(call, ref)) {
        begin(out, enter);
        created(out, leave, call.comm);
        end_of_handle(out, leave, OTF2_COLLECTIVE_OP_CREATE_HANDLE, ref);
    }
}

void CollectiveEvents::comm_freed(EventWriter& out, std::uint64_t enter, std::uint64_t leave,
                                  const lp_comm_call& call) {
    if (OTF2_CommRef ref = 0; over(call, ref)) {
        begin(out, enter);
        destroyed(out, leave, call.parent);
        end_of_handle(out, leave, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, ref);
    }
}

void CollectiveEvents::predefined(EventWriter& out, std::uint64_t enter, std::uint64_t leave, bool appear) {
    OTF2_CommRef world = 0;
    for (const auto& def : process_.comms) {
        if ((def.flags & LP_COMM_WORLD) != 0 && (!ids_.comm(def.comm, world) || !halves_.operated(world))) {
            return;
        }
    }
    begin(out, enter);
    for (const auto& def : process_.comms) {
        if ((def.flags & (LP_COMM_WORLD | LP_COMM_SELF)) != 0) {
            appear ? created(out, leave, def.comm) : destroyed(out, leave, def.comm);
        }
    }
    end_of_handle(out, leave, appear ? OTF2_COLLECTIVE_OP_CREATE_HANDLE : OTF2_COLLECTIVE_OP_DESTROY_HANDLE, world);
}

}  // namespace logpost::assembler
