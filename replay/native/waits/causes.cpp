#include "replay/native/waits/causes.hpp"

#include <algorithm>
#include <utility>

namespace logpost::replay {

Causes::Causes(const Program& program, std::vector<Span> interest, unsigned threads)
    : program_(program),
      interest_(std::move(interest)),
      threads_(threads),
      collectives_(program),
      wait_end_memory_(program.spill.get()),
      on_path_(program.timelines.size()) {}

Causes::Causes(const Program& program, FoundCauses found) : Causes(program, {}, 1) {
    std::call_once(path_followed_, [&] {
        found_ = std::move(found);
        place_path();
    });
    std::call_once(delays_found_, [] {});
}

void Causes::place_path() {
    for (const auto& stretch : found_.path) {
        if (stretch.location != kNoLocation && stretch.begin_ps < stretch.end_ps) {
            on_path_[index(stretch.location)].push_back({stretch.begin_ps, stretch.end_ps});
        }
    }
}

const std::vector<PathStretch>& Causes::path() {
    std::call_once(path_followed_, [&] {
        waits_.emplace(program_, collectives_, interest_, threads_);
        found_.wait_states = waits_->states();
        auto& wait_ends = found_.wait_ends;
        wait_ends.resize(program_.timelines.size());
        std::vector<std::uint32_t> calls;
        std::vector<std::int64_t> until;
        for (std::size_t location = 0; location < wait_ends.size(); ++location) {
            calls.clear();
            until.clear();
            for (const auto& wait : waits_->of(location)) {
                calls.push_back(wait.call);
                until.push_back(wait.until_ps);
            }
            wait_ends[location] = {wait_end_memory_.copy(calls), wait_end_memory_.copy(until)};
            Spill::look();
        }
        found_.path = recorded_path(program_, *waits_);
        place_path();
    });
    return found_.path;
}

const std::vector<WaitTotals>& Causes::wait_states() {
    path();
    return found_.wait_states;
}

const std::vector<WaitEnds>& Causes::wait_ends() {
    path();
    return found_.wait_ends;
}

const std::vector<std::vector<Span>>& Causes::on_path() {
    path();
    return on_path_;
}

const std::vector<DelayCost>& Causes::delays() {
    path();
    std::call_once(delays_found_, [&] {
        std::vector<Span> interests;
        for (std::size_t location = 0; location < program_.timelines.size(); ++location) {
            interests.push_back(interest(location));
        }
        found_.delays = delay_costs(program_, collectives_, *waits_, interests, threads_);
        waits_.reset();  // the path and the delays are all that needs more than their ends
    });
    return found_.delays;
}

Span Causes::interest(std::size_t location) const noexcept {
    const auto& program = program_.spans[location];
    if (interest_.empty()) {
        return program;
    }
    const auto begin = std::clamp(interest_[location].begin_ps, program.begin_ps, program.end_ps);
    return {begin, std::clamp(interest_[location].end_ps, begin, program.end_ps)};
}

}  // namespace logpost::replay
