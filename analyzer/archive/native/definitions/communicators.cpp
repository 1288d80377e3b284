// Groups of processes, communicators between them, and windows: those that connect processes and those that do not.
#include <algorithm>

#include "analyzer/archive/native/definitions/definition_families.hpp"

namespace logpost::analyzer {
namespace {

OTF2_CallbackCode on_group(void* user, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
                           OTF2_GroupFlag flags, std::uint32_t n, const std::uint64_t* members) {
    return guarded([&] {
        auto& r = raw(user);
        const bool numbers = type == OTF2_GROUP_TYPE_COMM_LOCATIONS;
        if (numbers) {
            r.numbering.emplace_back(paradigm, std::vector<std::uint64_t>(members, members + n));
        } else if (type != OTF2_GROUP_TYPE_COMM_GROUP && type != OTF2_GROUP_TYPE_COMM_SELF) {
            return;
        }
        const auto fresh = (numbers ? r.numbering_groups : r.groups)
                               .try_emplace(self, type, paradigm, (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0,
                                            std::vector<std::uint64_t>(members, members + n))
                               .second;
        if (!fresh) {
            count_odd(r, Quality::duplicate_definition, "Group", self);
        }
    });
}

OTF2_CallbackCode on_communicator(void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                  OTF2_CommRef parent, OTF2_CommFlag) {
    return guarded(
        [&] { raw(user).communicators.push_back({self, name, group, OTF2_UNDEFINED_GROUP, false, parent}); });
}

OTF2_CallbackCode on_inter_communicator(void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group_a,
                                        OTF2_GroupRef group_b, OTF2_CommRef common, OTF2_CommFlag) {
    return guarded([&] { raw(user).communicators.push_back({self, name, group_a, group_b, true, common}); });
}

OTF2_CallbackCode on_window(void* user, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef communicator,
                            OTF2_RmaWinFlag) {
    return guarded([&] { raw(user).windows.push_back({self, name, communicator}); });
}

/// None: no group of processes has this id.
const RawGroup* find_group(const Raw& r, std::uint64_t ref) {
    for (const auto* groups : {&r.groups, &r.numbering_groups}) {
        if (const auto found = groups->find(ref); found != groups->end()) {
            return &found->second;
        }
    }
    return nullptr;
}

std::vector<replay::Location> resolve_members(Raw& r, const Numbering& numbering, std::uint64_t ref,
                                              QualityCounts& quality) {
    std::vector<replay::Location> members;
    const auto* group = find_group(r, ref);
    if (group == nullptr) {
        return members;
    }
    const auto paradigm = numbering.find(group->paradigm);
    std::unordered_set<replay::Location> before;
    for (const auto member : group->members) {
        auto location = kNoLocation;
        if (group->global_members || group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
            location = replay::Location{r.locations(member)};
        } else if (paradigm != numbering.end() && member < paradigm->second.size()) {
            location = paradigm->second[member];
        }
        members.push_back(member_location(before, location, quality));
    }
    return members;
}

/// One-sided communication between processes, or a transfer to a device? The window's members decide.
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
    auto& windows = r.trace->windows;
    for (const auto& from : r.windows) {
        if (!define(r, "RmaWin", r.out->windows, from.ref, static_cast<std::int32_t>(windows.size()))) {
            continue;
        }
        const auto communicator = refer(r, r.out->communicators, from.communicator, {}, "RmaWin", from.ref);
        const auto* group = communicator == IdLookup::kAbsent
                                ? nullptr
                                : find_group(r, r.communicators[static_cast<std::size_t>(communicator)].group_a);
        const bool device = group != nullptr && !connects_processes(group->paradigm, r.process_paradigms);
        windows.push_back({from.ref, name_of(r, from.name, "RmaWin", from.ref), communicator, device});
    }
}

/// The group of a communicator; none, and counted: it is not defined.
const RawGroup* group_of(Raw& r, std::uint64_t group, const RawCommunicator& of) {
    const auto* found = find_group(r, group);
    if (found == nullptr) {
        count_odd(r, Quality::undefined_reference, of.inter ? "InterComm" : "Comm", of.ref);
    }
    return found;
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
    std::erase_if(r.communicators, [&, next = std::int32_t{0}](const RawCommunicator& from) mutable {
        const bool first = define(r, from.inter ? "InterComm" : "Comm", d.communicators, from.ref, next);
        next += first ? 1 : 0;
        return !first;
    });
    std::vector<std::int32_t> parents;
    for (const auto& from : r.communicators) {
        const auto* kind = from.inter ? "InterComm" : "Comm";
        parents.push_back(refer(r, d.communicators, from.parent, OTF2_UNDEFINED_COMM, kind, from.ref));
        Communicator to;
        to.ref = from.ref;
        to.name = name_of(r, from.name, kind, from.ref);
        const auto* group = group_of(r, from.group_a, from);
        to.locations = resolve_members(r, numbering, from.group_a, quality);
        if (from.inter && group_of(r, from.group_b, from) != nullptr) {
            to.remote_locations = resolve_members(r, numbering, from.group_b, quality);
        }
        to.is_self = group != nullptr && group->type == OTF2_GROUP_TYPE_COMM_SELF;
        if (to.locations.empty() && to.remote_locations.empty() && !to.is_self) {
            count(quality, Quality::empty_communicator);
        }
        communicators.push_back(std::move(to));
    }
    cut_circles(r, parents, "Comm", [&](std::size_t communicator) { return r.communicators[communicator].ref; });
    for (std::size_t i = 0; i < communicators.size(); ++i) {
        communicators[i].parent = parents[i];
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
