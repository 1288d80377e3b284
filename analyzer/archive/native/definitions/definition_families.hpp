#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/archive/native/definitions/definitions.hpp"
#include "analyzer/archive/native/trace/id_lookup.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

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
    OTF2_GroupRef group_b;
    bool inter;  // an inter-communicator, which has two groups
    OTF2_CommRef parent;
};

struct RawWindow {
    std::uint64_t ref;
    OTF2_StringRef name;
    std::uint64_t communicator;
};

struct RawRegion {
    std::uint64_t ref;
    OTF2_StringRef name;
    OTF2_StringRef file;
    std::uint32_t line;
    std::uint8_t role;
    std::uint8_t paradigm;
};

struct RawContext {
    std::uint64_t ref;
    std::uint64_t region;
    std::uint64_t source_location;
    std::uint64_t parent;
};

struct RawSourceLocation {
    std::uint64_t ref;
    OTF2_StringRef file;
    std::uint32_t line;
};

struct RawProperty {
    std::uint64_t owner;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};

/// Definitions as the file has them: names may follow what uses them, so nothing is resolved before all of
/// them are read. Each family's callbacks fill its part here; its `resolve_` turns that into rows of the Trace and of
/// the Definitions.
struct Raw {
    Definitions* out;
    Trace* trace;
    QualityCounts* quality;
    std::unordered_map<std::string, std::int32_t> text_numbers;  // of Definitions::texts
    // locations; the other families look up `groups_of_locations` and `locations`
    IdLookup nodes, groups_of_locations, locations;
    std::vector<OTF2_StringRef> node_names, node_classes, location_names;
    std::vector<std::uint64_t> node_refs;
    std::vector<OTF2_SystemTreeNodeRef> node_parents;
    std::vector<std::uint64_t> location_group_refs;
    std::vector<OTF2_SystemTreeNodeRef> group_parents;   // location group -> system tree node ref
    std::vector<OTF2_LocationGroupRef> location_groups;  // location -> location group ref
    std::vector<RawProperty> node_properties, location_properties;
    std::size_t processes = 0;  // location groups, and those of locations that have none
    // ranks
    std::vector<OTF2_Paradigm> process_paradigms;
    // communicators
    std::unordered_map<std::uint64_t, RawGroup> groups;
    // COMM_LOCATIONS groups apart: EZTrace gives the id of one to a COMM_GROUP, too.
    std::unordered_map<std::uint64_t, RawGroup> numbering_groups;
    std::vector<std::pair<OTF2_Paradigm, std::vector<std::uint64_t>>> numbering;
    std::vector<RawCommunicator> communicators;
    std::vector<RawWindow> windows;
    // regions
    std::vector<RawRegion> regions;
    std::vector<RawContext> contexts;
    std::vector<RawSourceLocation> source_locations;
    IdLookup numbered_source_locations;
    std::vector<std::pair<std::uint64_t, OTF2_StringRef>> parameters;
    struct RawGenerator {
        OTF2_InterruptGeneratorRef ref;
        OTF2_StringRef name;
        std::int64_t period_ps;
    };
    std::vector<RawGenerator> generators;
    // layouts
    std::vector<std::pair<std::uint64_t, OTF2_StringRef>> attributes;
    IdLookup numbered_parameters, numbered_attributes;
};

/// paradigm -> dense locations in the paradigm's own numbering.
using Numbering = std::map<OTF2_Paradigm, std::vector<replay::Location>>;

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

// How a definition that makes no sense is used, each counted with its kind and id.

void count_odd(Raw& r, Quality what, const char* kind, std::uint64_t ref);
/// Gives an id its number. False: a definition before has it, which is the one used.
bool define(Raw& r, const char* kind, IdLookup& ids, std::uint64_t ref, std::int32_t number);
/// The number of what a definition refers to; kAbsent, and counted unless it is `none`: nothing that is defined.
std::int32_t refer(Raw& r, const IdLookup& ids, std::uint64_t to, std::optional<std::uint64_t> none, const char* kind,
                   std::uint64_t ref);
/// The name of a definition; empty, and counted: it refers to no string.
const std::string& name_of(Raw& r, OTF2_StringRef name, const char* kind, std::uint64_t ref);
/// Parents that lead back to themselves: of each such circle one definition gets none. By number: its parent.
void cut_circles(Raw& r, std::vector<std::int32_t>& parents, const char* kind,
                 const std::function<std::uint64_t(std::size_t)>& ref_of);

/// A member of a group that has `before` it; kNoLocation, and counted: its location is not defined, or is in it
/// already.
replay::Location member_location(std::unordered_set<replay::Location>& before, replay::Location location,
                                 QualityCounts& quality);

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
