// What every record has, a time, and what is not damage: records of unknown type, measurement switched off, and flushes
// of the tracer.
#include <algorithm>
#include <utility>

#include "analyzer/archive/native/events/decoding.hpp"
#include "analyzer/archive/native/events/event_records.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

// Zeros in a damaged file are records of unknown type and no length. So many at the same time are not from a newer
// libotf2.
constexpr std::uint64_t kMostUnknown = 4096;

template <class... Rest>
OTF2_CallbackCode on_any(L, T ticks, std::uint64_t, void* user, A*, Rest...) {
    self(user).at(ticks);
    return kGoOn;
}

OTF2_CallbackCode on_unknown(L, T ticks, std::uint64_t, void* user, A*) {
    auto& d = self(user);
    const auto before = d.times.last();
    d.unknown_run = d.at(ticks) == before ? d.unknown_run + 1 : 1;
    if (d.unknown_run > kMostUnknown) {
        d.quality[static_cast<std::size_t>(Quality::unknown_record)] -= kMostUnknown;
        return OTF2_CALLBACK_INTERRUPT;
    }
    count(d.quality, Quality::unknown_record);
    return kGoOn;
}

OTF2_CallbackCode on_measurement(L, T ticks, std::uint64_t, void* user, A*, OTF2_MeasurementMode mode) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto before = d.times.last();
        const auto now = d.at(ticks);
        if (mode == OTF2_MEASUREMENT_OFF) {
            count(d.quality, Quality::measurement_off);
            d.out->has_been_off = true;
            d.off_since = now;
            return;
        }
        if (d.off_since == before) {  // else there are records in between, so it was not off
            d.stack.apart(d.off_since, now, d.definitions.off_region());
        }
        d.off_since = Decoding::kOn;
    });
}

// A flush has the time of the record that did not fit in the buffer, which follows it: what that begins or ends is
// before the flush, and the program continues at its stop time.
OTF2_CallbackCode on_flush(L, T ticks, std::uint64_t, void* user, A*, T stop) {
    auto& d = self(user);
    d.flush_since = d.at_region(ticks);
    d.flush_until = std::max(ticks, stop);
    return kGoOn;
}

}  // namespace

void Decoding::end_flush() {
    const auto since = std::exchange(flush_since, kOn);
    if (stack.in_call()) {
        count(quality, Quality::flush_in_call);
    } else if (times.last() == since) {  // else there are records in between
        if (const auto until = at(flush_until); until > since) {
            stack.apart(since, until, definitions.flush_region());
        }
    }
}

void set_callbacks_of_all_records(OTF2_EvtReaderCallbacks* c) {
#define LOGPOST_TIME(name) OTF2_EvtReaderCallbacks_Set##name##Callback(c, on_any);
    LOGPOST_EVENT_RECORDS(LOGPOST_TIME)
#undef LOGPOST_TIME
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, on_unknown);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(c, on_measurement);
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(c, on_flush);
}

}  // namespace logpost::analyzer
