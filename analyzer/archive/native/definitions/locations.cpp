// Where the program ran: the system tree, location groups (processes) and locations, with logpost's own properties.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "analyzer/archive/native/definitions/definition_families.hpp"

namespace logpost::analyzer {
namespace {

OTF2_CallbackCode on_node(void* user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef class_name,
                          OTF2_SystemTreeNodeRef parent) {
    return guarded([&] {
        auto& r = raw(user);
        if (define(r, "SystemTreeNode", r.nodes, self, static_cast<std::int32_t>(r.node_names.size()))) {
            r.node_refs.push_back(self);
            r.node_names.push_back(name);
            r.node_classes.push_back(class_name);
            r.node_parents.push_back(parent);
        }
    });
}

OTF2_CallbackCode on_node_property(void* user, OTF2_SystemTreeNodeRef node, OTF2_StringRef name, OTF2_Type type,
                                   OTF2_AttributeValue value) {
    return guarded([&] { raw(user).node_properties.push_back({node, name, type, value}); });
}

OTF2_CallbackCode on_location_group(void* user, OTF2_LocationGroupRef self, OTF2_StringRef, OTF2_LocationGroupType,
                                    OTF2_SystemTreeNodeRef parent, OTF2_LocationGroupRef) {
    return guarded([&] {
        auto& r = raw(user);
        if (define(r, "LocationGroup", r.groups_of_locations, self,
                   static_cast<std::int32_t>(r.group_parents.size()))) {
            r.location_group_refs.push_back(self);
            r.group_parents.push_back(parent);
        }
    });
}

OTF2_CallbackCode on_location(void* user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                              std::uint64_t events, OTF2_LocationGroupRef group) {
    return guarded([&] {
        auto& r = raw(user);
        if (!define(r, "Location", r.locations, self, static_cast<std::int32_t>(r.trace->locations.size()))) {
            return;
        }
        Location location;
        location.ref = self;
        location.type = type;
        r.trace->locations.push_back(std::move(location));
        r.location_names.push_back(name);
        r.location_groups.push_back(group);
        r.out->declared_events.push_back(events);
    });
}

OTF2_CallbackCode on_location_property(void* user, OTF2_LocationRef location, OTF2_StringRef name, OTF2_Type type,
                                       OTF2_AttributeValue value) {
    return guarded([&] { raw(user).location_properties.push_back({location, name, type, value}); });
}

bool same_ignoring_case(const std::string& a, const char* b) {
    return std::equal(a.begin(), a.end(), b, b + std::char_traits<char>::length(b),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

void resolve_system_tree(Raw& r) {
    auto& d = *r.out;
    auto& nodes = r.trace->nodes;
    nodes.resize(r.node_names.size());
    std::vector<std::int32_t> parents(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].name = name_of(r, r.node_names[i], "SystemTreeNode", r.node_refs[i]);
        nodes[i].class_name = name_of(r, r.node_classes[i], "SystemTreeNode", r.node_refs[i]);
        parents[i] =
            refer(r, r.nodes, r.node_parents[i], OTF2_UNDEFINED_SYSTEM_TREE_NODE, "SystemTreeNode", r.node_refs[i]);
    }
    cut_circles(r, parents, "SystemTreeNode", [&](std::size_t node) { return r.node_refs[node]; });
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].parent = parents[i];
    }
    for (const auto& property : r.node_properties) {
        const auto node = refer(r, r.nodes, property.owner, {}, "SystemTreeNodeProperty", property.owner);
        const auto& name = name_of(r, property.name, "SystemTreeNodeProperty", property.owner);
        if (node != IdLookup::kAbsent && name == "logpost:cores") {
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

/// The nearest system tree node at or above `start`, but below its node, that is a socket; else kUndefined.
std::int32_t socket_above(const std::vector<Node>& nodes, std::int32_t start) {
    auto at = start;
    for (std::size_t steps = 0; at != kUndefined && steps <= nodes.size(); ++steps) {
        const auto& node = nodes[static_cast<std::size_t>(at)];
        for (const auto* name : {"socket", "package", "processor"}) {
            if (same_ignoring_case(node.class_name, name)) {
                return at;
            }
        }
        if (same_ignoring_case(node.class_name, "node")) {
            break;
        }
        at = node.parent;
    }
    return kUndefined;
}

/// How many nodes there are where each process has a separate node, numbered like it ("node 3"): a writer that does not
/// ask for the host's name (TAU) fills the system tree so. 0: some node is shared or has a name.
std::uint64_t nodes_numbered_by_process(const Trace& trace) {
    std::map<std::int32_t, std::int32_t> node_of;  // by process
    for (const auto& location : trace.locations) {
        if (location.group == kUndefined || location.node == kUndefined) {
            return 0;
        }
        const auto& node = trace.nodes[static_cast<std::size_t>(location.node)];
        if (node.name != node.class_name + " " + std::to_string(location.group)) {
            return 0;
        }
        node_of[location.group] = location.node;
    }
    return node_of.size() > 1 ? node_of.size() : 0;
}

}  // namespace

void set_location_callbacks(OTF2_GlobalDefReaderCallbacks* c) {
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, on_node);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(c, on_node_property);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_location_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, on_location_property);
}

void resolve_locations(Raw& r, QualityCounts& quality) {
    resolve_system_tree(r);
    auto& locations = r.trace->locations;
    std::vector<std::int32_t> node_of_group;
    for (std::size_t i = 0; i < r.group_parents.size(); ++i) {
        node_of_group.push_back(refer(r, r.nodes, r.group_parents[i], {}, "LocationGroup", r.location_group_refs[i]));
    }
    for (std::size_t i = 0; i < locations.size(); ++i) {
        locations[i].name = name_of(r, r.location_names[i], "Location", locations[i].ref);
        locations[i].group = refer(r, r.groups_of_locations, r.location_groups[i], {}, "Location", locations[i].ref);
        if (locations[i].group == kUndefined) {  // a separate process, on an unknown node
            locations[i].group = static_cast<std::int32_t>(node_of_group.size());
            node_of_group.push_back(kUndefined);
        }
        const auto parent = node_of_group[static_cast<std::size_t>(locations[i].group)];
        locations[i].node = node_above(r.trace->nodes, parent);
        locations[i].socket = socket_above(r.trace->nodes, parent);
    }
    r.processes = node_of_group.size();
    count(quality, Quality::host_not_named, nodes_numbered_by_process(*r.trace));
    for (const auto& property : r.location_properties) {
        const auto location = refer(r, r.locations, property.owner, {}, "LocationProperty", property.owner);
        const auto& name = name_of(r, property.name, "LocationProperty", property.owner);
        if (location != IdLookup::kAbsent && name == "logpost:cpu_binding" && property.type == OTF2_TYPE_STRING) {
            locations[static_cast<std::size_t>(location)].cpu_binding =
                name_of(r, property.value.stringRef, "LocationProperty", property.owner);
        }
    }
}

}  // namespace logpost::analyzer
