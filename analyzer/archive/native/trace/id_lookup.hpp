#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace logpost::analyzer {

/// Archive ids (any 64-bit numbers in any order) to dense ids. Ids that lie close together are a plain array, so the
/// common lookup is one load; far ones go to a hash.
class IdLookup {
  public:
    static constexpr std::int32_t kAbsent = -1;

    void insert(std::uint64_t id, std::int32_t dense) {
        if (id < near_limit()) {
            if (id >= near_.size()) {
                near_.resize(id + 1, kAbsent);
            }
            near_[id] = dense;
        } else {
            far_[id] = dense;
        }
        ++inserted_;
    }

    [[nodiscard]] std::int32_t operator()(std::uint64_t id) const noexcept {
        if (id < near_.size()) {
            const auto dense = near_[id];
            if (dense != kAbsent || far_.empty()) {
                return dense;
            }
        } else if (far_.empty()) {
            return kAbsent;
        }
        const auto found = far_.find(id);
        return found == far_.end() ? kAbsent : found->second;
    }

    /// Empty again, with its memory kept for the next use.
    void clear() noexcept {
        near_.clear();
        far_.clear();
        inserted_ = 0;
    }

    [[nodiscard]] bool empty() const noexcept { return inserted_ == 0; }
    [[nodiscard]] const std::vector<std::int32_t>& near() const noexcept { return near_; }

  private:
    // Bounded by what was inserted, so that one id of 1.6e9 does not allocate gigabytes.
    [[nodiscard]] std::uint64_t near_limit() const noexcept { return 4096 + 8 * inserted_; }

    std::vector<std::int32_t> near_;
    std::unordered_map<std::uint64_t, std::int32_t> far_;
    std::uint64_t inserted_ = 0;
};

}  // namespace logpost::analyzer
