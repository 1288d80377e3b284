// Analyzes archives that are made by chance (random_archive.hpp), in processes that may crash.
//
// usage: archive_fuzz ROUNDS|SECONDSs [FIRST-SEED]
//
// Every archive is read with all corrections of clocks and split under a machine. It may be refused by ArchiveError;
// what is not refused must add up: the parts of a message to its envelope, the messages of two locations to their pair,
// the categories of a location to its time. Ends with status 1 where sums do not hold, a round takes over 20 s of
// processor time, needs more than 1 GB, or dies; each such round is named by its seed.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "random_archive.hpp"
#include "read_program.hpp"
#include "replay/native/samples.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/split/wait_states.hpp"

namespace fs = std::filesystem;
using logpost::tests::RandomArchive;
using logpost::tests::ScratchDirectory;
namespace analyzer = logpost::analyzer;
namespace replay = logpost::replay;

namespace {

constexpr rlim_t kProcessorSeconds = 20;
constexpr rlim_t kMemory = rlim_t{1} << 30;

/// What the processes tell each other.
struct Shared {
    std::atomic<std::uint64_t> seed;
    std::atomic<std::uint64_t> read, refused, sums_that_differ;
};

void require(bool holds, const char* what) {
    if (!holds) {
        throw std::logic_error(what);
    }
}

replay::Parameters machine(RandomArchive& random) {
    static constexpr double kTimes[] = {0, 1, 1e3, 1e6, 1e12};  // ps: a second at most
    static constexpr double kGaps[] = {0, 1, 100, 1e6};
    replay::Parameters parameters;
    for (auto& locality : parameters.localities) {
        for (const std::uint64_t up_to : {std::uint64_t{1024}, UINT64_MAX}) {
            locality.ranges.push_back({.up_to_bytes = up_to,
                                       .L = random.one_of(kTimes),
                                       .o_s = random.one_of(kTimes),
                                       .o_s_per_byte = random.one_of(kGaps),
                                       .o_r = random.one_of(kTimes),
                                       .g = random.one_of(kTimes),
                                       .G = random.one_of(kGaps)});
        }
        locality.eager_limit = 8192;
    }
    parameters.nics_per_node = 1 + random.below(2);
    parameters.asynchronous_progress = random.below(2) == 0;
    return parameters;
}

void check_messages(replay::Analysis& analysis) {
    using replay::MessageRows;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> envelopes;
    MessageRows rows;
    while (analysis.next_messages(1000, rows)) {
        for (std::size_t i = 0; i < rows.bytes.size(); ++i) {
            std::int64_t sum = 0;
            for (std::size_t part = 0; part < replay::kParts; ++part) {
                const auto length = rows.times[MessageRows::first_part + part][i];
                require(length >= 0, "a part of a message is negative");
                sum += length;
            }
            require(sum == rows.times[MessageRows::envelope][i], "parts are not their message's envelope");
            require(rows.times[MessageRows::deficit][i] >= 0, "a deficit is negative");
            envelopes[{rows.ids[MessageRows::send_location][i], rows.ids[MessageRows::recv_location][i]}] += sum;
        }
    }
    const auto& pairs = analysis.pairs();
    for (std::size_t receiver = 0; receiver < pairs.size(); ++receiver) {
        for (const auto& pair : pairs[receiver]) {
            const auto messages = envelopes[{pair.sender, static_cast<std::int32_t>(receiver)}];
            require(messages == pair.envelope_ps, "a pair is not the sum of its messages");
        }
    }
}

void check_locations(replay::Analysis& analysis) {
    replay::CallRows calls;
    while (analysis.next_calls(1000, calls)) {
        for (std::size_t i = 0; i < calls.enter.size(); ++i) {
            std::int64_t sum = 0;
            for (std::size_t category = 0; category < calls.exposed.size(); ++category) {
                require(calls.exposed_ps(category, i) >= 0, "a category of a call is negative");
                sum += calls.exposed_ps(category, i);
            }
            require(sum == calls.leave[i] - calls.enter[i], "categories are not their call's time");
        }
    }
    const auto& accounts = analysis.accounts();
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        const auto& timeline = analysis.program().timelines[analysis.accounted()[i]];
        std::int64_t wall = 0;
        for (const auto& row : accounts[i]) {
            require(row.exposed_ps > 0, "an exposed time is not positive");
            wall += row.exposed_ps;
        }
        require(wall == timeline.last_ps - timeline.first_ps, "categories are not their location's time");
        replay::wait_states(analysis.program(), analysis.collectives(), analysis.accounted()[i]);
    }
}

