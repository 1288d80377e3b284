// Debugging information, looked up with binutils' (or LLVM's) addr2line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "places.hpp"

namespace logpost::assembler {

// The frames at addresses of an object, innermost first; function, file and line are empty where it does not know.
// Nothing at all when there is no addr2line or it fails.
std::map<std::uint64_t, std::vector<Place>> ask_addr2line(const std::string& object,
                                                          const std::vector<std::uint64_t>& addresses);

}  // namespace logpost::assembler
