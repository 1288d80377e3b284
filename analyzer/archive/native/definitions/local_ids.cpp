#include "analyzer/archive/native/definitions/local_ids.hpp"

namespace logpost::analyzer {
namespace {

// For OTF2_IdMap_Traverse, a pair each.

void map_into(std::uint64_t local, std::uint64_t global, void* user) {
    auto& mapping = *static_cast<LocalIds::Mapping*>(user);
    const auto dense = (*mapping.global)(global);
    mapping.local.insert(local, dense == IdLookup::kAbsent ? LocalIds::Mapping::kToNowhere : dense);
}

struct AttributeMap {
    std::uint32_t global;
    std::uint32_t local;
};

void find_attribute(std::uint64_t local, std::uint64_t global, void* user) {
    auto& map = *static_cast<AttributeMap*>(user);
    if (global == map.global) {
        map.local = static_cast<std::uint32_t>(local);
    }
}

}  // namespace

LocalIds::LocalIds(const Definitions& definitions, QualityCounts& quality)
    : definitions_(definitions),
      quality_(quality),
      regions_{&definitions.regions},
      communicators_{&definitions.communicators},
      contexts_{&definitions.calling_contexts},
      strings_{&definitions.strings},
      windows_{&definitions.windows},
      groups_{&definitions.groups} {}

void LocalIds::begin() {
    for (auto* mapping : {&regions_, &communicators_, &contexts_, &strings_, &windows_, &groups_}) {
        mapping->local.clear();
    }
    layout_attribute_ = definitions_.layout_attribute;
    target_layout_attribute_ = definitions_.target_layout_attribute;
    context_attribute_ = definitions_.context_attribute;
    open_attribute_ = definitions_.open_attribute;
    persistent_attribute_ = definitions_.persistent_attribute;
    any_source_attribute_ = definitions_.any_source_attribute;
    periods_attribute_ = definitions_.periods_attribute;
}

void LocalIds::rename(OTF2_MappingType type, const OTF2_IdMap* map) {
    const bool has_words = definitions_.layout_attribute != OTF2_UNDEFINED_ATTRIBUTE ||
                           definitions_.target_layout_attribute != OTF2_UNDEFINED_ATTRIBUTE ||
                           definitions_.open_attribute != OTF2_UNDEFINED_ATTRIBUTE;
    switch (type) {
        case OTF2_MAPPING_REGION:
            OTF2_IdMap_Traverse(map, map_into, &regions_);
            break;
        case OTF2_MAPPING_COMM:
            OTF2_IdMap_Traverse(map, map_into, &communicators_);
            break;
        case OTF2_MAPPING_CALLING_CONTEXT:
            OTF2_IdMap_Traverse(map, map_into, &contexts_);
            break;
        case OTF2_MAPPING_RMA_WIN:
            OTF2_IdMap_Traverse(map, map_into, &windows_);
            break;
        case OTF2_MAPPING_GROUP:
            OTF2_IdMap_Traverse(map, map_into, &groups_);
            break;
        case OTF2_MAPPING_STRING:
            if (has_words) {
                OTF2_IdMap_Traverse(map, map_into, &strings_);
            }
            break;
        case OTF2_MAPPING_ATTRIBUTE:
            for (auto* attribute :
                 {&layout_attribute_, &target_layout_attribute_, &context_attribute_, &open_attribute_,
                  &persistent_attribute_, &any_source_attribute_, &periods_attribute_}) {
                AttributeMap one{*attribute, *attribute};
                if (one.global != OTF2_UNDEFINED_ATTRIBUTE) {
                    OTF2_IdMap_Traverse(map, find_attribute, &one);
                    *attribute = one.local;
                }
            }
            break;
        default:
            break;
    }
}

void LocalIds::begin_events() {
    const auto& table = regions_.local.empty() ? definitions_.regions.near() : regions_.local.near();
    region_table_ = table.data();
    region_table_size_ = table.size();
}

std::int32_t LocalIds::rare_region(OTF2_RegionRef ref) {
    const auto dense = regions_(ref);
    if (dense != IdLookup::kAbsent) {
        return dense;
    }
    count(quality_, Quality::undefined_region);
    return definitions_.undefined_region();
}

std::int32_t LocalIds::context(OTF2_CallingContextRef ref) {
    const auto dense = contexts_(ref);
    if (dense == IdLookup::kAbsent) {
        count(quality_, Quality::undefined_region);
    }
    return dense;
}

}  // namespace logpost::analyzer
