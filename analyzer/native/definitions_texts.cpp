// Strings, and values that are given as strings.
#include <cstdlib>

#include "definition_families.hpp"

namespace logpost::analyzer {
namespace {

OTF2_CallbackCode on_string(void* user, OTF2_StringRef self, const char* text) {
    return guarded([&] {
        auto& d = *raw(user).out;
        d.strings.insert(self, static_cast<std::int32_t>(d.texts.size()));
        d.texts.emplace_back(text == nullptr ? "" : text);
    });
}

}  // namespace

void set_text_callbacks(OTF2_GlobalDefReaderCallbacks* c) {
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
}

const std::string& text(const Definitions& d, OTF2_StringRef ref) {
    static const std::string kEmpty;
    const auto index = ref == OTF2_UNDEFINED_STRING ? IdLookup::kAbsent : d.strings(ref);
    return index == IdLookup::kAbsent ? kEmpty : d.texts[static_cast<std::size_t>(index)];
}

std::int64_t integer(const Definitions& d, OTF2_Type type, const OTF2_AttributeValue& value) {
    switch (type) {
        case OTF2_TYPE_UINT8:
            return value.uint8;
        case OTF2_TYPE_UINT16:
            return value.uint16;
        case OTF2_TYPE_UINT32:
            return value.uint32;
        case OTF2_TYPE_UINT64:
            return static_cast<std::int64_t>(value.uint64);
        case OTF2_TYPE_INT8:
            return value.int8;
        case OTF2_TYPE_INT16:
            return value.int16;
        case OTF2_TYPE_INT32:
            return value.int32;
        case OTF2_TYPE_INT64:
            return value.int64;
        case OTF2_TYPE_STRING:
            return std::strtoll(text(d, value.stringRef).c_str(), nullptr, 10);
        default:
            return 0;
    }
}

}  // namespace logpost::analyzer
