// Strings, and values that are given as strings.
#include <cstddef>
#include <cstdlib>
#include <string>

#include "analyzer/archive/native/definitions/definition_families.hpp"

namespace logpost::analyzer {
namespace {

OTF2_CallbackCode on_string(void* user, OTF2_StringRef self, const char* text) {
    return guarded([&] {
        auto& r = raw(user);
        auto& texts = r.out->texts;
        const auto [at, fresh] =
            r.text_numbers.try_emplace(text == nullptr ? "" : text, static_cast<std::int32_t>(texts.size()));
        if (fresh) {
            texts.push_back(at->first);
        }
        define(r, "String", r.out->strings, self, at->second);
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

void count_odd(Raw& r, Quality what, const char* kind, std::uint64_t ref) {
    count(*r.quality, what);
    note(*r.trace, what, std::string(kind).append(" ").append(std::to_string(ref)));
}

bool define(Raw& r, const char* kind, IdLookup& ids, std::uint64_t ref, std::int32_t number) {
    const auto before = ids(ref);
    if (before == IdLookup::kAbsent) {
        ids.insert(ref, number);
    } else if (before != number) {
        count_odd(r, Quality::duplicate_definition, kind, ref);
        return false;
    }
    return true;
}

std::int32_t refer(Raw& r, const IdLookup& ids, std::uint64_t to, std::optional<std::uint64_t> none, const char* kind,
                   std::uint64_t ref) {
    const auto number = ids(to);
    if (number == IdLookup::kAbsent && to != none) {
        count_odd(r, Quality::undefined_reference, kind, ref);
    }
    return number;
}

const std::string& name_of(Raw& r, OTF2_StringRef name, const char* kind, std::uint64_t ref) {
    static const std::string kEmpty;
    const auto number = refer(r, r.out->strings, name, {}, kind, ref);
    return number == IdLookup::kAbsent ? kEmpty : r.out->texts[static_cast<std::size_t>(number)];
}

void cut_circles(Raw& r, std::vector<std::int32_t>& parents, const char* kind,
                 const std::function<std::uint64_t(std::size_t)>& ref_of) {
    constexpr std::size_t kNotSeen = 0;
    std::vector<std::size_t> seen_from(parents.size(), kNotSeen);  // counted from 1
    for (std::size_t start = 0; start < parents.size(); ++start) {
        for (auto at = start; seen_from[at] == kNotSeen && parents[at] != kUndefined;) {
            seen_from[at] = start + 1;
            const auto parent = static_cast<std::size_t>(parents[at]);
            if (seen_from[parent] == start + 1) {
                parents[at] = kUndefined;
                count_odd(r, Quality::cyclic_reference, kind, ref_of(at));
                break;
            }
            at = parent;
        }
    }
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
