// Groups of processes, communicators between them, and windows: those that connect processes and those that do not.
#include <algorithm>

#include "definition_families.hpp"

namespace logpost::analyzer {
namespace {

OTF2_CallbackCode on_group(void* user, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
                           OTF2_GroupFlag flags, std::uint32_t n, const std::uint64_t* members) {
    return guarded([&] {
        auto& r = raw(user);
        if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
            r.numbering.emplace_back(paradigm, std::vector<std::uint64_t>(members, members + n));
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

OTF2_CallbackCode on_window(void* user, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef communicator,
                            OTF2_RmaWinFlag) {
    return guarded([&] { raw(user).windows.push_back({self, name, communicator}); });
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

/// Windows, and which of them have members that are no processes.
void resolve_windows(Raw& r) {
    std::unordered_map<std::uint64_t, std::uint64_t> group_of;
    for (const auto& from : r.communicators) {
        group_of.emplace(from.ref, from.group_a);
    }
    auto& windows = r.trace->windows;
    for (const auto& from : r.windows) {
        if (r.out->windows(from.ref) != IdLookup::kAbsent) {
            continue;
        }
        const auto communicator = group_of.find(from.communicator);
        const auto group = communicator == group_of.end() ? r.groups.end() : r.groups.find(communicator->second);
        const bool device = group != r.groups.end() && !connects_processes(group->second.paradigm, r.process_paradigms);
        r.out->windows.insert(from.ref, static_cast<std::int32_t>(windows.size()));
        windows.push_back({from.ref, text(*r.out, from.name), r.out->communicators(from.communicator), device});
    }
}

}  // namespace

void set_communicator_callbacks(OTF2_GlobalDefReaderCallbacks* c) {
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_communicator);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, on_inter_communicator);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, on_window);
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
    resolve_windows(r);
    if (!r.windows.empty()) {  // whose synchronization names groups
        for (const auto& [ref, group] : r.groups) {
            if (group.type == OTF2_GROUP_TYPE_COMM_GROUP) {
                QualityCounts counted_already{};
                d.groups.insert(ref, static_cast<std::int32_t>(d.group_members.size()));
                d.group_members.push_back(resolve_members(r, numbering, ref, counted_already));
            }
        }
    }
}

}  // namespace logpost::analyzer
