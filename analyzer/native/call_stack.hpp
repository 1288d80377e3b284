#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "callpaths.hpp"
#include "definitions.hpp"
#include "quality.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

/// The open regions of one location, and what becomes of them: the calling-context tree, its profile, and the outermost
/// communication calls.
///
/// In: times and dense regions, in the order of events. Out: `calls`, `profile` and the count of communication events
/// of the LocationTrace. The tree grows over all locations of a thread. What every Enter and Leave needs is inline.
class CallStack {
  public:
    CallStack(const Definitions& definitions, QualityCounts& quality);
    CallStack(const CallStack&) = delete;
    CallStack& operator=(const CallStack&) = delete;

    void begin(LocationTrace& out);
    /// Closes what is open and writes the profile.
    void end(std::int64_t now);

    void enter(std::int64_t now, std::int32_t region) {
        const auto callpath = tree_.child(stack_.empty() ? CallpathTree::kRoot : stack_.back().callpath, region);
        stack_.push_back({now, 0, region, callpath});
        if (kind(region) != RegionKind::user) {
            ++out_->communication_events;
            if (call_depth_ == 0) {
                call_depth_ = stack_.size();
                call_has_collective_ = false;
                out_->calls.push_back({now, now, region, callpath});
            } else {
                count(quality_, Quality::nested_communication);
            }
        }
    }

    void leave(std::int64_t now, std::int32_t region) {
        if (stack_.empty() || stack_.back().region != region) [[unlikely]] {
            leave_mis_nested(now, region);
            return;
        }
        pop(now);
    }

    /// Counts a record of a communication call; returns the call, one of its own if the record lies outside of any.
    std::uint32_t call_for_record(std::int64_t now) {
        ++out_->communication_events;
        if (call_depth_ == 0) [[unlikely]] {
            call_outside(now);
        }
        return static_cast<std::uint32_t>(out_->calls.size() - 1);
    }
    /// Counts a record that is one of a communication call if it lies inside of one.
    void count_record() { out_->communication_events += call_depth_ != 0 ? 1 : 0; }
    /// The open call has a record of a collective.
    void has_collective() { call_has_collective_ = true; }

    [[nodiscard]] const CallpathTree& callpaths() const noexcept { return tree_; }

  private:
    struct Frame {
        std::int64_t enter_ps;
        std::int64_t children_ps;
        std::int32_t region;
        std::int32_t callpath;
    };
    struct Accumulator {
        std::uint64_t visits = 0;
        std::int64_t inclusive_ps = 0;
        std::int64_t exclusive_ps = 0;
    };

    [[nodiscard]] RegionKind kind(std::int32_t region) const { return kinds_[static_cast<std::size_t>(region)]; }

    void pop(std::int64_t now) {
        const auto frame = stack_.back();
        const auto duration = now - frame.enter_ps;
        const auto node = static_cast<std::size_t>(frame.callpath);
        if (node >= profile_.size()) [[unlikely]] {
            grow_profile();
        }
        auto& profile = profile_[node];
        if (profile.visits++ == 0) {
            touched_.push_back(frame.callpath);
        }
        profile.inclusive_ps += duration;
        profile.exclusive_ps += duration - frame.children_ps;
        if (kind(frame.region) != RegionKind::user) {
            ++out_->communication_events;
            if (stack_.size() == call_depth_) {
                close_call(now);
            }
        }
        stack_.pop_back();
        if (!stack_.empty()) {
            stack_.back().children_ps += duration;
        }
    }

    void close_call(std::int64_t now) {
        auto& call = out_->calls.back();
        call.leave_ps = now;
        call_depth_ = 0;
        if (!call_has_collective_ && waits_for_collective_record(kind(call.region))) {
            count(quality_, Quality::collective_call_without_record);
        }
    }
    [[nodiscard]] static bool waits_for_collective_record(RegionKind kind) {
        return kind == RegionKind::barrier || kind == RegionKind::collective ||
               kind == RegionKind::collective_nonblocking;
    }

    void leave_mis_nested(std::int64_t now, std::int32_t region);
    void call_outside(std::int64_t now);
    void grow_profile();

    QualityCounts& quality_;
    std::vector<RegionKind> kinds_;  // by dense region, undefined_region and outside_region included
    std::int32_t outside_region_;
    CallpathTree tree_;
    std::vector<Accumulator> profile_;   // by callpath
    std::vector<std::int32_t> touched_;  // callpaths with visits on this location
    std::vector<Frame> stack_;
    LocationTrace* out_ = nullptr;
    std::size_t call_depth_ = 0;  // stack size at the outermost communication call; 0: outside
    bool call_has_collective_ = false;
};

}  // namespace logpost::analyzer
