#include "gasnet_names.hpp"

#include <cctype>

namespace logpost::assembler::gasnet {
namespace {

constexpr const char* attribute_name = "logpost:calling_context";
constexpr const char* attribute_help =
    "From where the call was made: its calling context, the file with the line above it";

OTF2_RegionRole role_of(std::string_view name) {
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (has("barrier")) {
        return OTF2_REGION_ROLE_BARRIER;
    }
    if (has("coll_")) {
        return OTF2_REGION_ROLE_COLL_OTHER;
    }
    return has("_am") || has("commit") ? OTF2_REGION_ROLE_POINT2POINT : OTF2_REGION_ROLE_RMA;
}

std::string base(const std::string& file) {
    return file.substr(file.find_last_of('/') + 1);
}

}  // namespace

OTF2_RegionRef Names::region(std::string_view name) {
    if (const auto at = region_refs_.find(name); at != region_refs_.end()) {
        return at->second;
    }
    std::string full = "gasnet_";
    for (const char c : name == "Non-blocking Barrier" ? std::string_view("COLL_BARRIER_NB") : name) {
        full += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    regions_.push_back(full);
    const auto ref = static_cast<OTF2_RegionRef>(regions_.size());
    region_refs_.emplace(name, ref);
    return ref;
}

OTF2_CallingContextRef Names::called(OTF2_RegionRef region, std::string_view file, std::uint32_t line) {
    if (file.empty()) {
        return OTF2_UNDEFINED_CALLING_CONTEXT;
    }
    auto at = file_refs_.find(file);
    if (at == file_refs_.end()) {
        at = file_refs_.emplace(file, static_cast<std::uint32_t>(files_.size())).first;
        files_.emplace_back(file);
    }
    const auto [place, fresh] =
        place_contexts_.try_emplace({at->second, line}, static_cast<OTF2_CallingContextRef>(contexts_.size()));
    if (fresh) {
        contexts_.push_back({false, static_cast<std::uint32_t>(places_.size()), OTF2_UNDEFINED_CALLING_CONTEXT});
        places_.push_back({std::string(file), line});
    }
    const auto [leaf, first] =
        leaves_.try_emplace({place->second, region}, static_cast<OTF2_CallingContextRef>(contexts_.size()));
    if (first) {
        contexts_.push_back({true, region, place->second});
    }
    return leaf->second;
}

void Names::gather(Strings& strings) const {
    for (const auto& name : regions_) {
        strings(name);
    }
    for (const auto& file : files_) {
        strings(file);
        strings(base(file));
    }
    strings(attribute_name);
    strings(attribute_help);
}

void Names::write(OTF2_GlobalDefWriter* writer, Strings& strings, const std::string& program) const {
    const auto write_region = [&](OTF2_RegionRef ref, const std::string& name, OTF2_RegionRole role,
                                  OTF2_Paradigm paradigm, const std::string& file) {
        check(OTF2_GlobalDefWriter_WriteRegion(writer, ref, strings(name), strings(name), strings(""), role, paradigm,
                                               OTF2_REGION_FLAG_NONE,
                                               file.empty() ? OTF2_UNDEFINED_STRING : strings(file), 0, 0),
              "region");
    };
    write_region(program_region, program, OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_MEASUREMENT_SYSTEM, "");
    OTF2_RegionRef ref = program_region;
    for (const auto& name : regions_) {
        write_region(++ref, name, role_of(name), OTF2_PARADIGM_UPC, "");
    }
    if (contexts_.empty()) {
        return;
    }
    check(OTF2_GlobalDefWriter_WriteAttribute(writer, context, strings(attribute_name), strings(attribute_help),
                                              OTF2_TYPE_CALLING_CONTEXT),
          "attribute");
    const OTF2_RegionRef first_file = ref + 1;
    for (const auto& file : files_) {
        write_region(++ref, base(file), OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, file);
    }
    OTF2_SourceCodeLocationRef location = 0;
    for (const auto& place : places_) {
        check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(writer, location++, strings(place.file), place.line),
              "source location");
    }
    OTF2_CallingContextRef number = 0;
    for (const auto& c : contexts_) {
        const OTF2_RegionRef region = c.leaf ? c.number : first_file + file_refs_.at(places_[c.number].file);
        check(OTF2_GlobalDefWriter_WriteCallingContext(
                  writer, number++, region, c.leaf ? OTF2_UNDEFINED_SOURCE_CODE_LOCATION : c.number, c.parent),
              "calling context");
    }
}

}  // namespace logpost::assembler::gasnet
