// Damages good archives and reads each in a child process.
//
// usage: reader_fuzz ROUNDS [ARCHIVE-DIRECTORY...]     (without archives: one that it writes itself)
//
// Every round flips a few bytes of one file, or cuts it. The reader may read what is left or refuse with ArchiveError.
// If it crashes or does not end, the same damage is given to a bare libotf2 scan: where that one fails as well, the
// fault is libotf2's (the analyzer runs the reader in a separate process for that reason); where it does not, this
// program ends with status 1. All damage comes from fixed seeds; a failing round is named by its number.
#include <otf2/otf2.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analyzer/archive/native/read/read.hpp"
#include "archive_builder.hpp"

namespace fs = std::filesystem;
using logpost::tests::ArchiveBuilder;
using logpost::tests::Events;
using logpost::tests::ScratchDirectory;

namespace {

constexpr rlim_t kProcessorSeconds = 5;
constexpr unsigned kSeconds = 60;  // for what waits without computing: a busy machine is slow
constexpr rlim_t kMemory = rlim_t{3} << 30;

enum class Outcome { read, refused, out_of_memory, crashed, hung };
constexpr const char* kNames[] = {"read", "refused", "out of memory", "crashed", "hung"};

template <class Body>
Outcome in_child(Body&& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit memory{kMemory, kMemory};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose shadow memory is address space
        setrlimit(RLIMIT_AS, &memory);
#endif
        static_cast<void>(memory);
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        const rlimit processor{kProcessorSeconds, kProcessorSeconds};
        setrlimit(RLIMIT_CPU, &processor);
        alarm(kSeconds);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        const auto signal = WTERMSIG(status);
        // Past its hard limit of processor time a process is killed.
        return signal == SIGALRM || signal == SIGXCPU || signal == SIGKILL ? Outcome::hung : Outcome::crashed;
    }
    switch (WEXITSTATUS(status)) {
        case 0:
            return Outcome::read;
        case 10:
            return Outcome::refused;
        case 11:
            return Outcome::out_of_memory;
        default:
            return Outcome::crashed;
    }
}

int read_with_us(const fs::path& anchor) {
    try {
        logpost::analyzer::ReadOptions options;
        options.threads = 1;
        logpost::analyzer::read_archive(anchor, options);
        return 0;
    } catch (const logpost::analyzer::ArchiveError&) {
        return 10;
    } catch (const std::bad_alloc&) {
        return 11;
    }
}

OTF2_CallbackCode collect(void* user, OTF2_LocationRef self, OTF2_StringRef, OTF2_LocationType, std::uint64_t,
                          OTF2_LocationGroupRef) {
    static_cast<std::vector<std::uint64_t>*>(user)->push_back(self);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_ErrorCode be_quiet(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*, va_list) {
    return code;
}

int scan_with_otf2(const fs::path& anchor) {
    OTF2_Error_RegisterCallback(be_quiet, nullptr);
    OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
    if (reader == nullptr) {
        return 10;
    }
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    std::vector<std::uint64_t> locations;
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, collect);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &locations);
    std::uint64_t n = 0;
    if (definitions == nullptr || OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n) != OTF2_SUCCESS) {
        return 10;
    }
    for (const auto location : locations) {
        OTF2_Reader_SelectLocation(reader, location);
    }
    OTF2_Reader_OpenDefFiles(reader);
    OTF2_Reader_OpenEvtFiles(reader);
    for (const auto location : locations) {
        if (OTF2_DefReader* local = OTF2_Reader_GetDefReader(reader, location)) {
            OTF2_Reader_ReadAllLocalDefinitions(reader, local, &n);
            OTF2_Reader_CloseDefReader(reader, local);
        }
        if (OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, location)) {
            OTF2_Reader_ReadAllLocalEvents(reader, events, &n);
            OTF2_Reader_CloseEvtReader(reader, events);
        }
    }
    OTF2_Reader_Close(reader);
    return 0;
}

