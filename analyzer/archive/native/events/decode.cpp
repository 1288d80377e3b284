// A location from its beginning to its end, local definitions included. What events do is in decode_*.cpp, by family.
#include "analyzer/archive/native/events/decode.hpp"

#include "analyzer/archive/native/events/decoding.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

OTF2_CallbackCode on_mapping(void* user, OTF2_MappingType type, const OTF2_IdMap* map) {
    return guarded(user, [&] { self(user).ids.rename(type, map); });
}

OTF2_CallbackCode on_clock_offset(void* user, OTF2_TimeStamp time, std::int64_t offset, double) {
    return guarded(user, [&] { self(user).offsets.push_back({time, offset}); });
}

}  // namespace

Decoder::Decoder(const Definitions& definitions, const Trace& trace, const ClockCorrection& correction)
    : state_(std::make_unique<Decoding>(definitions, trace, correction)) {}

Decoder::~Decoder() = default;

const CallpathTree& Decoder::callpaths() const noexcept {
    return state_->stack.callpaths();
}
bool Decoder::out_of_memory() const noexcept {
    return state_->out_of_memory;
}
QualityCounts& Decoder::quality() noexcept {
    return state_->quality;
}

void Decoder::begin(replay::Location location, LocationTrace& out) {
    auto& d = *state_;
    d.out = &out;
    d.location = replay::index(location);
    d.ids.begin();
    d.offsets.clear();
    d.times.begin();
    d.stream.begin(out.stream);
    const bool stream = d.trace.locations[d.location].type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
    d.stack.begin(out, stream ? &d.stream : nullptr);
    d.peers.begin(location);
    d.transfers.begin(out);
    d.off_since = Decoding::kOn;
    d.flush_since = Decoding::kOn;
    d.any_cancelled = false;
    d.unknown_run = 0;
}

void Decoder::take(const LocalDefinitions& definitions) {
    for (const auto& [type, map] : definitions.mapping_tables) {
        state_->ids.rename(type, map.get());
    }
    state_->offsets = definitions.clock_offsets;
}

void Decoder::begin_events() {
    auto& d = *state_;
    d.ids.begin_events();
    if (!d.correction.offsets) {
        d.offsets.clear();
    }
    d.times.begin_events(Clock(d.definitions.ticks_per_second, d.definitions.global_offset, d.offsets),
                         d.correction.map(d.location));
}

void Decoder::end(std::uint64_t events) {
    auto& d = *state_;
    auto& out = *d.out;
    out.events = events;
    d.times.end(out);
    d.stack.end(d.times.last());
    out.begun = d.requests.clear();
    out.open_transfers = d.transfers.end();
    count(d.quality, Quality::request_never_completed, out.begun.size());
    if (d.any_cancelled) {
        drop_cancelled(out);
    }
    out.calls.trim();
    out.sends.trim();
    out.receives.trim();
    out.collectives.trim();
    out.layouts.trim();
    out.transfers.trim();
    out.epochs.trim();
    d.out = nullptr;
}

OTF2_DefReaderCallbacks* Decoder::local_definition_callbacks() {
    OTF2_DefReaderCallbacks* c = OTF2_DefReaderCallbacks_New();
    OTF2_DefReaderCallbacks_SetMappingTableCallback(c, on_mapping);
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(c, on_clock_offset);
    return c;
}

OTF2_EvtReaderCallbacks* Decoder::event_callbacks() {
    OTF2_EvtReaderCallbacks* c = OTF2_EvtReaderCallbacks_New();
    set_callbacks_of_all_records(c);  // first: the families replace theirs
    set_region_callbacks(c);
    set_message_callbacks(c);
    set_collective_callbacks(c);
    set_one_sided_callbacks(c);
    set_thread_callbacks(c);
    return c;
}

}  // namespace logpost::analyzer
