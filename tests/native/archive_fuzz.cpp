// Analyzes archives that are made by chance (random_archive.hpp), in processes that may crash.
//
// usage: archive_fuzz ROUNDS|SECONDSs [FIRST-SEED]
//        archive_fuzz write DIRECTORY SEED        only writes the archive of a seed
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
#include <new>
#include <stdexcept>
#include <string>

#include "checked_analysis.hpp"

namespace fs = std::filesystem;
using logpost::tests::analyze_random;
using logpost::tests::RandomArchive;
using logpost::tests::ScratchDirectory;

namespace {

constexpr rlim_t kProcessorSeconds = 20;
constexpr rlim_t kMemory = rlim_t{1} << 30;

/// The state that the processes share.
struct Shared {
    std::atomic<std::uint64_t> seed;
    std::atomic<std::uint64_t> read, refused, sums_that_differ;
};

void analyze(std::uint64_t seed, const fs::path& place, Shared& shared) {
    RandomArchive random(seed);
    try {
        ++(analyze_random(random, place).analyzed ? shared.read : shared.refused);
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
    if (std::string(argv[1]) == "write" && argc == 4) {
        RandomArchive(std::strtoull(argv[3], nullptr, 10)).write(argv[2]);
        return 0;
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
