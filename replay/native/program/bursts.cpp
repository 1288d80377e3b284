#include "replay/native/program/bursts.hpp"

#include <algorithm>

namespace logpost::replay {
namespace {

bool initiates(CallKind kind) noexcept {
    return kind == CallKind::send_nonblocking || kind == CallKind::start;
}

bool back_to_back(const Program& program, const Timeline& timeline, std::uint32_t first, std::uint32_t second) {
    if (first == second) {
        return true;
    }
    const auto& one = timeline.calls[first];
    const auto& other = timeline.calls[second];
    return second == first + 1 && initiates(program.kind(one)) && initiates(program.kind(other)) &&
           other.enter_ps - one.leave_ps <= one.leave_ps - one.enter_ps;
}

}  // namespace

std::vector<std::uint32_t> burst_lengths(const Program& program, const Timeline& timeline) {
    const auto& sends = timeline.sends;
    std::vector<std::uint32_t> lengths(sends.size());
    for (std::size_t begin = 0; begin < sends.size();) {
        std::size_t end = begin + 1;
        while (end < sends.size() && back_to_back(program, timeline, sends[end - 1].call, sends[end].call)) {
            ++end;
        }
        std::fill(lengths.begin() + static_cast<std::ptrdiff_t>(begin),
                  lengths.begin() + static_cast<std::ptrdiff_t>(end), static_cast<std::uint32_t>(end - begin));
        begin = end;
    }
    return lengths;
}

}  // namespace logpost::replay
