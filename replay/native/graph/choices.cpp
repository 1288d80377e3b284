#include "replay/native/graph/choices.hpp"

#include <algorithm>
#include <unordered_map>

namespace logpost::replay {
namespace {

constexpr std::uint8_t kOther = 2;  // it completes several requests, or what is no message
/// A row with fewer has nothing to choose: its last one keeps its place.
constexpr std::uint32_t kFewest = 3;

/// How many requests each call of a location completes.
std::vector<std::uint8_t> completed(const Timeline& timeline) {
    std::vector<std::uint8_t> counts(timeline.calls.size());
    const auto add = [&](std::uint32_t call, std::uint8_t count) {
        counts[call] = static_cast<std::uint8_t>(std::min<int>(kOther, counts[call] + count));
    };
    const auto add_message = [&](std::size_t, const MessageEnd& end) {
        if (end.complete_call != kNone && end.complete_call != end.call) {
            add(end.complete_call, 1);
        }
    };
    timeline.sends.for_each(add_message);
    timeline.receives.for_each(add_message);
    timeline.collectives.for_each([&](std::size_t, const Collective& one) {
        if (one.complete_call != kNone) {
            add(one.complete_call, kOther);
        }
    });
    timeline.transfers.for_each([&](std::size_t, const Transfer& one) {
        if (one.complete_call != kNone) {
            add(one.complete_call, kOther);
        }
    });
    return counts;
}

/// By region: its calls take what arrives first.
std::vector<bool> choosing_regions(const Program& program) {
    std::vector<bool> one(program.kinds.size());
    std::vector<bool> several(program.kinds.size());
    for (const auto& timeline : program.timelines) {
        const auto counts = completed(timeline);
        for (std::size_t call = 0; call < counts.size(); ++call) {
            const auto region = static_cast<std::size_t>(timeline.calls[call].region);
            if (program.kinds[region] == CallKind::wait_multi) {
                one[region] = one[region] || counts[call] == 1;
                several[region] = several[region] || counts[call] > 1;
            }
        }
    }
    for (std::size_t region = 0; region < one.size(); ++region) {
        one[region] = one[region] && !several[region];
    }
    return one;
}

/// Whether a call may be part of a reply: it waits for no rank, or for the receiver of what it sends.
bool replies_only(CallKind kind) noexcept {
    switch (kind) {
        case CallKind::user:
        case CallKind::send:
        case CallKind::send_synchronous:
        case CallKind::send_buffered:
        case CallKind::send_nonblocking:
        case CallKind::receive_nonblocking:
        case CallKind::start:
        case CallKind::other:
            return true;
        default:
            return false;
    }
}

class Finder {
  public:
    Finder(const Program& program, const Graph& graph, std::span<const std::uint32_t> sources)
        : program_(program), graph_(graph), sources_(sources) {}

    Choices found() {
        const auto choosing = choosing_regions(program_);
        for (std::uint32_t l = 0; l < program_.timelines.size(); ++l) {
            if (graph_.begins[l] != kNone) {
                of_location(l, choosing);
            }
        }
        find_post_arcs();
        return std::move(choices_);
    }

  private:
    void of_location(std::uint32_t l, const std::vector<bool>& choosing) {
        const auto& timeline = program_.timelines[l];
        const auto counts = completed(timeline);
        std::vector<std::uint32_t> begun(counts.size(), kNone);  // by call: that made the request which it completes
        std::vector<bool> receives(counts.size());
        std::vector<std::int32_t> comms(counts.size(), kUndefined);
        const auto note = [&](const MessageEnd& end, bool receive) {
            if (end.complete_call != kNone && end.complete_call != end.call) {
                begun[end.complete_call] = end.call;
                comms[end.complete_call] = end.comm;
                receives[end.complete_call] = receive && end.match != kNone;
            }
        };
        timeline.sends.for_each([&](std::size_t, const MessageEnd& end) { note(end, false); });
        timeline.receives.for_each([&](std::size_t, const MessageEnd& end) { note(end, true); });
        std::vector<std::uint32_t> row;  // calls
        for (std::uint32_t call = 0; call < counts.size(); ++call) {
            const auto region = static_cast<std::size_t>(timeline.calls[call].region);
            if (choosing[region] && counts[call] == 1) {
                row.push_back(call);
            } else if (!replies_only(program_.kinds[region])) {
                add_row(l, row, begun, receives, comms);
                row.clear();
            }
        }
        add_row(l, row, begun, receives, comms);
    }

    void add_row(std::uint32_t l, const std::vector<std::uint32_t>& row, const std::vector<std::uint32_t>& begun,
                 const std::vector<bool>& receives, const std::vector<std::int32_t>& comms) {
        if (row.size() < kFewest) {
            return;
        }
        const auto first_call = graph_.first_call[l];
        const auto first = static_cast<std::uint32_t>(choices_.all.size());
        for (const auto call : row) {
            Choice one{
                .enter = graph_.enters[first_call + call],
                .leave = graph_.leaves[first_call + call],
                .into = graph_.first_edge[graph_.enters[first_call + call]],
                .first_begun = static_cast<std::uint32_t>(std::ranges::lower_bound(row, begun[call]) - row.begin()),
                .receives = receives[call]};
            if (graph_.first_edge[one.enter + 1] != one.into + 1 || sources_[one.into] == kNone) {
                choices_.all.resize(first);  // more than the call before it decides when it begins
                return;
            }
            if (one.receives) {
                one.comm = comms[call];
                one.posted = graph_.enters[first_call + begun[call]];
                for (auto i = graph_.first_edge[one.leave]; i < graph_.first_edge[one.leave + 1]; ++i) {
                    one.arrival = sources_[i] != one.enter ? sources_[i] : one.arrival;
                }
                one.receives = one.arrival != kNone;
                posts_.try_emplace(one.posted, static_cast<std::uint32_t>(choices_.all.size()),
                                   graph_.leaves[first_call + begun[call]]);
            }
            choices_.all.push_back(one);
        }
        choices_.rows.push_back({first, static_cast<std::uint32_t>(choices_.all.size())});
    }

    /// What a post lets happen elsewhere: what leads from its enter to another node than its own leave.
    void find_post_arcs() {
        for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
            for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
                const auto post = sources_[i] == kNone ? posts_.end() : posts_.find(sources_[i]);
                if (post != posts_.end() && post->second.second != node) {
                    choices_.all[post->second.first].post_arc = i;
                }
            }
        }
    }

    const Program& program_;
    const Graph& graph_;
    std::span<const std::uint32_t> sources_;
    Choices choices_;
    std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> posts_;  // node: choice, leave
};

}  // namespace

bool chooses(const Program& program) {
    const auto regions = choosing_regions(program);
    return std::ranges::find(regions, true) != regions.end();
}

Choices choices_of(const Program& program, const Graph& graph, std::span<const std::uint32_t> sources) {
    return Finder(program, graph, sources).found();
}

}  // namespace logpost::replay
