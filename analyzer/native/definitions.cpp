#include "definitions.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "error.hpp"
#include "otf2_errors.hpp"
#include "region_kind.hpp"

namespace logpost::analyzer {
namespace {

struct Group {
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

struct RawProperty {
    std::uint64_t owner;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};

/// Definitions as they stand in the file: names may come after what uses them, so nothing is resolved yet.
struct Raw {
    Definitions* out;
    Trace* trace;
    std::vector<OTF2_StringRef> region_names, region_files, node_names, node_classes, location_names;
    std::vector<std::uint64_t> node_parents;
    IdLookup nodes, groups_of_locations, locations;
    std::vector<std::uint64_t> group_parents;    // location group -> system tree node ref
    std::vector<std::uint64_t> location_groups;  // location -> location group ref
    std::unordered_map<std::uint64_t, Group> groups;
    std::vector<std::pair<OTF2_Paradigm, std::uint64_t>> numbering;  // COMM_LOCATIONS groups in order
    std::vector<RawCommunicator> communicators;
    std::vector<RawProperty> node_properties, location_properties;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> windows;   // ref, communicator ref
    std::vector<std::pair<std::uint64_t, std::uint64_t>> contexts;  // ref, region ref
    std::vector<std::pair<std::uint64_t, OTF2_StringRef>> attributes;
    std::vector<OTF2_Paradigm> process_paradigms;
};

Raw& raw(void* user) {
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

OTF2_CallbackCode on_clock(void* user, std::uint64_t resolution, std::uint64_t offset, std::uint64_t length,
                           std::uint64_t) {
    auto& d = *raw(user).out;
    d.ticks_per_second = resolution;
    d.global_offset = offset;
    d.trace_length = length;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_paradigm(void* user, OTF2_Paradigm paradigm, OTF2_StringRef, OTF2_ParadigmClass what) {
    return guarded([&] {
        if (what == OTF2_PARADIGM_CLASS_PROCESS) {
            raw(user).process_paradigms.push_back(paradigm);
        }
    });
}

OTF2_CallbackCode on_string(void* user, OTF2_StringRef self, const char* text) {
    return guarded([&] {
        auto& d = *raw(user).out;
        d.strings.insert(self, static_cast<std::int32_t>(d.texts.size()));
        d.texts.emplace_back(text == nullptr ? "" : text);
    });
}

OTF2_CallbackCode on_attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type) {
    return guarded([&] { raw(user).attributes.emplace_back(self, name); });
}

OTF2_CallbackCode on_node(void* user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef class_name,
                          OTF2_SystemTreeNodeRef parent) {
    return guarded([&] {
        auto& r = raw(user);
        r.nodes.insert(self, static_cast<std::int32_t>(r.node_names.size()));
        r.node_names.push_back(name);
        r.node_classes.push_back(class_name);
        r.node_parents.push_back(parent == OTF2_UNDEFINED_SYSTEM_TREE_NODE ? OTF2_UNDEFINED_UINT64 : parent);
    });
}

OTF2_CallbackCode on_node_property(void* user, OTF2_SystemTreeNodeRef node, OTF2_StringRef name, OTF2_Type type,
                                   OTF2_AttributeValue value) {
    return guarded([&] { raw(user).node_properties.push_back({node, name, type, value}); });
}

OTF2_CallbackCode on_location_property(void* user, OTF2_LocationRef location, OTF2_StringRef name, OTF2_Type type,
                                       OTF2_AttributeValue value) {
    return guarded([&] { raw(user).location_properties.push_back({location, name, type, value}); });
}

OTF2_CallbackCode on_location_group(void* user, OTF2_LocationGroupRef self, OTF2_StringRef, OTF2_LocationGroupType,
                                    OTF2_SystemTreeNodeRef parent, OTF2_LocationGroupRef) {
    return guarded([&] {
        auto& r = raw(user);
        r.groups_of_locations.insert(self, static_cast<std::int32_t>(r.group_parents.size()));
        r.group_parents.push_back(parent);
    });
}

OTF2_CallbackCode on_location(void* user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                              std::uint64_t events, OTF2_LocationGroupRef group) {
    return guarded([&] {
        auto& r = raw(user);
        if (r.locations(self) != IdLookup::kAbsent) {
            return;
        }
        r.locations.insert(self, static_cast<std::int32_t>(r.trace->locations.size()));
        Location location;
        location.ref = self;
        location.type = type;
        r.trace->locations.push_back(std::move(location));
        r.location_names.push_back(name);
        r.location_groups.push_back(group);
        r.out->declared_events.push_back(events);
    });
}

OTF2_CallbackCode on_region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef,
                            OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef file,
                            std::uint32_t line, std::uint32_t) {
    return guarded([&] {
        auto& r = raw(user);
        r.out->regions.insert(self, static_cast<std::int32_t>(r.trace->regions.size()));
        Region region;
        region.line = line;
        region.role = role;
        region.paradigm = paradigm;
        r.trace->regions.push_back(std::move(region));
        r.region_names.push_back(name);
        r.region_files.push_back(file);
    });
}

OTF2_CallbackCode on_group(void* user, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
                           OTF2_GroupFlag flags, std::uint32_t n, const std::uint64_t* members) {
    return guarded([&] {
        auto& r = raw(user);
        if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
            r.numbering.emplace_back(paradigm, self);
        } else if (type != OTF2_GROUP_TYPE_COMM_GROUP && type != OTF2_GROUP_TYPE_COMM_SELF) {
            return;
        }
        r.groups[self] = {type, paradigm, (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0,
                          std::vector<std::uint64_t>(members, members + n)};
    });
}

OTF2_CallbackCode on_communicator(void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                  OTF2_CommRef parent, OTF2_CommFlag) {
    return guarded([&] {
        raw(user).communicators.push_back(
            {self, name, group, OTF2_UNDEFINED_GROUP, parent == OTF2_UNDEFINED_COMM ? OTF2_UNDEFINED_UINT64 : parent});
    });
}

OTF2_CallbackCode on_inter_communicator(void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group_a,
                                        OTF2_GroupRef group_b, OTF2_CommRef common, OTF2_CommFlag) {
    return guarded([&] {
        raw(user).communicators.push_back(
            {self, name, group_a, group_b, common == OTF2_UNDEFINED_COMM ? OTF2_UNDEFINED_UINT64 : common});
    });
}

OTF2_CallbackCode on_window(void* user, OTF2_RmaWinRef self, OTF2_StringRef, OTF2_CommRef communicator,
                            OTF2_RmaWinFlag) {
    return guarded([&] { raw(user).windows.emplace_back(self, communicator); });
}

OTF2_CallbackCode on_calling_context(void* user, OTF2_CallingContextRef self, OTF2_RegionRef region,
                                     OTF2_SourceCodeLocationRef, OTF2_CallingContextRef) {
    return guarded([&] { raw(user).contexts.emplace_back(self, region); });
}

const std::string& text(const Definitions& d, OTF2_StringRef ref) {
    static const std::string kEmpty;
    const auto index = ref == OTF2_UNDEFINED_STRING ? IdLookup::kAbsent : d.strings(ref);
    return index == IdLookup::kAbsent ? kEmpty : d.texts[static_cast<std::size_t>(index)];
}

/// Any integer type, or a string of digits.
std::int64_t integer(const Definitions& d, OTF2_Type type, const OTF2_AttributeValue& value) {
    switch (type) {
        case OTF2_TYPE_UINT8:
            return value.uint8;
        case OTF2_TYPE_UINT16:
            return value.uint16;
        case OTF2_TYPE_UINT32:
            return value.uint32;
        case OTF2_TYPE_UINT64:
            return static_cast<std::int64_t>(value.uint64);
        case OTF2_TYPE_INT8:
            return value.int8;
        case OTF2_TYPE_INT16:
            return value.int16;
        case OTF2_TYPE_INT32:
            return value.int32;
        case OTF2_TYPE_INT64:
            return value.int64;
        case OTF2_TYPE_STRING:
            return std::strtoll(text(d, value.stringRef).c_str(), nullptr, 10);
        default:
            return 0;
    }
}

bool same_ignoring_case(const std::string& a, const char* b) {
    return std::equal(a.begin(), a.end(), b, b + std::char_traits<char>::length(b),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// One-sided communication between processes, or a transfer to a device? Decided by who the window's members are.
bool connects_processes(OTF2_Paradigm paradigm, const std::vector<OTF2_Paradigm>& process_paradigms) {
    switch (paradigm) {
        case OTF2_PARADIGM_MPI:
        case OTF2_PARADIGM_SHMEM:
        case OTF2_PARADIGM_GASPI:
        case OTF2_PARADIGM_UPC:
        case OTF2_PARADIGM_UNKNOWN:
        case OTF2_PARADIGM_USER:
            return true;
        default:
            return std::find(process_paradigms.begin(), process_paradigms.end(), paradigm) != process_paradigms.end();
    }
}

void resolve_system_tree(Raw& r) {
    auto& d = *r.out;
    auto& nodes = r.trace->nodes;
    nodes.resize(r.node_names.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].name = text(d, r.node_names[i]);
        nodes[i].class_name = text(d, r.node_classes[i]);
        const auto parent = r.nodes(r.node_parents[i]);
        nodes[i].parent = parent == static_cast<std::int32_t>(i) ? kUndefined : parent;
    }
    for (const auto& property : r.node_properties) {
        const auto node = r.nodes(property.owner);
        if (node != IdLookup::kAbsent && text(d, property.name) == "logpost:cores") {
            nodes[static_cast<std::size_t>(node)].cores =
                static_cast<std::int32_t>(integer(d, property.type, property.value));
        }
    }
}

/// The nearest system tree node of class "node" at or above `start`; else `start`.
std::int32_t node_above(const std::vector<Node>& nodes, std::int32_t start) {
    auto at = start;
    for (std::size_t steps = 0; at != kUndefined && steps <= nodes.size(); ++steps) {
        const auto& node = nodes[static_cast<std::size_t>(at)];
        if (same_ignoring_case(node.class_name, "node")) {
            return at;
        }
        at = node.parent;
    }
    return start;
}

void resolve_locations(Raw& r) {
    auto& d = *r.out;
    auto& locations = r.trace->locations;
    for (std::size_t i = 0; i < locations.size(); ++i) {
        locations[i].name = text(d, r.location_names[i]);
        locations[i].group = r.groups_of_locations(r.location_groups[i]);
        if (locations[i].group != kUndefined) {
            const auto parent = r.nodes(r.group_parents[static_cast<std::size_t>(locations[i].group)]);
            locations[i].node = node_above(r.trace->nodes, parent);
        }
    }
    for (const auto& property : r.location_properties) {
        const auto location = r.locations(property.owner);
        if (location != IdLookup::kAbsent && text(d, property.name) == "logpost:cpu_binding" &&
            property.type == OTF2_TYPE_STRING) {
            locations[static_cast<std::size_t>(location)].cpu_binding = text(d, property.value.stringRef);
        }
    }
}

/// paradigm -> dense locations in the paradigm's own numbering.
using Numbering = std::map<OTF2_Paradigm, std::vector<std::int32_t>>;

Numbering resolve_numbering(Raw& r, QualityCounts& quality) {
    Numbering numbering;
    for (const auto& [paradigm, ref] : r.numbering) {
        const auto& members = r.groups[ref].members;
        const auto [at, fresh] = numbering.try_emplace(paradigm);
        auto& mine = at->second;
        count(quality, Quality::duplicate_group, fresh ? 0 : 1);
        if (!mine.empty()) {
            continue;
        }
        for (const auto member : members) {
            mine.push_back(r.locations(member));
        }
    }
    return numbering;
}

void resolve_ranks(Raw& r, const Numbering& numbering) {
    std::vector<OTF2_Paradigm> order = {OTF2_PARADIGM_MPI, OTF2_PARADIGM_SHMEM, OTF2_PARADIGM_GASPI, OTF2_PARADIGM_UPC};
    order.insert(order.end(), r.process_paradigms.begin(), r.process_paradigms.end());
    auto& locations = r.trace->locations;
    for (const auto paradigm : order) {
        const auto found = numbering.find(paradigm);
        if (found == numbering.end() || found->second.empty()) {
            continue;
        }
        for (std::size_t rank = 0; rank < found->second.size(); ++rank) {
            const auto location = found->second[rank];
            if (location != kUndefined) {
                locations[static_cast<std::size_t>(location)].rank = static_cast<std::int32_t>(rank);
            }
        }
        break;
    }
    // Threads send and receive in the name of their process's rank.
    auto& owner = r.out->owner;
    std::vector<std::int32_t> rank_of_group(r.group_parents.size(), kUndefined);
    for (std::size_t i = 0; i < locations.size(); ++i) {
        if (locations[i].rank != kUndefined && locations[i].group != kUndefined) {
            auto& mine = rank_of_group[static_cast<std::size_t>(locations[i].group)];
            mine = mine == kUndefined ? static_cast<std::int32_t>(i) : mine;
        }
    }
    owner.resize(locations.size());
    for (std::size_t i = 0; i < locations.size(); ++i) {
        owner[i] = static_cast<std::int32_t>(i);
        if (locations[i].rank == kUndefined && locations[i].group != kUndefined) {
            const auto rank = rank_of_group[static_cast<std::size_t>(locations[i].group)];
            owner[i] = rank == kUndefined ? owner[i] : rank;
        }
    }
}

std::vector<std::int32_t> resolve_members(Raw& r, const Numbering& numbering, std::uint64_t ref,
                                          QualityCounts& quality) {
    std::vector<std::int32_t> members;
    const auto found = r.groups.find(ref);
    if (found == r.groups.end()) {
        return members;
    }
    const auto& group = found->second;
    const auto paradigm = numbering.find(group.paradigm);
    for (const auto member : group.members) {
        std::int32_t location = kUndefined;
        if (group.global_members || group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
            location = r.locations(member);
        } else if (paradigm != numbering.end() && member < paradigm->second.size()) {
            location = paradigm->second[member];
        }
        if (location == kUndefined) {
            count(quality, Quality::undefined_member);
        }
        members.push_back(location);
    }
    return members;
}

void resolve_communicators(Raw& r, const Numbering& numbering, QualityCounts& quality) {
    auto& d = *r.out;
    auto& communicators = r.trace->communicators;
    for (const auto& from : r.communicators) {
        if (d.communicators(from.ref) != IdLookup::kAbsent) {
            continue;
        }
        d.communicators.insert(from.ref, static_cast<std::int32_t>(communicators.size()));
        Communicator to;
        to.ref = from.ref;
        to.name = text(d, from.name);
        to.locations = resolve_members(r, numbering, from.group_a, quality);
        if (from.group_b != OTF2_UNDEFINED_GROUP) {
            to.remote_locations = resolve_members(r, numbering, from.group_b, quality);
        }
        const auto group = r.groups.find(from.group_a);
        to.is_self = group != r.groups.end() && group->second.type == OTF2_GROUP_TYPE_COMM_SELF;
        if (to.locations.empty() && to.remote_locations.empty() && !to.is_self) {
            count(quality, Quality::empty_communicator);
        }
        communicators.push_back(std::move(to));
    }
    for (std::size_t i = 0, dense = 0; i < r.communicators.size() && dense < communicators.size(); ++i) {
        if (communicators[dense].ref == r.communicators[i].ref) {
            communicators[dense++].parent = d.communicators(r.communicators[i].parent);
        }
    }
    std::unordered_map<std::uint64_t, std::uint64_t> group_of;
    for (const auto& from : r.communicators) {
        group_of.emplace(from.ref, from.group_a);
    }
    for (const auto& [window, communicator] : r.windows) {
        const auto from = group_of.find(communicator);
        const auto group = from == group_of.end() ? r.groups.end() : r.groups.find(from->second);
        if (group != r.groups.end() && !connects_processes(group->second.paradigm, r.process_paradigms)) {
            d.device_windows.insert(window, 1);
        }
    }
}

void resolve_regions(Raw& r) {
    auto& d = *r.out;
    auto& regions = r.trace->regions;
    d.kinds.resize(regions.size());
    for (std::size_t i = 0; i < regions.size(); ++i) {
        regions[i].name = text(d, r.region_names[i]);
        regions[i].file = text(d, r.region_files[i]);
        regions[i].kind = region_kind(regions[i].name, regions[i].paradigm);
        d.kinds[i] = regions[i].kind;
    }
    for (const auto& [context, region] : r.contexts) {
        d.calling_contexts.insert(context, d.regions(region));
    }
}

void resolve_layouts(Raw& r, QualityCounts& quality) {
    auto& d = *r.out;
    for (const auto& [ref, name] : r.attributes) {
        if (text(d, name) == "logpost:layout") {
            d.layout_attribute = static_cast<std::uint32_t>(ref);
        }
    }
    d.layout_of_text.assign(d.texts.size(), kUndefined);
    if (d.layout_attribute == OTF2_UNDEFINED_ATTRIBUTE) {
        return;
    }
    for (std::size_t i = 0; i < d.texts.size(); ++i) {
        if (!d.texts[i].starts_with("blocks=")) {
            continue;
        }
        Layout layout;
        if (parse_layout(d.texts[i], layout)) {
            d.layout_of_text[i] = static_cast<std::int32_t>(r.trace->layouts.size());
            r.trace->layouts.push_back(std::move(layout));
        } else {
            count(quality, Quality::layout_unreadable);
        }
    }
}

}  // namespace

bool parse_layout(const std::string& line, Layout& layout) {
    layout.text = line;
    bool any = false;
    std::size_t at = 0;
    while (at < line.size()) {
        auto end = line.find(' ', at);
        end = end == std::string::npos ? line.size() : end;
        const auto word = line.substr(at, end - at);
        at = end + 1;
        if (word.empty()) {
            continue;
        }
        const auto equals = word.find('=');
        if (equals == std::string::npos) {
            return false;
        }
        const auto key = word.substr(0, equals);
        const char* digits = word.c_str() + equals + 1;
        char* stop = nullptr;
        const auto value = std::strtoll(digits, &stop, 10);
        if (stop == digits || *stop != '\0') {
            return false;
        }
        if (key == "stride_bytes") {
            layout.stride_bytes = value;
        } else if (value < 0) {
            return false;
        } else if (key == "blocks") {
            layout.blocks = static_cast<std::uint64_t>(value);
            any = true;
        } else if (key == "block_bytes") {
            layout.block_bytes = static_cast<std::uint64_t>(value);
        } else if (key == "extent_bytes") {
            layout.extent_bytes = static_cast<std::uint64_t>(value);
        }
    }
    return any;
}

Definitions read_definitions(OTF2_Reader* reader, const std::string& archive, Trace& trace, QualityCounts& quality) {
    Definitions out;
    Raw r;
    r.out = &out;
    r.trace = &trace;

    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    if (definitions == nullptr) {
        throw ArchiveError(archive + ": the global definitions cannot be opened (" + take_otf2_errors() +
                           "); the archive is incomplete: copy the .def file that lies beside the anchor as well");
    }
    OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetParadigmCallback(callbacks, on_paradigm);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_node);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(callbacks, on_node_property);
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(callbacks, on_location_property);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_location_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_communicator);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_communicator);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, on_window);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(callbacks, on_calling_context);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &r);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);

    std::uint64_t declared = 0;
    OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &declared);
    std::uint64_t n = 0;
    // One more than declared shows that there are more, and ends where damage makes libotf2 go round in circles.
    const auto status = OTF2_Reader_ReadGlobalDefinitions(reader, definitions, declared + 1, &n);
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
    if (status != OTF2_SUCCESS || n > declared) {
        throw ArchiveError(archive + ": the global definitions are damaged (" + take_otf2_errors() +
                           "); nothing can be read without them: copy or record the archive again");
    }
    if (trace.locations.empty()) {
        throw ArchiveError(archive + ": the archive defines no locations; the recording was not finished");
    }
    trace.ticks_per_second = out.ticks_per_second;
    resolve_system_tree(r);
    resolve_locations(r);
    const auto numbering = resolve_numbering(r, quality);
    resolve_ranks(r, numbering);
    resolve_communicators(r, numbering, quality);
    resolve_regions(r);
    resolve_layouts(r, quality);
    return out;
}

}  // namespace logpost::analyzer
