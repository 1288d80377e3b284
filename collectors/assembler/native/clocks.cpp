// Rates and offsets of the clocks.
//
// Time stamps stay in the clock of their host, in the resolution of rank 0's clock; the offsets found by the ping-pongs
// at MPI_Init and MPI_Finalize are written as OTF2 clock offsets, and readers interpolate between them. Processes that
// share a clock with rank 0 have offset 0 by construction: the ping-pong only checks it (0 must lie within the round
// trip), and its half round trip is stated as the uncertainty.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "model.hpp"

namespace logpost::assembler {
namespace {

constexpr double shortest_base_s = 1e-3;  // below it a rate would be noise
constexpr double slowest_hz = 1;          // an archive states whole ticks per second
constexpr double fastest_hz = 1e12;       // the simulated clock's; what exceeds it went back, or its log is damaged
constexpr double slack_ticks = 300;       // two readings of one counter on two cores may appear out of order by this

void group_clocks(Job& job) {
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> known;
    for (auto& process : job.processes) {
        const std::uint32_t kind = process->threads.front()->log.header().clock;
        std::string boot = process->info["boot"];
        if (boot.empty()) {
            boot = process->info["host"];
        }
        auto [at, fresh] = known.try_emplace({boot, kind}, static_cast<std::uint32_t>(job.clocks.size()));
        if (fresh) {
            job.clocks.push_back({boot, kind, 0, 0, 0});
        }
        process->clock = at->second;
    }
}

bool plausible(double hertz) {
    return hertz >= slowest_hz && hertz <= fastest_hz;
}

void fit_rates(Job& job) {
    for (std::uint32_t c = 0; c < job.clocks.size(); ++c) {
        Clock& clock = job.clocks[c];
        const lp_sync* first = nullptr;
        const lp_sync* last = nullptr;
        for (const auto& process : job.processes) {
            if (process->clock != c) {
                continue;
            }
            for (const auto& sync : process->syncs) {
                first = first == nullptr || sync.raw_ns < first->raw_ns ? &sync : first;
                last = last == nullptr || sync.raw_ns > last->raw_ns ? &sync : last;
            }
        }
        if (first == nullptr) {
            continue;
        }
        clock.base = first->ticks;
        clock.base_span_s = static_cast<double>(last->raw_ns - first->raw_ns) * 1e-9;
        if (clock.kind == LP_CLOCK_MONOTONIC_RAW) {
            clock.hertz = 1e9;
        } else if (clock.kind == LP_CLOCK_SIMULATED) {
            clock.hertz = 1e12;
        } else if (clock.base_span_s >= shortest_base_s) {
            clock.hertz = static_cast<double>(last->ticks - first->ticks) / clock.base_span_s;
        }
    }
    double any = 0;
    for (const Clock& clock : job.clocks) {
        any = plausible(clock.hertz) ? std::max(any, clock.hertz) : any;
    }
    for (Clock& clock : job.clocks) {
        if (!plausible(clock.hertz)) {
            clock.hertz = any > 0 ? any : 1e9;
            job.warnings.emplace_back(
                any > 0 ? "the rate of a host's clock could not be measured; another clock's rate is used"
                        : "the rate of the clock could not be measured; 1 GHz is assumed");
        }
    }
}

Measurement translate(const Job& job, const Process& process, const Process& reference, const lp_offset& raw) {
    const std::uint64_t before = to_archive_ticks(job, process, raw.before);
    const std::uint64_t after = to_archive_ticks(job, process, raw.after);
    const std::uint64_t there = to_archive_ticks(job, reference, raw.reference);
    const std::uint64_t middle = before + (after - before) / 2;
    return {static_cast<double>(static_cast<std::int64_t>(there - middle)), static_cast<double>(after - before) / 2,
            middle};
}

// Offsets of one world against its rank 0, which itself is `shift` away from the archive's reference.
void fit_world(Job& job, std::uint32_t w, std::map<std::uint32_t, double>& known) {
    const World& world = job.worlds[w];
    const Process* zero = job.by_rank[world.first_rank];
    if (zero == nullptr) {
        job.warnings.emplace_back("rank 0 left no log: clock offsets are unknown");
        return;
    }
    // The best exchange of each clock and phase serves all processes of that clock.
    std::map<std::pair<std::uint32_t, std::size_t>, Measurement> best;
    for (const auto& process : job.processes) {
        for (std::size_t phase = 0; process->world == w && phase < process->offsets.size(); ++phase) {
            const Measurement m = translate(job, *process, *zero, process->offsets[phase]);
            const auto at = best.try_emplace({process->clock, phase}, m).first;
            if (m.error < at->second.error) {
                at->second = m;
            }
        }
    }
    double shift = 0;
    std::set<std::uint32_t> unknown;
    if (const auto at = known.find(zero->clock); at != known.end()) {
        shift = at->second;
    } else {
        for (const auto& [which, m] : best) {
            if (const auto there = known.find(which.first); which.second == 0 && there != known.end()) {
                shift = there->second - m.offset;
                known[zero->clock] = shift;
                break;
            }
        }
        if (!known.contains(zero->clock)) {
            job.warnings.emplace_back(
                "a spawned world shares no host with the first world: its clock offset is unknown");
            known[zero->clock] = 0;
        }
    }
    for (auto& process : job.processes) {
        if (process->world != w) {
            continue;
        }
        for (std::size_t phase = 0; phase < process->offsets.size(); ++phase) {
            Measurement own = translate(job, *process, *zero, process->offsets[phase]);
            const bool shared = process->clock == zero->clock;
            if (shared && std::abs(own.offset) <= own.error + slack_ticks) {
                own.offset = 0;
            } else if (shared) {
                job.warnings.push_back(
                    "rank " + std::to_string(process->rank) +
                    ": its clock differs from rank 0's on the same host; the measured offset is used");
            } else if (const auto at = best.find({process->clock, phase}); at != best.end()) {
                own = at->second;
                known.try_emplace(process->clock, own.offset + shift);
            }
            own.offset += shift;
            process->measured.push_back(own);
        }
        if (process->measured.empty()) {
            const auto at = known.find(process->clock);
            if (at == known.end() && unknown.insert(process->clock).second) {
                job.warnings.push_back("the clock of " + process->info["host"] +
                                       " was not compared with rank 0's: no communicator of all processes was made");
            }
            process->measured.push_back({at != known.end() ? at->second : 0.0, 0,
                                         to_archive_ticks(job, *process, process->threads.front()->first)});
        }
    }
}

}  // namespace

std::uint64_t to_archive_ticks(const Job& job, const Process& process, std::uint64_t ticks) {
    const Clock& clock = job.clocks[process.clock];
    const Clock& reference = job.clocks[job.processes.front()->clock];
    if (&clock == &reference) {
        return ticks;
    }
    const auto delta = static_cast<long double>(static_cast<std::int64_t>(ticks - clock.base));
    const long double scaled =
        delta * static_cast<long double>(reference.hertz) / static_cast<long double>(clock.hertz);
    return clock.base + static_cast<std::uint64_t>(static_cast<std::int64_t>(std::llround(scaled)));
}

std::uint64_t to_global_ticks(const Job& job, const Process& process, std::uint64_t ticks) {
    const std::uint64_t own = to_archive_ticks(job, process, ticks);
    const auto& m = process.measured;
    double offset = m.empty() ? 0 : m.front().offset;
    if (m.size() > 1 && m.back().at > m.front().at) {
        const double slope = (m.back().offset - m.front().offset) / static_cast<double>(m.back().at - m.front().at);
        offset += slope * static_cast<double>(static_cast<std::int64_t>(own - m.front().at));
    }
    return own + static_cast<std::uint64_t>(static_cast<std::int64_t>(std::llround(offset)));
}

void fit_clocks(Job& job) {
    group_clocks(job);
    fit_rates(job);
    const Clock& reference = job.clocks[job.processes.front()->clock];
    job.resolution = static_cast<std::uint64_t>(std::llround(reference.hertz));
    std::map<std::uint32_t, double> known{{job.processes.front()->clock, 0.0}};
    for (std::uint32_t w = 0; w < job.worlds.size(); ++w) {
        fit_world(job, w, known);
    }
}

}  // namespace logpost::assembler
