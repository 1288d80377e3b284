#include "analyzer/archive/native/read/chosen_file.hpp"

#include <optional>
#include <utility>

namespace logpost::analyzer {
namespace {

using replay::Placement;
using replay::Windows;

/// Writes what a list of fields names, or reads it: so they are listed once.
struct FieldsOut {
    SegmentBytes& bytes;

    void value(const auto& one) { bytes.put(one); }
    template <class T>
    void value(const std::optional<T>& one) {
        bytes.put(one.has_value());
        bytes.put(one.value_or(T{}));
    }
    template <class T>
    void list(const std::vector<T>& all) {
        bytes.put_all(all);
    }
    void size(const auto& all) { bytes.put(std::uint64_t{all.size()}); }
};
struct FieldsIn {
    SegmentView& bytes;

    template <class T>
    void value(T& one) {
        one = bytes.get<T>();
    }
    template <class T>
    void value(std::optional<T>& one) {
        const bool known = bytes.get<bool>();
        const auto what = bytes.get<T>();
        one = known ? std::optional<T>(what) : std::nullopt;
    }
    template <class T>
    void list(std::vector<T>& all) {
        bytes.get_all(all);
    }
    void size(auto& all) { all.resize(bytes.get<std::uint64_t>()); }
};

void each(auto& io, auto& curve)
    requires requires { curve.continued; }
{
    io.list(curve.x);
    io.list(curve.y);
    io.value(curve.continued);
}

void each(auto& io, auto& surface)
    requires requires { surface.curves; }
{
    io.list(surface.z);
    io.size(surface.curves);
    for (auto& curve : surface.curves) {
        each(io, curve);
    }
}

void each(auto& io, auto& middleware)
    requires requires { middleware.alone; }
{
    io.size(middleware.tables);
    for (auto& table : middleware.tables) {
        io.value(table.block_bytes);
        each(io, table.l_mw);
    }
    io.list(middleware.alone);
}

void each(auto& io, auto& parameters)
    requires requires { parameters.localities; }
{
    // Named so, a further member does not compile before it is written, too.
    auto& [localities, middleware, middleware_self, o_mw, o_net, T_mem, put, get, o_burst, dma, per_hop, mean_hops,
           terms, reduction_per_byte, nics_per_node, asynchronous_progress, endpoints_queue, processors_queue,
           links_queue, library] = parameters;
    for (auto& locality : localities) {
        io.list(locality.ranges);
        io.value(locality.eager_limit);
        io.value(locality.across_network);
    }
    each(io, middleware);
    each(io, middleware_self);
    each(io, o_mw);
    each(io, o_net);
    each(io, T_mem);
    each(io, put);
    each(io, get);
    each(io, o_burst);
    io.value(dma);
    io.value(per_hop);
    io.value(mean_hops);
    io.value(terms);
    io.value(reduction_per_byte);
    io.value(nics_per_node);
    io.value(asynchronous_progress);
    io.value(endpoints_queue);
    io.value(processors_queue);
    io.value(links_queue);
    for (auto& property : library) {
        io.value(property);
    }
}

}  // namespace

SegmentBytes Setting::put() const {
    SegmentBytes bytes;
    FieldsOut out{bytes};
    each(out, parameters);
    bytes.put(std::uint64_t{placement.size()});
    for (std::size_t location = 0; location < placement.size(); ++location) {
        bytes.put(placement[location]);
    }
    bytes.put_all(placement.all_hops());
    bytes.put_all(placement.place_of_node());
    bytes.put(windows);
    return bytes;
}

Setting Setting::get(SegmentView bytes) {
    Setting setting;
    FieldsIn in{bytes};
    each(in, setting.parameters);
    std::vector<replay::Place> places;
    bytes.get_all(places);
    setting.placement = Placement(std::move(places));
    std::vector<std::int32_t> hops;
    std::vector<std::int32_t> place_of_node;
    bytes.get_all(hops);
    bytes.get_all(place_of_node);
    if (!hops.empty()) {
        setting.placement.set_hops(std::move(hops), std::move(place_of_node));
    }
    setting.windows = bytes.get<Windows>();
    return setting;
}

SegmentBytes Outline::put() const {
    SegmentBytes bytes;
    bytes.put(divided);
    bytes.put(accounted);
    bytes.put_all(kinds);
    bytes.put_all(layouts);
    bytes.put_all(block_of);
    bytes.put_all(segment_of);
    return bytes;
}

Outline Outline::get(SegmentView bytes) {
    Outline outline;
    outline.divided = bytes.get<bool>();
    outline.accounted = bytes.get<bool>();
    bytes.get_all(outline.kinds);
    bytes.get_all(outline.layouts);
    bytes.get_all(outline.block_of);
    bytes.get_all(outline.segment_of);
    return outline;
}

}  // namespace logpost::analyzer
