#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "replay/native/cost/cost.hpp"
#include "replay/native/program/placement.hpp"

namespace logpost::replay {

/// The distinct stages of the messages to one location: most programs send few sizes, so each is computed once.
class StageTable {
  public:
    StageTable(const Parameters& parameters, std::vector<MessageStages>& rows) : parameters_(parameters), rows_(rows) {}

    /// `burst` and `hops` as in MessageShape.
    std::uint32_t row(Locality locality, std::uint64_t bytes, const Blocks& layout, std::uint32_t burst,
                      std::int32_t hops) {
        const Key key{bytes, layout, burst, hops, locality};
        // Few sizes recur, one after another.
        auto& recent = recent_[(key.bytes * kOdd) >> (64U - kRecentBits)];
        if (recent.key != key) {
            recent = {key, find(key)};
        }
        return recent.row;
    }

    /// The row like `row` but with the other protocol.
    std::uint32_t with_other_protocol(std::uint32_t row) {
        const auto [place, added] = other_.try_emplace(row, static_cast<std::uint32_t>(rows_.size()));
        if (added) {
            auto changed = rows_[row];
            changed.rendezvous = !changed.rendezvous;
            rows_.push_back(changed);
        }
        return place->second;
    }

  private:
    static constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
    struct Key {
        std::uint64_t bytes = UINT64_MAX;
        Blocks layout;
        std::uint32_t burst = 1;
        std::int32_t hops = kUndefined;
        Locality locality = Locality::self;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept {
            return (key.bytes * kOdd) ^ std::rotl(static_cast<std::uint64_t>(key.layout.stride_bytes) * kOdd, 29) ^
                   std::rotl(key.layout.block_bytes * kOdd, 43) ^
                   std::rotl((key.burst ^ (std::uint64_t{static_cast<std::uint32_t>(key.hops)} << 32U)) * kOdd, 17) ^
                   static_cast<std::uint64_t>(key.locality);
        }
    };
    std::uint32_t find(const Key& key) {
        const auto [place, added] = index_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
        if (added) {
            rows_.push_back(message_cost(parameters_, key.locality, key.bytes, key.layout, key.burst, key.hops));
        }
        return place->second;
    }

    struct Recent {
        Key key;
        std::uint32_t row = 0;
    };
    static constexpr unsigned kRecentBits = 3;
    const Parameters& parameters_;
    std::vector<MessageStages>& rows_;
    std::unordered_map<Key, std::uint32_t, Hash> index_;
    std::unordered_map<std::uint32_t, std::uint32_t> other_;
    std::array<Recent, 1U << kRecentBits> recent_;
};

}  // namespace logpost::replay
