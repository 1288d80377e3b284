// Real archives that other programs wrote, against what tests/data/README.md says and against Scalasca's own sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "reader_fixture.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

/// Where the build unpacked tests/data/archives.
fs::path traces() {
    return LOGPOST_ARCHIVES;
}

struct Totals {
    std::uint64_t events = 0, sends = 0, receives = 0, matched = 0, bytes_sent = 0, bytes_received = 0, collectives = 0,
                  put_bytes = 0, self_messages = 0;
};

Totals totals(const Trace& trace) {
    Totals t;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        const auto& location = trace.traces[l];
        t.events += location.events;
        t.sends += location.sends.size();
        t.receives += location.receives.size();
        t.collectives += location.collectives.size();
        t.put_bytes += location.one_sided.put_bytes;
        location.sends.for_each([&](std::size_t, const MessageEnd& end) {
            t.bytes_sent += end.bytes;
            t.matched += end.match != kNone ? 1 : 0;
            t.self_messages += end.peer == replay::location_at(l) ? 1 : 0;
        });
        location.receives.for_each([&](std::size_t, const MessageEnd& end) { t.bytes_received += end.bytes; });
    }
    return t;
}

/// What must hold in any trace whatsoever.
void expect_consistent(const Trace& trace) {
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        const auto& location = trace.traces[l];
        if (location.events == 0) {
            continue;
        }
        EXPECT_GE(location.first_ps, 0);
        EXPECT_LE(location.last_ps, trace.length_ps);
        std::int64_t before = location.first_ps;
        location.calls.for_each([&](std::size_t, const Call& call) {
            ASSERT_LE(before, call.enter_ps);  // in order and disjoint
            ASSERT_LE(call.enter_ps, call.leave_ps);
            ASSERT_LT(static_cast<std::size_t>(call.region), trace.regions.size());
            ASSERT_NE(trace.regions[static_cast<std::size_t>(call.region)].kind, CallKind::user);
            ASSERT_EQ(trace.callpaths[static_cast<std::size_t>(call.callpath)].region, call.region);
            before = call.leave_ps;
        });
        EXPECT_LE(before, location.last_ps);
        const auto check_ends = [&](const Column<MessageEnd>& ends, auto other_side) {
            ends.for_each([&](std::size_t i, const MessageEnd& end) {
                ASSERT_LT(end.call, location.calls.size());
                ASSERT_TRUE(end.complete_call == kNone || end.complete_call < location.calls.size());
                if (end.match != kNone) {
                    const auto& others = trace.traces[index(end.peer)].*other_side;
                    ASSERT_EQ(others[end.match].match, i);
                    ASSERT_EQ(others[end.match].peer, replay::location_at(l));
                    ASSERT_EQ(others[end.match].tag, end.tag);
                    ASSERT_EQ(others[end.match].comm, end.comm);
                }
            });
        };
        check_ends(location.sends, &LocationTrace::receives);
        check_ends(location.receives, &LocationTrace::sends);
        // The profile's exclusive times are the inclusive times of the outermost regions.
        std::int64_t exclusive = 0;
        std::int64_t outermost = 0;
        for (const auto& row : location.profile) {
            exclusive += row.exclusive_ps;
            const auto& path = trace.callpaths[static_cast<std::size_t>(row.callpath)];
            outermost += path.parent == kUndefined ? row.inclusive_ps : 0;
            EXPECT_GE(row.exclusive_ps, 0);
        }
        EXPECT_EQ(exclusive, outermost);
        EXPECT_LE(outermost, location.last_ps - location.first_ps);
    }
}

TEST(Archives, EveryOneIsReadOrRefusedAndWhatIsReadIsConsistent) {
    std::size_t read = 0;
    for (const auto& entry : fs::directory_iterator(traces())) {
        SCOPED_TRACE(entry.path().filename().string());
        if (entry.path().filename() == "casita-4_mpi_lammps_colloid") {
            EXPECT_THROW(read_archive(entry.path()), ArchiveError);
            continue;
        }
        expect_consistent(read_archive(entry.path()));
        ++read;
    }
    EXPECT_GE(read, 20U);
}

