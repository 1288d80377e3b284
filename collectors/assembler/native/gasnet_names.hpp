// What the events of an imported run refer to: regions, and where in the source the calls are.
#pragma once

#include <otf2/otf2.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive.hpp"

namespace logpost::assembler::gasnet {

class Names {
  public:
    static constexpr OTF2_AttributeRef context = 0;

    // gasnet_ and the line's own name in lower case; region 0 is the program.
    OTF2_RegionRef region(std::string_view name);

    // The calling context of a region called from a line; OTF2_UNDEFINED_CALLING_CONTEXT: the line is not stated.
    OTF2_CallingContextRef called(OTF2_RegionRef region, std::string_view file, std::uint32_t line);

    // Gathers all strings; must be called before they are written.
    void gather(Strings& strings) const;
    void write(OTF2_GlobalDefWriter* writer, Strings& strings, const std::string& program) const;

  private:
    struct Place {
        std::string file;
        std::uint32_t line;
    };
    struct Context {
        bool leaf;  // the region of GASNet, else a place
        std::uint32_t number;
        OTF2_CallingContextRef parent;
    };

    std::vector<std::string> regions_;
    std::map<std::string, OTF2_RegionRef, std::less<>> region_refs_;
    std::vector<std::string> files_;
    std::map<std::string, std::uint32_t, std::less<>> file_refs_;
    std::vector<Place> places_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, OTF2_CallingContextRef> place_contexts_;  // by file and line
    std::vector<Context> contexts_;
    std::map<std::pair<OTF2_CallingContextRef, OTF2_RegionRef>, OTF2_CallingContextRef> leaves_;
};

}  // namespace logpost::assembler::gasnet
