#include "message_events.hpp"

namespace logpost::assembler {

void MessageEvents::send(EventWriter& out, std::uint64_t time, const lp_message& m) {
    OTF2_CommRef ref = 0;
    if (m.peer >= 0 && ids_.comm(m.comm, ref) && halves_.sent(ref, m.peer, m.tag)) {
        check(
            OTF2_EvtWriter_MpiSend(out.writer, ids_.layout(out, m.layout), out.at(time),
                                   static_cast<std::uint32_t>(m.peer), ref, static_cast<std::uint32_t>(m.tag), m.bytes),
            "MpiSend");
    }
}

void MessageEvents::receive(EventWriter& out, std::uint64_t time, const lp_message& m) {
    OTF2_CommRef ref = 0;
    if (m.peer >= 0 && ids_.comm(m.comm, ref) && halves_.received(ref, m.peer, m.tag)) {
        check(
            OTF2_EvtWriter_MpiRecv(out.writer, ids_.received(out, m), out.at(time), static_cast<std::uint32_t>(m.peer),
                                   ref, static_cast<std::uint32_t>(m.tag), m.bytes),
            "MpiRecv");
    }
}

lp_message MessageEvents::matched(std::uint64_t handle) {
    const auto at = matched_.find(handle);
    if (at == matched_.end()) {
        lp_message nothing{};
        nothing.peer = LP_NO_PEER;
        return nothing;
    }
    const lp_message m = at->second.front();
    at->second.pop_front();
    if (at->second.empty()) {
        matched_.erase(at);
    }
    return m;
}

}  // namespace logpost::assembler
