#include "replay/native/program/traffic_phases.hpp"

#include <algorithm>
#include <cmath>

#include "replay/native/program/shape.hpp"

namespace logpost::replay {
namespace {

constexpr std::size_t kMost = 2000;  // messages of a node in a phase
constexpr std::size_t kCut = 200;
constexpr std::size_t kLeast = 20;

/// When the last rank entered each collective of all ranks, ascending.
std::vector<std::int64_t> synchronizations(const Program& program) {
    struct Instance {
        std::size_t members = 0;
        std::int64_t latest = 0;
    };
    std::vector<Instance> instances(program.collective_instances);
    std::size_t ranks = 0;
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        ranks += program.placement[l].rank != kNoRank ? 1 : 0;
        program.timelines[l].collectives.for_each([&](std::size_t, const Collective& operation) {
            if (operation.instance != kNone && shape(operation.operation) == Shape::all_to_all) {
                auto& instance = instances[operation.instance];
                ++instance.members;
                instance.latest = std::max(instance.latest, operation.begin_ps);
            }
        });
    }
    std::vector<std::int64_t> result;
    for (const auto& instance : instances) {
        if (instance.members > 1 && instance.members == ranks) {
            result.push_back(instance.latest);
        }
    }
    std::ranges::sort(result);
    return result;
}

}  // namespace

std::vector<Span> traffic_phases(const Program& program, std::vector<std::int64_t>& sent_ps, std::size_t nodes) {
    std::ranges::sort(sent_ps);
    const auto sent_before = [&](std::int64_t time) {
        return static_cast<std::size_t>(std::ranges::lower_bound(sent_ps, time) - sent_ps.begin());
    };
    auto ends = synchronizations(program);
    ends.push_back(std::max<std::int64_t>(program.length_ps, sent_ps.empty() ? 1 : sent_ps.back() + 1));
    std::vector<Span> phases;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto end = ends[i];
        const bool last = i + 1 == ends.size();
        const auto messages = sent_before(end) - sent_before(begin);
        if (end <= begin || (messages < kLeast * nodes && !last)) {
            continue;
        }
        std::int64_t parts = 1;
        if (messages > kMost * nodes) {
            parts = static_cast<std::int64_t>(messages / (kCut * nodes));
        }
        const auto width = std::max<std::int64_t>(1, (end - begin) / parts);
        while (parts > 1 && end - begin > width) {
            phases.push_back({begin, begin + width});
            begin += width;
            --parts;
        }
        phases.push_back({begin, end});
        begin = end;
    }
    return phases;
}

}  // namespace logpost::replay
