#include "replay/native/graph/stored.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "replay/native/memory/huge_column.hpp"
#include "replay/native/memory/pages.hpp"

namespace logpost::replay {
namespace {

constexpr std::string_view kMagic = "logpost graph 5\n";
constexpr std::size_t kAligned = 64;  ///< bytes: each column begins at a multiple, as an x86-64 cache line does
/// A file that can be built again has a tenth of the free space at most: the rest is the user's.
constexpr std::uintmax_t kShareOfFree = 10;

/// Calls `column` for each column of a graph and `value` for all else that it is made of.
template <class Graph, class Column, class Value>
void for_each_member(Graph& graph, Column&& column, Value&& value) {
    column(graph.first_edge);
    column(graph.arcs);
    column(graph.models);
    column(graph.costs);
    column(graph.own_weights);
    column(graph.own_models);
    column(graph.messages);
    column(graph.begins);
    column(graph.ends);
    column(graph.programs);
    column(graph.not_recorded);
    column(graph.awaiting);
    column(graph.first_call);
    column(graph.enters);
    column(graph.leaves);
    column(graph.next_call);
    column(graph.callpath);
    column(graph.crossings);
    column(graph.crossing_of);
    column(graph.steps);
    column(graph.grants);
    column(graph.slots);
    column(graph.apart_ps);
    column(graph.communicates);
    value(graph.tick_ps);
    value(graph.callpaths);
    value(graph.chooses);
    value(graph.nics_share);
    value(graph.library);
    value(graph.fit);
    column(graph.use.busy_ps);
    column(graph.use.waited_ps);
    value(graph.use.confirmed_ps);
    value(graph.use.messages);
    value(graph.use.delayed);
    value(graph.use.total_ps);
    value(graph.use.turns);
    value(graph.rebuilt);
    value(graph.slots_needed);
}

/// Likewise of a network.
template <class Network, class Column, class Value>
void for_each_member_of_network(Network& network, Column&& column, Value&& value) {
    column(network.pairs);
    value(network.dimensions);
    column(network.hops);
    column(network.route_begin);
    column(network.route);
    value(network.links);
    value(network.byte_ps);
    column(network.narrow_byte_ps);
    column(network.dimension_byte_ps);
    value(network.channels);
}

/// Of all bytes, in the order in which they are read or written: of 64-bit words, the last one filled up with zeros.
class Sum {
  public:
    void add(std::span<const std::byte> bytes) noexcept {
        while (bytes.size() >= kStep) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                add(lane, bytes.data() + 8 * lane, 8);
            }
            bytes = bytes.subspan(kStep);
        }
        for (std::size_t lane = 0; !bytes.empty(); ++lane) {
            const auto n = std::min<std::size_t>(8, bytes.size());
            add(lane, bytes.data(), n);
            bytes = bytes.subspan(n);
        }
    }
    [[nodiscard]] std::uint64_t value() const noexcept {
        std::uint64_t all = 0;
        for (const auto lane : lanes_) {
            all = (all ^ lane) * kPrime;
        }
        return all;
    }

  private:
    static constexpr std::size_t kLanes = 4;  // multiplications that do not wait for each other
    static constexpr std::size_t kStep = 8 * kLanes;
    static constexpr std::uint64_t kPrime = 0x100000001b3;  // of FNV-1a, 64 bits

    void add(std::size_t lane, const std::byte* from, std::size_t n) noexcept {
        std::uint64_t word = 0;
        std::memcpy(&word, from, n);
        lanes_[lane] = (lanes_[lane] ^ word) * kPrime;
        lanes_[lane] ^= lanes_[lane] >> 32U;
    }

    std::array<std::uint64_t, kLanes> lanes_{0xcbf29ce484222325, 1, 2, 3};
};

/// A file that is written from its begin.
class File {
  public:
    explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (descriptor_ >= 0) {
            close(descriptor_);
        }
    }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

    /// All of them, or false.
    [[nodiscard]] bool write(std::span<const std::byte> bytes) noexcept {
        sum_.add(bytes);
        at_ += bytes.size();
        while (!bytes.empty()) {
            const auto n = ::write(descriptor_, bytes.data(), bytes.size());
            if (n < 0 && errno == EINTR) {
                continue;
            }
            if (n <= 0) {
                return false;
            }
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
        return true;
    }
    [[nodiscard]] bool align() noexcept {
        static constexpr std::array<std::byte, kAligned> kZeros{};
        return write(std::span(kZeros).first(rounded_up(at_, kAligned) - at_));
    }
    [[nodiscard]] std::uint64_t sum() const noexcept { return sum_.value(); }

  private:
    int descriptor_;
    std::size_t at_ = 0;
    Sum sum_;
};

/// The same file, mapped: what is written to this memory does not reach it.
class Mapped {
  public:
    explicit Mapped(const std::filesystem::path& file) {
        const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat found{};
        if (descriptor >= 0 && fstat(descriptor, &found) == 0 && found.st_size > 0) {
            const auto size = static_cast<std::size_t>(found.st_size);
            void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
            if (at != MAP_FAILED) {
                owner_ = std::shared_ptr<void>(at, [size](void* whole) { munmap(whole, size); });
                rest_ = std::span(static_cast<std::byte*>(at), size);
            }
        }
        if (descriptor >= 0) {
            close(descriptor);
        }
    }

