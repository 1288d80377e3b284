#pragma once

#include <otf2/otf2.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/archive/native/clocks/clock.hpp"
#include "analyzer/archive/native/clocks/clock_correction.hpp"
#include "analyzer/archive/native/clocks/event_times.hpp"
#include "analyzer/archive/native/definitions/definitions.hpp"
#include "analyzer/archive/native/definitions/local_ids.hpp"
#include "analyzer/archive/native/definitions/peers.hpp"
#include "analyzer/archive/native/events/call_stack.hpp"
#include "analyzer/archive/native/events/pending_transfers.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/requests.hpp"
#include "analyzer/archive/native/trace/stream_use.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// What the callbacks of all record families work on: libotf2 hands it to each of them.
///
/// Crosses between families: the time of an event, the stack of open regions, the communicator in use, pending
/// requests. Everything called once per event is inline; what is rare is in the .cpp files.
struct Decoding {
    Decoding(const Definitions& of, const Trace& from, const ClockCorrection& by)
        : definitions(of),
          trace(from),
          correction(by),
          ids(of, quality),
          stack(of, quality),
          peers(of, from, ids, quality) {}
    Decoding(const Decoding&) = delete;
    Decoding& operator=(const Decoding&) = delete;

    /// The time of an event. Every callback of an event computes it first, so that the last event of any type is known.
    std::int64_t at(OTF2_TimeStamp ticks) { return times.at(ticks, quality); }

    /// Likewise of a region's begin or end. A flush of the tracer has ended before, if one is behind the last record.
    std::int64_t at_region(OTF2_TimeStamp ticks) {
        if (flush_since != kOn && ticks >= flush_until) [[unlikely]] {
            end_flush();
        }
        return at(ticks);
    }
    void end_flush();

    /// A size in bytes as a record states it. Every callback with a size calls this, so that sums and costs fit.
    std::uint64_t size(std::uint64_t bytes) {
        if (bytes >= kBytesOutOfRange) [[unlikely]] {
            count(quality, Quality::bytes_out_of_range);
            return 0;
        }
        return bytes;
    }

    /// A request was made; `index` of what it started.
    void pending(std::uint64_t request, PendingRequests::What what, std::size_t index) {
        if (!requests.insert(request, what, static_cast<std::uint32_t>(index))) {
            count(quality, Quality::request_reused);
        }
    }

    /// The layout that an attribute of a record names; kUndefined: it has none, or that could not be parsed.
    std::int32_t layout_of(const OTF2_AttributeList* attributes, std::uint32_t attribute) {
        OTF2_StringRef text = OTF2_UNDEFINED_STRING;
        if (attribute == OTF2_UNDEFINED_ATTRIBUTE || !OTF2_AttributeList_TestAttributeByID(attributes, attribute) ||
            OTF2_AttributeList_GetStringRef(attributes, attribute, &text) != OTF2_SUCCESS) {
            return kUndefined;
        }
        const auto index = ids.text(text);
        const auto layout =
            index == IdLookup::kAbsent ? kUndefined : definitions.layout_of_text[static_cast<std::size_t>(index)];
        count(quality, Quality::layout_unreadable, layout == kUndefined ? 1 : 0);
        return layout;
    }

    /// A request ends that is not pending here: a thread of the process may have begun it.
    void ended_elsewhere(const RequestEnd& end) {
        count(quality, Quality::request_unknown);
        out->ended.push_back(end);
    }

    const Definitions& definitions;
    const Trace& trace;  // its definitions
    const ClockCorrection& correction;
    QualityCounts quality{};
    LocalIds ids;
    EventTimes times;
    CallStack stack;
    Peers peers;
    PendingRequests requests;
    PendingTransfers transfers;
    StreamUse stream;

    std::size_t location = 0;          // the current one
    LocationTrace* out = nullptr;      // of it
    std::vector<ClockOffset> offsets;  // as its local definitions give them
    std::int64_t off_since = kOn;      // since when its measurement has been off
    static constexpr std::int64_t kOn = -1;
    std::int64_t flush_since = kOn;  // since when its tracer writes the buffer
    OTF2_TimeStamp flush_until = 0;
    bool any_cancelled = false;
    bool out_of_memory = false;
    std::uint64_t unknown_run = 0;  // records of unknown type one after the other, all at the same time
};

// Each family sets the callbacks of its records.
void set_callbacks_of_all_records(OTF2_EvtReaderCallbacks* c);
void set_region_callbacks(OTF2_EvtReaderCallbacks* c);
void set_message_callbacks(OTF2_EvtReaderCallbacks* c);
void set_collective_callbacks(OTF2_EvtReaderCallbacks* c);
void set_one_sided_callbacks(OTF2_EvtReaderCallbacks* c);
void set_thread_callbacks(OTF2_EvtReaderCallbacks* c);

Operation operation_of(OTF2_CollectiveOp code) noexcept;

/// Takes cancelled operations (marked by call == kNone) out of a location; the others keep their order.
void drop_cancelled(LocationTrace& out);

namespace decoding {

// The parameters that all event callbacks begin with: location, time, position, user data, attributes.
using L = OTF2_LocationRef;
using T = OTF2_TimeStamp;
using A = OTF2_AttributeList;

inline constexpr auto kGoOn = OTF2_CALLBACK_SUCCESS;

inline Decoding& self(void* user) {
    return *static_cast<Decoding*>(user);
}

/// C++ exceptions (failed allocations) must not pass through libotf2.
inline OTF2_CallbackCode out_of_memory(void* user) noexcept {
    self(user).out_of_memory = true;
    return OTF2_CALLBACK_INTERRUPT;
}
template <class Body>
OTF2_CallbackCode guarded(void* user, Body&& body) noexcept {
    try {
        body();
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
}

/// A record of a communication call of which nothing is kept.
template <class... Rest>
OTF2_CallbackCode on_communication(L, T ticks, std::uint64_t, void* user, A*, Rest...) {
    auto& d = self(user);
    d.at(ticks);
    d.stack.count_record();
    return kGoOn;
}

}  // namespace decoding
}  // namespace logpost::analyzer
