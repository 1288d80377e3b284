#include "replay/native/goal/loggopsim.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

namespace logpost::replay {
namespace {

class LogGopSim {
  public:
    LogGopSim(const GoalSchedule& schedule, std::int64_t unit_ps,
              const std::function<GoalCost(std::uint32_t, std::uint32_t, std::uint64_t)>& cost_of)
        : schedule_(schedule), unit_ps_(unit_ps), cost_of_(cost_of), ranks_(schedule.ranks.size()) {}

    std::vector<std::int64_t> run() {
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            auto& rank = ranks_[r];
            rank.processor.resize(schedule_.cpus);
            rank.sending.resize(schedule_.nics);
            rank.receiving.resize(schedule_.nics);
            const auto& operations = schedule_.ranks[r].operations;
            for (std::uint32_t i = 0; i < operations.size(); ++i) {
                rank.waits.push_back(operations[i].waits);
                if (operations[i].waits == 0) {
                    rank.ready.push_back(i);
                }
            }
            start_ready(r);
        }
        while (!events_.empty()) {
            const auto event = events_.top();
            events_.pop();
            changed_.clear();
            if (event.arrives) {
                arrive(event);
            } else {
                begin(event);
            }
            std::ranges::sort(changed_);
            const auto doubled = std::ranges::unique(changed_);
            changed_.erase(doubled.begin(), doubled.end());
            for (const auto rank : changed_) {
                start_ready(rank);
            }
        }
        std::vector<std::int64_t> ends;
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            check(r);
            ends.push_back(*std::ranges::max_element(ranks_[r].processor));
        }
        return ends;
    }

  private:
    struct Event {
        std::int64_t time;
        std::uint64_t number;  // of equal times, the one that was there first; kept where it is put back
        std::uint32_t rank;    // where it happens
        std::uint32_t operation;
        std::uint32_t sender = 0;  // of a message that arrives
        bool arrives = false;
        friend bool operator>(const Event& a, const Event& b) noexcept {
            return a.time != b.time ? a.time > b.time : a.number > b.number;
        }
    };
    /// A receive that is posted, or a message that is not expected.
    struct Waiting {
        std::uint32_t rank, operation;
    };
    struct RankState {
        std::vector<std::int64_t> processor, sending, receiving;  // since when they are free, by number
        std::vector<std::uint32_t> waits;                         // by operation
        std::vector<std::uint32_t> ready;
        std::unordered_map<std::uint64_t, std::deque<Waiting>> posted, unexpected;  // by sender and tag
    };

    [[nodiscard]] const GoalOperation& of(std::uint32_t rank, std::uint32_t operation) const noexcept {
        return schedule_.ranks[rank].operations[operation];
    }
    static std::uint64_t channel(std::uint32_t sender, std::uint32_t tag) noexcept {
        return static_cast<std::uint64_t>(sender) << 32U | tag;
    }

    void follow(std::uint32_t rank, const std::vector<GoalEdge>& edges, std::uint32_t operation) {
        auto& state = ranks_[rank];
        for (auto edge = std::ranges::lower_bound(edges, operation, {}, &GoalEdge::from);
             edge != edges.end() && edge->from == operation; ++edge) {
            if (--state.waits[edge->to] == 0) {
                state.ready.push_back(edge->to);
            }
        }
        changed_.push_back(rank);
    }
    void started(std::uint32_t rank, std::uint32_t operation) {
        follow(rank, schedule_.ranks[rank].on_start, operation);
    }
    void done(std::uint32_t rank, std::uint32_t operation) { follow(rank, schedule_.ranks[rank].on_end, operation); }

    /// What waits for nothing more: sends, then receives, then computation.
    void start_ready(std::uint32_t rank) {
        auto& state = ranks_[rank];
        std::ranges::stable_sort(state.ready, {}, [&](std::uint32_t i) { return of(rank, i).kind; });
        for (const auto i : state.ready) {
            const auto& operation = of(rank, i);
            auto time = state.processor[operation.cpu];
            if (operation.kind == GoalOperation::Kind::send) {
                time = std::max(time, state.sending[operation.nic]);
            }
            events_.push({.time = time, .number = counter_++, .rank = rank, .operation = i});
        }
        state.ready.clear();
    }

    void put_back(Event event, std::int64_t time) {
        event.time = time;
        events_.push(event);
    }

