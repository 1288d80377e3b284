#include "analyzer/archive/native/read/block_files.hpp"

#include <cstddef>
#include <utility>

namespace logpost::analyzer {
namespace {

void put_facts(SegmentBytes& out, const LocationTrace& trace) {
    out.put(trace.first_ps);
    out.put(trace.last_ps);
    out.put(trace.events);
    out.put(trace.communication_events);
    out.put(trace.one_sided);
    out.put(trace.has_been_off);
}

void get_facts(SegmentView& in, LocationTrace& trace) {
    trace.first_ps = in.get<std::int64_t>();
    trace.last_ps = in.get<std::int64_t>();
    trace.events = in.get<std::uint64_t>();
    trace.communication_events = in.get<std::uint64_t>();
    trace.one_sided = in.get<OneSidedTotals>();
    trace.has_been_off = in.get<bool>();
}

/// Lists that are read whole, in the order of the file.
template <class Trace, class Each>
void for_each_list(Trace& trace, Each each) {
    each(trace.profile);
    each(trace.samples);
    each(trace.file_calls);
    each(trace.levels);
    each(trace.any_source);
    each(trace.threads);
}

/// Columns that are mapped, likewise.
template <class Trace, class Each>
void for_each_column(Trace& trace, Each each) {
    each(trace.calls);
    each(trace.sends);
    each(trace.receives);
    each(trace.collectives);
    each(trace.layouts);
    each(trace.transfers);
    each(trace.epochs);
}

void put_lists(SegmentBytes& out, const LocationTrace& trace) {
    for_each_list(trace, [&](const auto& list) { out.put_all(list); });
    out.put(trace.stream);
    out.put(std::uint64_t{trace.open.size()});
    for (const auto& open : trace.open) {
        out.put(open.call);
        out.put_text(open.waits_for);
    }
}

void get_lists(SegmentView& in, LocationTrace& trace) {
    for_each_list(trace, [&](auto& list) { in.get_all(list); });
    trace.stream = in.get<StreamTotals>();
    for (auto n = in.get<std::uint64_t>(); n != 0; --n) {
        const auto call = in.get<std::uint32_t>();
        trace.open.push_back({call, in.get_text()});
    }
}

}  // namespace

void put_decoded(SegmentBytes& out, std::size_t location, const LocationTrace& trace, unsigned tree,
                 const std::string& damage) {
    out.put(replay::location_at(location));
    out.put(tree);
    out.put_text(damage);
    put_facts(out, trace);
    out.put_all(trace.calls);
    out.put_all(trace.sends);
    out.put_all(trace.receives);
    out.put_all(trace.layouts);
    out.put_all(trace.transfers);
    put_lists(out, trace);
}

StoredLocation get_decoded(SegmentView in, Parts parts) {
    StoredLocation stored{in.get<replay::Location>(), in.get<unsigned>(), in.get_text(), {}};
    auto& trace = stored.trace;
    get_facts(in, trace);
    in.get_all(trace.calls);
    if (parts == Parts::calls_and_receives) {
        in.skip_all<MessageEnd>();
        in.get_all(trace.receives);
        return stored;
    }
    in.get_all(trace.sends);
    in.get_all(trace.receives);
    in.get_all(trace.layouts);
    in.get_all(trace.transfers);
    get_lists(in, trace);
    return stored;
}

void put_operations(SegmentBytes& out, const LocationTrace& trace) {
    out.put_all(trace.collectives);
    out.put_all(trace.epochs);
}

void get_operations(SegmentView& in, LocationTrace& trace) {
    in.get_all(trace.collectives);
    in.get_all(trace.epochs);
}

void put_joined(SegmentBytes& out, const StoredLocation& stored, const Sums& sums) {
    const auto& trace = stored.trace;
    out.put(stored.location);
    out.put_text(stored.damage);
    out.put(sums);
    put_facts(out, trace);
    put_lists(out, trace);
    for_each_column(trace, [&](const auto& column) { out.put_mapped(column); });
}

StoredLocation get_joined(SegmentView in, Sums& sums) {
    StoredLocation stored{in.get<replay::Location>(), 0, in.get_text(), {}};
    auto& trace = stored.trace;
    sums = in.get<Sums>();
    get_facts(in, trace);
    get_lists(in, trace);
    for_each_column(trace, [&](auto& column) { in.get_mapped(column); });
    return stored;
}

void Common::put(SegmentBytes& out) const {
    out.put_all(owner);
    out.put_all(locations);
    out.put_all(processes);
    out.put_all(extents);
    out.put_all(off);
    out.put(quality);
    out.put(pairs);
    out.put(std::uint64_t{trees.size()});
    for (const auto& tree : trees) {
        out.put(std::uint64_t{tree.size()});
        for (std::size_t i = 1; i < tree.size(); ++i) {
            const auto node = static_cast<std::int32_t>(i);
            out.put(tree.parent(node));
            out.put(tree.region(node));
            out.put(tree.site(node));
        }
    }
}

Common Common::get(SegmentView in) {
    Common common;
    in.get_all(common.owner);
    in.get_all(common.locations);
    in.get_all(common.processes);
    in.get_all(common.extents);
    in.get_all(common.off);
    common.quality = in.get<QualityCounts>();
    common.pairs = in.get<std::uint64_t>();
    common.trees.resize(in.get<std::uint64_t>());
    for (auto& tree : common.trees) {
        const auto nodes = in.get<std::uint64_t>();
        for (std::uint64_t i = 1; i < nodes; ++i) {
            const auto parent = in.get<std::int32_t>();
            const auto region = in.get<std::int32_t>();
            tree.child(parent, region, in.get<std::int32_t>());
        }
    }
    return common;
}

void Whole::put(SegmentBytes& out) const {
    out.put(begin_ps);
    out.put(length_ps);
    out.put(instances);
    out.put(quality);
    out.put_all(callpaths);
}

Whole Whole::get(SegmentView in) {
    Whole whole;
    whole.begin_ps = in.get<std::int64_t>();
    whole.length_ps = in.get<std::int64_t>();
    whole.instances = in.get<std::uint32_t>();
    whole.quality = in.get<QualityCounts>();
    in.get_all(whole.callpaths);
    return whole;
}

}  // namespace logpost::analyzer
