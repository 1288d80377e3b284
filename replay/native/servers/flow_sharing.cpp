#include "replay/native/servers/flow_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace logpost::replay {

void FlowSharing::advance(std::int64_t now_ps) {
    if (now_ps > now_) {
        settle();
        now_ = now_ps;
    }
}

std::uint32_t FlowSharing::start(std::int64_t now_ps, std::uint32_t flow, double bytes, std::span<const Share> shares) {
    advance(now_ps);
    std::uint32_t place = 0;
    if (free_.empty()) {
        place = static_cast<std::uint32_t>(flows_.size());
        flows_.emplace_back();
    } else {
        place = free_.back();
        free_.pop_back();
    }
    auto& added = flows_[place];
    added.id = flow;
    added.bytes = bytes;
    added.rate = 0;
    added.since = now_;
    added.shares.assign(shares.begin(), shares.end());
    bool alone = true;
    double narrowest = std::numeric_limits<double>::infinity();
    for (const auto& share : shares) {
        auto& flows = links_[share.link].flows;
        flows.push_back(place);
        alone = alone && flows.size() == 1;
        narrowest = share.byte_ps > 0 ? std::min(narrowest, 1 / share.byte_ps) : narrowest;
    }
    if (alone) {  // most flows, most of the time: no other rate changes
        set_rate(added, place, narrowest);
    } else {
        std::ranges::transform(shares, std::back_inserter(changed_), &Share::link);
    }
    return place;
}

double FlowSharing::stop(std::int64_t now_ps, std::uint32_t place) {
    advance(now_ps);
    settle();
    const auto& flow = flows_[place];
    const double left = std::max(0.0, flow.bytes - flow.rate * static_cast<double>(now_ - flow.since));
    remove(place);
    return left;
}

void FlowSharing::remove(std::uint32_t place) {
    auto& gone = flows_[place];
    ++gone.version;
    for (const auto& share : gone.shares) {
        auto& flows = links_[share.link].flows;
        std::erase(flows, place);
        if (!flows.empty()) {
            changed_.push_back(share.link);
        }
    }
    free_.push_back(place);
}

std::int64_t FlowSharing::next_end() {
    settle();
    while (!ends_.empty() && ends_.top().version != flows_[ends_.top().place].version) {
        ends_.pop();
    }
    return ends_.empty() ? INT64_MAX : ends_.top().time;
}

std::uint32_t FlowSharing::end() {
    const auto place = ends_.top().place;
    now_ = ends_.top().time;
    ends_.pop();
    remove(place);
    return flows_[place].id;
}

/// All flows and links that are joined with those that changed.
void FlowSharing::reach() {
    reached_links_.clear();
    reached_.clear();
    const auto add_link = [this](std::uint32_t link) {
        if (!links_[link].reached) {
            links_[link].reached = true;
            reached_links_.push_back(link);
        }
    };
    std::ranges::for_each(changed_, add_link);
    changed_.clear();
    for (std::size_t i = 0; i < reached_links_.size(); ++i) {
        for (const auto place : links_[reached_links_[i]].flows) {
            auto& flow = flows_[place];
            if (!flow.reached) {
                flow.reached = true;
                reached_.push_back(place);
                for (const auto& share : flow.shares) {
                    add_link(share.link);
                }
            }
        }
    }
}

/// Progressive filling: all rates rise together until a link is full; its flows have theirs then.
void FlowSharing::share_out() {
    for (const auto l : reached_links_) {
        auto& link = links_[l];
        link.used = link.requested = 0;
        link.unsettled = static_cast<std::uint32_t>(link.flows.size());
    }
    for (const auto place : reached_) {
        flows_[place].settled = -1;
        for (const auto& share : flows_[place].shares) {
            links_[share.link].requested += share.byte_ps;
        }
    }
    auto open = reached_links_;
    for (auto left = reached_.size(); left > 0;) {
        std::erase_if(open, [this](std::uint32_t l) { return links_[l].unsettled == 0; });
        double level = std::numeric_limits<double>::infinity();
        std::uint32_t full = open.front();
        for (const auto l : open) {
            const auto& link = links_[l];
            const double at = link.requested > 0 ? std::max(0.0, 1 - link.used) / link.requested
                                                 : std::numeric_limits<double>::infinity();
            if (at < level) {
                level = at;
                full = l;
            }
        }
        for (const auto place : links_[full].flows) {
            auto& flow = flows_[place];
            if (flow.settled >= 0) {
                continue;
            }
            flow.settled = level;
            --left;
            for (const auto& share : flow.shares) {
                auto& link = links_[share.link];
                link.used += level * share.byte_ps;
                link.requested = --link.unsettled == 0 ? 0 : link.requested - share.byte_ps;
            }
        }
    }
}

void FlowSharing::set_rate(Flow& flow, std::uint32_t place, double rate) {
    if (rate == flow.rate) {
        return;
    }
    flow.bytes = std::max(0.0, flow.bytes - flow.rate * static_cast<double>(now_ - flow.since));
    flow.rate = rate;
    flow.since = now_;
    ++flow.version;
    const double rest = std::ceil(flow.bytes / flow.rate);
    constexpr double kMost = 4e18;
    ends_.push({rest < kMost ? now_ + static_cast<std::int64_t>(rest) : INT64_MAX, place, flow.version});
}

void FlowSharing::settle() {
    if (changed_.empty()) {
        return;
    }
    reach();
    share_out();
    for (const auto l : reached_links_) {
        links_[l].reached = false;
    }
    for (const auto place : reached_) {
        auto& flow = flows_[place];
        flow.reached = false;
        set_rate(flow, place, flow.settled);
    }
}

}  // namespace logpost::replay
