// The reader under measurement.
// usage: read_archive ANCHOR THREADS    prints: seconds events peak-kilobytes communication-events matched-messages
#include "analyzer/archive/native/read/read.hpp"

#include <sys/resource.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    using namespace logpost::analyzer;
    if (argc != 3) {
        std::fprintf(stderr, "usage: read_archive ANCHOR THREADS\n");
        return 2;
    }
    ReadOptions options;
    options.threads = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
    try {
        const auto begin = std::chrono::steady_clock::now();
        const Trace trace = read_archive(argv[1], options);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        std::uint64_t events = 0;
        std::uint64_t communication = 0;
        std::uint64_t matched = 0;
        for (const auto& location : trace.traces) {
            events += location.events;
            communication += location.communication_events;
            location.sends.for_each([&](std::size_t, const MessageEnd& end) { matched += end.match != kNone ? 1 : 0; });
        }
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        std::printf("%.6f %" PRIu64 " %ld %" PRIu64 " %" PRIu64 "\n", took.count(), events, usage.ru_maxrss,
                    communication, matched);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
    return 0;
}
