// Functions that an ELF file names, for code without debugging information.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace logpost::assembler {

class ElfSymbols {
  public:
    // Of a 64-bit file; without symbols when it cannot be read.
    explicit ElfSymbols(const std::string& path);

    bool readable() const { return readable_; }
    const std::string& build_id() const { return build_id_; }
    // The function around an address of the file, demangled; empty: none is named there.
    std::string function(std::uint64_t address) const;

  private:
    struct Symbol {
        std::uint64_t address;
        std::uint64_t size;
        std::string name;
    };
    bool readable_ = false;
    std::string build_id_;
    std::vector<Symbol> symbols_;
};

// A C++ name in full, any other as it is.
std::string demangled(const std::string& name);

}  // namespace logpost::assembler
