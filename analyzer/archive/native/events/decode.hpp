#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <memory>

#include "analyzer/archive/native/clocks/clock_correction.hpp"
#include "analyzer/archive/native/definitions/definitions.hpp"
#include "analyzer/archive/native/definitions/local_definitions.hpp"
#include "analyzer/archive/native/trace/callpaths.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

struct Decoding;

/// Turns one location's events into its LocationTrace, one location after the other; one decoder per thread.
///
/// Mapping tables and clock offsets are applied here, not by libotf2: its two look-ups per id cost more than all that
/// is done with an event, and ids go straight to dense ones.
class Decoder {
  public:
    Decoder(const Definitions& definitions, const Trace& trace, const ClockCorrection& correction);
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    ~Decoder();

    /// Begins a location. Local definitions are fed next (`take`, or `local_definition_callbacks` with `user_data`).
    void begin(replay::Location location, LocationTrace& out);
    void take(const LocalDefinitions& definitions);
    /// Ends the local definitions; events are fed next (`event_callbacks`, with `user_data` as well).
    void begin_events();
    /// Closes what is open and writes the profile. `events`: how many were read.
    void end(std::uint64_t events);

    static OTF2_DefReaderCallbacks* local_definition_callbacks();
    static OTF2_EvtReaderCallbacks* event_callbacks();
    /// What the callbacks work on.
    [[nodiscard]] void* user_data() const noexcept { return state_.get(); }

    [[nodiscard]] const CallpathTree& callpaths() const noexcept;
    /// Why a callback stopped libotf2: memory, or else records that make no sense.
    [[nodiscard]] bool out_of_memory() const noexcept;
    [[nodiscard]] QualityCounts& quality() noexcept;

  private:
    std::unique_ptr<Decoding> state_;
};

}  // namespace logpost::analyzer
