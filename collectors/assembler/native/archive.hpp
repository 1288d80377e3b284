// The OTF2 archive: strings and definitions, and the events of one process.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "contexts.hpp"
#include "model.hpp"
#include "open_archive.hpp"
#include "overwritten.hpp"

namespace logpost::assembler {

class Strings {
  public:
    OTF2_StringRef operator()(const std::string& text) {
        const auto [at, fresh] = refs_.try_emplace(text, static_cast<OTF2_StringRef>(refs_.size()));
        if (fresh) {
            order_.push_back(text);
        }
        return at->second;
    }
    const std::vector<std::string>& all() const { return order_; }

  private:
    std::unordered_map<std::string, OTF2_StringRef> refs_;
    std::vector<std::string> order_;
};

// What the events of a job turned out to hold; totals for the summary.
struct Tally {
    std::vector<OTF2_RegionRef> regions;  // by function number; 0: not called
    std::vector<std::uint32_t> called;    // functions in the order of their regions, which begin at 1
    std::uint64_t events = 0;
    std::uint64_t calls = 0;
    std::uint64_t levels = 0;  // calls that set the level of detail
    std::uint64_t calls_with_site = 0;
    std::uint64_t cut_call_paths = 0;    // calls of which outer callers were not recorded,
    std::uint64_t unnamed_callers = 0;   // and with callers in code of no object that is known
    std::uint64_t samples = 0;           // of code between calls,
    std::uint64_t samples_lost = 0;      // those that were due and for which there was no room,
    std::uint64_t sample_period_ns = 0;  // and the processor time between two of a thread
    std::uint64_t file_calls = 0;        // of the C library,
    std::uint64_t file_calls_lost = 0;   // and those for which there was no room
    std::uint64_t open = 0;              // calls that had not ended when their process did
    std::uint64_t messages_without_comm = 0;
    std::uint64_t accesses_without_window = 0;
    std::vector<std::vector<std::uint32_t>> groups;  // of epochs, as ranks; their references begin at 1
    std::map<std::vector<std::uint32_t>, OTF2_GroupRef> group_refs;
    std::uint64_t contradictory = 0;        // receives whose status did not fit the request
    std::uint64_t pending = 0;              // requests that never completed
    std::uint64_t ends_alone = 0;           // of regions that began without a record; left out
    std::uint64_t regions_entered = 0;      // that the program names, and functions
    std::uint64_t halves = 0;               // of messages, left out because the other one was overwritten
    std::uint64_t parts_of_operations = 0;  // the same of collective operations
    lp_gap off{};                           // while recording was off: calls and what they did, on all processes,
    std::uint64_t times_off = 0;            // how often it went off, thread by thread,
    std::uint64_t ns_off = 0;               // and the longest time that a thread was off
    std::uint64_t moving = 0;               // of logs to their next windows, all threads; ticks
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;
};

struct LocationEvents {
    std::uint64_t location = 0;
    std::uint32_t rank = 0;
    std::uint32_t thread = 0;
    std::uint64_t events = 0;
};

inline std::uint64_t location_of(std::uint32_t rank, std::uint32_t thread) {
    return static_cast<std::uint64_t>(thread) << 32U | rank;
}

// The program's own region; those of functions are numbered as they are met.
inline constexpr OTF2_RegionRef program_region = 0;
inline constexpr OTF2_AttributeRef layout_attribute = 0;
inline constexpr OTF2_AttributeRef context_attribute = 2;
inline constexpr OTF2_AttributeRef open_attribute = 1;
inline constexpr OTF2_AttributeRef target_layout_attribute = 3;
inline constexpr OTF2_AttributeRef persistent_attribute = 4;
inline constexpr OTF2_AttributeRef any_source_attribute = 5;
inline constexpr OTF2_AttributeRef periods_attribute = 6;
inline constexpr OTF2_InterruptGeneratorRef sample_generator = 0;
inline constexpr OTF2_ParameterRef level_parameter = 0;

// Writes all events of one process, thread by thread in step with each other (requests may be completed by another
// thread than the one that started them). Adds a row per location.
void write_events(OTF2_Archive* archive, const Job& job, Process& process, Strings& strings, Tally& tally,
                  Contexts& contexts, const Overwritten& overwritten, std::vector<LocationEvents>& locations);

// Gives a location without events the one that says so: readers look for a file of events wherever one is defined.
std::uint64_t write_nothing(OTF2_EvtWriter* writer, const Job& job);

// Writes the whole archive into `directory`, which must not exist; events first, then definitions.
Tally write_archive(const std::filesystem::path& directory, Job& job);

// Definitions; called by write_archive once the events are there.
void write_definitions(OTF2_Archive* archive, const Job& job, Strings& strings, const Tally& tally,
                       const Contexts& contexts, const std::vector<LocationEvents>& locations);

}  // namespace logpost::assembler
