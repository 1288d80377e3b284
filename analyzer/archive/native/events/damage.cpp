#include "analyzer/archive/native/events/damage.hpp"

#include <array>
#include <fstream>
#include <memory>

#include "analyzer/archive/native/events/event_records.hpp"
#include "analyzer/archive/native/trace/otf2_errors.hpp"

namespace logpost::analyzer {
namespace {

struct Scan {
    OTF2_TimeStamp last = 0;
    std::uint64_t events = 0;
    // Index of the first event of the last timestamp, and of those before.
    std::uint64_t last_step = 0;
    std::uint64_t step_before = 0;
    std::uint64_t two_before = 0;
    bool sign_of_damage = false;
};

template <class... Rest>
OTF2_CallbackCode on_event(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, OTF2_AttributeList*,
                           Rest...) {
    auto& scan = *static_cast<Scan*>(user);
    if (scan.events == 0) {
        scan.last = time;
    }
    if (time < scan.last) {
        scan.sign_of_damage = true;
        return OTF2_CALLBACK_INTERRUPT;
    }
    if (time > scan.last) {
        scan.two_before = scan.step_before;
        scan.step_before = scan.last_step;
        scan.last_step = scan.events;
        scan.last = time;
    }
    ++scan.events;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_unknown_event(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* user, OTF2_AttributeList*) {
    static_cast<Scan*>(user)->sign_of_damage = true;
    return OTF2_CALLBACK_INTERRUPT;
}

}  // namespace

bool ends_properly(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const auto size = static_cast<std::streamoff>(file.tellg());
    std::array<char, 3> end{};
    if (!file || size < static_cast<std::streamoff>(end.size())) {
        return false;
    }
    file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
    file.read(end.data(), end.size());
    return file && ((end[1] == 2 && end[2] == 1) || (end[0] == 2 && end[1] == 1 && end[2] == '\n'));
}

std::optional<std::uint64_t> intact_events(OTF2_Reader* reader, OTF2_LocationRef location,
                                           std::atomic<std::uint64_t>* progress) {
    OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, location);
    if (events == nullptr) {
        take_otf2_errors();
        return 0;
    }
    OTF2_EvtReader_ApplyMappingTables(events, false);
    OTF2_EvtReader_ApplyClockOffsets(events, false);
    OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetUnknownCallback(callbacks, on_unknown_event);
#define LOGPOST_SET(name) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, on_event);
    LOGPOST_EVENT_RECORDS(LOGPOST_SET)
#undef LOGPOST_SET
    Scan scan;
    OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, &scan);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    constexpr std::uint64_t kBlock = 1U << 16;
    std::uint64_t n = 0;
    std::uint64_t reported = 0;
    OTF2_ErrorCode status = OTF2_SUCCESS;
    do {
        status = OTF2_Reader_ReadLocalEvents(reader, events, kBlock, &n);
        if (progress != nullptr) {
            progress->fetch_add(n, std::memory_order_relaxed);
            reported += n;
        }
    } while (status == OTF2_SUCCESS && n == kBlock);
    if (progress != nullptr) {
        progress->fetch_sub(reported, std::memory_order_relaxed);
    }
    OTF2_Reader_CloseEvtReader(reader, events);
    take_otf2_errors();
    if (scan.sign_of_damage || status != OTF2_SUCCESS) {
        return scan.two_before;
    }
    return std::nullopt;
}

}  // namespace logpost::analyzer
