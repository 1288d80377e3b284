#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "definitions.hpp"
#include "id_lookup.hpp"
#include "quality.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

struct RawGroup {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    bool global_members;
    std::vector<std::uint64_t> members;
};

struct RawCommunicator {
    std::uint64_t ref;
    OTF2_StringRef name;
    OTF2_GroupRef group_a;
    OTF2_GroupRef group_b;  // inter-communicators only
    std::uint64_t parent;
};

struct RawWindow {
    std::uint64_t ref;
    OTF2_StringRef name;
    std::uint64_t communicator;
};

struct RawContext {
    std::uint64_t ref;
    std::uint64_t region;
    std::uint64_t source_location;
    std::uint64_t parent;
};

struct RawProperty {
    std::uint64_t owner;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};

/// Definitions as they stand in the file: names may come after what uses them, so nothing is resolved before all of
/// them are read. Each family's callbacks fill its part here; its `resolve_` turns that into rows of the Trace and of
/// the Definitions.
struct Raw {
    Definitions* out;
    Trace* trace;
    // locations; `groups_of_locations` and `locations` are asked by the others
    IdLookup nodes, groups_of_locations, locations;
    std::vector<OTF2_StringRef> node_names, node_classes, location_names;
    std::vector<std::uint64_t> node_parents;
    std::vector<std::uint64_t> group_parents;    // location group -> system tree node ref
    std::vector<std::uint64_t> location_groups;  // location -> location group ref
    std::vector<RawProperty> node_properties, location_properties;
    // ranks
    std::vector<OTF2_Paradigm> process_paradigms;
    // communicators
    std::unordered_map<std::uint64_t, RawGroup> groups;
    // Members of COMM_LOCATIONS groups in order; not by id, which EZTrace gives to a COMM_GROUP, too.
    std::vector<std::pair<OTF2_Paradigm, std::vector<std::uint64_t>>> numbering;
    std::vector<RawCommunicator> communicators;
    std::vector<RawWindow> windows;
    // regions
    std::vector<OTF2_StringRef> region_names, region_files;
    std::vector<RawContext> contexts;
    std::unordered_map<std::uint64_t, std::pair<OTF2_StringRef, std::uint32_t>> source_locations;  // file, line
    std::vector<std::pair<std::uint64_t, OTF2_StringRef>> parameters;
    // layouts
    std::vector<std::pair<std::uint64_t, OTF2_StringRef>> attributes;
};

/// paradigm -> dense locations in the paradigm's own numbering.
using Numbering = std::map<OTF2_Paradigm, std::vector<std::int32_t>>;

// Each family sets the callbacks of its definitions.
void set_text_callbacks(OTF2_GlobalDefReaderCallbacks* c);
void set_location_callbacks(OTF2_GlobalDefReaderCallbacks* c);
void set_rank_callbacks(OTF2_GlobalDefReaderCallbacks* c);
void set_communicator_callbacks(OTF2_GlobalDefReaderCallbacks* c);
void set_region_callbacks(OTF2_GlobalDefReaderCallbacks* c);
void set_layout_callbacks(OTF2_GlobalDefReaderCallbacks* c);

// In this order, once everything is read.
void resolve_locations(Raw& r, QualityCounts& quality);
Numbering resolve_ranks(Raw& r, QualityCounts& quality);
void resolve_communicators(Raw& r, const Numbering& numbering, QualityCounts& quality);
void resolve_regions(Raw& r);
void resolve_layouts(Raw& r, QualityCounts& quality);

/// The string of a reference; empty if undefined.
const std::string& text(const Definitions& d, OTF2_StringRef ref);

/// Any integer type, or a string of digits.
std::int64_t integer(const Definitions& d, OTF2_Type type, const OTF2_AttributeValue& value);

inline Raw& raw(void* user) {
    return *static_cast<Raw*>(user);
}

/// C++ exceptions must not pass through libotf2's C frames; the only ones here are failed allocations.
template <class Body>
OTF2_CallbackCode guarded(Body&& body) noexcept {
    try {
        body();
        return OTF2_CALLBACK_SUCCESS;
    } catch (...) {
        return OTF2_CALLBACK_INTERRUPT;
    }
}

}  // namespace logpost::analyzer
