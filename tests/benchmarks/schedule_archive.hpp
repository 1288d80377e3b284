#pragma once

/// A schedule that ran, as an OTF2 archive: what `logpost analyze` makes a run of.

#include <otf2/otf2.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/benchmarks/event_replay.hpp"

namespace logpost::tests {

inline void check_otf2(OTF2_ErrorCode status) {
    if (status != OTF2_SUCCESS) {
        std::fprintf(stderr, "%s\n", OTF2_Error_GetDescription(status));
        std::exit(1);
    }
}

/// Every rank on a separate node; the clock counts picoseconds. Computation is the time between calls.
inline void write_archive(const std::vector<std::vector<Operation>>& schedule, const std::vector<std::vector<Ran>>& ran,
                          const char* directory) {
    const OTF2_FlushCallbacks flush{.otf2_pre_flush = [](void*, OTF2_FileType, OTF2_LocationRef, void*,
                                                         bool) -> OTF2_FlushType { return OTF2_FLUSH; },
                                    .otf2_post_flush = nullptr};
    enum : std::uint32_t { kProgram, kSend, kReceive };
    auto* archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                                      OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive == nullptr) {
        std::exit(1);
    }
    check_otf2(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    check_otf2(OTF2_Archive_SetFlushCallbacks(archive, &flush, nullptr));
    check_otf2(OTF2_Archive_OpenEvtFiles(archive));
    std::uint64_t length = 1;
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        auto* to = OTF2_Archive_GetEvtWriter(archive, rank);
        std::uint64_t last = 0;
        OTF2_EvtWriter_Enter(to, nullptr, 0, kProgram);
        for (std::size_t i = 0; i < schedule[rank].size(); ++i) {
            const auto& [kind, peer, bytes] = schedule[rank][i];
            const auto begin = static_cast<std::uint64_t>(ran[rank][i].begin);
            last = static_cast<std::uint64_t>(ran[rank][i].end);
            const auto other = static_cast<std::uint32_t>(peer);
            const auto size = static_cast<std::uint64_t>(bytes);
            if (kind == Operation::Kind::send) {
                OTF2_EvtWriter_Enter(to, nullptr, begin, kSend);
                OTF2_EvtWriter_MpiSend(to, nullptr, begin, other, 0, 0, size);
                OTF2_EvtWriter_Leave(to, nullptr, last, kSend);
            } else if (kind == Operation::Kind::receive) {
                OTF2_EvtWriter_Enter(to, nullptr, begin, kReceive);
                OTF2_EvtWriter_MpiRecv(to, nullptr, last, other, 0, 0, size);
                OTF2_EvtWriter_Leave(to, nullptr, last, kReceive);
            }
        }
        OTF2_EvtWriter_Leave(to, nullptr, last, kProgram);
        length = std::max(length, last + 1);
        check_otf2(OTF2_Archive_CloseEvtWriter(archive, to));
    }
    check_otf2(OTF2_Archive_CloseEvtFiles(archive));

    auto* to = OTF2_Archive_GetGlobalDefWriter(archive);
    OTF2_GlobalDefWriter_WriteClockProperties(to, 1'000'000'000'000, 0, length, OTF2_UNDEFINED_TIMESTAMP);
    std::uint32_t texts = 0;
    const auto text = [&](const std::string& of) {
        OTF2_GlobalDefWriter_WriteString(to, texts, of.c_str());
        return texts++;
    };
    const auto empty = text("");
    for (const auto& [region, name] : {std::pair{kProgram, "main"}, {kSend, "MPI_Send"}, {kReceive, "MPI_Recv"}}) {
        const auto of = text(name);
        OTF2_GlobalDefWriter_WriteRegion(to, region, of, of, empty, OTF2_REGION_ROLE_FUNCTION,
                                         region == kProgram ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI,
                                         OTF2_REGION_FLAG_NONE, empty, 0, 0);
    }
    const auto node = text("node");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, text("cluster"), text("machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    std::vector<std::uint64_t> members;
    for (std::uint32_t rank = 0; rank < schedule.size(); ++rank) {
        const auto number = std::to_string(rank);
        OTF2_GlobalDefWriter_WriteSystemTreeNode(to, rank + 1, text("n" + number), node, 0);
        OTF2_GlobalDefWriter_WriteLocationGroup(to, rank, text("MPI Rank " + number), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                rank + 1, OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(to, rank, empty, OTF2_LOCATION_TYPE_CPU_THREAD,
                                           2 + 3 * schedule[rank].size(), rank);
        members.push_back(rank);
    }
    const auto ranks = static_cast<std::uint32_t>(members.size());
    OTF2_GlobalDefWriter_WriteGroup(to, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, members.data());
    OTF2_GlobalDefWriter_WriteGroup(to, 1, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    ranks, members.data());
    OTF2_GlobalDefWriter_WriteComm(to, 0, text("MPI_COMM_WORLD"), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_Archive_CloseGlobalDefWriter(archive, to);
    check_otf2(OTF2_Archive_Close(archive));
}

}  // namespace logpost::tests
