// Point-to-point messages: MpiSend, MpiRecv, their nonblocking kinds, and cancelled requests.
//
// Sends are in program order, receives in the order of their requests. A request becomes pending here and is taken
// out of the pending ones, which collectives share, by the record that completes or cancels it.
#include <algorithm>
#include <vector>

#include "analyzer/archive/native/events/decoding.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

void push_send(Decoding& d, std::int64_t now, const A* attributes, std::uint32_t receiver, OTF2_CommRef communicator,
               std::uint32_t tag, std::uint64_t bytes, bool blocking) {
    const auto call = d.stack.call_for_record(now);
    d.peers.use(communicator);
    const auto peer = d.peers(replay::Rank{static_cast<std::int32_t>(receiver)});
    if (const auto layout = d.layout_of(attributes, d.ids.layout_attribute()); layout != kUndefined) [[unlikely]] {
        d.out->layouts.push_back({static_cast<std::uint32_t>(d.out->sends.size()), layout});
    }
    d.out->sends.push_back({call, blocking ? call : kNone, d.size(bytes), peer, d.peers.communicator(),
                            static_cast<std::int32_t>(tag), kNone});
}

/// Whether a later call ends what that call sent, whatever its record says.
bool leaves_request(const Decoding& d, std::uint32_t call) {
    const auto region = static_cast<std::size_t>(d.out->calls[call].region);
    return region < d.definitions.begins_request.size() && d.definitions.begins_request[region] != 0;
}

/// Whether the post of a receive that this call made is not recorded: it only completes what others began.
bool lacks_post(const Decoding& d, std::uint32_t call) {
    const auto region = static_cast<std::size_t>(d.out->calls[call].region);
    return region < d.definitions.kinds.size() && only_completes(d.definitions.kinds[region]);
}

/// Notes that the receive named no sender, where its attributes say so.
void mark_any_source(Decoding& d, const A* attributes, std::size_t receive) {
    const auto attribute = d.ids.any_source_attribute();
    std::uint8_t any = 0;
    if (attribute != OTF2_UNDEFINED_ATTRIBUTE && OTF2_AttributeList_TestAttributeByID(attributes, attribute) &&
        OTF2_AttributeList_GetUint8(attributes, attribute, &any) == OTF2_SUCCESS && any != 0) {
        d.out->any_source.push_back(static_cast<std::uint32_t>(receive));
    }
}

