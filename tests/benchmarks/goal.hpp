#pragma once

/// Schedules as text that LogGOPSim's txt2bin reads.

#include <cstdio>
#include <vector>

#include "tests/benchmarks/event_replay.hpp"

namespace logpost::tests {

/// Writes a schedule whose operations follow each other on every rank; times are picoseconds.
inline void write_goal(const std::vector<std::vector<Operation>>& schedule, std::FILE* to) {
    std::fprintf(to, "num_ranks %zu\n", schedule.size());
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        std::fprintf(to, "\nrank %zu {\n", rank);
        for (std::size_t i = 0; i < schedule[rank].size(); ++i) {
            const auto& [kind, peer, value] = schedule[rank][i];
            const auto amount = static_cast<long long>(value);
            switch (kind) {
                case Operation::Kind::compute:
                    std::fprintf(to, "l%zu: calc %lld\n", i, amount);
                    break;
                case Operation::Kind::send:
                    std::fprintf(to, "l%zu: send %lldb to %d tag 0\n", i, amount, peer);
                    break;
                case Operation::Kind::receive:
                    std::fprintf(to, "l%zu: recv %lldb from %d tag 0\n", i, amount, peer);
                    break;
            }
            if (i > 0) {
                std::fprintf(to, "l%zu requires l%zu\n", i, i - 1);
            }
        }
        std::fputs("}\n", to);
    }
}

}  // namespace logpost::tests
