#include <algorithm>

#include "replay/native/python/bindings.hpp"
#include "replay/native/split/analysis.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

constexpr const char* kTransferIdNames[TransferRows::kIds] = {
    "location",      "target",      "rma_window", "number", "callpath", "complete_callpath", "window", "call",
    "complete_call", "remote_call", "hops",       "epoch",  "layout",   "target_layout"};

/// Name of a column of times; the parts have the engine's names.
std::string transfer_time_name(std::size_t time) {
    static constexpr const char* kBefore[] = {"start", "start_leave", "complete_enter", "complete_leave", "envelope"};
    if (time < TransferRows::first_part) {
        return std::string(kBefore[time]) + "_ps";
    }
    if (time == TransferRows::deficit) {
        return "deficit_ps";
    }
    return std::string(kCategoryNames[kTransferCategories[time - TransferRows::first_part]]) + "_ps";
}

nb::object next_transfers(Analysis& analysis, std::size_t limit) {
    TransferRows rows;
    bool more = false;
    {
        const nb::gil_scoped_release release;
        more = analysis.next_transfers(limit, rows);
    }
    if (!more) {
        return nb::none();
    }
    nb::dict d;
    for (std::size_t i = 0; i < TransferRows::kIds; ++i) {
        d[kTransferIdNames[i]] = array(std::move(rows.ids[i]));
    }
    d["bytes"] = array(std::move(rows.bytes));
    d["kind"] = array(std::move(rows.kind));
    d["locality"] = array(std::move(rows.locality));
    for (std::size_t i = 0; i < TransferRows::kTimes; ++i) {
        d[transfer_time_name(i).c_str()] = array(std::move(rows.times[i]));
    }
    return d;
}

nb::dict epochs(const Analysis& analysis) {
    struct Row {
        const Epoch* epoch;
        std::int32_t location, number, callpath, begin_call, end_call, match, waits_for;
        std::int64_t enter, wait;
    };
    const auto& program = analysis.program();
    std::vector<Row> rows;
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        const auto& mine = program.timelines[l];
        for (std::uint32_t i = 0; i < mine.epochs.size(); ++i) {
            const auto& epoch = mine.epochs[i];
            const auto permission = analysis.transfers().permission(l, i);
            const bool at_end = epoch.kind == Epoch::Kind::exposure && epoch.end_call != kNone;
            const auto& waiting = mine.calls[at_end ? epoch.end_call : epoch.begin_call];
            const auto until = epoch.end_call == kNone ? waiting.leave_ps : mine.calls[epoch.end_call].leave_ps;
            rows.push_back({&epoch, static_cast<std::int32_t>(l), static_cast<std::int32_t>(i), waiting.callpath,
                            analysis.call_id(l, epoch.begin_call), analysis.call_id(l, epoch.end_call),
                            epoch.match == kNone ? kUndefined : static_cast<std::int32_t>(epoch.match),
                            number(permission.by), mine.calls[epoch.begin_call].enter_ps,
                            std::clamp(permission.at_ps, waiting.enter_ps, until) - waiting.enter_ps});
        }
    }
    nb::dict d;
    d["location"] = column<std::int32_t>(rows, [](const Row& r) { return r.location; });
    d["number"] = column<std::int32_t>(rows, [](const Row& r) { return r.number; });
    d["kind"] = column<std::uint8_t>(rows, [](const Row& r) { return static_cast<std::uint8_t>(r.epoch->kind); });
    d["peer"] = column<std::int32_t>(rows, [](const Row& r) { return number(r.epoch->peer); });
    d["rma_window"] = column<std::int32_t>(rows, [](const Row& r) { return r.epoch->rma_window; });
    d["lock"] = column<std::uint64_t>(rows, [](const Row& r) { return r.epoch->lock; });
    d["callpath"] = column<std::int32_t>(rows, [](const Row& r) { return r.callpath; });
    d["begin_call"] = column<std::int32_t>(rows, [](const Row& r) { return r.begin_call; });
    d["end_call"] = column<std::int32_t>(rows, [](const Row& r) { return r.end_call; });
    d["match"] = column<std::int32_t>(rows, [](const Row& r) { return r.match; });
    d["waits_for"] = column<std::int32_t>(rows, [](const Row& r) { return r.waits_for; });
    d["enter_ps"] = column<std::int64_t>(rows, [](const Row& r) { return r.enter; });
    d["acquired_ps"] = column<std::int64_t>(
        rows, [](const Row& r) { return r.epoch->acquired_ps == Epoch::kNotRecorded ? -1 : r.epoch->acquired_ps; });
    d["wait_ps"] = column<std::int64_t>(rows, [](const Row& r) { return r.wait; });
    return d;
}

}  // namespace

void bind_one_sided(nb::class_<Analysis>& analysis) {
    analysis
        .def("next_transfers", &next_transfers, "limit"_a,
             nb::sig("def next_transfers(self, limit: int) -> logpost.replay.columns.Transfers | None"))
        .def("epochs", &epochs, nb::sig("def epochs(self) -> logpost.replay.columns.Epochs"))
        .def_prop_ro(
            "asynchronous_transfers", [](const Analysis& a) { return a.transfers().asynchronous(); },
            "Whether targets serve one-sided transfers without a processor: stated, or proven by the trace.");
}

}  // namespace logpost::replay::bindings