void check_causes(replay::Analysis& analysis) {
    const auto& path = analysis.path();
    for (std::size_t i = 0; i < path.size(); ++i) {
        require(path[i].end_ps >= path[i].begin_ps, "a stretch of the critical path is negative");
        require(i == 0 || path[i].begin_ps == path[i - 1].end_ps, "the critical path has a gap");
    }
    for (const auto& cost : analysis.delays()) {
        require(cost.short_term_ps >= 0 && cost.long_term_ps >= 0, "a delay cost is negative");
    }
}

void analyze(std::uint64_t seed, const fs::path& place, Shared& shared) {
    RandomArchive random(seed);
    const auto anchor = random.write(place);
    try {
        analyzer::ReadOptions options;
        options.threads = 1 + random.below(2);
        static constexpr analyzer::ClockMode kModes[] = {analyzer::ClockMode::clc, analyzer::ClockMode::offsets,
                                                         analyzer::ClockMode::none};
        const auto trace = analyzer::read_program(anchor, options, random.one_of(kModes));
        replay::samples(trace.program, 100);
        const auto parameters = machine(random);
        replay::Analysis analysis(trace.program, parameters, {}, options.threads);
        check_messages(analysis);
        replay::TransferRows transfers;
        while (analysis.next_transfers(1000, transfers)) {
        }
        check_locations(analysis);
        check_causes(analysis);
        ++shared.read;
    } catch (const analyzer::ArchiveError&) {
        ++shared.refused;
    } catch (const std::logic_error& error) {
        ++shared.sums_that_differ;
        std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), error.what());
        std::fflush(stdout);
    }
}

/// One process works through seeds until it has done them all or dies; `shared.seed` is the one at hand.
void work(Shared& shared, std::uint64_t end, std::chrono::steady_clock::time_point until, const fs::path& place) {
    rlimit limit{kMemory, kMemory};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose shadow memory is address space
    setrlimit(RLIMIT_AS, &limit);
#endif
    limit = {0, 0};
    setrlimit(RLIMIT_CORE, &limit);
    for (; shared.seed < end && std::chrono::steady_clock::now() < until; ++shared.seed) {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        const auto seconds = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + kProcessorSeconds;
        limit = {seconds, RLIM_INFINITY};
        setrlimit(RLIMIT_CPU, &limit);
        const auto archive = place / std::to_string(shared.seed);
        analyze(shared.seed, archive, shared);
        fs::remove_all(archive);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: archive_fuzz ROUNDS|SECONDSs [FIRST-SEED]\n");
        return 2;
    }
    char* unit = nullptr;
    const auto amount = std::strtoull(argv[1], &unit, 10);
    const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    const bool timed = *unit == 's';
    const auto end = timed ? UINT64_MAX : first + amount;
    const auto until = timed ? std::chrono::steady_clock::now() + std::chrono::seconds(amount)
                             : std::chrono::steady_clock::time_point::max();
    auto* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("mmap");
        return 2;
    }
    auto& shared = *new (memory) Shared{};
    shared.seed = first;
    const ScratchDirectory scratch;
    std::uint64_t died = 0;
    while (shared.seed < end && std::chrono::steady_clock::now() < until) {
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            work(shared, end, until, scratch.path());
            std::fflush(nullptr);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) {
            ++died;
            std::printf("seed %llu: died with %s %d\n", static_cast<unsigned long long>(shared.seed.load()),
                        WIFSIGNALED(status) ? "signal" : "status",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            ++shared.seed;
        }
    }
    std::printf("%llu archives: analyzed %llu, refused %llu; sums differ in %llu, died %llu\n",
                static_cast<unsigned long long>(shared.seed - first),
                static_cast<unsigned long long>(shared.read.load()),
                static_cast<unsigned long long>(shared.refused.load()),
                static_cast<unsigned long long>(shared.sums_that_differ.load()), static_cast<unsigned long long>(died));
    return died == 0 && shared.sums_that_differ == 0 ? 0 : 1;
}
