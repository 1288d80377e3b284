#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "replay/native/parameters.hpp"

namespace logpost::analyzer {

/// The distinct stages of the messages to one location: most programs send few sizes, so each is computed once.
class StageTable {
  public:
    StageTable(const replay::Parameters& parameters, std::vector<replay::MessageStages>& rows)
        : parameters_(parameters), rows_(rows) {}

    std::uint32_t row(replay::Locality locality, std::uint64_t bytes, std::int64_t stride) {
        const Key key{bytes, stride, locality};
        if (key != last_) {
            last_ = key;
            const auto [place, added] = index_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
            if (added) {
                rows_.push_back(message_stages(parameters_, locality, bytes, stride));
            }
            last_row_ = place->second;
        }
        return last_row_;
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
    struct Key {
        std::uint64_t bytes = UINT64_MAX;
        std::int64_t stride = -1;
        replay::Locality locality = replay::Locality::self;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept {
            constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
            return (key.bytes * kOdd) ^ std::rotl(static_cast<std::uint64_t>(key.stride) * kOdd, 29) ^
                   static_cast<std::uint64_t>(key.locality);
        }
    };
    const replay::Parameters& parameters_;
    std::vector<replay::MessageStages>& rows_;
    std::unordered_map<Key, std::uint32_t, Hash> index_;
    std::unordered_map<std::uint32_t, std::uint32_t> other_;
    Key last_;
    std::uint32_t last_row_ = 0;
};

}  // namespace logpost::analyzer
