// The calling contexts of a job: from where each communication call was made, as a tree.
//
// A node is a function and the line where it was; a communication function is a leaf without a line below the place
// of its call: main (halo.c:12) / exchange_halo (halo.c:57) / MPI_Waitall.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model.hpp"
#include "places.hpp"

namespace logpost::assembler {

class Contexts {
  public:
    struct Node {
        OTF2_CallingContextRef parent;
        std::uint32_t function;  // of the user's, into `functions`; `none`: a communication function
        std::uint32_t number;    // of that, in the table
        std::uint32_t location;  // into `locations`; `none`
    };
    using Named = std::pair<std::string, std::string>;       // function, file
    using Location = std::pair<std::string, std::uint32_t>;  // file, line

    // Resolves the stacks of all threads. Adds warnings.
    explicit Contexts(Job& job);

    // Of a call: OTF2_UNDEFINED_CALLING_CONTEXT: unknown.
    struct Site {
        OTF2_CallingContextRef context = OTF2_UNDEFINED_CALLING_CONTEXT;
        bool cut = false;      // it has callers outside of the outermost one
        bool unnamed = false;  // of some of its callers the object is not known; they are left out
    };

    // Where a call of function `number` was made, from a stack of a thread.
    Site of_call(const Process& process, const Thread& thread, std::uint32_t stack, std::uint32_t number);

    // Where the code of a sample was.
    Site of_sample(const Process& process, const Thread& thread, const Sampled& sampled);

    // Where a function of the program begins.
    Place place_of(const Process& process, std::uint64_t function);

    const std::vector<Node>& nodes() const { return nodes_; }  // by reference; parents first
    const std::vector<Named>& functions() const { return functions_; }
    const std::vector<Location>& locations() const { return locations_; }

  private:
    std::vector<Place> frames(const Process& process, const Stack& stack, bool& unnamed) const;
    Site caller(const Process& process, const Stack& stack);
    OTF2_CallingContextRef node(Node wanted);
    const std::string& outermost(OTF2_CallingContextRef context) const;

    Places places_;
    std::vector<Node> nodes_;
    std::vector<Named> functions_;
    std::vector<Location> locations_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, OTF2_CallingContextRef> refs_;
    std::map<Named, std::uint32_t> function_refs_;
    std::map<Location, std::uint32_t> location_refs_;
    std::map<std::pair<const Thread*, std::uint32_t>, Site> callers_;  // by stack
    std::map<std::pair<const Thread*, Sampled>, Site> sampled_;
    std::unordered_map<std::uint64_t, OTF2_CallingContextRef> leaves_;  // by caller and function
};

}  // namespace logpost::assembler
