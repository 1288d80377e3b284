#pragma once

// What the tests of the reader share: an archive in the making, and questions to the trace that is read back.

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>

#include "analyzer/archive/native/read/read.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "archive_builder.hpp"

namespace logpost::analyzer {

using tests::ArchiveBuilder;
using tests::Events;
using tests::ScratchDirectory;

inline std::uint64_t counted(const Trace& trace, Quality what) {
    return trace.quality[static_cast<std::size_t>(what)];
}

/// The sum of all counters but those of the list.
inline std::uint64_t counted_besides(const Trace& trace, std::initializer_list<Quality> expected) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < trace.quality.size(); ++i) {
        if (std::find(expected.begin(), expected.end(), static_cast<Quality>(i)) == expected.end()) {
            sum += trace.quality[i];
        }
    }
    return sum;
}

inline const ProfileRow* profile_of(const Trace& trace, std::size_t location, const std::string& path) {
    for (const auto& row : trace.traces[location].profile) {
        std::string name;
        for (auto at = row.callpath; at != kUndefined; at = trace.callpaths[static_cast<std::size_t>(at)].parent) {
            const auto region = trace.callpaths[static_cast<std::size_t>(at)].region;
            const auto& above = trace.regions[static_cast<std::size_t>(region)].name;
            name = name.empty() ? above : std::string(above).append("/").append(name);
        }
        if (name == path) {
            return &row;
        }
    }
    return nullptr;
}

class Reader : public ::testing::Test {
  protected:
    ScratchDirectory scratch;
    ArchiveBuilder archive{scratch.path() / "a"};
    Trace read(unsigned threads = 1) {
        ReadOptions options;
        options.threads = threads;
        return read_archive(archive.finish(), options);
    }
};

}  // namespace logpost::analyzer
