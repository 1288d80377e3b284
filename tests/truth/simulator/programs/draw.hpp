#pragma once

/// What a drawn program is made of.

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "patterns.hpp"

namespace logpost::truth {

/// Successive pseudo-random numbers of one program.
class Draw {
  public:
    Draw(std::uint64_t seed, std::uint64_t program) : seed_(seed), program_(program) {}

    double between(double low, double high) { return low + (high - low) * uniform(seed_, program_, next_++); }
    /// Evenly over the orders of magnitude.
    double scale(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }
    Time time(Time low, Time high) { return std::llround(scale(static_cast<double>(low), static_cast<double>(high))); }
    int number(int low, int high) {  ///< both included
        return low + static_cast<int>(between(0.0, 1.0) * (high - low + 1));
    }
    bool chance(double probability) { return between(0.0, 1.0) < probability; }
    template <class T>
    T one_of(const std::vector<T>& values) {
        return values[static_cast<std::size_t>(number(0, static_cast<int>(values.size()) - 1))];
    }

  private:
    std::uint64_t seed_, program_, next_ = 0;
};

/// One phase of a step. It outlives the program that runs it.
using Phase = std::function<Task<>(Rank&, int step)>;

/// A phase with a cause, the same work without it, and what names the cause.
struct DrawnCause {
    std::string name, story, finding;
    std::vector<int> culprits;
    Phase with, without;
    std::optional<Machine> cured_machine{};  ///< where the cure is another machine
};

/// What phases are drawn for.
struct Setting {
    Machine machine;
    int ranks = 0;
    Time unit = 0;                       ///< what a message of `small` bytes takes between two ranks
    Time work = 0;                       ///< of a rank in a step
    std::uint64_t small = 0, large = 0;  ///< bytes: below the eager limit, and beyond it
    double noise = 0.0;                  ///< of all work, fraction to both sides
    std::uint64_t noise_seed = 0;
};

/// Work with the setting's noise.
inline Task<> work(Rank& rank, const Setting& on, int step, double times, const char* region) {
    const auto key = static_cast<std::uint64_t>(step) * 64 + static_cast<std::uint64_t>(region[0]);
    const double drawn = 2.0 * uniform(on.noise_seed, static_cast<std::uint64_t>(rank.number()), key) - 1.0;
    const double length = static_cast<double>(on.work) * times * (1.0 + on.noise * drawn);
    co_await rank.compute(static_cast<Time>(length), region);
}

/// A phase without a fault, and one that does the same in fewer operations; empty: there is none.
struct Background {
    Phase phase;
    Phase fused{};
};
Background draw_background(Draw& draw, const Setting& on);
/// A collective operation in which every rank has something for every other one.
Phase draw_exchange(Draw& draw, const Setting& on);

/// What draws one kind of cause.
using Make = DrawnCause (*)(Draw&, const Setting&);
void waiting_causes(std::vector<Make>& known);
void one_sided_causes(std::vector<Make>& known, const Setting& on);

/// A phase with a cause.
DrawnCause draw_cause(Draw& draw, const Setting& on);

}  // namespace logpost::truth
