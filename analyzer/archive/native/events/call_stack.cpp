#include "analyzer/archive/native/events/call_stack.hpp"

#include <algorithm>
#include <iterator>

namespace logpost::analyzer {

CallStack::CallStack(const Definitions& definitions, QualityCounts& quality)
    : quality_(quality),
      kinds_(definitions.kinds),
      thread_roles_(definitions.thread_roles),
      reaches_file_(definitions.reaches_file),
      outside_region_(definitions.outside_region()),
      contexts_(definitions.contexts) {
    kinds_.push_back(CallKind::user);          // undefined_region
    kinds_.push_back(CallKind::other);         // outside_region
    kinds_.push_back(CallKind::not_recorded);  // off_region
    kinds_.push_back(CallKind::other);         // flush_region
}

void CallStack::begin(LocationTrace& out, StreamUse* stream) {
    out_ = &out;
    stream_ = stream;
    watched_ = stream != nullptr || !thread_roles_.empty() || !reaches_file_.empty();
    stack_.clear();
    open_teams_.clear();
    call_depth_ = 0;
    call_has_collective_ = false;
}

void CallStack::end(std::int64_t now) {
    count(quality_, Quality::region_open_at_end, stack_.size());
    const auto events = out_->communication_events;  // the archive has no Leave of those that are open
    while (!stack_.empty()) {
        pop(now);
    }
    while (!open_teams_.empty()) {
        end_team(now, open_teams_.back().role);
    }
    out_->communication_events = events;
    out_->profile.reserve(touched_.size());
    for (const auto callpath : touched_) {
        auto& from = profile_[static_cast<std::size_t>(callpath)];
        out_->profile.push_back(
            {callpath, from.visits, from.first_ps, from.last_ps, from.inclusive_ps, from.exclusive_ps});
        from = Accumulator{};
    }
    touched_.clear();
    out_ = nullptr;
}

void CallStack::note(const Frame& frame, std::int64_t now) {
    if (stream_ != nullptr) {
        if (stack_.size() == 1) {
            stream_->kernel(frame.enter_ps, now);
        }
        return;
    }
    const auto region = static_cast<std::size_t>(frame.region);
    if (call_depth_ == 0 && region < reaches_file_.size() && reaches_file_[region] != 0) {
        out_->file_calls.push_back({frame.enter_ps, now, frame.callpath});
    }
    if (region < thread_roles_.size() && thread_roles_[region] != ThreadRole::none) {
        out_->threads.push_back({frame.enter_ps, now, frame.callpath, depth(stack_.size()), thread_roles_[region]});
    }
}

void CallStack::end_team(std::int64_t now, ThreadRole role) {
    const auto open = std::find_if(open_teams_.rbegin(), open_teams_.rend(),
                                   [&](const ThreadRecord& team) { return team.role == role; });
    if (open != open_teams_.rend()) {
        out_->threads.push_back({open->enter_ps, now, open->callpath, open->depth, role});
        open_teams_.erase(std::next(open).base());
    }
}

std::int32_t CallStack::find_callpath(std::int32_t context) {
    // Not recursive: a program that recurs has contexts as deep.
    auto callpath = context_base_;
    std::vector<std::int32_t> below;
    for (auto at = context; at != kUndefined; at = contexts_[static_cast<std::size_t>(at)].parent) {
        if (const auto known = context_callpaths_[static_cast<std::size_t>(at)]; known != CallpathTree::kRoot) {
            callpath = known;
            break;
        }
        below.push_back(at);
    }
    for (; !below.empty(); below.pop_back()) {
        const auto& of = contexts_[static_cast<std::size_t>(below.back())];
        callpath = tree_.child(callpath, of.region, of.site);
        context_callpaths_[static_cast<std::size_t>(below.back())] = callpath;
    }
    return callpath;
}

void CallStack::leave_mis_nested(std::int64_t now, std::int32_t region) {
    const auto open = std::find_if(stack_.rbegin(), stack_.rend(), [&](const Frame& f) { return f.region == region; });
    if (open == stack_.rend()) {
        count(quality_, Quality::leave_without_enter);
        return;
    }
    count(quality_, Quality::leave_mis_nested);
    const auto keep = static_cast<std::size_t>(stack_.rend() - open) - 1;
    while (stack_.size() > keep) {
        pop(now);
    }
}

void CallStack::call_outside(std::int64_t now) {
    count(quality_, Quality::record_outside_call);
    const auto events = out_->communication_events;  // the archive has neither Enter nor Leave of this call
    enter(now, outside_region_);
    pop(now);
    out_->communication_events = events;
}

void CallStack::apart(std::int64_t begin, std::int64_t now, std::int32_t region) {
    if (call_depth_ != 0 || stream_ != nullptr) {
        return;  // the writer has a region for it; what a stream has is no call
    }
    const auto events = out_->communication_events;
    enter(begin, region);
    pop(now);
    out_->communication_events = events;
}

void CallStack::grow_profile() {
    profile_.resize(std::max(tree_.size(), 2 * profile_.size()));
}

}  // namespace logpost::analyzer
