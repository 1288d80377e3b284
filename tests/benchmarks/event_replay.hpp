#pragma once

/// A stand-in for LogGOPSim: the same algorithm (one heap of events over all ranks, lists of posted receives and of
/// unexpected messages that are searched from their start, messages put back while a NIC is busy) under the rules of
/// our own replay, so that both must find the same times.
///
///     send      the processor for o_s; then the NIC for max(g, B G) from when it is free; the first byte is there L
///     later receive   the receiver's NIC for max(g, B G); done at the later one of first byte + (B-1) G + o_r and post
///     + o_r

#include <algorithm>
#include <cstdint>
#include <list>
#include <queue>
#include <vector>

namespace logpost::tests {

struct LogGPS {
    std::int64_t L = 0, o_s = 0, o_r = 0, g = 0, G = 0;
    [[nodiscard]] std::int64_t service(std::int64_t bytes) const { return std::max(g, bytes * G); }
    [[nodiscard]] std::int64_t serialization(std::int64_t bytes) const { return bytes > 0 ? (bytes - 1) * G : 0; }
};

/// What a rank does, one after the other, as in a GOAL schedule.
struct Operation {
    enum class Kind : std::uint8_t { compute, send, receive };
    Kind kind;
    std::int32_t peer;   ///< of a message
    std::int64_t value;  ///< picoseconds of computation, or bytes
};

/// When an operation began and ended.
struct Ran {
    std::int64_t begin = 0, end = 0;
};

class EventReplay {
  public:
    EventReplay(const std::vector<std::vector<Operation>>& ranks, const LogGPS& machine)
        : ranks_(ranks), machine_(machine), state_(ranks.size()) {}

    /// The times of all operations, by rank.
    std::vector<std::vector<Ran>> run() {
        for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
            state_[rank].ran.resize(ranks_[rank].size());
            if (!ranks_[rank].empty()) {
                events_.push({0, counter_++, rank, kProgram, 0});
            }
        }
        while (!events_.empty()) {
            const auto event = events_.top();
            events_.pop();
            if (event.source == kProgram) {
                proceed(event.rank, event.time);
            } else {
                arrive(event);
            }
        }
        std::vector<std::vector<Ran>> result;
        for (auto& state : state_) {
            result.push_back(std::move(state.ran));
        }
        return result;
    }

  private:
    static constexpr std::uint32_t kProgram = UINT32_MAX;

    struct Event {
        std::int64_t time;
        std::uint64_t number;  // of equal times, the earlier one first
        std::uint32_t rank;
        std::uint32_t source;  // kProgram: the rank's next operation
        std::int64_t bytes;
        bool operator>(const Event& other) const {
            return time != other.time ? time > other.time : number > other.number;
        }
    };
    struct Unexpected {
        std::uint32_t source;
        std::int64_t first_byte;
        std::int64_t bytes;
    };
    struct Posted {
        std::uint32_t source;
        std::int64_t time;
    };
    struct State {
        std::size_t next = 0;
        std::int64_t sends_until = 0, receives_until = 0;  // its NIC's two directions
        std::list<Unexpected> unexpected;
        std::list<Posted> posted;
        std::vector<Ran> ran;
    };

    void proceed(std::uint32_t rank, std::int64_t time) {
        auto& state = state_[rank];
        const auto& operation = ranks_[rank][state.next];
        state.ran[state.next].begin = time;
        switch (operation.kind) {
            case Operation::Kind::compute:
                end(rank, time + operation.value);
                break;
            case Operation::Kind::send: {
                const auto injected = std::max(time + machine_.o_s, state.sends_until);
                state.sends_until = injected + machine_.service(operation.value);
                events_.push({injected + machine_.L, counter_++, static_cast<std::uint32_t>(operation.peer), rank,
                              operation.value});
                end(rank, time + machine_.o_s);
                break;
            }
            case Operation::Kind::receive: {
                const auto source = static_cast<std::uint32_t>(operation.peer);
                const auto found =
                    std::ranges::find(state.unexpected, source, [](const Unexpected& one) { return one.source; });
                if (found == state.unexpected.end()) {
                    state.posted.push_back({source, time});
                    break;
                }
                const auto message = *found;
                state.unexpected.erase(found);
                end(rank, received(message, time));
                break;
            }
        }
    }

    void arrive(Event event) {
        auto& state = state_[event.rank];
        if (state.receives_until > event.time) {
            event.time = state.receives_until;
            event.number = counter_++;
            events_.push(event);
            return;
        }
        state.receives_until = event.time + machine_.service(event.bytes);
        const Unexpected message{event.source, event.time, event.bytes};
        const auto found = std::ranges::find(state.posted, event.source, [](const Posted& one) { return one.source; });
        if (found == state.posted.end()) {
            state.unexpected.push_back(message);
            return;
        }
        const auto posted = found->time;
        state.posted.erase(found);
        end(event.rank, received(message, posted));
    }

    [[nodiscard]] std::int64_t received(const Unexpected& message, std::int64_t posted) const {
        return std::max(message.first_byte + machine_.serialization(message.bytes), posted) + machine_.o_r;
    }

    void end(std::uint32_t rank, std::int64_t time) {
        auto& state = state_[rank];
        state.ran[state.next].end = time;
        if (++state.next < ranks_[rank].size()) {
            events_.push({time, counter_++, rank, kProgram, 0});
        }
    }

    const std::vector<std::vector<Operation>>& ranks_;
    LogGPS machine_;
    std::vector<State> state_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t counter_ = 0;
};

}  // namespace logpost::tests
