// Collective operations, blocking and not: a row per rank and operation. Their requests are pending among those of
// messages. Which rows belong together is found later, over all locations (collectives.cpp).
#include "analyzer/archive/native/match/collectives.hpp"
#include "analyzer/archive/native/events/decoding.hpp"
#include "analyzer/archive/native/events/requests_of_threads.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

/// The number that an attribute states of a persistent operation; kNone: none.
std::uint32_t stated_number(Decoding& d, const A* attributes) {
    std::uint32_t number = 0;
    if (!OTF2_AttributeList_TestAttributeByID(attributes, d.ids.persistent_attribute()) ||
        OTF2_AttributeList_GetUint32(attributes, d.ids.persistent_attribute(), &number) != OTF2_SUCCESS) {
        return kNone;
    }
    return number;
}

replay::Rank root(std::uint32_t rank) {
    switch (rank) {
        case OTF2_COLLECTIVE_ROOT_SELF:
            return kRootSelf;
        case OTF2_COLLECTIVE_ROOT_THIS_GROUP:
            return kRootInThisGroup;
        default:
            return rank == OTF2_UNDEFINED_UINT32 ? kNoRank : replay::rank_at(rank);
    }
}

}  // namespace

Operation operation_of(OTF2_CollectiveOp code) noexcept {
    switch (code) {
        case OTF2_COLLECTIVE_OP_BARRIER:
            return Operation::barrier;
        case OTF2_COLLECTIVE_OP_BCAST:
            return Operation::bcast;
        case OTF2_COLLECTIVE_OP_GATHER:
            return Operation::gather;
        case OTF2_COLLECTIVE_OP_GATHERV:
            return Operation::gatherv;
        case OTF2_COLLECTIVE_OP_SCATTER:
            return Operation::scatter;
        case OTF2_COLLECTIVE_OP_SCATTERV:
            return Operation::scatterv;
        case OTF2_COLLECTIVE_OP_ALLGATHER:
            return Operation::allgather;
        case OTF2_COLLECTIVE_OP_ALLGATHERV:
            return Operation::allgatherv;
        case OTF2_COLLECTIVE_OP_ALLTOALL:
            return Operation::alltoall;
        case OTF2_COLLECTIVE_OP_ALLTOALLV:
            return Operation::alltoallv;
        case OTF2_COLLECTIVE_OP_ALLTOALLW:
            return Operation::alltoallw;
        case OTF2_COLLECTIVE_OP_ALLREDUCE:
            return Operation::allreduce;
        case OTF2_COLLECTIVE_OP_REDUCE:
            return Operation::reduce;
        case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
            return Operation::reduce_scatter;
        case OTF2_COLLECTIVE_OP_SCAN:
            return Operation::scan;
        case OTF2_COLLECTIVE_OP_EXSCAN:
            return Operation::exscan;
        case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
            return Operation::reduce_scatter_block;
        case OTF2_COLLECTIVE_OP_CREATE_HANDLE:
            return Operation::create_handle;
        case OTF2_COLLECTIVE_OP_DESTROY_HANDLE:
            return Operation::destroy_handle;
        case OTF2_COLLECTIVE_OP_ALLOCATE:
            return Operation::allocate;
        case OTF2_COLLECTIVE_OP_DEALLOCATE:
            return Operation::deallocate;
        case OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE:
            return Operation::create_and_allocate;
        case OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE:
            return Operation::destroy_and_deallocate;
        default:
            return Operation::unknown;
    }
}

namespace {

OTF2_CallbackCode on_end(L, T ticks, std::uint64_t, void* user, A* attributes, OTF2_CollectiveOp operation,
                         OTF2_CommRef communicator, std::uint32_t root_rank, std::uint64_t sent,
                         std::uint64_t received) noexcept try {
    auto& d = self(user);
    const auto now = d.at(ticks);
    const auto call = d.stack.call_for_record(now);
    d.peers.use(communicator);
    d.peers.count_if_undefined();
    d.stack.has_collective();
    d.out->collectives.push_back({d.out->calls.back().enter_ps, now, d.size(sent), d.size(received), call, call,
                                  d.peers.communicator(), root(root_rank), kNone, operation_of(operation), kUndefined,
                                  d.layout_of(attributes, d.ids.layout_attribute()),
                                  d.layout_of(attributes, d.ids.target_layout_attribute())});
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_request(L, T ticks, std::uint64_t, void* user, A* attributes, std::uint64_t request) noexcept try {
    auto& d = self(user);
    const auto now = d.at(ticks);
    const auto call = d.stack.call_for_record(now);
    d.stack.has_collective();
    const auto number = d.ids.persistent_attribute() != OTF2_UNDEFINED_ATTRIBUTE ? stated_number(d, attributes) : kNone;
    d.out->collectives.push_back(
        {d.out->calls.back().enter_ps, now, 0, 0, call, kNone, kUndefined, kNoRank, number, Operation::unknown});
    d.pending(request, PendingRequests::What::collective, d.out->collectives.size() - 1);
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_complete(L, T ticks, std::uint64_t, void* user, A* attributes, OTF2_CollectiveOp operation,
                              OTF2_CommRef communicator, std::uint32_t root_rank, std::uint64_t sent,
                              std::uint64_t received, std::uint64_t request) noexcept try {
    auto& d = self(user);
    const auto now = d.at(ticks);
    const auto call = d.stack.call_for_record(now);
    d.peers.use(communicator);
    d.peers.count_if_undefined();
    const auto entry = d.requests.take(request);
    const Collective ended{0,
                           now,
                           d.size(sent),
                           d.size(received),
                           kNone,
                           call,
                           d.peers.communicator(),
                           root(root_rank),
                           kNone,
                           operation_of(operation),
                           kUndefined,
                           d.layout_of(attributes, d.ids.layout_attribute()),
                           d.layout_of(attributes, d.ids.target_layout_attribute())};
    if (entry.what != PendingRequests::What::collective) {
        d.ended_elsewhere({request, RequestEnd::What::collective, ended});
        return kGoOn;
    }
    complete(d.out->collectives[entry.index], ended);
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

}  // namespace

void set_collective_callbacks(OTF2_EvtReaderCallbacks* c) {
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_communication);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, on_complete);
    OTF2_EvtReaderCallbacks_SetCommCreateCallback(c, on_communication);
    OTF2_EvtReaderCallbacks_SetCommDestroyCallback(c, on_communication);
}

}  // namespace logpost::analyzer
