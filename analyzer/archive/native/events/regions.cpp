// Enter and Leave, of regions and of calling contexts.
#include <algorithm>
#include <limits>

#include "analyzer/archive/native/events/decoding.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

/// The calling context that an attribute states of an Enter; kAbsent: none, or that of another region.
std::int32_t stated_context(Decoding& d, const A* attributes, std::int32_t region) {
    OTF2_CallingContextRef ref = OTF2_UNDEFINED_CALLING_CONTEXT;
    if (!OTF2_AttributeList_TestAttributeByID(attributes, d.ids.context_attribute()) ||
        OTF2_AttributeList_GetCallingContextRef(attributes, d.ids.context_attribute(), &ref) != OTF2_SUCCESS) {
        return IdLookup::kAbsent;
    }
    const auto context = d.ids.context(ref);
    const bool fits =
        context != IdLookup::kAbsent && d.definitions.contexts[static_cast<std::size_t>(context)].region == region;
    return fits ? context : IdLookup::kAbsent;
}

/// What the call that an Enter begins waited for when its process ended; nothing where it ended before.
void note_open(Decoding& d, const A* attributes, std::int64_t now) {
    OTF2_StringRef ref = OTF2_UNDEFINED_STRING;
    if (!OTF2_AttributeList_TestAttributeByID(attributes, d.ids.open_attribute()) ||
        OTF2_AttributeList_GetStringRef(attributes, d.ids.open_attribute(), &ref) != OTF2_SUCCESS) {
        return;
    }
    const auto text = d.ids.text(ref);
    if (text != IdLookup::kAbsent) {
        d.out->open.push_back({d.stack.call_for_record(now), d.definitions.texts[static_cast<std::size_t>(text)]});
    }
}

OTF2_CallbackCode on_enter(L, T ticks, std::uint64_t, void* user, A* attributes, OTF2_RegionRef ref) noexcept try {
    auto& d = self(user);
    const auto now = d.at_region(ticks);
    const auto region = d.ids.region(ref);
    auto context = IdLookup::kAbsent;
    if (d.ids.context_attribute() != OTF2_UNDEFINED_ATTRIBUTE) [[unlikely]] {
        context = stated_context(d, attributes, region);
    }
    if (context != IdLookup::kAbsent) {
        d.stack.enter_context(now, context);
    } else {
        d.stack.enter(now, region);
    }
    if (d.ids.open_attribute() != OTF2_UNDEFINED_ATTRIBUTE) [[unlikely]] {
        note_open(d, attributes, now);
    }
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_leave(L, T ticks, std::uint64_t, void* user, A*, OTF2_RegionRef region) noexcept try {
    auto& d = self(user);
    const auto now = d.at_region(ticks);
    d.stack.leave(now, d.ids.region(region));
    return kGoOn;
} catch (...) {
    return out_of_memory(user);
}

OTF2_CallbackCode on_context_enter(L, T ticks, std::uint64_t, void* user, A*, OTF2_CallingContextRef context,
                                   std::uint32_t) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto now = d.at_region(ticks);
        const auto dense = d.ids.context(context);
        if (dense != IdLookup::kAbsent) {
            d.stack.enter_context(now, dense);
        } else {
            d.stack.enter(now, d.definitions.undefined_region());
        }
    });
}

OTF2_CallbackCode on_context_leave(L, T ticks, std::uint64_t, void* user, A*, OTF2_CallingContextRef context) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto now = d.at_region(ticks);
        const auto dense = d.ids.context(context);
        d.stack.leave(now, dense != IdLookup::kAbsent ? d.definitions.contexts[static_cast<std::size_t>(dense)].region
                                                      : d.definitions.undefined_region());
    });
}

/// The periods of its sampler that an attribute states of a sample, no more than what a table's column holds; 1: none.
std::uint32_t stated_periods(Decoding& d, const A* attributes) {
    std::uint32_t periods = 1;
    if (d.ids.periods_attribute() == OTF2_UNDEFINED_ATTRIBUTE ||
        !OTF2_AttributeList_TestAttributeByID(attributes, d.ids.periods_attribute()) ||
        OTF2_AttributeList_GetUint32(attributes, d.ids.periods_attribute(), &periods) != OTF2_SUCCESS) {
        return 1;
    }
    return std::clamp<std::uint32_t>(periods, 1, std::numeric_limits<std::int32_t>::max());
}

OTF2_CallbackCode on_context_sample(L, T ticks, std::uint64_t, void* user, A* attributes,
                                    OTF2_CallingContextRef context, std::uint32_t, OTF2_InterruptGeneratorRef) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto now = d.at(ticks);
        const auto dense = d.ids.context(context);
        if (dense != IdLookup::kAbsent) {
            d.stack.sample(now, dense, stated_periods(d, attributes));
        }
    });
}

OTF2_CallbackCode on_parameter(L, T ticks, std::uint64_t, void* user, A*, OTF2_ParameterRef parameter,
                               std::int64_t value) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto now = d.at(ticks);
        if (parameter == d.definitions.level_parameter) {
            d.out->levels.push_back({d.stack.call_for_record(now), static_cast<std::int32_t>(value)});
        }
    });
}

}  // namespace

void set_region_callbacks(OTF2_EvtReaderCallbacks* c) {
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(c, on_context_enter);
    OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback(c, on_context_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(c, on_context_sample);
    OTF2_EvtReaderCallbacks_SetParameterIntCallback(c, on_parameter);
}

}  // namespace logpost::analyzer