fs::path write_sample(const fs::path& directory) {
    ArchiveBuilder archive(directory);
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    const auto isend = archive.region("MPI_Isend");
    const auto irecv = archive.region("MPI_Irecv");
    const auto waitall = archive.region("MPI_Waitall");
    const auto barrier = archive.region("MPI_Barrier");
    constexpr std::uint32_t kRanks = 3;
    archive.world(kRanks);
    archive.self_communicator(1);
    for (std::uint32_t l = 0; l < kRanks; ++l) {
        archive.local(l, {{0, 5}, {100000, 9}}, {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}});
        archive.events(l, [&](Events& e) {
            e.enter(1, main);
            // Two chunks of 1 MiB and a bit.
            for (std::uint64_t i = 0, t = 2; i < 30000; ++i, t += 20) {
                e.enter(t, irecv).irecv_request(t + 1, 2 * i).leave(t + 2, irecv);
                e.enter(t + 3, isend).isend(t + 4, (l + 1) % kRanks, 0, 1, 8, 2 * i + 1).leave(t + 5, isend);
                e.enter(t + 6, waitall).isend_complete(t + 7, 2 * i + 1);
                e.irecv(t + 8, (l + kRanks - 1) % kRanks, 0, 1, 8, 2 * i).leave(t + 9, waitall);
                if (i % 100 == 0) {
                    e.enter(t + 10, barrier).collective(t + 10, t + 15, OTF2_COLLECTIVE_OP_BARRIER, 0);
                    e.leave(t + 16, barrier);
                }
            }
        });
    }
    return archive.finish();
}

fs::path from_anchor(const fs::path& archive) {
    return logpost::analyzer::find_anchor(archive).filename();
}

std::vector<char> contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Damages one file of the archive and says how.
std::string damage(const fs::path& directory, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
        const auto extension = entry.path().extension();
        if (extension == ".evt" || extension == ".def" || extension == ".otf2") {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    const auto file = files[random() % files.size()];
    auto bytes = contents(file);
    std::string what = file.filename().string();
    if (bytes.empty()) {
        return what + ": empty";
    }
    if (random() % 3 == 0) {
        const auto keep = random() % bytes.size();
        bytes.resize(keep);
        what += ": cut to " + std::to_string(keep) + " bytes";
    } else {
        const auto flips = 1 + random() % 8;
        for (std::uint32_t i = 0; i < flips; ++i) {
            const auto at = random() % bytes.size();
            bytes[at] = static_cast<char>(random());
            what += (i == 0 ? ": changed bytes " : " ") + std::to_string(at);
        }
    }
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return what;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: reader_fuzz ROUNDS [ARCHIVE-DIRECTORY...]\n");
        return 2;
    }
    const auto rounds = static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10));
    const ScratchDirectory scratch;
    std::vector<fs::path> archives(argv + 2, argv + argc);
    if (archives.empty()) {
        archives.push_back(write_sample(scratch.path() / "sample").parent_path());
    }
    std::map<Outcome, unsigned> ours;
    std::map<Outcome, unsigned> theirs;
    unsigned our_faults = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        const auto& from = archives[round % archives.size()];
        const auto damaged = scratch.path() / ("round" + std::to_string(round));
        fs::copy(from, damaged, fs::copy_options::recursive);
        const auto what = damage(damaged, round);
        const auto outcome = in_child([&] {
            try {
                return read_with_us(damaged);
            } catch (const std::exception&) {
                return 12;
            }
        });
        ++ours[outcome];
        if (std::getenv("LOGPOST_FUZZ_BARE") != nullptr && fs::exists(damaged / from_anchor(from))) {
            ++theirs[in_child([&] { return scan_with_otf2(damaged / from_anchor(from)); })];
        }
        if (outcome != Outcome::read && outcome != Outcome::refused) {
            const auto anchor = logpost::analyzer::find_anchor(damaged);
            const auto bare = in_child([&] { return scan_with_otf2(anchor); });
            const bool otf2_fails_too =
                bare == Outcome::crashed || bare == Outcome::hung || bare == Outcome::out_of_memory;
            std::printf("round %u, %s, %s: the reader %s, bare libotf2 %s\n", round, from.filename().c_str(),
                        what.c_str(), kNames[static_cast<int>(outcome)], kNames[static_cast<int>(bare)]);
            our_faults += otf2_fails_too ? 0 : 1;
        }
        fs::remove_all(damaged);
    }
    std::printf("%u rounds:", rounds);
    for (const auto& [outcome, n] : ours) {
        std::printf(" %s %u", kNames[static_cast<int>(outcome)], n);
    }
    std::printf("; not explained by libotf2: %u\n", our_faults);
    if (!theirs.empty()) {
        std::printf("bare libotf2:");
        for (const auto& [outcome, n] : theirs) {
            std::printf(" %s %u", kNames[static_cast<int>(outcome)], n);
        }
        std::printf("\n");
    }
    return our_faults == 0 ? 0 : 1;
}
