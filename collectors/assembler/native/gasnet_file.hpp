// GASNet's own text traces (GASNET_TRACEFILE): one file per process, line by line.
//
// A file begins with lines about the process ("0> gex_System_QueryJobSize(): 2"). Then follows a line per event:
//     0 0.443409s> [heat.c:41] (P) PUT_NB: sz =      8,  peer = TM0:1
// process, perhaps its thread in brackets, seconds since the process started (6 decimals), perhaps where the program
// was, category, text. Lines of other forms (what the program itself wrote) are counted.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace logpost::assembler::gasnet {

struct Line {
    std::uint32_t process = 0;
    std::uint64_t thread = 0;  // as the file names it; 0: it does not
    std::uint64_t us = 0;      // since the process started
    char category = 0;
    std::string_view name;  // PUT_NB, BARRIER, ...
    std::string_view rest;  // what follows it
    std::string_view file;  // empty: not stated
    std::uint32_t line = 0;
};

// A line of an event; nothing: it is none. The views are into `text`.
std::optional<Line> parse(std::string_view text);

// The number behind `key` ("sz = "); nothing: there is none.
std::optional<std::uint64_t> number(std::string_view text, std::string_view key);

// The microseconds behind `key`, in nanoseconds.
std::optional<std::uint64_t> nanoseconds(std::string_view text, std::string_view key);

// Rank in the job of the endpoint behind `key`: TM0:1, JOB:1 or 1; nothing: of a team whose members no line states.
std::optional<std::uint32_t> endpoint(std::string_view text, std::string_view key);

struct Header {
    std::string program;
    std::string command;
    std::string host;
    std::string started;  // local time to the second, as the file writes it
    std::string config;
    std::string mask;  // GASNET_TRACEMASK: which categories are in the file; empty: not stated
    std::optional<std::uint32_t> rank;
    std::uint32_t size = 0;
};

class File {
  public:
    explicit File(std::string path);

    // The next line with its end; nothing: the file is over. Valid until the next call.
    std::optional<std::string_view> next();

    // Reads the lines about the process and stays at the first event.
    Header header();

    const std::string& path() const { return path_; }
    bool cut() const { return cut_; }  // the last line has no end: it was not handed out

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    struct Free {
        void operator()(char* text) const;
    };

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    std::unique_ptr<char, Free> buffer_;
    std::size_t capacity_ = 0;
    std::optional<std::string> again_;  // the first event, which `header` has read
    std::string current_;
    bool cut_ = false;
};

}  // namespace logpost::assembler::gasnet
