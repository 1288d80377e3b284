// Regions and what they are to the analysis, and calling contexts, which stand for regions.
#include "definition_families.hpp"
#include "region_kind.hpp"

namespace logpost::analyzer {
namespace {

OTF2_CallbackCode on_region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef,
                            OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef file,
                            std::uint32_t line, std::uint32_t) {
    return guarded([&] {
        auto& r = raw(user);
        r.out->regions.insert(self, static_cast<std::int32_t>(r.trace->regions.size()));
        Region region;
        region.line = line;
        region.role = role;
        region.paradigm = paradigm;
        r.trace->regions.push_back(std::move(region));
        r.region_names.push_back(name);
        r.region_files.push_back(file);
    });
}

OTF2_CallbackCode on_calling_context(void* user, OTF2_CallingContextRef self, OTF2_RegionRef region,
                                     OTF2_SourceCodeLocationRef location, OTF2_CallingContextRef parent) {
    return guarded([&] { raw(user).contexts.push_back({self, region, location, parent}); });
}

OTF2_CallbackCode on_source_location(void* user, OTF2_SourceCodeLocationRef self, OTF2_StringRef file,
                                     std::uint32_t line) {
    return guarded([&] { raw(user).source_locations[self] = {file, line}; });
}

OTF2_CallbackCode on_parameter(void* user, OTF2_ParameterRef self, OTF2_StringRef name, OTF2_ParameterType type) {
    return guarded([&] {
        if (type == OTF2_PARAMETER_TYPE_INT64) {
            raw(user).parameters.emplace_back(self, name);
        }
    });
}

/// Numbers the places that calls stand at, each once.
class Sites {
  public:
    explicit Sites(Raw& r) : raw_(r) { raw_.trace->sites = {Site{}}; }

    std::int32_t of(std::uint64_t location) {
        const auto found = raw_.source_locations.find(location);
        if (found == raw_.source_locations.end()) {
            return 0;
        }
        const auto& file = text(*raw_.out, found->second.first);
        if (file.empty()) {
            return 0;
        }
        auto& sites = raw_.trace->sites;
        const auto [at, fresh] =
            numbers_.try_emplace({file, found->second.second}, static_cast<std::int32_t>(sites.size()));
        if (fresh) {
            sites.push_back({file, found->second.second});
        }
        return at->second;
    }

  private:
    Raw& raw_;
    std::map<std::pair<std::string, std::uint32_t>, std::int32_t> numbers_;
};

/// A context says where its region stood; the call of a region stands where its parent stood. A communication call
/// below a parent that does not say has its own line for it.
void resolve_contexts(Raw& r) {
    auto& d = *r.out;
    Sites sites(r);
    std::vector<std::int32_t> positions;
    for (const auto& from : r.contexts) {
        const auto parent =
            from.parent == OTF2_UNDEFINED_CALLING_CONTEXT ? IdLookup::kAbsent : d.calling_contexts(from.parent);
        const auto region = d.regions(from.region);
        CallingContext context;
        context.region = region == IdLookup::kAbsent ? d.undefined_region() : region;
        context.root_region = context.region;
        positions.push_back(sites.of(from.source_location));
        if (parent != IdLookup::kAbsent) {
            context.parent = parent;
            context.site = positions[static_cast<std::size_t>(parent)];
            context.root_region = d.contexts[static_cast<std::size_t>(parent)].root_region;
        }
        if (context.site == 0 && region != IdLookup::kAbsent &&
            d.kinds[static_cast<std::size_t>(region)] != CallKind::user) {
            context.site = positions.back();
        }
        d.calling_contexts.insert(from.ref, static_cast<std::int32_t>(d.contexts.size()));
        d.contexts.push_back(context);
    }
}

}  // namespace

void set_region_callbacks(OTF2_GlobalDefReaderCallbacks* c) {
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, on_calling_context);
    OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(c, on_source_location);
    OTF2_GlobalDefReaderCallbacks_SetParameterCallback(c, on_parameter);
}

void resolve_regions(Raw& r) {
    auto& d = *r.out;
    auto& regions = r.trace->regions;
    d.kinds.resize(regions.size());
    d.begins_request.resize(regions.size());
    for (std::size_t i = 0; i < regions.size(); ++i) {
        regions[i].name = text(d, r.region_names[i]);
        regions[i].file = text(d, r.region_files[i]);
        regions[i].kind = region_kind(regions[i].name, regions[i].paradigm);
        d.kinds[i] = regions[i].kind;
        d.begins_request[i] = begins_request(regions[i].name, regions[i].kind) ? 1 : 0;
        const auto role = thread_role(regions[i].name, regions[i].role, regions[i].paradigm);
        if (role != ThreadRole::none) {
            d.thread_roles.resize(regions.size(), ThreadRole::none);
            d.thread_roles[i] = role;
        }
    }
    resolve_contexts(r);
    for (const auto& [ref, name] : r.parameters) {
        if (text(d, name) == "logpost:pcontrol_level") {
            d.level_parameter = static_cast<std::uint32_t>(ref);
        }
    }
}

}  // namespace logpost::analyzer
