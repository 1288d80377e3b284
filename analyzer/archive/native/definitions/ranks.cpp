// Which location is which rank, from how the paradigms of processes (MPI, SHMEM, ...) number their locations.
#include <cstddef>

#include "analyzer/archive/native/definitions/definition_families.hpp"

namespace logpost::analyzer {
namespace {

OTF2_CallbackCode on_paradigm(void* user, OTF2_Paradigm paradigm, OTF2_StringRef, OTF2_ParadigmClass what) {
    return guarded([&] {
        if (what == OTF2_PARADIGM_CLASS_PROCESS) {
            raw(user).process_paradigms.push_back(paradigm);
        }
    });
}

Numbering resolve_numbering(Raw& r, QualityCounts& quality) {
    Numbering numbering;
    for (const auto& [paradigm, members] : r.numbering) {
        const auto [at, fresh] = numbering.try_emplace(paradigm);
        auto& mine = at->second;
        count(quality, Quality::duplicate_group, fresh ? 0 : 1);
        if (!mine.empty()) {
            continue;
        }
        std::unordered_set<replay::Location> before;
        for (const auto member : members) {
            mine.push_back(member_location(before, replay::Location{r.locations(member)}, quality));
        }
    }
    return numbering;
}

/// Where no paradigm numbers processes, there is none that communicates: each process that the archive defines is a
/// rank, in the order of the definitions, and its first thread has the rank.
void number_processes(Raw& r) {
    std::vector<replay::Location> first(r.group_parents.size(), kNoLocation);
    auto& locations = r.trace->locations;
    for (std::size_t i = 0; i < locations.size(); ++i) {
        if (locations[i].type == OTF2_LOCATION_TYPE_CPU_THREAD && locations[i].group != kUndefined &&
            static_cast<std::size_t>(locations[i].group) < first.size()) {
            auto& mine = first[static_cast<std::size_t>(locations[i].group)];
            mine = mine == kNoLocation ? replay::location_at(i) : mine;
        }
    }
    std::size_t rank = 0;
    for (const auto location : first) {
        if (location != kNoLocation) {
            locations[replay::index(location)].rank = replay::rank_at(rank++);
        }
    }
}

/// Of the first paradigm that numbers its processes.
void give_ranks(Raw& r, const Numbering& numbering) {
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
            if (location != kNoLocation) {
                locations[replay::index(location)].rank = replay::rank_at(rank);
            }
        }
        return;
    }
    number_processes(r);
}

/// Threads send and receive in the name of their process's rank.
void resolve_owners(Raw& r) {
    const auto& locations = r.trace->locations;
    auto& owner = r.out->owner;
    std::vector<replay::Location> owner_of_group(r.processes, kNoLocation);  // the location of its rank
    for (std::size_t i = 0; i < locations.size(); ++i) {
        if (locations[i].rank != kNoRank && locations[i].group != kUndefined) {
            auto& mine = owner_of_group[static_cast<std::size_t>(locations[i].group)];
            mine = mine == kNoLocation ? replay::location_at(i) : mine;
        }
    }
    owner.resize(locations.size());
    for (std::size_t i = 0; i < locations.size(); ++i) {
        owner[i] = replay::location_at(i);
        if (locations[i].rank == kNoRank && locations[i].group != kUndefined) {
            const auto of_group = owner_of_group[static_cast<std::size_t>(locations[i].group)];
            owner[i] = of_group == kNoLocation ? owner[i] : of_group;
        }
    }
}

}  // namespace

replay::Location member_location(std::unordered_set<replay::Location>& before, replay::Location location,
                                 QualityCounts& quality) {
    if (location == kNoLocation) {
        count(quality, Quality::undefined_member);
    } else if (!before.insert(location).second) {
        count(quality, Quality::duplicate_member);
        return kNoLocation;
    }
    return location;
}

void set_rank_callbacks(OTF2_GlobalDefReaderCallbacks* c) {
    OTF2_GlobalDefReaderCallbacks_SetParadigmCallback(c, on_paradigm);
}

Numbering resolve_ranks(Raw& r, QualityCounts& quality) {
    auto numbering = resolve_numbering(r, quality);
    give_ranks(r, numbering);
    resolve_owners(r);
    return numbering;
}

}  // namespace logpost::analyzer