TEST(Archives, HoldWhatTheReadmeSays) {
    const std::map<std::string, std::pair<std::size_t, std::uint64_t>> locations_and_events = {
        {"pipit-ping-pong", {2, 120}},
        {"pipit-ping-pong-papi", {2, 204}},
        {"tracer-stencil4d-32", {32, 4324}},
        {"sst-macro-otf2", {10, 22180}},
        {"sst-elements-emberotf2", {4, 80}},
        {"casita-4_mpi_ls_barr", {4, 110}},
        {"casita-10_scorep_mpi_tags", {10, 428}},
        {"casita-2_cuda_simple", {6, 2816}},
        {"casita-2_jacobi_blame_cpu_015", {10, 300816}},
        {"casita-1_xeonphi_jacobi_01", {4, 11770}},
        {"casita-1_ocl_deps", {2, 48}},
        {"casita-1_sptc", {10, 490}},
        {"casita-1_scorep-ompt-host-nested", {10, 172}},
        {"fastotf2-mi300", {32, 72670}},
        {"scorep-npb-cg-W-nocomp-8", {8, 212208}},
        {"scorep-lulesh-nocomp-8", {8, 131216}},
        {"scorep-npb-lu-S-comp-4", {4, 158058}},
        {"scorep-npb-sp-S-comp-4", {4, 119386}},
        {"scorep-npb-is-A-nocomp-8", {8, 1359}},
        {"scorep-prk-rma-stencil-8", {8, 125968}},
        {"scorep-prk-rma-transpose-flush-4", {4, 20580}},
        {"scorep-shmem-stencil-4", {4, 43628}},
    };
    for (const auto& [name, expected] : locations_and_events) {
        SCOPED_TRACE(name);
        const auto trace = read_archive(traces() / name);
        EXPECT_EQ(trace.locations.size(), expected.first);
        EXPECT_EQ(totals(trace).events, expected.second);
        EXPECT_EQ(counted(trace, Quality::undefined_communicator), 0U);
        EXPECT_EQ(counted(trace, Quality::send_unmatched), 0U);
        EXPECT_EQ(counted(trace, Quality::receive_unmatched), 0U);
        EXPECT_EQ(counted(trace, Quality::collective_incomplete), 0U);
        EXPECT_EQ(counted(trace, Quality::event_file_damaged), 0U);
    }
}

