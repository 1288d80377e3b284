// One-sided communication: totals of puts, gets and atomics. Transfers through windows that connect no processes (host
// and accelerator) are only counted.
#include "decoding.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

/// The location's totals; nullptr: no communication between processes.
OneSidedTotals* totals(void* user, T ticks, OTF2_RmaWinRef window) {
    auto& d = self(user);
    d.at(ticks);
    if (d.ids.is_device_window(window)) {
        count(d.quality, Quality::device_transfer);
        return nullptr;
    }
    d.stack.count_record();
    return &d.out->one_sided;
}

OTF2_CallbackCode on_put(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window, std::uint32_t,
                         std::uint64_t bytes, std::uint64_t) {
    if (auto* to = totals(user, ticks, window)) {
        ++to->puts;
        to->put_bytes += bytes;
    }
    return kGoOn;
}

OTF2_CallbackCode on_get(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window, std::uint32_t,
                         std::uint64_t bytes, std::uint64_t) {
    if (auto* to = totals(user, ticks, window)) {
        ++to->gets;
        to->get_bytes += bytes;
    }
    return kGoOn;
}

OTF2_CallbackCode on_atomic(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window, std::uint32_t,
                            OTF2_RmaAtomicType, std::uint64_t sent, std::uint64_t received, std::uint64_t) {
    if (auto* to = totals(user, ticks, window)) {
        ++to->atomics;
        to->atomic_bytes += sent + received;
    }
    return kGoOn;
}

template <class... Rest>
OTF2_CallbackCode on_collective_end(L location, T ticks, std::uint64_t position, void* user, A* attributes,
                                    Rest... rest) {
    self(user).stack.has_collective();
    return on_communication(location, ticks, position, user, attributes, rest...);
}

}  // namespace

void set_one_sided_callbacks(OTF2_EvtReaderCallbacks* c) {
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, on_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, on_atomic);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, on_collective_end);

#define LOGPOST_COUNT(name) OTF2_EvtReaderCallbacks_Set##name##Callback(c, on_communication)
    LOGPOST_COUNT(RmaWinCreate);
    LOGPOST_COUNT(RmaWinDestroy);
    LOGPOST_COUNT(RmaCollectiveBegin);
    LOGPOST_COUNT(RmaGroupSync);
    LOGPOST_COUNT(RmaRequestLock);
    LOGPOST_COUNT(RmaAcquireLock);
    LOGPOST_COUNT(RmaTryLock);
    LOGPOST_COUNT(RmaReleaseLock);
    LOGPOST_COUNT(RmaSync);
    LOGPOST_COUNT(RmaWaitChange);
    LOGPOST_COUNT(RmaOpCompleteBlocking);
    LOGPOST_COUNT(RmaOpCompleteNonBlocking);
    LOGPOST_COUNT(RmaOpTest);
    LOGPOST_COUNT(RmaOpCompleteRemote);
#undef LOGPOST_COUNT
}

}  // namespace logpost::analyzer
