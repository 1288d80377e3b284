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
                                     OTF2_SourceCodeLocationRef, OTF2_CallingContextRef) {
    return guarded([&] { raw(user).contexts.emplace_back(self, region); });
}

}  // namespace

void set_region_callbacks(OTF2_GlobalDefReaderCallbacks* c) {
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, on_calling_context);
}

void resolve_regions(Raw& r) {
    auto& d = *r.out;
    auto& regions = r.trace->regions;
    d.kinds.resize(regions.size());
    for (std::size_t i = 0; i < regions.size(); ++i) {
        regions[i].name = text(d, r.region_names[i]);
        regions[i].file = text(d, r.region_files[i]);
        regions[i].kind = region_kind(regions[i].name, regions[i].paradigm);
        d.kinds[i] = regions[i].kind;
    }
    for (const auto& [context, region] : r.contexts) {
        d.calling_contexts.insert(context, d.regions(region));
    }
}

}  // namespace logpost::analyzer
