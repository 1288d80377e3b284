// Where in the source a process was: addresses of its code to functions, files and lines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace logpost::assembler {

// An object that held code in a process: the executable, a shared object.
struct Module {
    std::uint64_t base = 0;  // what the process added to the object's own addresses
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string build_id;
    std::string path;
};

// A function at work, and where it was. Without debugging information `line` is 0 and `file` is "object+0xoffset",
// which still distinguishes places of one function.
struct Place {
    std::string function;
    std::string file;
    std::uint32_t line = 0;
};

// Collects addresses, resolves them all at once, and gives the places back.
class Places {
  public:
    // A return address in a module: the place is that of the call before it.
    void want(const Module& module, std::uint64_t address);

    // Runs addr2line (one process per object, DWARF) and reads the objects' symbol tables. What neither has is named
    // "object+0xoffset". Adds a warning per object that is not the one that ran.
    void resolve(std::vector<std::string>& warnings);

    // The frames at an address, inlined functions included, innermost first. Empty for the runtime's own frames (MPI,
    // the C library's start-up) and before resolve().
    const std::vector<Place>& at(const Module& module, std::uint64_t address) const;

  private:
    using Addresses = std::map<std::uint64_t, std::vector<Place>>;
    struct Object {
        std::string build_id;
        Addresses addresses;
    };
    std::map<std::string, Object> objects_;  // by path
};

// Whether a file's name is that of a Fortran source.
bool is_fortran(const std::string& file);

// Whether an object is part of an MPI library or of what starts programs.
bool is_runtime(const std::string& path);

}  // namespace logpost::assembler
