#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// One-sided transfers of one location that no record has completed yet, by window and matching id. One id may stand
/// for several transfers: SHMEM's writers change it at a barrier.
class PendingTransfers {
  public:
    void begin(LocationTrace& out) { out_ = &out; }
    /// Those that nothing has completed.
    std::vector<TransferKey> end() {
        std::vector<TransferKey> open;
        for (const auto& [key, last] : pending_) {
            if (out_->transfers[last].complete_call == kNone) {
                open.push_back(key);
            }
        }
        pending_.clear();
        before_.clear();
        return open;
    }

    /// The location's last transfer was started.
    void started(std::uint64_t matching) {
        const auto index = static_cast<std::uint32_t>(out_->transfers.size() - 1);
        const auto [at, added] = pending_.try_emplace({out_->transfers.back().rma_window, matching}, index);
        before_.push_back(added ? kNone : at->second);
        at->second = index;
    }

    /// They are complete at the origin. False: there are none.
    bool complete(std::int32_t window, std::uint64_t matching, std::uint32_t call) {
        const auto at = pending_.find({window, matching});
        if (at == pending_.end()) {
            return false;
        }
        // The latest is first: complete transfers are behind it.
        for (auto i = at->second; i != kNone && out_->transfers[i].complete_call == kNone; i = before_[i]) {
            out_->transfers[i].complete_call = call;
        }
        return true;
    }

    /// They are complete at their targets, too.
    void complete_remotely(std::int32_t window, std::uint64_t matching, std::uint32_t call) {
        if (const auto at = pending_.find({window, matching}); at != pending_.end()) {
            complete_chain(at->second, call, true);
            pending_.erase(at);
        }
    }

    /// A synchronization completed all transfers of a window to a target; kNoLocation: to all. `remotely`: there, too.
    void complete_all(std::int32_t window, replay::Location target, std::uint32_t call, bool remotely) {
        for (auto at = pending_.begin(); at != pending_.end();) {
            const bool meant = at->first.window == window &&
                               (target == replay::kNoLocation || out_->transfers[at->second].target == target);
            if (meant) {
                complete_chain(at->second, call, remotely);
                at = pending_.erase(at);
            } else {
                ++at;
            }
        }
    }

  private:
    struct Hash {
        std::size_t operator()(const TransferKey& key) const noexcept {
            const auto mixed = (key.matching ^ (static_cast<std::uint64_t>(key.window) << 40U)) * 0x9E3779B97F4A7C15ULL;
            return static_cast<std::size_t>(mixed ^ (mixed >> 32U));
        }
    };

    void complete_chain(std::uint32_t last, std::uint32_t call, bool remotely) {
        for (auto i = last; i != kNone; i = before_[i]) {
            auto& transfer = out_->transfers[i];
            transfer.complete_call = transfer.complete_call == kNone ? call : transfer.complete_call;
            transfer.remote_call = remotely ? call : transfer.remote_call;
        }
    }

    LocationTrace* out_ = nullptr;
    std::unordered_map<TransferKey, std::uint32_t, Hash> pending_;  // the latest transfer of each
    std::vector<std::uint32_t> before_;                             // by transfer: the one before it with its key
};

}  // namespace logpost::analyzer
