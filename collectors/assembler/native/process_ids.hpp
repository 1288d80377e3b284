// What a process's own numbers are in the archive: ticks, communicators, layouts, functions.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>

#include "archive.hpp"
#include "calls.hpp"
#include "event_writer.hpp"
#include "model.hpp"

namespace logpost::assembler {

class ProcessIds {
  public:
    ProcessIds(const Job& job, Process& process, Strings& strings, Tally& tally)
        : job_(job), process_(process), strings_(strings), tally_(tally) {}

    std::uint64_t ticks(std::uint64_t raw) const { return to_archive_ticks(job_, process_, raw); }

    // False, and counted: no log defines this communicator.
    bool comm(std::uint32_t local, OTF2_CommRef& ref);
    // The same where creation and destruction are written.
    bool created_comm(std::uint32_t local, OTF2_CommRef& ref);

    // The writer's list with the layout of a message; nullptr: it has none. The layout's words become a string.
    OTF2_AttributeList* layout(EventWriter& out, std::uint32_t id);
    // The same of a message that is received, and whether its receive named the sender.
    OTF2_AttributeList* received(EventWriter& out, const lp_message& m);
    // The same with those of both sides of a one-sided access.
    OTF2_AttributeList* layouts(EventWriter& out, std::uint32_t id, std::uint32_t target);

    // The group of some ranks of a window, and this process's own rank there.
    OTF2_GroupRef group(std::uint32_t window, const std::vector<std::uint64_t>& ranks);
    std::uint32_t rank_in(std::uint32_t window) const;

    // Regions are numbered as their functions are met. Throws std::runtime_error for a function that is not in the
    // table.
    OTF2_RegionRef region(const Calls& source, std::uint32_t function);
    // The operation of a collective function. Throws std::runtime_error for a name that is none of OTF2's.
    OTF2_CollectiveOp operation(std::uint32_t function) const;

  private:
    bool add_layout(EventWriter& out, OTF2_AttributeRef attribute, std::uint32_t id);

    const Job& job_;
    Process& process_;
    Strings& strings_;
    Tally& tally_;
};

}  // namespace logpost::assembler
