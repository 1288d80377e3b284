#pragma once

#include <otf2/otf2.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace logpost::analyzer {

/// Whether an event or definition file ends as libotf2 ends them. One that does not was cut, and libotf2 (seen
/// in 3.0.2) does not notice: it continues with what the previous chunk left in its buffer, and delivers that chunk
/// again and again, for ever.
///
/// The end of a file is the end-of-chunk byte (2) and the end-of-file byte (1); some archives carry a newline behind
/// them.
bool ends_properly(const std::filesystem::path& path);

/// How many events of a location to trust: reads them without using them until time runs backwards, a record is of no
/// known type, or libotf2 reports an error. The events of the last two timestamps before that are not trusted either:
/// the cut record itself may have been read as something else. Nothing: no such sign, the file is whole.
/// While it runs, `progress` (if any) grows by the events it has looked at, and falls back at the end.
std::optional<std::uint64_t> intact_events(OTF2_Reader* reader, OTF2_LocationRef location,
                                           std::atomic<std::uint64_t>* progress);

}  // namespace logpost::analyzer
