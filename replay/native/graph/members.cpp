/// Collective operations in the recorded graph: whose enter each member waits for, and for how long after it.
///
/// Where all need all, everybody waits for the last enter. Where data goes one way, who gives does not wait for who
/// takes: the members of a broadcast wait for its root alone, the root of a reduction for its members. What a taker
/// does itself is its shortest stay with the data at hand; the rest follows those who give. A giver may have waited all
/// the same (a large message, the inner ranks of a tree); its times show that where it stayed longer than others do
/// there, until after the last enter. An inner rank of a reduction's tree needs some members only: of those that came
/// while it stayed, and before the others, it waited for the last.

#include <algorithm>
#include <map>
#include <tuple>

#include "replay/native/graph/recorded.hpp"

namespace logpost::replay {
namespace {

/// A stay that is longer than the shortest one by no more than this factor varies by chance.
constexpr double kLonger = 1.1;

}  // namespace

void RecordedGraph::take_members(const RecordedMembers& members) {
    for (std::size_t i = 0; i < members.call.size(); ++i) {
        const auto call = static_cast<std::uint32_t>(members.call[i]);
        if (i == 0 || members.instance[i] != members.instance[i - 1]) {
            first_member.push_back(static_cast<std::uint32_t>(i));
            last_member.push_back(call);
            shapes.push_back(shape(static_cast<Operation>(members.operation[i])));
            root.push_back(-1);
        }
        if (enter_ps[call] > enter_ps[last_member.back()]) {
            last_member.back() = call;
        }
        if (members.root[i] != 0) {
            root.back() = call;
        }
        member.push_back(call);
        completing.push_back(static_cast<std::uint32_t>(members.complete[i]));
        is_member_[completing.back()] = 1;
    }
    first_member.push_back(static_cast<std::uint32_t>(members.call.size()));
}

bool RecordedGraph::one_way(std::size_t operation) const noexcept {
    return root[operation] >= 0 && has_root(shapes[operation]);
}

bool RecordedGraph::gives(std::size_t operation, std::uint32_t call) const noexcept {
    return (call == root[operation]) == (shapes[operation] == Shape::one_to_all);
}

std::uint32_t RecordedGraph::giver_node(std::size_t operation) const noexcept {
    return shapes[operation] == Shape::one_to_all ? enter_node(static_cast<std::uint32_t>(root[operation]))
                                                  : meeting_node(operation);
}

std::vector<std::int64_t> RecordedGraph::stays_alone(std::span<const std::int32_t> callpath) const {
    std::map<std::tuple<std::int32_t, Shape, bool>, std::int64_t> shortest;
    const auto of_members = [&](const auto& act) {
        for (std::size_t operation = 0; operation + 1 < first_member.size(); ++operation) {
            for (auto i = first_member[operation]; one_way(operation) && i < first_member[operation + 1]; ++i) {
                const auto call = member[i];
                const bool giver = gives(operation, call);
                act(i, std::tuple{callpath[call], shapes[operation], giver},
                    giver || time(giver_node(operation)) <= enter_ps[call]);
            }
        }
    };
    of_members([&](std::uint32_t i, const auto& role, bool alone) {
        if (alone) {
            auto& least = shortest.try_emplace(role, INT64_MAX).first->second;
            least = std::min(least, length_of(member[i]));
        }
    });
    std::vector<std::int64_t> stays(member.size(), 0);
    of_members([&](std::uint32_t i, const auto& role, bool) {
        const auto found = shortest.find(role);
        stays[i] = found == shortest.end() ? 0 : found->second;
    });
    return stays;
}

std::uint32_t RecordedGraph::waited_for(std::size_t operation, std::uint32_t call, std::int64_t alone) const noexcept {
    const auto meeting = meeting_node(operation);
    const auto last = time(meeting);
    const bool longer = static_cast<double>(length_of(call)) > kLonger * static_cast<double>(alone);
    if (!longer || enter_ps[call] >= last) {
        return kNone;
    }
    if (call != root[operation] && leave_ps[call] > leave_ps[static_cast<std::size_t>(root[operation])] + alone) {
        return kNone;  // the root has got what it passes on, and the handshake of its message was over
    }
    if (leave_ps[call] >= last) {
        // The root is done soon after the last enter.
        return call != root[operation] || leave_ps[call] - last <= alone ? meeting : kNone;
    }
    auto found = kNone;
    for (auto i = first_member[operation]; shapes[operation] == Shape::all_to_one && i < first_member[operation + 1];
         ++i) {
        const auto entered = enter_ps[member[i]];
        if (entered > enter_ps[call] && entered < leave_ps[call] && (found == kNone || entered > enter_ps[found])) {
            found = member[i];
        }
    }
    return found == kNone ? kNone : enter_node(found);
}

void RecordedGraph::wait_for_members(std::span<const std::int32_t> callpath, const std::vector<std::uint8_t>& polled,
                                     std::vector<Pending>& pending) {
    const auto alone = stays_alone(callpath);
    for (std::size_t operation = 0; operation + 1 < first_member.size(); ++operation) {
        if (first_member[operation + 1] - first_member[operation] < 2) {
            continue;
        }
        const auto meeting = meeting_node(operation);
        const auto all_in = time(meeting);
        for (auto i = first_member[operation]; i < first_member[operation + 1]; ++i) {
            const auto call = completing[i];
            if (polled[call] != kKept || (call != member[i] && one_way(operation))) {
                continue;  // of a nonblocking one it is not known who had to wait for whom
            }
            const auto wait = [&](std::uint32_t source, std::int64_t lag) {
                pending.push_back({call, {source, -1, lag, Reason::member}});
            };
            if (!one_way(operation)) {
                if (leave_ps[call] >= all_in) {
                    // What follows the meeting is everybody's, the last one's as well.
                    wait(meeting, synchronizes_all(shapes[operation]) ? leave_ps[call] - all_in : 0);
                }
            } else if (!gives(operation, call)) {
                const auto source = giver_node(operation);
                const bool at_hand = time(source) <= enter_ps[call];
                work_ps[call] = at_hand ? length_of(call) : std::min(work_ps[call], alone[i]);
                wait(source, leave_ps[call] - std::max(enter_ps[call], time(source)));
            } else if (const auto source = waited_for(operation, call, alone[i]); source != kNone) {
                work_ps[call] = std::min(work_ps[call], alone[i]);
                wait(source, leave_ps[call] - time(source));
            }
        }
    }
}

}  // namespace logpost::replay
