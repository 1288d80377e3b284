// The attributes of logpost's own collector: layouts of messages' data, calling contexts, calls that never ended,
// persistent collective operations, receives of any source.
#include <cstdlib>

#include "analyzer/archive/native/definitions/definition_families.hpp"

namespace logpost::analyzer {
namespace {

OTF2_CallbackCode on_attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type) {
    return guarded([&] {
        auto& r = raw(user);
        const auto number = static_cast<std::int32_t>(r.attributes.size());
        if (define(r, "Attribute", r.numbered_attributes, self, number)) {
            r.attributes.emplace_back(self, name);
        }
    });
}

}  // namespace

void set_layout_callbacks(OTF2_GlobalDefReaderCallbacks* c) {
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(c, on_attribute);
}

void resolve_layouts(Raw& r, QualityCounts& quality) {
    auto& d = *r.out;
    for (const auto& [ref, name_ref] : r.attributes) {
        const auto& name = name_of(r, name_ref, "Attribute", ref);
        if (name == "logpost:layout") {
            d.layout_attribute = static_cast<std::uint32_t>(ref);
        } else if (name == "logpost:target_layout") {
            d.target_layout_attribute = static_cast<std::uint32_t>(ref);
        } else if (name == "logpost:calling_context") {
            d.context_attribute = static_cast<std::uint32_t>(ref);
        } else if (name == "logpost:open") {
            d.open_attribute = static_cast<std::uint32_t>(ref);
        } else if (name == "logpost:persistent") {
            d.persistent_attribute = static_cast<std::uint32_t>(ref);
        } else if (name == "logpost:any_source") {
            d.any_source_attribute = static_cast<std::uint32_t>(ref);
        } else if (name == "logpost:periods") {
            d.periods_attribute = static_cast<std::uint32_t>(ref);
        }
    }
    d.layout_of_text.assign(d.texts.size(), kUndefined);
    if (d.layout_attribute == OTF2_UNDEFINED_ATTRIBUTE && d.target_layout_attribute == OTF2_UNDEFINED_ATTRIBUTE) {
        return;
    }
    for (std::size_t i = 0; i < d.texts.size(); ++i) {
        if (!d.texts[i].starts_with("blocks=")) {
            continue;
        }
        Layout layout;
        if (parse_layout(d.texts[i], layout)) {
            d.layout_of_text[i] = static_cast<std::int32_t>(r.trace->layouts.size());
            r.trace->layouts.push_back(layout);
        } else {
            count(quality, Quality::layout_unreadable);
        }
    }
}

bool parse_layout(const std::string& line, Layout& layout) {
    constexpr auto kOutOfRange = std::int64_t{kBytesOutOfRange};  // of counts, too: sums and costs fit
    bool any = false;
    std::size_t at = 0;
    while (at < line.size()) {
        auto end = line.find(' ', at);
        end = end == std::string::npos ? line.size() : end;
        const auto word = line.substr(at, end - at);
        at = end + 1;
        if (word.empty()) {
            continue;
        }
        const auto equals = word.find('=');
        if (equals == std::string::npos) {
            return false;
        }
        const auto key = word.substr(0, equals);
        const char* digits = word.c_str() + equals + 1;
        char* stop = nullptr;
        const auto value = std::strtoll(digits, &stop, 10);
        if (stop == digits || *stop != '\0' || value >= kOutOfRange || value <= -kOutOfRange) {
            return false;
        }
        if (key == "stride_bytes") {
            layout.stride_bytes = value;
        } else if (value < 0) {
            return false;
        } else if (key == "blocks") {
            layout.blocks = static_cast<std::uint64_t>(value);
            any = true;
        } else if (key == "block_bytes") {
            layout.block_bytes = static_cast<std::uint64_t>(value);
        } else if (key == "extent_bytes") {
            layout.extent_bytes = static_cast<std::uint64_t>(value);
        }
    }
    return any;
}

}  // namespace logpost::analyzer
