// Reads the global definitions: every family notes the file's records, then the families are resolved in order.
#include "analyzer/archive/native/definitions/definitions.hpp"

#include "analyzer/archive/native/definitions/definition_families.hpp"
#include "analyzer/archive/native/trace/error.hpp"
#include "analyzer/archive/native/trace/otf2_errors.hpp"

namespace logpost::analyzer {
namespace {

OTF2_CallbackCode on_clock(void* user, std::uint64_t resolution, std::uint64_t offset, std::uint64_t length,
                           std::uint64_t) {
    auto& d = *raw(user).out;
    d.ticks_per_second = resolution;
    d.global_offset = offset;
    d.trace_length = length;
    return OTF2_CALLBACK_SUCCESS;
}

}  // namespace

Definitions read_definitions(OTF2_Reader* reader, const std::string& archive, Trace& trace, QualityCounts& quality) {
    Definitions out;
    Raw r;
    r.out = &out;
    r.trace = &trace;
    r.quality = &quality;

    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    if (definitions == nullptr) {
        throw ArchiveError(archive + ": the global definitions cannot be opened (" + take_otf2_errors() +
                           "); the archive is incomplete: copy the .def file next to the anchor file, too");
    }
    OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
    set_text_callbacks(callbacks);
    set_location_callbacks(callbacks);
    set_rank_callbacks(callbacks);
    set_communicator_callbacks(callbacks);
    set_region_callbacks(callbacks);
    set_layout_callbacks(callbacks);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &r);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);

    std::uint64_t declared = 0;
    OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &declared);
    std::uint64_t n = 0;
    // One more than declared shows that there are more, and stops where damage makes libotf2 loop.
    const auto status = OTF2_Reader_ReadGlobalDefinitions(reader, definitions, declared + 1, &n);
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
    if (status != OTF2_SUCCESS || n > declared) {
        throw ArchiveError(archive + ": the global definitions are damaged (" + take_otf2_errors() +
                           "), and nothing can be read without them; copy or record the archive again");
    }
    if (trace.locations.empty()) {
        throw ArchiveError(archive +
                           ": the archive defines no locations, so the recording did not finish; record it again");
    }
    if (out.ticks_per_second == 0) {
        throw ArchiveError(archive +
                           ": its clock properties state 0 ticks per second, so no time has a length; the global "
                           "definitions are damaged: copy or record the archive again");
    }
    trace.ticks_per_second = out.ticks_per_second;
    resolve_locations(r, quality);
    const auto numbering = resolve_ranks(r, quality);
    resolve_communicators(r, numbering, quality);
    resolve_regions(r);
    resolve_layouts(r, quality);
    return out;
}

}  // namespace logpost::analyzer
