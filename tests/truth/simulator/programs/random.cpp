#include "random.hpp"

#include <algorithm>
#include <iomanip>
#include <optional>
#include <sstream>

#include "draw.hpp"

namespace logpost::truth {
namespace {

constexpr double kWorthACure = 0.10;    ///< smallest saving that makes a cause
constexpr double kNothingThere = 0.04;  ///< time of the worst rank in calls that leaves nothing to cure
constexpr double kClean = 1.0 / 6;      ///< programs without a cause
constexpr int kTries = 200;             ///< draws until a cause is worth it

Machine draw_machine(Draw& draw) {
    Machine machine;
    auto& far = machine.other_node;
    far.L = draw.time(500 * kNanosecond, 30 * kMicrosecond);
    far.o_s = draw.time(100 * kNanosecond, 4 * kMicrosecond);
    far.o_r = draw.time(100 * kNanosecond, 8 * kMicrosecond);
    far.g = draw.time(50 * kNanosecond, 4 * kMicrosecond);
    far.G = draw.scale(60.0, 4'000.0);
    const double nearer = draw.scale(0.05, 0.5);
    const auto part = [&](Time time) { return std::llround(static_cast<double>(time) * nearer); };
    machine.same_node = {.L = part(far.L),
                         .o_s = part(far.o_s),
                         .o_r = part(far.o_r),
                         .g = part(far.g),
                         .G = far.G * draw.between(0.1, 0.8)};
    machine.eager_limit = static_cast<std::uint64_t>(draw.one_of<int>({1024, 4096, 12288, 16384, 65536}));
    machine.ranks_per_node = draw.one_of<int>({1, 1, 1, 2, 3, 4});
    machine.asynchronous_progress = draw.chance(0.1);
    return machine;
}

ClockView draw_clock(Draw& draw, std::uint64_t seed) {
    return {.tick = draw.one_of<Time>({1, 476, 1'000, 10'000, 100'000}),
            .noise = draw.one_of<Time>({0, 0, 5'000, 50'000}),
            .seed = seed};
}

World::Program program_of(const std::vector<Phase>& phases, int steps) {
    return program([=](Rank& rank) -> Task<> {
        for (int step = 0; step < steps; ++step) {
            for (const auto& phase : phases) {
                co_await phase(rank, step);
            }
        }
    });
}

double length(const Machine& machine, int ranks, const World::Program& body) {
    World world(machine, ranks);
    world.run(body);
    Time end = 0;
    for (const auto& rank : world.record().ranks) {
        end = std::max(end, rank.end);
    }
    return static_cast<double>(end);
}

/// The largest fraction of a rank's time that it spends in calls.
double in_calls(const Case& entry) {
    World world(entry.machine, entry.ranks);
    world.run(entry.program);
    double most = 0.0;
    for (const auto& rank : world.record().ranks) {
        Time time = 0;
        for (const auto& call : rank.calls) {
            time += call.leave - call.enter;
        }
        most = std::max(most, static_cast<double>(time) / static_cast<double>(rank.end));
    }
    return most;
}

/// A case without a program yet, and what phases are drawn for.
struct Begun {
    Case entry;
    int steps = 0;
    Setting on;
};

Begun begin(Draw& draw, std::uint64_t seed, std::uint64_t number) {
    Begun begun;
    auto& [entry, steps, on] = begun;
    entry.machine = draw_machine(draw);
    entry.ranks = draw.number(4, 18);
    entry.clock = draw_clock(draw, seed + number);
    steps = draw.number(12, 30);
    on.machine = entry.machine;
    on.ranks = entry.ranks;
    on.small = std::max<std::uint64_t>(
        64, static_cast<std::uint64_t>(draw.scale(0.1, 1.0) * static_cast<double>(*entry.machine.eager_limit)));
    on.large = static_cast<std::uint64_t>(draw.scale(1.2, 12.0) * static_cast<double>(*entry.machine.eager_limit));
    const auto& far = entry.machine.other_node;
    on.unit = far.o_s + far.L + far.o_r + far.serialization(on.small);
    on.work = static_cast<Time>(draw.scale(4.0, 60.0) * static_cast<double>(on.unit));
    on.noise = draw.one_of<double>({0.0, 0.0, 0.01, 0.05});
    on.noise_seed = seed * 1'000 + number;
    return begun;
}

/// What a program would be without one of the things that slow it down.
struct Cure {
    std::string name, story, finding;
    std::vector<int> culprits;
    World::Program program;
    Machine machine;
};

/// Cures of what is in the program in addition to the cause that was drawn, which may cost more.
std::vector<Cure> other_cures(const Case& entry, const std::vector<Phase>& fused, int steps) {
    std::vector<Cure> cures;
    if (!fused.empty()) {
        cures.push_back({"fused",
                         "a reduction and a broadcast of its result could be one operation",
                         "collective_cost",
                         {},
                         program_of(fused, steps),
                         entry.machine});
    }
    if (entry.machine.ranks_per_node > 1) {
        Machine several = entry.machine;
        several.nics_per_node = several.ranks_per_node;
        cures.push_back({"shared_nic",
                         "the ranks of a node send through one NIC at once",
                         "hot_sender",
                         {},
                         entry.program,
                         several});
    }
    return cures;
}

std::string numbered(std::uint64_t seed, int number, const std::string& name) {
    std::ostringstream text;
    text << "drawn_" << seed << '_' << std::setw(2) << std::setfill('0') << number << '_' << name;
    return text.str();
}

std::optional<Case> draw_case(std::uint64_t seed, std::uint64_t number) {
    Draw draw(seed, number);
    auto begun = begin(draw, seed, number);
    auto& entry = begun.entry;
    const auto steps = begun.steps;
    const auto on = begun.on;

    std::vector<Phase> with{[=](Rank& rank, int step) -> Task<> { co_await work(rank, on, step, 0.2, "update"); }};
    auto fused = with;
    bool fuses = false;
    for (int i = draw.number(0, 2); i > 0; --i) {
        const auto background = draw_background(draw, on);
        with.push_back(background.phase);
        fused.push_back(background.fused ? background.fused : background.phase);
        fuses = fuses || background.fused;
    }
    if (draw.chance(kClean)) {
        with.push_back([=](Rank& rank, int step) -> Task<> { co_await work(rank, on, step, 2.0, "inner"); });
        with.push_back(draw_background(draw, on).phase);
        entry.name = "clean";
        entry.story = "no cause";
        entry.program = program_of(with, steps);
        return in_calls(entry) <= kNothingThere ? std::optional<Case>(std::move(entry)) : std::nullopt;
    }
    auto cause = draw_cause(draw, on);
    auto without = with;
    with.push_back(cause.with);
    without.push_back(cause.without);
    fused.push_back(cause.with);
    entry.program = program_of(with, steps);
    Cure best{cause.name,
              cause.story,
              cause.finding,
              cause.culprits,
              program_of(without, steps),
              cause.cured_machine.value_or(entry.machine)};
    double shortest = length(best.machine, entry.ranks, best.program);
    if (1.0 - shortest / length(entry.machine, entry.ranks, entry.program) < kWorthACure) {
        return std::nullopt;
    }
    for (auto& other : other_cures(entry, fuses ? fused : std::vector<Phase>{}, steps)) {
        const double cured = length(other.machine, entry.ranks, other.program);
        if (cured < shortest) {
            shortest = cured;
            best = std::move(other);
        }
    }
    entry.name = best.name;
    entry.story = best.story;
    entry.finding = best.finding;
    entry.culprits = best.culprits;
    entry.cured = best.program;
    entry.cured_machine = best.machine;
    return entry;
}

}  // namespace

void random_programs(Cases& cases, std::uint64_t seed, int count, const std::set<std::string>& wanted) {
    for (int i = 0; i < count; ++i) {
        // Which program has a number is not known before it is drawn, but how its name begins.
        const auto begins = numbered(seed, i, "");
        if (!wanted.empty() &&
            std::ranges::none_of(wanted, [&](const auto& name) { return name.starts_with(begins); })) {
            continue;
        }
        for (int tried = 0; tried < kTries; ++tried) {
            auto found = draw_case(seed, static_cast<std::uint64_t>(i) * kTries + static_cast<std::uint64_t>(tried));
            if (!found.has_value()) {
                continue;
            }
            auto& entry = cases.add(numbered(seed, i, found->name), found->story, found->finding);
            found->name = entry.name;
            entry = std::move(*found);
            break;
        }
    }
}

void random_exchanges(Cases& cases, std::uint64_t seed, int count) {
    for (int i = 0; i < count; ++i) {
        Draw draw(seed, static_cast<std::uint64_t>(i));
        const auto [begun, steps, on] = begin(draw, seed, static_cast<std::uint64_t>(i));
        std::vector<Phase> phases;
        for (int k = draw.number(1, 3); k > 0; --k) {
            phases.push_back([=](Rank& rank, int step) -> Task<> { co_await work(rank, on, step, 0.3, "update"); });
            phases.push_back(draw_exchange(draw, on));
        }
        auto& entry = cases.add(numbered(seed, i, "exchange"), "everybody has something for everybody", "");
        const auto name = entry.name;
        const auto story = entry.story;
        entry = begun;
        entry.name = name;
        entry.story = story;
        entry.program = program_of(phases, steps);
    }
}

}  // namespace logpost::truth
