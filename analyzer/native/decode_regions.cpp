// Enter and Leave, of regions and of calling contexts.
#include "decoding.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

OTF2_CallbackCode on_enter(L, T ticks, std::uint64_t, void* user, A*, OTF2_RegionRef region) noexcept try {
    auto& d = self(user);
    const auto now = d.at(ticks);
    d.stack.enter(now, d.ids.region(region));
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_leave(L, T ticks, std::uint64_t, void* user, A*, OTF2_RegionRef region) noexcept try {
    auto& d = self(user);
    const auto now = d.at(ticks);
    d.stack.leave(now, d.ids.region(region));
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_context_enter(L, T ticks, std::uint64_t, void* user, A*, OTF2_CallingContextRef context,
                                   std::uint32_t) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto now = d.at(ticks);
        d.stack.enter(now, d.ids.region_of_context(context));
    });
}

OTF2_CallbackCode on_context_leave(L, T ticks, std::uint64_t, void* user, A*, OTF2_CallingContextRef context) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto now = d.at(ticks);
        d.stack.leave(now, d.ids.region_of_context(context));
    });
}

}  // namespace

void set_region_callbacks(OTF2_EvtReaderCallbacks* c) {
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(c, on_context_enter);
    OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback(c, on_context_leave);
}

}  // namespace logpost::analyzer
