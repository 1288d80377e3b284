#include "analyzer/archive/native/trace/stream_use.hpp"

#include "reader_fixture.hpp"

namespace logpost::analyzer {
namespace {

TEST(StreamUse, AnInstantCountsOnce) {
    StreamTotals totals;
    StreamUse stream;
    stream.begin(totals);
    stream.copy_begins(10, 1, 100, true);
    stream.kernel(20, 50);    // 30
    stream.copy_ends(60, 1);  // of 10 to 60, the kernel's end was 50: 10
    stream.copy_begins(70, 1, 40, false);
    stream.copy_ends(75, 1);  // 5
    stream.copy_ends(80, 1);  // began before the trace
    EXPECT_EQ(totals.kernels, 1U);
    EXPECT_EQ(totals.kernel_ps, 30);
    EXPECT_EQ(totals.copies, 2U);
    EXPECT_EQ(totals.copy_ps, 15);
    EXPECT_EQ(totals.bytes_to_device, 100U);
    EXPECT_EQ(totals.bytes_to_host, 40U);
}

/// A rank computes 0 to 100; on its stream, a copy of 64 bytes to the device 20 to 30, a kernel 30 to 70 with a device
/// function in it, a copy of 8 bytes back 70 to 75.
class Stream : public Reader {};

TEST_F(Stream, KernelsAndCopiesOfAnAcceleratorAreNoCommunication) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    const auto kernel = archive.region("saxpy", OTF2_PARADIGM_CUDA);
    const auto inner = archive.region("part", OTF2_PARADIGM_CUDA);
    archive.location(0);
    archive.stream(1);
    archive.numbering(OTF2_PARADIGM_MPI, {0});
    archive.communicator({0}, 0, "MPI_COMM_WORLD");
    archive.numbering(OTF2_PARADIGM_CUDA, {0, 1});
    const auto both = archive.group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_CUDA, {0, 1});
    const auto window = archive.window(archive.communicator_of_group(both, 1), 0);
    archive.events(0, [&](Events& e) { e.enter(0, main).leave(100, main); });
    archive.events(1, [&](Events& e) {
        e.get(20, window, 0, 64, 42).completed(30, window, 42);
        e.enter(30, kernel).enter(40, inner).leave(50, inner).leave(70, kernel);
        e.put(70, window, 0, 8, 42).completed(75, window, 42);
    });
    const auto trace = read();
    const auto& stream = trace.traces[1].stream;
    EXPECT_EQ(stream.kernels, 1U);
    EXPECT_EQ(stream.kernel_ps, 40'000);
    EXPECT_EQ(stream.copies, 2U);
    EXPECT_EQ(stream.copy_ps, 15'000);
    EXPECT_EQ(stream.bytes_to_device, 64U);
    EXPECT_EQ(stream.bytes_to_host, 8U);
    EXPECT_EQ(trace.traces[1].calls.size() + trace.traces[1].transfers.size(), 0U);
    EXPECT_EQ(trace.traces[1].communication_events, 0U);
    EXPECT_EQ(trace.traces[0].stream.kernels, 0U);
    EXPECT_EQ(counted(trace, Quality::device_transfer), 2U);
}

}  // namespace
}  // namespace logpost::analyzer
