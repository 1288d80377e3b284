#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <vector>

#include "callpaths.hpp"
#include "clock.hpp"
#include "definitions.hpp"
#include "quality.hpp"
#include "requests.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

/// Turns one location's events into its LocationTrace, one location after the other; one decoder per thread.
///
/// Mapping tables and clock offsets are applied here, not by libotf2: its two look-ups per id cost more than all that
/// is done with an event, and ids go straight to dense ones.
class Decoder {
  public:
    Decoder(const Definitions& definitions, const Trace& trace);
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    /// Begins a location. Local definitions are fed next (register `local_definition_callbacks` with this as data).
    void begin(std::int32_t location, LocationTrace& out);
    /// Ends the local definitions; events are fed next (`event_callbacks`).
    void begin_events();
    /// Closes what is open and writes the profile. `events`: how many were read.
    void end(std::uint64_t events);

    static OTF2_DefReaderCallbacks* local_definition_callbacks();
    static OTF2_EvtReaderCallbacks* event_callbacks();

    [[nodiscard]] const CallpathTree& callpaths() const noexcept { return tree_; }
    /// Why a callback told libotf2 to stop: memory, or else records that make no sense.
    [[nodiscard]] bool out_of_memory() const noexcept { return out_of_memory_; }
    [[nodiscard]] QualityCounts& quality() noexcept { return quality_; }

    /// Regions that stand for what the archive does not name, behind its own ones: see `read.cpp`.
    [[nodiscard]] static std::int32_t undefined_region(const Trace& trace);
    [[nodiscard]] static std::int32_t outside_region(const Trace& trace);

  private:
    friend struct Callbacks;

    struct Frame {
        std::int64_t enter_ps;
        std::int64_t children_ps;
        std::int32_t region;
        std::int32_t callpath;
    };
    struct Accumulator {
        std::uint64_t visits = 0;
        std::int64_t inclusive_ps = 0;
        std::int64_t exclusive_ps = 0;
    };
    /// Local ids that the location's mapping table renames; all others are global already.
    struct Mapping {
        static constexpr std::int32_t kToNowhere = -2;  // renamed to an id that nobody defined
        const IdLookup* global = nullptr;
        IdLookup local;
        [[nodiscard]] std::int32_t operator()(std::uint64_t id) const noexcept {
            if (!local.empty()) {
                if (const auto dense = local(id); dense != IdLookup::kAbsent) {
                    return dense == kToNowhere ? IdLookup::kAbsent : dense;
                }
            }
            return (*global)(id);
        }
    };

    std::int64_t at(OTF2_TimeStamp ticks) {
        const auto ps = clock_.to_ps(ticks);
        if (ps < last_ps_) [[unlikely]] {
            return time_backwards();
        }
        last_ps_ = ps;
        return ps;
    }
    std::int64_t time_backwards();

    [[nodiscard]] std::int32_t region(OTF2_RegionRef ref) {
        if (ref < region_table_size_) [[likely]] {
            if (const auto dense = region_table_[ref]; dense >= 0) [[likely]] {
                return dense;
            }
        }
        return rare_region(ref);
    }
    std::int32_t rare_region(OTF2_RegionRef ref);

    void enter(std::int64_t now, std::int32_t region);
    void leave(std::int64_t now, std::int32_t region);
    void leave_mis_nested(std::int64_t now, std::int32_t region);
    void pop(std::int64_t now);
    void close_call(std::int64_t now);
    std::uint32_t call_for_record(std::int64_t now);

    void use_communicator(OTF2_CommRef ref);
    std::int32_t peer(std::uint32_t rank);
    void layout(const OTF2_AttributeList* attributes, std::size_t send);
    void drop_cancelled();

    const Definitions& definitions_;
    const Trace& trace_;
    const RegionKind* kinds_ = nullptr;
    std::vector<RegionKind> kinds_with_synthetic_;

    CallpathTree tree_;
    std::vector<Accumulator> profile_;
    std::vector<std::int32_t> touched_;
    std::vector<Frame> stack_;
    PendingRequests requests_;
    QualityCounts quality_{};

    // Of the current location
    std::int32_t location_ = kUndefined;
    LocationTrace* out_ = nullptr;
    Clock clock_;
    std::vector<ClockOffset> offsets_;
    std::int64_t last_ps_ = 0;
    const std::int32_t* region_table_ = nullptr;
    std::size_t region_table_size_ = 0;
    Mapping regions_, communicators_, contexts_, strings_, windows_;
    bool attribute_mapped_ = false;
    std::uint32_t layout_attribute_ = OTF2_UNDEFINED_ATTRIBUTE;
    std::size_t call_depth_ = 0;  // stack size at the outermost communication call; 0: outside
    bool call_has_collective_ = false;
    bool any_cancelled_ = false;
    bool out_of_memory_ = false;
    std::uint64_t unknown_run_ = 0;
    // The communicator used last, resolved
    std::uint64_t communicator_ref_ = ~std::uint64_t{0};
    std::int32_t communicator_ = kUndefined;
    bool communicator_is_self_ = false;
    const std::vector<std::int32_t>* peers_ = nullptr;
};

}  // namespace logpost::analyzer
