#pragma once

/// The cores of a node, which its ranks share: an operating system's scheduler with time slices.
///
/// - A rank that works needs a core. Where there are fewer than ranks that want one, they take turns in FIFO order; a
/// rank that has had a core for a slice gives it to a rank that waits for one.
/// - A rank that waits in a call spins: it wants a core as if it worked. A rank that *yields* gives its core away as
///   soon as it has nothing to do, and wants one again when something has arrived.
/// - Daemons: at the end of a slice, with the odds of `daemon_odds`, something else has the core for `daemon_length`.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "engine.hpp"

namespace logpost::truth {

class Cores {
  public:
    Cores(Engine& engine, const Scheduling& how, int cores, std::uint64_t seed)
        : engine_(engine), how_(how), free_(cores), seed_(seed) {}
    Cores(const Cores&) = delete;
    Cores& operator=(const Cores&) = delete;

    /// `then` happens when the rank has had a core for so long.
    void work(int rank, Time duration, std::function<void()> then);
    /// The rank has nothing to do until its next work.
    void wait(int rank);

  private:
    enum class State : std::uint8_t { off, queued, running };
    struct Runner {
        State state = State::off;
        bool waiting = false;
        Time left = 0, since = 0;
        std::function<void()> then{};       ///< none: it spins
        std::uint64_t turn = 0, slice = 0;  ///< what was planned for other ones is void
    };

    void plan(int rank);
    void finish(int rank);
    void release(int rank);
    void dispatch();
    void begin_slice(int rank);
    void end_slice(int rank);

    Engine& engine_;
    Scheduling how_;
    int free_;
    std::uint64_t seed_, slices_ = 0;
    std::map<int, Runner> runners_;
    std::deque<int> queue_;
};

}  // namespace logpost::truth
