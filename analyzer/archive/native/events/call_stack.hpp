#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/archive/native/definitions/definitions.hpp"
#include "analyzer/archive/native/trace/callpaths.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/stream_use.hpp"
#include "analyzer/archive/native/trace/trace.hpp"
#include "replay/native/program/wide.hpp"

namespace logpost::analyzer {

/// The open regions of one location, and what becomes of them: the calling-context tree, its profile, and the outermost
/// communication calls.
///
/// In: times and dense regions or calling contexts, in the order of events. Out: `calls`, `profile` and the count of
/// communication events of the LocationTrace. The tree grows over all locations of a thread. What every Enter and Leave
/// needs is inline.
class CallStack {
  public:
    CallStack(const Definitions& definitions, QualityCounts& quality);
    CallStack(const CallStack&) = delete;
    CallStack& operator=(const CallStack&) = delete;

    /// `stream`: of an accelerator's location.
    void begin(LocationTrace& out, StreamUse* stream);
    /// Closes what is open and writes the profile.
    void end(std::int64_t now);

    void enter(std::int64_t now, std::int32_t region) {
        if (stack_.empty()) {
            root_region_ = region;
        }
        enter(now, region, tree_.child(top(), region));
    }

    /// Enters the region of a calling context, which names the functions above it too, whether they were entered or
    /// not.
    void enter_context(std::int64_t now, std::int32_t context) {
        enter(now, contexts_[static_cast<std::size_t>(context)].region, callpath_of(context));
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
    /// Counts a record as one of a communication call if it lies inside one.
    void count_record() { out_->communication_events += call_depth_ != 0 ? 1 : 0; }
    /// From `begin` to now the program was not recorded, or did not run: a call of its own outside of any other.
    void apart(std::int64_t begin, std::int64_t now, std::int32_t region);
    [[nodiscard]] bool in_call() const { return call_depth_ != 0; }
    /// A pair of records (fork and join, begin and end of a team) begins or ends.
    void begin_team(std::int64_t now, ThreadRole role) { open_teams_.push_back({now, now, top(), team_depth(), role}); }
    void end_team(std::int64_t now, ThreadRole role);
    /// The location is in this code, outside of any communication call, so many periods of the sampler after the
    /// sample before.
    void sample(std::int64_t now, std::int32_t context, std::uint32_t periods) {
        if (call_depth_ == 0) {
            out_->samples.push_back(
                {now, callpath_of(context), contexts_[static_cast<std::size_t>(context)].line, periods});
        }
    }
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
        std::int64_t first_ps = 0;
        std::int64_t last_ps = 0;
        std::int64_t inclusive_ps = 0;
        std::int64_t exclusive_ps = 0;
    };

    /// Between two open regions there is room for teams, which are no regions.
    static constexpr std::uint32_t kDepths = 15;
    [[nodiscard]] std::uint32_t team_depth() const {
        return depth(stack_.size()) + 1 + static_cast<std::uint32_t>(open_teams_.size()) % kDepths;
    }
    static std::uint32_t depth(std::size_t regions) { return static_cast<std::uint32_t>(regions) * (kDepths + 1); }

    [[nodiscard]] std::int32_t top() const { return stack_.empty() ? CallpathTree::kRoot : stack_.back().callpath; }

    void enter(std::int64_t now, std::int32_t region, std::int32_t callpath) {
        stack_.push_back({now, 0, region, callpath});
        if (kind(region) != CallKind::user) {
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

    std::int32_t callpath_of(std::int32_t context) {
        const auto& of = contexts_[static_cast<std::size_t>(context)];
        if (stack_.empty()) {
            root_region_ = of.root_region;
        }
        // Contexts that begin where the open regions begin are whole; others lie below what is open.
        const auto base = stack_.empty() || root_region_ == of.root_region ? CallpathTree::kRoot : top();
        if (base != context_base_) [[unlikely]] {
            context_callpaths_.assign(contexts_.size(), CallpathTree::kRoot);
            context_base_ = base;
        }
        const auto known = context_callpaths_[static_cast<std::size_t>(context)];
        return known != CallpathTree::kRoot ? known : find_callpath(context);
    }
    std::int32_t find_callpath(std::int32_t context);

    [[nodiscard]] CallKind kind(std::int32_t region) const { return kinds_[static_cast<std::size_t>(region)]; }

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
            profile.first_ps = frame.enter_ps;
        }
        profile.last_ps = now;
        // A calling context that is entered again within itself counts each time.
        replay::add_saturating(profile.inclusive_ps, duration);
        profile.exclusive_ps += duration - frame.children_ps;
        if (watched_) [[unlikely]] {
            note(frame, now);
        }
        if (kind(frame.region) != CallKind::user) {
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
    [[nodiscard]] static bool waits_for_collective_record(CallKind kind) {
        return kind == CallKind::barrier || kind == CallKind::collective || kind == CallKind::collective_nonblocking;
    }

    void note(const Frame& frame, std::int64_t now);
    void leave_mis_nested(std::int64_t now, std::int32_t region);
    void call_outside(std::int64_t now);
    void grow_profile();

    QualityCounts& quality_;
    std::vector<CallKind> kinds_;                  // by dense region, with those that the archive does not define
    const std::vector<ThreadRole>& thread_roles_;  // by dense region; empty: none has any
    const std::vector<char>& reaches_file_;        // likewise
    StreamUse* stream_ = nullptr;                  // of the location; none: it is no accelerator's
    bool watched_ = false;                         // regions matter to threads, streams or files
    std::vector<ThreadRecord> open_teams_;
    std::int32_t outside_region_;
    const std::vector<CallingContext>& contexts_;
    std::int32_t root_region_ = kUndefined;        // of the path that is open
    std::int32_t context_base_ = kUndefined;       // the callpath below which `context_callpaths_` lie
    std::vector<std::int32_t> context_callpaths_;  // by context; kRoot: not looked up yet
    CallpathTree tree_;
    std::vector<Accumulator> profile_;   // by callpath
    std::vector<std::int32_t> touched_;  // callpaths with visits on this location
    std::vector<Frame> stack_;
    LocationTrace* out_ = nullptr;
    std::size_t call_depth_ = 0;  // stack size at the outermost communication call; 0: outside
    bool call_has_collective_ = false;
};

}  // namespace logpost::analyzer
