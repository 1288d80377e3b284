#pragma once

/// Rows of the tables of messages and calls as columns of numpy; the analysis gives them, and the tasks of blocks.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "replay/native/cost/categories.hpp"
#include "replay/native/cost/part.hpp"
#include "replay/native/python/bindings.hpp"
#include "replay/native/split/call_rows.hpp"
#include "replay/native/split/message_rows.hpp"

namespace logpost::replay::bindings {

inline constexpr const char* kMessageIdNames[MessageRows::kIds] = {
    "send_location",  "recv_location", "comm",   "tag",         "layout",
    "send_callpath",  "recv_callpath", "window", "send_call",   "send_complete_call",
    "recv_post_call", "recv_call",     "hops",   "send_number", "recv_number"};
/// Name of a column of times; the parts have the engine's names.
inline std::string message_time_name(std::size_t time) {
    static constexpr const char* kBefore[] = {"send_enter", "send_leave", "send_complete", "recv_post",
                                              "recv_enter", "recv_leave", "envelope"};
    if (time < MessageRows::first_part) {
        return std::string(kBefore[time]) + "_ps";
    }
    if (time >= MessageRows::deficit) {
        return time == MessageRows::deficit ? "deficit_ps" : "clamped_ps";
    }
    return std::string(kPartNames[time - MessageRows::first_part]) + "_ps";
}

inline nb::dict message_columns(MessageRows&& rows) {
    nb::dict d;
    for (std::size_t i = 0; i < MessageRows::kIds; ++i) {
        d[kMessageIdNames[i]] = array(std::move(rows.ids[i]));
    }
    d["bytes"] = array(std::move(rows.bytes));
    d["recv_bytes"] = array(std::move(rows.recv_bytes));
    d["protocol"] = array(std::move(rows.rendezvous));
    d["locality"] = array(std::move(rows.locality));
    d["clock_violation"] = array(std::move(rows.clock_violation));
    for (std::size_t i = 0; i < MessageRows::kTimes; ++i) {
        d[message_time_name(i).c_str()] = array(std::move(rows.times[i]));
    }
    return d;
}

inline nb::dict call_columns(CallRows&& rows) {
    nb::dict d;
    const auto zeros = array(std::vector<std::int64_t>(rows.call.size()));  // one array for all such columns
    d["call"] = array(std::move(rows.call));
    d["location"] = array(std::move(rows.location));
    d["enter_ps"] = array(std::move(rows.enter));
    d["leave_ps"] = array(std::move(rows.leave));
    d["region"] = array(std::move(rows.region));
    d["callpath"] = array(std::move(rows.callpath));
    for (std::size_t i = 1; i < kCategories; ++i) {
        auto& exposed = rows.exposed[i - 1];
        d[(std::string(kCategoryNames[i]) + "_ps").c_str()] = exposed.empty() ? zeros : array(std::move(exposed));
    }
    return d;
}

}  // namespace logpost::replay::bindings