OTF2_CallbackCode on_send(L, T ticks, std::uint64_t, void* user, A* attributes, std::uint32_t receiver,
                          OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes) noexcept try {
    auto& d = self(user);
    push_send(d, d.at(ticks), attributes, receiver, communicator, tag, bytes, true);
    auto& send = d.out->sends[d.out->sends.size() - 1];
    if (leaves_request(d, send.call)) [[unlikely]] {
        send.complete_call = kNone;
        count(d.quality, Quality::send_end_not_recorded);
    }
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_isend(L, T ticks, std::uint64_t, void* user, A* attributes, std::uint32_t receiver,
                           OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
                           std::uint64_t request) noexcept try {
    auto& d = self(user);
    push_send(d, d.at(ticks), attributes, receiver, communicator, tag, bytes, false);
    d.pending(request, PendingRequests::What::send, d.out->sends.size() - 1);
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_isend_complete(L, T ticks, std::uint64_t, void* user, A*, std::uint64_t request) noexcept try {
    auto& d = self(user);
    const auto call = d.stack.call_for_record(d.at(ticks));
    const auto entry = d.requests.take(request);
    if (entry.what == PendingRequests::What::send) [[likely]] {
        d.out->sends[entry.index].complete_call = call;
    } else {
        d.ended_elsewhere({request, RequestEnd::What::send, {}});
    }
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_recv(L, T ticks, std::uint64_t, void* user, A* attributes, std::uint32_t sender,
                          OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes) noexcept try {
    auto& d = self(user);
    const auto call = d.stack.call_for_record(d.at(ticks));
    d.peers.use(communicator);
    const auto peer = d.peers(replay::Rank{static_cast<std::int32_t>(sender)});
    mark_any_source(d, attributes, d.out->receives.size());
    count(d.quality, Quality::receive_post_not_recorded, lacks_post(d, call) ? 1 : 0);
    d.out->receives.push_back(
        {call, call, d.size(bytes), peer, d.peers.communicator(), static_cast<std::int32_t>(tag), kNone});
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_irecv_request(L, T ticks, std::uint64_t, void* user, A*, std::uint64_t request) noexcept try {
    auto& d = self(user);
    const auto call = d.stack.call_for_record(d.at(ticks));
    d.out->receives.push_back({call, kNone, 0, kNoLocation, kUndefined, kUndefined, kNone});
    d.pending(request, PendingRequests::What::receive, d.out->receives.size() - 1);
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_irecv(L, T ticks, std::uint64_t, void* user, A* attributes, std::uint32_t sender,
                           OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
                           std::uint64_t request) noexcept try {
    auto& d = self(user);
    const auto call = d.stack.call_for_record(d.at(ticks));
    d.peers.use(communicator);
    const auto peer = d.peers(replay::Rank{static_cast<std::int32_t>(sender)});
    const auto entry = d.requests.take(request);
    if (entry.what == PendingRequests::What::receive) [[likely]] {
        auto& receive = d.out->receives[entry.index];
        receive.complete_call = call;
        receive.bytes = d.size(bytes);
        receive.peer = peer;
        receive.comm = d.peers.communicator();
        receive.tag = static_cast<std::int32_t>(tag);
        mark_any_source(d, attributes, entry.index);
    } else {
        d.ended_elsewhere({request, RequestEnd::What::receive, {}});
        mark_any_source(d, attributes, d.out->receives.size());
        d.out->receives.push_back(
            {call, call, d.size(bytes), peer, d.peers.communicator(), static_cast<std::int32_t>(tag), kNone});
    }
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_cancelled(L, T ticks, std::uint64_t, void* user, A*, std::uint64_t request) noexcept try {
    auto& d = self(user);
    d.at(ticks);
    d.stack.count_record();
    const auto entry = d.requests.take(request);
    if (entry.what == PendingRequests::What::send) {
        d.out->sends[entry.index].call = kNone;
    } else if (entry.what == PendingRequests::What::receive) {
        d.out->receives[entry.index].call = kNone;
    } else {
        d.ended_elsewhere({request, RequestEnd::What::cancelled, {}});
        return kGoOn;
    }
    d.any_cancelled = true;
    count(d.quality, Quality::request_cancelled);
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

}  // namespace

void set_message_callbacks(OTF2_EvtReaderCallbacks* c) {
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c, on_communication);
}

void drop_cancelled(LocationTrace& out) {
    auto& sends = out.sends;
    std::vector<std::uint32_t> new_index(sends.size(), kNone);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sends.size(); ++i) {
        if (sends[i].call != kNone) {
            new_index[i] = static_cast<std::uint32_t>(kept);
            sends[kept++] = sends[i];
        }
    }
    sends.truncate(kept);
    auto& layouts = out.layouts;
    kept = 0;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        if (new_index[layouts[i].send] != kNone) {
            layouts[kept++] = {new_index[layouts[i].send], layouts[i].layout};
        }
    }
    layouts.truncate(kept);
    auto& receives = out.receives;
    std::vector<std::uint32_t> new_receive(receives.size(), kNone);
    kept = 0;
    for (std::size_t i = 0; i < receives.size(); ++i) {
        if (receives[i].call != kNone) {
            new_receive[i] = static_cast<std::uint32_t>(kept);
            receives[kept++] = receives[i];
        }
    }
    receives.truncate(kept);
    std::erase_if(out.any_source, [&](std::uint32_t receive) { return new_receive[receive] == kNone; });
    std::ranges::transform(out.any_source, out.any_source.begin(),
                           [&](std::uint32_t receive) { return new_receive[receive]; });
    for (auto& entry : out.begun) {
        const auto& renumbered = entry.what == PendingRequests::What::send ? new_index : new_receive;
        entry.index = entry.what == PendingRequests::What::collective ? entry.index : renumbered[entry.index];
    }
}

}  // namespace logpost::analyzer