    void begin(const Event& event) {
        const auto rank = event.rank;
        auto& state = ranks_[rank];
        const auto& operation = of(rank, event.operation);
        auto& processor = state.processor[operation.cpu];
        switch (operation.kind) {
            case GoalOperation::Kind::compute:
                if (processor > event.time) {
                    put_back(event, processor);
                    return;
                }
                processor = event.time + static_cast<std::int64_t>(operation.value) * unit_ps_;
                started(rank, event.operation);
                done(rank, event.operation);
                return;
            case GoalOperation::Kind::send: {
                auto& nic = state.sending[operation.nic];
                if (std::max(processor, nic) > event.time) {
                    put_back(event, std::max(processor, nic));
                    return;
                }
                const auto cost = cost_of_(rank, operation.peer, operation.value);
                started(rank, event.operation);
                processor = event.time + cost.o_s;
                nic = event.time + cost.g + cost.serialization;
                events_.push({.time = event.time + cost.o_s + cost.L,
                              .number = counter_++,
                              .rank = operation.peer,
                              .operation = event.operation,
                              .sender = rank,
                              .arrives = true});
                if (!cost.rendezvous) {
                    done(rank, event.operation);
                }
                return;
            }
            case GoalOperation::Kind::receive: {
                started(rank, event.operation);
                auto& messages = state.unexpected[channel(operation.peer, operation.tag)];
                if (messages.empty()) {
                    state.posted[channel(operation.peer, operation.tag)].push_back({rank, event.operation});
                    return;
                }
                const auto message = messages.front();
                messages.pop_front();
                let_go(message, operation, rank, event.time);
                done(rank, event.operation);
                return;
            }
        }
    }

    /// The send of a rendezvous is done where its message and its receive meet: on the processor of the later one.
    void let_go(const Waiting& message, const GoalOperation& last, std::uint32_t receiver, std::int64_t time) {
        const auto& send = of(message.rank, message.operation);
        if (!cost_of_(message.rank, receiver, send.value).rendezvous) {
            return;
        }
        auto& sender = ranks_[message.rank];
        done(message.rank, message.operation);
        sender.processor[last.cpu] = std::max(sender.processor[last.cpu], time);
        sender.sending[last.nic] = std::max(sender.sending[last.nic], time);
    }

    void arrive(const Event& event) {
        const auto& send = of(event.sender, event.operation);
        auto& state = ranks_[event.rank];
        auto& processor = state.processor[send.cpu];
        auto& nic = state.receiving[send.nic];
        if (std::max(processor, nic) > event.time) {
            put_back(event, std::max(processor, nic));
            return;
        }
        const auto cost = cost_of_(event.sender, event.rank, send.value);
        processor = event.time + cost.o_r + cost.serialization;
        nic = event.time + cost.g + cost.serialization;
        auto& receives = state.posted[channel(event.sender, send.tag)];
        if (receives.empty()) {
            state.unexpected[channel(event.sender, send.tag)].push_back({event.sender, event.operation});
            return;
        }
        const auto receive = receives.front();
        receives.pop_front();
        let_go({event.sender, event.operation}, send, event.rank, event.time);
        done(event.rank, receive.operation);
    }

    void check(std::uint32_t rank) const {
        for (const auto& [queues, what] : {std::pair{&ranks_[rank].posted, "receives without a message"},
                                           {&ranks_[rank].unexpected, "messages without a receive"}}) {
            std::size_t left = 0;
            for (const auto& [channel, queue] : *queues) {
                left += queue.size();
            }
            if (left > 0) {
                throw UnmatchedError("rank " + std::to_string(rank) + " has " + std::to_string(left) + " " + what);
            }
        }
        if (std::ranges::any_of(ranks_[rank].waits, [](std::uint32_t waits) { return waits > 0; })) {
            throw UnmatchedError("rank " + std::to_string(rank) + " has operations that wait for each other");
        }
    }

    const GoalSchedule& schedule_;
    std::int64_t unit_ps_;
    const std::function<GoalCost(std::uint32_t, std::uint32_t, std::uint64_t)>& cost_of_;
    std::vector<RankState> ranks_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t counter_ = 0;
    std::vector<std::uint32_t> changed_;  // ranks in which an operation has started or is done
};

}  // namespace

std::vector<std::int64_t> loggopsim_times(
    const GoalSchedule& schedule, std::int64_t unit_ps,
    const std::function<GoalCost(std::uint32_t, std::uint32_t, std::uint64_t)>& cost_of) {
    return LogGopSim(schedule, unit_ps, cost_of).run();
}

}  // namespace logpost::replay
