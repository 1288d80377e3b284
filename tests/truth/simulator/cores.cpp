#include "cores.hpp"

#include <utility>

#include "uniform.hpp"

namespace logpost::truth {

void Cores::work(int rank, Time duration, std::function<void()> then) {
    auto& runner = runners_[rank];
    runner.left = duration;
    runner.then = std::move(then);
    runner.waiting = false;
    if (runner.state == State::running) {
        runner.since = engine_.now();
        plan(rank);
    } else if (runner.state == State::off) {
        runner.state = State::queued;
        queue_.push_back(rank);
        dispatch();
    }
}

void Cores::wait(int rank) {
    auto& runner = runners_[rank];
    runner.waiting = true;
    if (how_.yields && runner.state == State::running) {
        release(rank);
    } else if (!how_.yields && runner.state == State::off) {
        runner.state = State::queued;
        queue_.push_back(rank);
        dispatch();
    }
}

/// Its work ends when it has had the core for what is left, unless it loses the core before.
void Cores::plan(int rank) {
    auto& runner = runners_[rank];
    const auto turn = ++runner.turn;
    engine_.at(engine_.now() + runner.left, [this, rank, turn] {
        if (runners_[rank].turn == turn) {
            finish(rank);
        }
    });
}

void Cores::finish(int rank) {
    auto& runner = runners_[rank];
    const auto then = std::exchange(runner.then, {});
    then();
    if (!runner.then && !runner.waiting && runner.state == State::running) {
        release(rank);  // its program has ended
    }
}

void Cores::release(int rank) {
    auto& runner = runners_[rank];
    runner.state = State::off;
    ++runner.turn;
    ++free_;
    dispatch();
}

void Cores::dispatch() {
    while (free_ > 0 && !queue_.empty()) {
        const int rank = queue_.front();
        queue_.pop_front();
        --free_;
        auto& runner = runners_[rank];
        runner.state = State::running;
        runner.since = engine_.now();
        ++runner.slice;
        begin_slice(rank);
        if (runner.then) {
            plan(rank);
        }
    }
}

void Cores::begin_slice(int rank) {
    const auto slice = runners_[rank].slice;
    engine_.at(engine_.now() + how_.slice, [this, rank, slice] {
        auto& runner = runners_[rank];
        if (runner.slice == slice && runner.state == State::running) {
            end_slice(rank);
        }
    });
}

void Cores::end_slice(int rank) {
    const bool daemon = uniform(seed_, 0, slices_++) < how_.daemon_odds;
    if (queue_.empty() && !daemon) {
        begin_slice(rank);
        return;
    }
    auto& runner = runners_[rank];
    if (runner.then) {
        runner.left -= engine_.now() - runner.since;
    }
    runner.state = State::queued;
    ++runner.turn;
    queue_.push_back(rank);
    engine_.at(engine_.now() + (daemon ? how_.daemon_length : 0), [this] {
        ++free_;
        dispatch();
    });
}

}  // namespace logpost::truth
