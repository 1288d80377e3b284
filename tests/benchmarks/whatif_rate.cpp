// How fast what-if replays are: whatif_rate PATTERN RANKS STEPS, one line of figures. CPU seconds of one thread, but
// for those on two. Instead, behind STEPS: goal writes the same schedule for LogGOPSim, archive DIRECTORY an archive of
// how it ran, and stand_in the seconds of the stand-in for LogGOPSim alone.
// Run by tests/benchmarks/whatif_speed.py and whatif_command.py.

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/native/graph/replay.hpp"
#include "replay/native/graph/tangents.hpp"
#include "replay/native/memory/threads.hpp"
#include "tests/benchmarks/goal.hpp"
#include "tests/benchmarks/schedule_archive.hpp"
#include "tests/benchmarks/schedules.hpp"

namespace {

using namespace logpost;

double wall() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Of this thread: what others do on the machine counts less.
double busy() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> of) {
    std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
    return of[of.size() / 2];
}

double peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
}

template <class Body>
double seconds(Body&& body, double (*clock)() = busy, int rounds = 3) {
    double best = 1e9;
    for (int round = 0; round < rounds; ++round) {
        const double begin = clock();
        body();
        best = std::min(best, clock() - begin);
    }
    return best;
}

/// Additions that do not wait for each other, on so many threads concurrently: the share of each of two processors on
/// one core.
void add(unsigned threads) {
    constexpr std::uint64_t kRounds = 50'000'000;
    replay::for_each_parallel(threads, threads, 1, [](std::size_t i, unsigned) {
        std::array<std::uint64_t, 8> sums{};
        for (std::uint64_t round = i; round < i + kRounds; ++round) {
            for (auto& sum : sums) {
                sum += round;
                asm volatile("" : "+r"(sum));  // keeps the loop as written: neither folded nor vectorized
            }
        }
    });
}

replay::Parameters machine_of(const tests::LogGPS& from) {
    replay::Parameters machine;
    for (auto& locality : machine.localities) {
        locality.ranges = {{.up_to_bytes = UINT64_MAX,
                            .L = static_cast<double>(from.L),
                            .o_s = static_cast<double>(from.o_s),
                            .o_r = static_cast<double>(from.o_r),
                            .g = static_cast<double>(from.g),
                            .G = static_cast<double>(from.G)}};
    }
    return machine;
}

std::vector<replay::Setting> settings(const tests::LogGPS& machine, int count) {
    std::vector<replay::Setting> found;
    for (int i = 0; i < count; ++i) {
        auto changed = machine;
        changed.L = machine.L * (i + 2);
        found.push_back({.machine = machine_of(changed)});
    }
    return found;
}

/// All that a replay reads of a graph, once: what no replay can be faster than.
std::uint64_t read_through(const replay::Graph& graph) {
    std::uint64_t sum = 0;
    for (const auto& arc : graph.arcs) {
        sum += arc.source ^ arc.row();
    }
    for (const auto slot : graph.slots) {
        sum += slot;
    }
    for (std::size_t i = 0; i < graph.own_weights.size(); ++i) {
        sum += static_cast<std::uint64_t>(graph.own_weights[i]) ^ graph.own_models[i];
    }
    return sum;
}

}  // namespace

int main(int count, char** arguments) {
    const bool goal = count == 5 && std::string_view(arguments[4]) == "goal";
    const bool archive = count == 6 && std::string_view(arguments[4]) == "archive";
    const bool stand_in = count == 5 && std::string_view(arguments[4]) == "stand_in";
    if (count != 4 && !goal && !archive && !stand_in) {
        std::fputs("usage: whatif_rate halo|all_to_all RANKS STEPS [goal | stand_in | archive DIRECTORY]\n", stderr);
        return 2;
    }
    const bool exchange = std::string(arguments[1]) == "halo";
    const auto ranks = static_cast<std::uint32_t>(std::atoi(arguments[2]));
    const auto steps = static_cast<std::uint32_t>(std::atoi(arguments[3]));
    const tests::LogGPS machine = exchange ? tests::LogGPS{2'000'000, 500'000, 500'000, 0, 0}
                                           : tests::LogGPS{2'000'000, 500'000, 500'000, 600'000, 100};
    const auto schedule = exchange ? tests::halo(ranks, steps, 2, 100) : tests::all_to_all(ranks, steps, 100);

    if (goal) {
        tests::write_goal(schedule, stdout);
        return 0;
    }

    std::vector<std::vector<tests::Ran>> ran;
    const double by_events = seconds([&] { ran = tests::EventReplay(schedule, machine).run(); }, busy, 1);
    if (stand_in) {
        std::printf("%.6f\n", by_events);
        return 0;
    }
    if (archive) {
        tests::write_archive(schedule, ran, arguments[5]);
        return 0;
    }
    tests::ProgramStory story;
    tests::add_schedule(story, schedule, ran);
    const auto& program = story.program();
    double messages = 0;
    for (const auto& timeline : program.timelines) {
        messages += static_cast<double>(timeline.receives.size());
    }

    const auto before = peak_bytes();
    const auto recorded = machine_of(machine);
    const double begin = busy();
    const auto graph = replay::build_graph(program, recorded, recorded);
    const double building = busy() - begin;
    const auto peak = peak_bytes() - before;

    const auto pass = [&](int lanes, unsigned threads, double (*clock)() = busy, int rounds = 3) {
        const auto all = settings(machine, lanes);
        std::int64_t sum = 0;
        const double found =
            seconds([&] { sum += replay::Weights(graph, recorded, all).makespans(threads).front(); }, clock, rounds);
        return sum == 0 ? 0 : found;
    };
    double one = pass(1, 1);
    double eight = pass(8, 1);
    // On the clock, in pairs: the best of one thread, apart from that of two, would be of a moment at which a processor
    // was less shared than two ever are.
    double sweep_on_two = 1e9;
    std::vector<double> gain;
    std::vector<double> adding_gain;
    for (int turn = 0; turn < 7; ++turn) {
        const double alone = pass(32, 1, wall, 1);
        const double two = pass(32, 2, wall, 1);
        sweep_on_two = std::min(sweep_on_two, two);
        gain.push_back(alone / two);
        const double adding = seconds([] { add(1); }, wall, 1);
        adding_gain.push_back(2 * adding / seconds([] { add(2); }, wall, 1));
    }
    one = std::min(one, pass(1, 1));
    eight = std::min(eight, pass(8, 1));
    std::uint64_t sum = 0;
    const double reading = seconds([&] { sum += read_through(graph); });
    if (sum == 0) {
        return 1;  // so that the sum is made
    }
    // Events of the trace: an enter and a leave of each call, and a record of each end of a message.
    std::printf("%.0f %.6f %.6f %.6f %.6f %.6f %.6f %.1f %.1f %.6f %.6f\n", messages, by_events, building, one, eight,
                sweep_on_two, reading, peak / (6 * messages), static_cast<double>(graph.bytes()) / (6 * messages),
                median(gain), median(adding_gain));
    return 0;
}
