// The split under measurement: read, then replay the queues and partition every message, follow the waits (critical
// path and delay costs), and account the calls.
// usage: split_archive ANCHOR THREADS ROUNDS
// prints: read-seconds split-seconds account-seconds messages calls peak-kilobytes causes-seconds stretches
// collective-seconds, the split's time for the members of collective operations alone
// (best of the rounds for the times but the first)
#include <sys/resource.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "analyzer/archive/native/read/program.hpp"
#include "analyzer/archive/native/read/read.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/split/collective_split.hpp"
#include "replay/native/waits/collective_waits.hpp"

namespace {

/// Processor time of all threads: time that a busy machine gives to other processes is no cost.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Round figures of a machine with a NIC; the cost of the split does not depend on them.
logpost::replay::Parameters round_figures() {
    logpost::replay::Parameters parameters;
    for (auto& locality : parameters.localities) {
        locality.ranges.push_back(
            {.up_to_bytes = UINT64_MAX, .L = 500e3, .o_s = 100e3, .o_r = 100e3, .g = 100e3, .G = 100});
    }
    return parameters;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace logpost::analyzer;
    if (argc != 4) {
        std::fprintf(stderr, "usage: split_archive ANCHOR THREADS ROUNDS\n");
        return 2;
    }
    ReadOptions options;
    options.threads = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
    const auto rounds = std::strtoul(argv[3], nullptr, 10);
    try {
        double begin = processor_seconds();
        Trace trace = read_archive(argv[1], options);
        take_program(trace);
        const double read = processor_seconds() - begin;
        const auto parameters = round_figures();
        double split = 1e9;
        double account = 1e9;
        double causes = 1e9;
        double collectives = 1e9;
        std::size_t stretches = 0;
        std::uint64_t messages = 0;
        std::uint64_t calls = 0;
        for (unsigned long round = 0; round < rounds; ++round) {
            begin = processor_seconds();
            logpost::replay::Analysis analysis(trace.program, parameters, {}, options.threads);
            if (analysis.split_only() < 0) {
                return 1;
            }
            (void)analysis.divided();  // collectives are split, too
            split = std::min(split, processor_seconds() - begin);
            const logpost::replay::CollectiveWaits waits(trace.program);
            begin = processor_seconds();
            const logpost::replay::CollectiveSplit alone(trace.program, parameters, waits, options.threads);
            collectives = std::min(collectives, processor_seconds() - begin);
            messages = analysis.model().messages();
            begin = processor_seconds();
            stretches = analysis.path().size();
            (void)analysis.delays();
            causes = std::min(causes, processor_seconds() - begin);
            begin = processor_seconds();
            logpost::replay::CallRows rows;
            calls = 0;
            for (std::size_t block = 0; block < analysis.call_blocks(); ++block) {
                while (analysis.next_calls(block, 1U << 15U, rows)) {
                    calls += rows.enter.size();
                }
            }
            account = std::min(account, processor_seconds() - begin);
        }
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        std::printf("%.6f %.6f %.6f %" PRIu64 " %" PRIu64 " %ld %.6f %zu %.6f\n", read, split, account, messages, calls,
                    usage.ru_maxrss, causes, stretches, collectives);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
    return 0;
}
