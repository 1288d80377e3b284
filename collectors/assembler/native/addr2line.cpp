#include "addr2line.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

extern char** environ;

namespace logpost::assembler {
namespace {

// What a program prints, given the content of a file as its input; empty when it cannot be started or fails.
std::string output_of(const std::vector<std::string>& command, std::FILE* input) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return "";
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ::fileno(input), 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::vector<char*> words;
    for (const std::string& word : command) {
        words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    std::vector<char*> environment;  // without what would make it fetch debugging information from the network
    for (char** at = environ; *at != nullptr; ++at) {
        const std::string line = *at;
        if (!line.starts_with("DEBUGINFOD_URLS=") && !line.starts_with("LD_PRELOAD=")) {
            environment.push_back(*at);
        }
    }
    environment.push_back(nullptr);
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text;
    if (failed == 0) {
        char room[65536];
        for (ssize_t n = 0; (n = ::read(ends[0], room, sizeof room)) > 0;) {
            text.append(room, static_cast<std::size_t>(n));
        }
        int status = 0;
        if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            text.clear();
        }
    }
    ::close(ends[0]);
    return text;
}

// "dir/halo.c:57 (discriminator 2)"; "??:0" and "halo.c:?" where it does not know.
void take_line(const std::string& text, Place& place) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || text.starts_with("??")) {
        return;
    }
    place.file = text.substr(0, colon);
    place.line = static_cast<std::uint32_t>(std::strtoul(text.c_str() + colon + 1, nullptr, 10));
}

}  // namespace

std::map<std::uint64_t, std::vector<Place>> ask_addr2line(const std::string& object,
                                                          const std::vector<std::uint64_t>& addresses) {
    std::map<std::uint64_t, std::vector<Place>> found;
    // NOLINTNEXTLINE(clang-analyzer-unix.Stream): its owner closes it
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::tmpfile(), std::fclose);
    if (!input) {
        return found;
    }
    for (const std::uint64_t address : addresses) {
        std::fprintf(input.get(), "0x%llx\n", static_cast<unsigned long long>(address));
    }
    std::fflush(input.get());
    std::rewind(input.get());
    const std::string text = output_of({"addr2line", "-a", "-C", "-f", "-i", "-e", object}, input.get());
    std::vector<Place>* places = nullptr;
    bool has_function = false;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        begin = end + 1;
        if (line.starts_with("0x")) {
            places = &found[std::strtoull(line.c_str(), nullptr, 16)];
            has_function = false;
        } else if (places != nullptr && !has_function) {
            places->push_back({line == "??" ? "" : line, "", 0});
            has_function = true;
        } else if (places != nullptr) {
            take_line(line, places->back());
            has_function = false;
        }
    }
    return found;
}

}  // namespace logpost::assembler