    /// The next bytes, or fewer where the file ends.
    [[nodiscard]] std::span<std::byte> next(std::size_t n) noexcept {
        const auto bytes = rest_.first(std::min(n, rest_.size()));
        rest_ = rest_.subspan(bytes.size());
        at_ += bytes.size();
        sum_.add(bytes);
        return bytes;
    }
    [[nodiscard]] bool read(std::span<std::byte> bytes) noexcept {
        const auto found = next(bytes.size());
        std::copy(found.begin(), found.end(), bytes.begin());
        return found.size() == bytes.size();
    }
    template <class Column>
    [[nodiscard]] bool read_column(Column& column) {
        using T = typename Column::value_type;
        std::uint64_t size = 0;
        const bool whole = read(std::as_writable_bytes(std::span(&size, 1)));
        static_cast<void>(next(rounded_up(at_, kAligned) - at_));
        if (!whole || size > rest_.size() / sizeof(T)) {
            return false;
        }
        auto* const first = reinterpret_cast<T*>(next(size * sizeof(T)).data());
        if constexpr (std::is_same_v<Column, HugeColumn<T>>) {
            column = Column(first, first + size, HugePages<T>(owner_, first));
        } else {
            column.assign(first, first + size);
        }
        return true;
    }
    [[nodiscard]] std::uint64_t sum() const noexcept { return sum_.value(); }

  private:
    std::shared_ptr<void> owner_;
    std::span<std::byte> rest_;
    std::size_t at_ = 0;
    Sum sum_;
};

template <class T>
auto bytes_of(T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    if constexpr (std::is_const_v<T>) {
        return std::as_bytes(std::span(&value, 1));
    } else {
        return std::as_writable_bytes(std::span(&value, 1));
    }
}

bool written(const Graph& graph, const Surroundings& ran, File& file, std::string_view key) noexcept {
    const auto text = std::as_bytes(std::span(key));
    const std::uint64_t length = key.size();
    bool whole = file.write(std::as_bytes(std::span(kMagic))) && file.write(bytes_of(length)) && file.write(text);
    const auto column = [&](const auto& of) {
        static_assert(std::is_trivially_copyable_v<typename std::decay_t<decltype(of)>::value_type>);
        const std::uint64_t size = of.size();
        whole = whole && file.write(bytes_of(size)) && file.align() && file.write(std::as_bytes(std::span(of)));
    };
    const auto value = [&](const auto& of) { whole = whole && file.write(bytes_of(of)); };
    for_each_member(graph, column, value);
    column(ran.placement.places());
    column(ran.placement.all_hops());
    column(ran.placement.place_of_node());
    for_each_member_of_network(ran.network, column, value);
    const auto sum = file.sum();
    return whole && file.write(bytes_of(sum));
}

}  // namespace

bool store_graph(const Graph& graph, const Surroundings& ran, const std::filesystem::path& file,
                 std::string_view key) noexcept {
    std::error_code unknown;
    const auto space = std::filesystem::space(file.parent_path(), unknown);
    if (unknown || graph.bytes() > space.available / kShareOfFree) {
        return false;
    }
    try {
        const auto name = file.string() + "." + std::to_string(getpid());
        bool whole = false;
        {
            File unfinished(open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
            if (!unfinished.is_open()) {
                return false;
            }
            whole = written(graph, ran, unfinished, key);
        }
        std::error_code error;
        if (whole) {
            std::filesystem::rename(name, file, error);
        }
        if (!whole || error) {
            std::filesystem::remove(name, error);
            return false;
        }
        return true;
    } catch (const std::exception&) {  // no memory for a name
        return false;
    }
}

std::optional<PlacedGraph> stored_graph(const std::filesystem::path& path, std::string_view key) {
    Mapped file(path);
    std::string magic(kMagic.size(), ' ');
    std::uint64_t length = 0;
    if (!file.read(std::as_writable_bytes(std::span(magic))) || magic != kMagic || !file.read(bytes_of(length)) ||
        length != key.size()) {
        return std::nullopt;
    }
    std::string stored(length, ' ');
    if (!file.read(std::as_writable_bytes(std::span(stored))) || stored != key) {
        return std::nullopt;
    }
    std::optional<PlacedGraph> found(std::in_place);
    std::vector<Place> places;
    std::vector<std::int32_t> hops;
    std::vector<std::int32_t> place_of_node;
    bool whole = true;
    const auto column = [&](auto& of) { whole = whole && file.read_column(of); };
    const auto value = [&](auto& of) { whole = whole && file.read(bytes_of(of)); };
    for_each_member(found->graph, column, value);
    column(places);
    column(hops);
    column(place_of_node);
    for_each_member_of_network(found->ran.network, column, value);
    const auto sum = file.sum();
    std::uint64_t expected = 0;
    if (!whole || !file.read(bytes_of(expected)) || sum != expected) {
        return std::nullopt;
    }
    found->ran.placement = Placement(std::move(places));
    found->ran.placement.set_hops(std::move(hops), std::move(place_of_node));
    return found;
}

}  // namespace logpost::replay