TEST(Archives, ShowTheirKnownOddities) {
    const auto tracer = read_archive(traces() / "tracer-stencil4d-32");
    EXPECT_EQ(totals(tracer).matched, 512U);
    // Rank 0 leaves TRACER_Loop while TRACER_WallTime_Loop is open inside it, and then that one.
    EXPECT_EQ(counted(tracer, Quality::leave_mis_nested) + counted(tracer, Quality::leave_without_enter), 2U);
    EXPECT_GT(counted(tracer, Quality::measurement_off), 0U);

    const auto sst = read_archive(traces() / "sst-macro-otf2");
    EXPECT_EQ(totals(sst).sends, 1440U);
    EXPECT_EQ(totals(sst).matched, 1440U);
    EXPECT_EQ(totals(sst).self_messages, 952U);
    EXPECT_EQ(counted(sst, Quality::collective_call_without_record), 1080U);
    EXPECT_EQ(counted(sst, Quality::receive_before_send), 0U);  // half of them without the clock offsets
    std::vector<std::int32_t> nodes;
    for (const auto& location : sst.locations) {
        nodes.push_back(location.node);
    }
    std::sort(nodes.begin(), nodes.end());
    EXPECT_EQ(std::unique(nodes.begin(), nodes.end()) - nodes.begin(), 10);

    EXPECT_EQ(counted(read_archive(traces() / "casita-2_cuda_simple"), Quality::event_file_not_defined), 4U);
    const auto eztrace = read_archive(traces() / "eztrace-blocking-2");
    EXPECT_EQ(totals(eztrace).events, 64U);
    EXPECT_EQ(totals(eztrace).matched, 4U);
    EXPECT_EQ(counted(eztrace, Quality::undefined_member), 0U);
    EXPECT_EQ(counted(eztrace, Quality::undefined_peer), 2U);
    EXPECT_EQ(counted(eztrace, Quality::send_unmatched), 2U);
    EXPECT_EQ(counted(eztrace, Quality::request_never_completed), 1U);
    // logpost's own recorder has 23 messages of that program. TAU lacks the sends of MPI_Startall, and the receives of
    // MPI_Mrecv and MPI_Imrecv.
    const auto tau = read_archive(traces() / "tau-requests-2");
    EXPECT_EQ(totals(tau).events, 353U);
    EXPECT_EQ(totals(tau).sends, 21U);
    EXPECT_EQ(totals(tau).receives, 21U);
    EXPECT_EQ(totals(tau).matched, 19U);
    EXPECT_EQ(counted(tau, Quality::send_unmatched), 2U);
    EXPECT_EQ(counted(tau, Quality::receive_unmatched), 2U);
    EXPECT_EQ(counted(tau, Quality::receive_before_send), 0U);
    EXPECT_EQ(counted(tau, Quality::send_end_not_recorded), 18U);
    EXPECT_EQ(counted(tau, Quality::receive_post_not_recorded), 20U);
    EXPECT_EQ(counted(tau, Quality::bytes_differ), 18U);  // an Irecv's buffer has 64 bytes
    EXPECT_EQ(counted(tau, Quality::collective_call_without_record), 2U);
    EXPECT_EQ(counted(tau, Quality::host_not_named), 2U);
    const auto fence = read_archive(traces() / "tau-one-sided-4");
    EXPECT_EQ(totals(fence).events, 106U);
    EXPECT_EQ(counted(fence, Quality::one_sided_call_without_record), 5U);
    EXPECT_EQ(counted(fence, Quality::collective_call_without_record), 4U);
    const auto tags = read_archive(traces() / "casita-10_scorep_mpi_tags");
    EXPECT_EQ(totals(tags).matched, 18U);
    const auto jacobi = read_archive(traces() / "casita-2_jacobi_blame_cpu_015");
    EXPECT_EQ(totals(jacobi).matched, 2000U);
    EXPECT_EQ(counted(jacobi, Quality::time_backwards), 0U);
    EXPECT_EQ(counted(read_archive(traces() / "casita-1_scorep-ompt-host-nested"), Quality::duplicate_group), 1U);

    const auto integrity = read_archive(traces() / "otf2-integrity-1");
    EXPECT_GT(counted(integrity, Quality::undefined_communicator), 0U);
    EXPECT_EQ(totals(integrity).matched, 0U);

    EXPECT_EQ(totals(read_archive(traces() / "scorep-prk-rma-stencil-8")).put_bytes, 19'885'888U);
}

/// The number behind `"key": ` in the object `"archive": {` of Scalasca's totals.
std::uint64_t scalasca(const std::string& json, const std::string& archive, const std::string& key) {
    const auto object = json.find("\"" + archive + "\": {");
    const auto at = json.find("\"" + key + "\": ", object);
    const auto end = json.find('}', object);
    if (object == std::string::npos || at == std::string::npos || at > end) {
        ADD_FAILURE() << archive << " has no " << key;
        return 0;
    }
    return std::strtoull(json.c_str() + at + key.size() + 4, nullptr, 10);
}

TEST(Archives, AgreeWithScalascaOnMessagesAndBytes) {
    std::ifstream file(fs::path(LOGPOST_TEST_DATA) / "scalasca-totals.json");
    const std::string json((std::istreambuf_iterator<char>(file)), {});
    for (const auto* name : {"scorep-npb-cg-W-nocomp-8", "scorep-lulesh-nocomp-8", "scorep-npb-lu-S-comp-4",
                             "scorep-npb-sp-S-comp-4", "scorep-npb-is-A-nocomp-8"}) {
        SCOPED_TRACE(name);
        const auto trace = read_archive(traces() / name);
        const auto t = totals(trace);
        EXPECT_EQ(t.sends, scalasca(json, name, "comms_send"));
        EXPECT_EQ(t.receives, scalasca(json, name, "comms_recv"));
        EXPECT_EQ(t.bytes_sent, scalasca(json, name, "bytes_sent"));
        EXPECT_EQ(t.bytes_received, scalasca(json, name, "bytes_rcvd"));
        // Scalasca compares the times of the records, this counter those of the calls around them: never more.
        EXPECT_LE(counted(trace, Quality::receive_before_send), scalasca(json, name, "p2p_viol"));
    }
    // 28 records, of which 25 whole calls (counted with otf2-print).
    EXPECT_EQ(counted(read_archive(traces() / "scorep-npb-cg-W-nocomp-8"), Quality::receive_before_send), 25U);
}

}  // namespace
}  // namespace logpost::analyzer
