#include "places.hpp"

#include <array>
#include <filesystem>
#include <sstream>

#include "addr2line.hpp"
#include "elf_symbols.hpp"

namespace logpost::assembler {
namespace {

std::string base_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

std::string extension(const std::string& path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? "" : path.substr(dot + 1);
}

}  // namespace

bool is_fortran(const std::string& file) {
    static const std::array known{"f", "F", "for", "f77", "f90", "F90", "f95", "F95", "f03", "F03", "f08", "F08"};
    const std::string own = extension(file);
    for (const char* one : known) {
        if (own == one) {
            return true;
        }
    }
    return false;
}

namespace {

// A function as its author wrote it: gfortran's "__halo_MOD_exchange" is halo::exchange, "exchange_" is exchange.
std::string own_name(const std::string& name, const std::string& file) {
    if (name == "MAIN__") {
        return "main";
    }
    const std::size_t module = name.find("_MOD_");
    if (name.starts_with("__") && module != std::string::npos) {
        return name.substr(2, module - 2) + "::" + name.substr(module + 5);
    }
    if (is_fortran(file) && name.size() > 1 && name.ends_with('_')) {
        return name.substr(0, name.size() - (name.ends_with("__") ? 2 : 1));
    }
    return demangled(name);
}

bool starts_programs(const std::string& function) {
    return function == "_start" || function.starts_with("__libc_start");
}

std::string offset_name(const std::string& path, std::uint64_t address) {
    std::ostringstream text;
    text << base_name(path) << "+0x" << std::hex << address;
    return text.str();
}

}  // namespace

bool is_runtime(const std::string& path) {
    static const std::array begins{"liblogpost_", "libmpi",     "libpmpi",   "libopen-pal", "libopen-rte",
                                   "liboshmem",   "libprrte",   "libpmix",   "libucp.",     "libuct.",
                                   "libucs.",     "libfabric.", "libhwloc.", "libevent",    "mca_",
                                   "libc.so",     "libc-2.",    "ld-linux",  "ld-2.",       "libpthread",
                                   "linux-vdso",  "libmunge",   "libpsm",    "libibverbs.", "libcaf_"};
    const std::string name = base_name(path);
    for (const char* one : begins) {
        if (name.starts_with(one)) {
            return true;
        }
    }
    return false;
}

void Places::want(const Module& module, std::uint64_t address) {
    if (!is_runtime(module.path)) {
        Object& object = objects_[module.path];
        object.build_id = module.build_id;
        object.addresses[address - module.base - 1];
    }
}

void Places::resolve(std::vector<std::string>& warnings) {
    for (auto& [path, object] : objects_) {
        const ElfSymbols symbols(path);
        const bool same = symbols.readable() && (object.build_id.empty() || symbols.build_id().empty() ||
                                                 symbols.build_id() == object.build_id);
        std::map<std::uint64_t, std::vector<Place>> found;
        if (same) {
            std::vector<std::uint64_t> wanted;
            for (const auto& [address, places] : object.addresses) {
                wanted.push_back(address);
            }
            found = ask_addr2line(path, wanted);
        } else if (symbols.readable()) {
            warnings.push_back(path + " is not the file that ran (it was rebuilt): its functions have no names");
        }
        for (auto& [address, places] : object.addresses) {
            for (const Place& place : found[address]) {
                if (!place.file.empty() && !place.function.empty() && !starts_programs(place.function)) {
                    places.push_back({own_name(place.function, place.file), place.file, place.line});
                }
            }
            if (places.empty()) {  // addr2line's own guess without debugging information is the nearest symbol
                const std::string name = same ? symbols.function(address) : "";
                if (!starts_programs(name)) {
                    const std::string offset = offset_name(path, address);
                    places.push_back(name.empty() ? Place{offset, "", 0} : Place{own_name(name, ""), offset, 0});
                }
            }
        }
    }
}

const std::vector<Place>& Places::at(const Module& module, std::uint64_t address) const {
    static const std::vector<Place> nothing;
    const auto object = objects_.find(module.path);
    if (object == objects_.end()) {
        return nothing;
    }
    const auto found = object->second.addresses.find(address - module.base - 1);
    return found != object->second.addresses.end() ? found->second : nothing;
}

}  // namespace logpost::assembler
