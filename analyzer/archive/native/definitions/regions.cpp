// Regions and what they are to the analysis, and calling contexts, which stand for regions.
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/archive/native/definitions/definition_families.hpp"
#include "analyzer/archive/native/definitions/region_kind.hpp"

namespace logpost::analyzer {
namespace {

constexpr double kLongestSampleS = 3600;  ///< a longer time from sample to sample is none, and may be no number of ps

OTF2_CallbackCode on_region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef,
                            OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef file,
                            std::uint32_t line, std::uint32_t) {
    return guarded([&] { raw(user).regions.push_back({self, name, file, line, role, paradigm}); });
}

OTF2_CallbackCode on_calling_context(void* user, OTF2_CallingContextRef self, OTF2_RegionRef region,
                                     OTF2_SourceCodeLocationRef location, OTF2_CallingContextRef parent) {
    return guarded([&] { raw(user).contexts.push_back({self, region, location, parent}); });
}

OTF2_CallbackCode on_source_location(void* user, OTF2_SourceCodeLocationRef self, OTF2_StringRef file,
                                     std::uint32_t line) {
    return guarded([&] {
        auto& r = raw(user);
        const auto number = static_cast<std::int32_t>(r.source_locations.size());
        if (define(r, "SourceCodeLocation", r.numbered_source_locations, self, number)) {
            r.source_locations.push_back({self, file, line});
        }
    });
}

OTF2_CallbackCode on_parameter(void* user, OTF2_ParameterRef self, OTF2_StringRef name, OTF2_ParameterType type) {
    return guarded([&] {
        auto& r = raw(user);
        const auto number = static_cast<std::int32_t>(r.parameters.size());
        if (type == OTF2_PARAMETER_TYPE_INT64 && define(r, "Parameter", r.numbered_parameters, self, number)) {
            r.parameters.emplace_back(self, name);
        }
    });
}

OTF2_CallbackCode on_generator(void* user, OTF2_InterruptGeneratorRef self, OTF2_StringRef name,
                               OTF2_InterruptGeneratorMode mode, OTF2_Base base, std::int64_t exponent,
                               std::uint64_t period) {
    return guarded([&] {
        const double seconds = static_cast<double>(period) * std::pow(base == OTF2_BASE_BINARY ? 2.0 : 10.0, exponent);
        if (mode == OTF2_INTERRUPT_GENERATOR_MODE_TIME && seconds < kLongestSampleS) {
            raw(user).generators.push_back({self, name, std::llround(seconds * 1e12)});
        }
    });
}

/// Numbers the places of calls in the source, each once.
class Sites {
  public:
    explicit Sites(Raw& r) : raw_(r) { raw_.trace->sites = {Site{}}; }

    /// Of a source location's number; 0: unknown.
    std::int32_t of(std::int32_t source) {
        if (source == IdLookup::kAbsent) {
            return 0;
        }
        const auto& from = raw_.source_locations[static_cast<std::size_t>(source)];
        const auto& file = name_of(raw_, from.file, "SourceCodeLocation", from.ref);
        if (file.empty()) {
            return 0;
        }
        auto& sites = raw_.trace->sites;
        const auto [at, fresh] = numbers_.try_emplace({file, from.line}, static_cast<std::int32_t>(sites.size()));
        if (fresh) {
            sites.push_back({file, from.line});
        }
        return at->second;
    }

