// What a thread has started without waiting for it, until a wait is taken to complete it.
//
// A trace names no handles. WAIT_SYNCNB completes a barrier if that is what was started last, else the oldest of what
// is pending; WAIT_SYNCNB_ALL all of it; those of implicit handles (NBI) all that were started so. An access region
// makes its transfers one explicit handle.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace logpost::assembler::gasnet {

struct Started {
    bool barrier = false;
    std::uint64_t id = 0;
};

class Pending {
  public:
    void barrier(std::uint64_t id) { handles_.push_back({{true, id}}); }
    void explicit_transfer(std::uint64_t id) { handles_.push_back({{false, id}}); }
    void implicit_transfer(std::uint64_t id) { (in_region_ ? region_ : implicit_).push_back({false, id}); }
    void begin_region() { in_region_ = true; }
    void end_region() {
        in_region_ = false;
        if (!region_.empty()) {
            handles_.push_back(std::exchange(region_, {}));
        }
    }

    // The oldest barrier: GASNet says itself when one is over.
    std::optional<Started> barrier_over() {
        for (auto at = handles_.begin(); at != handles_.end(); ++at) {
            if (at->front().barrier) {
                const Started found = at->front();
                handles_.erase(at);
                return found;
            }
        }
        return std::nullopt;
    }

    // What a wait of this name completes. `guessed`: it may have been another.
    std::vector<Started> waited(std::string_view name, bool& guessed) {
        guessed = false;
        if (name.find("NBI") != std::string_view::npos) {
            return std::exchange(implicit_, {});
        }
        std::vector<Started> found;
        if (name.find("_SOME") != std::string_view::npos) {
            guessed = !handles_.empty();
            return found;
        }
        if (name.find("_ALL") != std::string_view::npos) {
            for (auto& handle : handles_) {
                found.insert(found.end(), handle.begin(), handle.end());
            }
            handles_.clear();
        } else if (!handles_.empty()) {
            guessed = handles_.size() > 1;
            const auto at = handles_.back().front().barrier ? handles_.end() - 1 : handles_.begin();
            found = std::move(*at);
            handles_.erase(at);
        }
        return found;
    }

    std::uint64_t transfers() const {
        std::uint64_t count = implicit_.size() + region_.size();
        for (const auto& handle : handles_) {
            count += handle.front().barrier ? 0 : handle.size();
        }
        return count;
    }

  private:
    std::deque<std::vector<Started>> handles_;
    std::vector<Started> implicit_;
    std::vector<Started> region_;
    bool in_region_ = false;
};

}  // namespace logpost::assembler::gasnet
