// Local definitions: mapping tables and clock offsets of one location.
#include "decoding.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

OTF2_CallbackCode on_mapping(void* user, OTF2_MappingType type, const OTF2_IdMap* map) {
    return guarded(user, [&] { self(user).ids.rename(type, map); });
}

OTF2_CallbackCode on_clock_offset(void* user, OTF2_TimeStamp time, std::int64_t offset, double) {
    return guarded(user, [&] { self(user).offsets.push_back({time, offset}); });
}

}  // namespace

void set_local_definition_callbacks(OTF2_DefReaderCallbacks* c) {
    OTF2_DefReaderCallbacks_SetMappingTableCallback(c, on_mapping);
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(c, on_clock_offset);
}

}  // namespace logpost::analyzer
