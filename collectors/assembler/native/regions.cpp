#include "regions.hpp"

#include <map>
#include <tuple>

namespace logpost::assembler {
namespace {

void enter(EventWriter& out, std::uint64_t time, OTF2_RegionRef region) {
    check(OTF2_EvtWriter_Enter(out.writer, nullptr, out.at(time), region), "Enter");
}

void leave(EventWriter& out, std::uint64_t time, OTF2_RegionRef region) {
    check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(time), region), "Leave");
}

}  // namespace

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
    for (const auto& process : job.processes) {
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