  private:
    Raw& raw_;
    std::map<std::pair<std::string, std::uint32_t>, std::int32_t> numbers_;
};

/// The rows of contexts, parents before children, else as they are in the file.
std::vector<std::size_t> parents_first(const std::vector<std::int32_t>& parents) {
    std::vector<std::size_t> order;
    std::vector<char> is_in(parents.size(), 0);
    std::vector<std::size_t> path;
    for (std::size_t row = 0; row < parents.size(); ++row) {
        for (auto at = static_cast<std::int32_t>(row); at != kUndefined && is_in[static_cast<std::size_t>(at)] == 0;
             at = parents[static_cast<std::size_t>(at)]) {
            path.push_back(static_cast<std::size_t>(at));
            is_in[path.back()] = 1;
        }
        order.insert(order.end(), path.rbegin(), path.rend());
        path.clear();
    }
    return order;
}

/// A context states its region's place in the source; the call of a region is at its parent's place. A communication
/// call below a parent that does not say has its own line for it.
void resolve_contexts(Raw& r) {
    auto& d = *r.out;
    IdLookup rows;
    std::erase_if(r.contexts, [&, next = std::int32_t{0}](const RawContext& from) mutable {
        const bool first = define(r, "CallingContext", rows, from.ref, next);
        next += first ? 1 : 0;
        return !first;
    });
    std::vector<std::int32_t> parents;
    for (const auto& from : r.contexts) {
        parents.push_back(refer(r, rows, from.parent, OTF2_UNDEFINED_CALLING_CONTEXT, "CallingContext", from.ref));
    }
    cut_circles(r, parents, "CallingContext", [&](std::size_t row) { return r.contexts[row].ref; });
    Sites sites(r);
    std::vector<std::int32_t> number(r.contexts.size());
    std::vector<std::int32_t> positions;
    for (const auto row : parents_first(parents)) {
        const auto& from = r.contexts[row];
        const auto region = refer(r, d.regions, from.region, {}, "CallingContext", from.ref);
        CallingContext context;
        context.region = region == IdLookup::kAbsent ? d.undefined_region() : region;
        context.root_region = context.region;
        positions.push_back(sites.of(refer(r, r.numbered_source_locations, from.source_location,
                                           OTF2_UNDEFINED_SOURCE_CODE_LOCATION, "CallingContext", from.ref)));
        if (parents[row] != kUndefined) {
            context.parent = number[static_cast<std::size_t>(parents[row])];
            context.site = positions[static_cast<std::size_t>(context.parent)];
            context.root_region = d.contexts[static_cast<std::size_t>(context.parent)].root_region;
        }
        if (context.site == 0 && region != IdLookup::kAbsent &&
            d.kinds[static_cast<std::size_t>(region)] != CallKind::user) {
            context.site = positions.back();
        }
        context.line = r.trace->sites[static_cast<std::size_t>(positions.back())].line;
        number[row] = static_cast<std::int32_t>(d.contexts.size());
        d.calling_contexts.insert(from.ref, number[row]);
        d.contexts.push_back(context);
    }
}

/// A function may have an id for each process that called it, where every process writes its own definitions: the
/// content identifies a region.
void unify_regions(Raw& r) {
    auto& d = *r.out;
    auto& regions = r.trace->regions;
    // Without a name there is nothing to recognize it by: these stay apart.
    std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint8_t, std::uint8_t, std::uint64_t>,
             std::int32_t>
        numbers;
    IdLookup rows;
    for (const auto& from : r.regions) {
        Region region;
        region.name = name_of(r, from.name, "Region", from.ref);
        region.file = from.file == OTF2_UNDEFINED_STRING ? "" : name_of(r, from.file, "Region", from.ref);
        region.line = from.line;
        region.role = from.role;
        region.paradigm = from.paradigm;
        const auto [at, fresh] =
            numbers.try_emplace({region.name, region.file, region.line, region.role, region.paradigm,
                                 region.name.empty() ? from.ref : OTF2_UNDEFINED_REGION},
                                static_cast<std::int32_t>(regions.size()));
        if (define(r, "Region", d.regions, from.ref, at->second) && fresh) {
            regions.push_back(std::move(region));
        } else if (fresh) {
            numbers.erase(at);
        }
    }
}

}  // namespace

void set_region_callbacks(OTF2_GlobalDefReaderCallbacks* c) {
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, on_calling_context);
    OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(c, on_source_location);
    OTF2_GlobalDefReaderCallbacks_SetParameterCallback(c, on_parameter);
    OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(c, on_generator);
}

void resolve_regions(Raw& r) {
    unify_regions(r);
    auto& d = *r.out;
    auto& regions = r.trace->regions;
    d.kinds.resize(regions.size());
    d.begins_request.resize(regions.size());
    for (std::size_t i = 0; i < regions.size(); ++i) {
        regions[i].kind = region_kind(regions[i].name, regions[i].paradigm);
        d.kinds[i] = regions[i].kind;
        d.begins_request[i] = begins_request(regions[i].name, regions[i].kind) ? 1 : 0;
        const bool of_files =
            regions[i].role == OTF2_REGION_ROLE_FILE_IO || regions[i].role == OTF2_REGION_ROLE_FILE_IO_METADATA;
        if (of_files && d.kinds[i] == CallKind::user) {
            d.reaches_file.resize(regions.size(), 0);
            d.reaches_file[i] = 1;
        }
        const auto role = thread_role(regions[i].name, regions[i].role, regions[i].paradigm);
        if (role != ThreadRole::none) {
            d.thread_roles.resize(regions.size(), ThreadRole::none);
            d.thread_roles[i] = role;
        }
    }
    resolve_contexts(r);
    for (const auto& [ref, name] : r.parameters) {
        if (name_of(r, name, "Parameter", ref) == "logpost:pcontrol_level") {
            d.level_parameter = static_cast<std::uint32_t>(ref);
        }
    }
    for (const auto& one : r.generators) {
        // Others interrupt by the clock, or do not say by what.
        if (name_of(r, one.name, "InterruptGenerator", one.ref) == "processor time of a thread") {
            r.trace->sample_ps = one.period_ps;
        }
    }
}

}  // namespace logpost::analyzer
