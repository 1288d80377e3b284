// Analyzes archives that a fuzzer's bytes decide: each number that random_archive.hpp draws is taken from them.
//
// With Clang and LOGPOST_SANITIZE=fuzzer a program of libFuzzer, which looks for bytes that reach code not seen before
// (`make fuzz`); else, decoder_fuzz FILE-OR-DIRECTORY... runs once through what libFuzzer has found. An archive may be
// refused; what does not add up ends the program, as what the sanitizers report does.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "checked_analysis.hpp"

namespace fs = std::filesystem;
using logpost::tests::RandomArchive;
using logpost::tests::ScratchDirectory;

namespace {

/// Numbers from bytes: one byte for small choices, as many as it takes for others. After the last byte, 1: nothing
/// unusual, and the end of most loops.
class Bytes {
  public:
    Bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

    std::uint64_t operator()(std::uint64_t n) {
        if (at_ == end_) {
            return 1 % n;
        }
        std::uint64_t number = 0;
        for (std::uint64_t most = n - 1; most > 0 && at_ != end_; most >>= 8) {
            number = number << 8 | *at_++;
        }
        return number % n;
    }

  private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

/// How far the inputs of this process got, printed at its end.
struct Tally {
    std::uint64_t inputs = 0, decoded = 0, analyzed = 0, events = 0;

    void add(const logpost::tests::Reached& reached) {
        ++inputs;
        decoded += reached.events > 0 ? 1 : 0;
        analyzed += reached.analyzed ? 1 : 0;
        events += reached.events;
    }
    ~Tally() {
        std::fprintf(stderr, "%llu inputs: events decoded in %llu, split and summed %llu; %llu events\n",
                     static_cast<unsigned long long>(inputs), static_cast<unsigned long long>(decoded),
                     static_cast<unsigned long long>(analyzed), static_cast<unsigned long long>(events));
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const ScratchDirectory scratch;
    static Tally tally;
    const auto place = scratch.path() / "archive";
    RandomArchive random{RandomArchive::Draw(Bytes(data, size))};
    try {
        tally.add(logpost::tests::analyze_random(random, place));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::abort();
    }
    fs::remove_all(place);
    return 0;
}

#ifndef LOGPOST_LIBFUZZER
int main(int argc, char** argv) {
    std::vector<fs::path> files;
    for (int i = 1; i < argc; ++i) {
        if (fs::is_directory(argv[i])) {
            for (const auto& entry : fs::directory_iterator(argv[i])) {
                files.push_back(entry.path());
            }
        } else {
            files.emplace_back(argv[i]);
        }
    }
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
        std::fprintf(stderr, "%s\n", file.c_str());
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty() ? 2 : 0;
}
#endif
