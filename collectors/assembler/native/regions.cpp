#include "regions.hpp"

#include <map>
#include <set>
#include <tuple>

namespace logpost::assembler {
namespace {

void enter(EventWriter& out, std::uint64_t time, OTF2_RegionRef region) {
    check(OTF2_EvtWriter_Enter(out.writer, nullptr, out.at(time), region), "Enter");
}

void leave(EventWriter& out, std::uint64_t time, OTF2_RegionRef region) {
    check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(time), region), "Leave");
}

constexpr std::pair<std::uint32_t, const char*> file_calls[] = {{LP_FILE_OPEN, "open"},
                                                                {LP_FILE_READ, "read"},
                                                                {LP_FILE_WRITE, "write"},
                                                                {LP_FILE_SYNC, "fsync"},
                                                                {LP_FILE_CLOSE, "close"}};

// The last part of a path; pipe of pipe:[4711].
std::string name_of(const std::string& path) {
    if (!path.starts_with("/")) {
        return path.substr(0, path.find(":["));
    }
    return path.starts_with("/dev/") ? path : path.substr(path.rfind('/') + 1);
}

// How many paths of the job have a name.
std::map<std::string, std::size_t> bearers_of_names(const Job& job) {
    std::set<std::string> paths;
    for (const auto& process : job.processes) {
        for (const auto& [id, path] : process->files) {
            paths.insert(path.starts_with("/") ? path : name_of(path));
        }
    }
    std::map<std::string, std::size_t> found;
    for (const std::string& path : paths) {
        ++found[name_of(path)];
    }
    return found;
}

}  // namespace

std::uint32_t known_file(const Process& process, std::uint32_t file) {
    return process.files.contains(file) ? file : 0;
}

void number_regions(Job& job, Contexts& contexts) {
    std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> numbers;
    const auto number = [&](Function function) {
        const auto [at, fresh] = numbers.try_emplace({function.role, function.name, function.file},
                                                     static_cast<std::uint32_t>(job.functions.size()));
        if (fresh) {
            job.functions.push_back(std::move(function));
        }
        return at->second;
    };
    const std::map<std::string, std::size_t> bearers = bearers_of_names(job);
    std::map<std::string, std::uint32_t> files;
    for (const auto& process : job.processes) {
        for (const auto& [call, verb] : file_calls) {
            process->file_call_refs[{call, 0}] = number({verb, "file_io", "-"});
            for (const auto& [id, path] : process->files) {
                const std::string name = name_of(path);
                const std::string& shown = bearers.at(name) > 1 ? path : name;
                process->file_call_refs[{call, id}] = number({verb + (" " + shown), "file_io", "-"});
            }
        }
        for (const auto& [id, path] : process->files) {
            const auto [at, fresh] = files.try_emplace(path, static_cast<std::uint32_t>(job.files.size()));
            if (fresh) {
                job.files.push_back(path);
            }
            process->file_refs[id] = at->second;
        }
        for (const auto& [id, name] : process->region_names) {
            process->region_refs[id] = number({name, "region", "-"});
        }
        for (const auto& [id, address] : process->region_functions) {
            const Place place = contexts.place_of(*process, address);
            const std::string& name = place.function;
            process->region_refs[id] =
                number({name.empty() ? "unknown function" : name, "function", "-", place.file, place.line});
        }
    }
}

void OpenRegions::begin(EventWriter& out, std::uint64_t time, OTF2_RegionRef region) {
    open_.push_back(region);
    enter(out, time, region);
}

bool OpenRegions::end(EventWriter& out, std::uint64_t time) {
    if (open_.empty()) {
        return false;
    }
    const OTF2_RegionRef region = open_.back();
    open_.pop_back();
    if (region != unseen) {
        leave(out, time, region);
    }
    return region != unseen;
}

void OpenRegions::interrupt(EventWriter& out, std::uint64_t time) {
    for (auto region = open_.rbegin(); region != open_.rend(); ++region) {
        if (*region != unseen) {
            leave(out, time, *region);
        }
    }
}

void OpenRegions::resume(EventWriter& out, std::uint64_t time, std::size_t kept, std::size_t begun) {
    open_.resize(kept, unseen);
    for (const OTF2_RegionRef region : open_) {
        if (region != unseen) {
            enter(out, time, region);
        }
    }
    open_.resize(kept + begun, unseen);
}

}  // namespace logpost::assembler
