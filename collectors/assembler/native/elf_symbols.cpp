#include "elf_symbols.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "raw.hpp"

namespace logpost::assembler {
namespace {

// The part of a mapped file that holds `count` values; nullptr beyond its end.
template <class T>
const T* part(const Mapping& file, std::uint64_t offset, std::uint64_t count) {
    if (offset > file.size() || count > (file.size() - offset) / sizeof(T) || offset % alignof(T) != 0) {
        return nullptr;
    }
    return reinterpret_cast<const T*>(file.data() + offset);
}

std::string hexadecimal(const unsigned char* data, std::size_t n) {
    static const char digits[] = "0123456789abcdef";
    std::string out;
    for (std::size_t i = 0; i < n; ++i) {
        out += digits[data[i] >> 4U];
        out += digits[data[i] & 15U];
    }
    return out;
}

}  // namespace

std::string demangled(const std::string& name) {
    if (!name.starts_with("_Z")) {
        return name;
    }
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 && text ? std::string(text.get()) : name;
}

ElfSymbols::ElfSymbols(const std::string& path) {
    const Mapping file(path);
    const auto* header = part<Elf64_Ehdr>(file, 0, 1);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64) {
        return;
    }
    readable_ = true;
    const auto* sections = part<Elf64_Shdr>(file, header->e_shoff, header->e_shnum);
    if (sections == nullptr) {
        return;
    }
    for (std::size_t i = 0; i < header->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_NOTE) {
            continue;
        }
        const auto* note = part<Elf64_Nhdr>(file, sections[i].sh_offset, 1);
        if (note != nullptr && note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4) {
            const auto* id = part<unsigned char>(file, sections[i].sh_offset + sizeof *note + 4, note->n_descsz);
            build_id_ = id != nullptr ? hexadecimal(id, note->n_descsz) : "";
        }
    }
    for (const std::uint32_t kind : {SHT_SYMTAB, SHT_DYNSYM}) {
        for (std::size_t i = 0; i < header->e_shnum; ++i) {
            const Elf64_Shdr& section = sections[i];
            if (section.sh_type != kind || section.sh_link >= header->e_shnum) {
                continue;
            }
            const Elf64_Shdr& texts = sections[section.sh_link];
            const auto count = section.sh_size / sizeof(Elf64_Sym);
            const auto* symbols = part<Elf64_Sym>(file, section.sh_offset, count);
            const auto* names = part<char>(file, texts.sh_offset, texts.sh_size);
            for (std::size_t s = 0; symbols != nullptr && names != nullptr && s < count; ++s) {
                const Elf64_Sym& symbol = symbols[s];
                if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size != 0 &&
                    symbol.st_name < texts.sh_size) {
                    const char* name = names + symbol.st_name;
                    symbols_.push_back({symbol.st_value, symbol.st_size,
                                        std::string(name, strnlen(name, texts.sh_size - symbol.st_name))});
                }
            }
        }
        if (!symbols_.empty()) {
            break;
        }
    }
    std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

std::string ElfSymbols::function(std::uint64_t address) const {
    auto at = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                               [](std::uint64_t value, const Symbol& s) { return value < s.address; });
    if (at == symbols_.begin()) {
        return "";
    }
    --at;
    return address - at->address < at->size ? demangled(at->name) : "";
}

}  // namespace logpost::assembler
