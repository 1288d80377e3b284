#include "analyzer/archive/native/export/perfetto_events.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

namespace logpost::analyzer {
namespace {

/// Fields of a protocol buffer message, in the order in which they are added.
class Fields {
  public:
    void clear() { bytes_.clear(); }
    [[nodiscard]] std::string_view bytes() const { return bytes_; }

    void varint(unsigned field, std::uint64_t value) {
        key(field, 0);
        plain(value);
    }
    void fixed64(unsigned field, std::uint64_t value) {
        key(field, 1);
        for (int shift = 0; shift < 64; shift += 8) {
            bytes_.push_back(static_cast<char>(value >> shift));
        }
    }
    void message(unsigned field, std::string_view content) {
        key(field, 2);
        plain(content.size());
        bytes_.append(content);
    }
    std::string take() { return std::move(bytes_); }

  private:
    void key(unsigned field, unsigned wire_type) { plain(field << 3U | wire_type); }
    void plain(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) {
            bytes_.push_back(static_cast<char>(value | 0x80U));
        }
        bytes_.push_back(static_cast<char>(value));
    }

    std::string bytes_;
};

enum class Type : std::uint8_t { slice_begin = 1, slice_end = 2, counter = 4 };

/// Packets of a trace, one event each.
class Packets {
  public:
    explicit Packets(const PerfettoTrack& track) : track_(track) {}

    /// The event of a packet, to be filled in the order of field numbers.
    Fields& event() {
        event_.clear();
        return event_;
    }
    void type(Type type) { event_.varint(9, static_cast<std::uint64_t>(type)); }
    void track() { event_.varint(11, track_.uuid); }

    void add(std::int64_t at_ns) {
        packet_.clear();
        packet_.varint(8, static_cast<std::uint64_t>(at_ns));
        packet_.varint(10, track_.sequence);
        packet_.message(11, event_.bytes());
        packet_.varint(13, 2);  // SEQ_NEEDS_INCREMENTAL_STATE
        trace_.message(1, packet_.bytes());
    }
    std::string take() { return trace_.take(); }

  private:
    PerfettoTrack track_;
    Fields event_;
    Fields packet_;
    Fields trace_;
};

void flows(Fields& event, unsigned field, const PerfettoFlows& of, std::size_t slice) {
    for (auto i = of.begin[slice]; i < of.end[slice]; ++i) {
        event.fixed64(field, static_cast<std::uint64_t>(of.id[static_cast<std::size_t>(i)]));
    }
}

void begin(Packets& packets, const PerfettoSlices& slices, std::size_t slice) {
    auto& event = packets.event();
    const auto exposed = slices.exposed_ps.subspan(slice * slices.arguments, slices.arguments);
    const auto longest = std::ranges::max_element(exposed);
    const bool any = longest != exposed.end() && *longest != 0;
    event.varint(3, any ? static_cast<std::uint64_t>(longest - exposed.begin()) + 2 : 1);
    Fields argument;
    for (std::size_t k = 0; k < exposed.size(); ++k) {
        if (exposed[k] == 0) {
            continue;
        }
        argument.clear();
        argument.varint(1, k + 2);
        argument.fixed64(5, std::bit_cast<std::uint64_t>(static_cast<double>(exposed[k]) / 1000));
        event.message(4, argument.bytes());
    }
    packets.type(Type::slice_begin);
    event.varint(10, static_cast<std::uint64_t>(slices.name[slice]));
    packets.track();
    flows(event, 47, slices.begun, slice);
    packets.add(slices.enter_ns[slice]);
}

}  // namespace

std::string perfetto_slices(const PerfettoTrack& track, const PerfettoSlices& slices) {
    Packets packets(track);
    for (std::size_t i = 0; i < slices.enter_ns.size(); ++i) {
        begin(packets, slices, i);
        auto& end = packets.event();
        packets.type(Type::slice_end);
        packets.track();
        flows(end, 48, slices.ended, i);
        packets.add(slices.leave_ns[i]);
    }
    return packets.take();
}

std::string perfetto_counter(const PerfettoTrack& track, std::span<const std::int64_t> at_ns,
                             std::span<const std::int64_t> values) {
    Packets packets(track);
    for (std::size_t i = 0; i < at_ns.size(); ++i) {
        auto& event = packets.event();
        packets.type(Type::counter);
        packets.track();
        event.varint(30, static_cast<std::uint64_t>(values[i]));
        packets.add(at_ns[i]);
    }
    return packets.take();
}

}  // namespace logpost::analyzer
