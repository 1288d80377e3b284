#pragma once

/// Schedules as GOAL has them, and the program that a trace of one shows.

#include <cstdint>
#include <span>
#include <vector>

#include "tests/benchmarks/event_replay.hpp"
#include "tests/native/program_story.hpp"

namespace logpost::tests {

/// A halo exchange on a ring: every rank computes, sends to both (`neighbours` 2) or one of its neighbours, and
/// receives from as many. Computation differs from rank to rank and step to step.
inline std::vector<std::vector<Operation>> halo(std::uint32_t ranks, std::uint32_t steps, std::uint32_t neighbours,
                                                std::int64_t bytes) {
    std::vector<std::vector<Operation>> program(ranks);
    std::uint64_t random = 1;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const auto right = static_cast<std::int32_t>((rank + 1) % ranks);
        const auto left = static_cast<std::int32_t>((rank + ranks - 1) % ranks);
        for (std::uint32_t step = 0; step < steps; ++step) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            program[rank].push_back(
                {Operation::Kind::compute, -1, 1'000'000 + static_cast<std::int64_t>(random >> 44U)});
            program[rank].push_back({Operation::Kind::send, right, bytes});
            if (neighbours > 1) {
                program[rank].push_back({Operation::Kind::send, left, bytes});
            }
            program[rank].push_back({Operation::Kind::receive, left, bytes});
            if (neighbours > 1) {
                program[rank].push_back({Operation::Kind::receive, right, bytes});
            }
        }
    }
    return program;
}

/// Every rank sends to every other one, and then receives from every other one.
inline std::vector<std::vector<Operation>> all_to_all(std::uint32_t ranks, std::uint32_t steps, std::int64_t bytes) {
    std::vector<std::vector<Operation>> program(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t step = 0; step < steps; ++step) {
            program[rank].push_back({Operation::Kind::compute, -1, 1'000'000});
            for (std::uint32_t distance = 1; distance < ranks; ++distance) {
                program[rank].push_back(
                    {Operation::Kind::send, static_cast<std::int32_t>((rank + distance) % ranks), bytes});
            }
            for (std::uint32_t distance = 1; distance < ranks; ++distance) {
                program[rank].push_back(
                    {Operation::Kind::receive, static_cast<std::int32_t>((rank + ranks - distance) % ranks), bytes});
            }
        }
    }
    return program;
}

/// The schedule as it was recorded; between two ranks, messages arrive in the order in which they were sent.
inline void add_schedule(ProgramStory& story, const std::vector<std::vector<Operation>>& schedule,
                         const std::vector<std::vector<Ran>>& ran) {
    struct Sent {
        std::int32_t from;
        std::uint32_t call;
        std::int64_t bytes;
    };
    std::vector<std::vector<Sent>> sent(schedule.size());
    struct Received {
        std::int32_t from;
        std::uint32_t call;
    };
    std::vector<std::vector<Received>> received(schedule.size());
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        const auto here = static_cast<std::int32_t>(rank);
        story.rank(here, ran[rank].empty() ? 0 : ran[rank].back().end);
        for (std::size_t i = 0; i < schedule[rank].size(); ++i) {
            const auto& operation = schedule[rank][i];
            if (operation.kind == Operation::Kind::compute) {
                continue;
            }
            const bool sends_it = operation.kind == Operation::Kind::send;
            const auto call =
                story.call(here, sends_it ? CallKind::send : CallKind::receive, ran[rank][i].begin, ran[rank][i].end);
            if (sends_it) {
                sent[static_cast<std::size_t>(operation.peer)].push_back({here, call, operation.value});
            } else {
                received[rank].push_back({operation.peer, call});
            }
        }
    }
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        std::ranges::stable_sort(sent[rank], {}, &Sent::from);
        std::ranges::stable_sort(received[rank], {}, &Received::from);
        for (std::size_t i = 0; i < received[rank].size(); ++i) {
            const auto& message = sent[rank][i];
            story.message(message.from, message.call, static_cast<std::int32_t>(rank), received[rank][i].call,
                          static_cast<std::uint64_t>(message.bytes));
        }
    }
}

}  // namespace logpost::tests
