// The regions that the program names, and its functions where they were recorded.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <vector>

#include "contexts.hpp"
#include "event_writer.hpp"
#include "process_ids.hpp"

namespace logpost::assembler {

// Gives each of them, and each call of the C library on each file, a number behind those of the table of functions.
void number_regions(Job& job, Contexts& contexts);

// A file's local id; 0: the log does not define it.
std::uint32_t known_file(const Process& process, std::uint32_t file);

// Those that one thread is in.
class OpenRegions {
  public:
    void begin(EventWriter& out, std::uint64_t time, OTF2_RegionRef region);
    // False: it began without a record.
    bool end(EventWriter& out, std::uint64_t time);

    // Nothing is recorded: all are left,
    void interrupt(EventWriter& out, std::uint64_t time);
    // and the first `kept` entered again; within these, `begun` have begun without a record.
    void resume(EventWriter& out, std::uint64_t time, std::size_t kept, std::size_t begun);

  private:
    static constexpr OTF2_RegionRef unseen = OTF2_UNDEFINED_REGION;

    std::vector<OTF2_RegionRef> open_;
};

}  // namespace logpost::assembler
