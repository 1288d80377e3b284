#include "replay/native/graph/recorded.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "replay/native/graph/topological.hpp"

namespace logpost::replay {
namespace {

/// What takes at least this part of its modelled time may have happened so: the model is not exact to a tenth.
constexpr double kFits = 0.9;

template <class... Columns>
bool all_of_size(std::size_t size, const Columns&... columns) {
    return ((columns.size() == size) && ...);
}

void check(const RecordedCalls& calls, const RecordedMessages& messages, const RecordedMembers& members,
           const RecordedEpochs& epochs, const Polling& polling) {
    const auto n = calls.location.size();
    if (!all_of_size(n, calls.callpath, calls.enter_ps, calls.leave_ps, calls.begin_ps, calls.work_ps) ||
        !all_of_size(messages.send_call.size(), messages.complete_call, messages.post_call, messages.recv_call,
                     messages.rendezvous, messages.transport_ps, messages.latency_ps, messages.serialization_ps,
                     messages.received_ps) ||
        !all_of_size(members.call.size(), members.instance, members.complete, members.operation, members.root) ||
        !all_of_size(epochs.call.size(), epochs.source, epochs.leaves, epochs.own, epochs.reason, epochs.rest_ps)) {
        throw std::invalid_argument("columns of one table must be of one length");
    }
    const auto within = [](std::span<const std::int32_t> rows, std::size_t size) {
        return std::ranges::all_of(rows,
                                   [&](std::int32_t row) { return row >= 0 && static_cast<std::size_t>(row) < size; });
    };
    if (!within(calls.callpath, polling.query.size())) {
        throw std::invalid_argument("a call's path is not among the call paths");
    }
    if (!within(messages.send_call, n) || !within(messages.complete_call, n) || !within(messages.post_call, n) ||
        !within(messages.recv_call, n) || !within(members.call, n) || !within(members.complete, n) ||
        !within(epochs.call, n) || !within(epochs.source, n)) {
        throw std::invalid_argument("a message, an operation or an epoch refers to a call that is not there");
    }
    if (std::ranges::any_of(epochs.reason, [](std::uint8_t reason) { return reason >= kReasonNames.size(); })) {
        throw std::invalid_argument("a wait has a reason that is not known");
    }
    for (std::size_t i = 1; i < n; ++i) {
        if (calls.location[i] < calls.location[i - 1]) {
            throw std::invalid_argument("calls must stand in the order of their locations");
        }
    }
    if (!std::ranges::is_sorted(members.instance)) {
        throw std::invalid_argument("members must stand in the order of their operations");
    }
}

/// Rows by the call that they name.
struct ByCall {
    ByCall(std::span<const std::int32_t> call_of_row, std::size_t calls) : first(calls + 1), row(call_of_row.size()) {
        for (const auto call : call_of_row) {
            ++first[static_cast<std::size_t>(call) + 1];
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        auto next = first;
        for (std::uint32_t i = 0; i < row.size(); ++i) {
            row[next[static_cast<std::size_t>(call_of_row[i])]++] = i;
        }
    }
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t call) const noexcept {
        return {row.data() + first[call], row.data() + first[call + 1]};
    }
    std::vector<std::uint32_t> first, row;
};

}  // namespace

RecordedGraph::RecordedGraph(const RecordedCalls& calls, const RecordedMessages& messages,
                             const RecordedMembers& members, const RecordedEpochs& epochs, const Polling& polling) {
    check(calls, messages, members, epochs, polling);
    take_calls(calls);
    take_members(members);
    std::vector<Pending> pending;
    pending.reserve(2 * messages.send_call.size() + members.call.size());
    const auto polled = see_through_polls(calls, messages, polling, pending);
    wait_for_messages(messages, polled, pending);
    wait_for_members(calls.callpath, polled, pending);
    wait_for_epochs(epochs, pending);
    repeat_the_run(pending);
    put_in_order();
}

std::int64_t RecordedGraph::time(std::uint32_t node) const noexcept {
    if (node >= 2 * calls()) {
        return enter_ps[last_member[node - 2 * calls()]];
    }
    return node % 2 == 0 ? enter_ps[node / 2] : leave_ps[node / 2];
}

const RecordedWait* RecordedGraph::binding(std::uint32_t call) const noexcept {
    const auto here = waits_of(call);
    if (here.empty() || works_all_the_time(call)) {
        return nullptr;
    }
    return &*std::ranges::max_element(here, {},
                                      [&](const RecordedWait& wait) { return time(wait.source) + wait.lag_ps; });
}

void RecordedGraph::take_calls(const RecordedCalls& calls) {
    const auto n = calls.location.size();
    location.assign(calls.location.begin(), calls.location.end());
    enter_ps.assign(calls.enter_ps.begin(), calls.enter_ps.end());
    leave_ps.assign(calls.leave_ps.begin(), calls.leave_ps.end());
    work_ps.assign(calls.work_ps.begin(), calls.work_ps.end());
    gap_ps.resize(n);
    polls.assign(n, 0);
    is_member_.assign(n, 0);
    for (std::uint32_t call = 0; call < n; ++call) {
        gap_ps[call] = enter_ps[call] - (has_before(call) ? leave_ps[call - 1] : calls.begin_ps[call]);
    }
}

/// Queries in a row wait for the message that the last of them, or the receive behind them, takes.
std::vector<std::uint8_t> RecordedGraph::see_through_polls(const RecordedCalls& calls, const RecordedMessages& messages,
                                                           const Polling& polling, std::vector<Pending>& pending) {
    std::vector<std::uint8_t> polled(this->calls(), kKept);
    if (std::ranges::all_of(polling.query, [](std::uint8_t one) { return one == 0; })) {
        return polled;
    }
    const ByCall received(messages.recv_call, this->calls());
    for (std::uint32_t call = 0; call < this->calls(); ++call) {
        const auto query = static_cast<Query>(polling.query[static_cast<std::size_t>(calls.callpath[call])]);
        if (query == Query::none) {
            continue;
        }
        const bool follows = call + 1 < this->calls() && has_before(call + 1);
        if (follows && calls.callpath[call + 1] == calls.callpath[call] && gap_ps[call + 1] <= polling.spin_ps) {
            // Not the last of them: it and the code up to the next are waiting.
            polls[call] = polls[call + 1] = 1;
            work_ps[call] = gap_ps[call + 1] = 0;
            polled[call] = kCleared;
            continue;
        }
        auto taken = received.of(call);
        if (taken.empty() && follows) {
            taken = received.of(call + 1);
        }
        if (taken.empty() || (polls[call] == 0 && query != Query::probe)) {
            continue;
        }
        polls[call] = 1;
        work_ps[call] = 0;
        polled[call] = kTaken;
        for (const auto message : taken) {
            pending.push_back({call,
                               {enter_node(static_cast<std::uint32_t>(messages.send_call[message])),
                                static_cast<std::int32_t>(message), messages.transport_ps[message], Reason::send}});
        }
    }
    return polled;
}

void RecordedGraph::wait_for_messages(const RecordedMessages& messages, const std::vector<std::uint8_t>& polled,
                                      std::vector<Pending>& pending) const {
    for (std::size_t i = 0; i < messages.send_call.size(); ++i) {
        const auto send = static_cast<std::uint32_t>(messages.send_call[i]);
        const auto complete = static_cast<std::uint32_t>(messages.complete_call[i]);
        const auto post = static_cast<std::uint32_t>(messages.post_call[i]);
        const auto receive = static_cast<std::uint32_t>(messages.recv_call[i]);
        const auto transport = messages.transport_ps[i];
        const auto wait = [&](std::uint32_t call, std::uint32_t source, std::int64_t lag, Reason reason) {
            const bool attends = reason == Reason::attend || reason == Reason::begin;
            if (polled[call] == kKept && (call != source || attends)) {
                pending.push_back({call, {enter_node(source), static_cast<std::int32_t>(i), lag, reason}});
            }
        };
        // Whether there was time for it: else the handshake was answered before.
        const auto fits = [&](std::uint32_t call, std::uint32_t source, std::int64_t lag) {
            return static_cast<double>(enter_ps[source] - leave_ps[call]) + kFits * static_cast<double>(lag) <= 0;
        };
        wait(receive, send, transport, Reason::send);
        if (messages.rendezvous[i] == 0) {
            continue;
        }
        wait(complete, send, transport, Reason::send);
        const auto answered = transport - messages.latency_ps[i] / 3;  // the request has come meanwhile
        const auto moved = messages.serialization_ps[i] + messages.latency_ps[i] / 3;
        // Whoever begins and ends its side in one call takes the transfer itself, however early the other side is.
        const auto takes = [&](std::uint32_t call, std::uint32_t begun, std::int64_t lag) {
            if (call == begun && polled[call] == kKept) {
                pending.push_back({call, {enter_node(call), static_cast<std::int32_t>(i), lag, Reason::itself}});
            }
        };
        takes(complete, send, answered - messages.received_ps[i]);
        takes(receive, post, answered);
        for (const auto call : {receive, complete}) {
            wait(call, post, answered, Reason::post);
            if (receive != post && fits(call, receive, answered)) {
                wait(call, receive, answered, Reason::attend);
            }
            if (complete != send && fits(call, complete, moved)) {
                wait(call, complete, moved, Reason::begin);
            }
        }
    }
}

/// Beside its waits a call takes what it does; behind the last of them, what it is measured to.
void RecordedGraph::wait_for_epochs(const RecordedEpochs& epochs, std::vector<Pending>& pending) const {
    for (std::size_t i = 0; i < epochs.call.size(); ++i) {
        const auto call = static_cast<std::uint32_t>(epochs.call[i]);
        const auto source = static_cast<std::uint32_t>(epochs.source[i]);
        const auto node = epochs.leaves[i] != 0 ? leave_node(source) : enter_node(source);
        if (location[call] != location[source]) {
            pending.push_back({call, {node, -1, epochs.rest_ps[i], static_cast<Reason>(epochs.reason[i])}});
            if (epochs.own[i] != 0) {
                pending.push_back({call, {enter_node(call), -1, epochs.rest_ps[i], Reason::itself}});
            }
        }
    }
}

/// Whether a wait of a call that completes a rendezvous is for its receiver to answer.
bool RecordedGraph::is_held(std::uint32_t call, const RecordedWait& wait) const {
    return (wait.reason == Reason::attend || wait.reason == Reason::post) &&
           location[call_of(wait.source)] != location[call];
}

/// What arrives last gets the measured lag, the others at most that; a call that nobody explains works all the time.
void RecordedGraph::repeat_the_run(std::vector<Pending>& pending) {
    first_wait.assign(calls() + 1, 0);
    // An exposure is over behind the completions of its accesses: where clocks contradict that, they are wrong.
    const auto contradicts = [&](const Pending& one) { return time(one.wait.source) > leave_ps[one.call]; };
    std::erase_if(pending, [&](const Pending& one) { return contradicts(one) && one.wait.reason != Reason::exposure; });
    for (const auto& one : pending) {
        ++first_wait[one.call + 1];
    }
    std::partial_sum(first_wait.begin(), first_wait.end(), first_wait.begin());
    waits.resize(pending.size());
    auto next = first_wait;
    for (const auto& [call, wait] : pending) {
        auto& here = waits[next[call]++];
        here = wait;
        // Nothing arrives later than it did.
        const auto most = leave_ps[call] - time(wait.source);
        here.lag_ps = std::clamp<std::int64_t>(wait.lag_ps, std::min<std::int64_t>(0, most), most);
        here.cut_ps = std::max<std::int64_t>(0, wait.lag_ps - here.lag_ps);
    }
    for (std::uint32_t call = 0; call < calls(); ++call) {
        const std::span here{waits.data() + first_wait[call], waits.data() + first_wait[call + 1]};
        if (works_all_the_time(call)) {
            continue;
        }
        if (here.empty()) {
            work_ps[call] = polls[call] != 0 ? 0 : length_of(call);
            continue;
        }
        const auto arrival = [&](const RecordedWait& wait) { return time(wait.source) + wait.lag_ps; };
        auto& last = *std::ranges::max_element(here, {}, arrival);
        // Of queries in a row the last one finds what has come since the one before it.
        const bool asked_before =
            polls[call] != 0 && has_before(call) && polls[call - 1] != 0 && waits_of(call - 1).empty();
        if (arrival(last) <= enter_ps[call] + work_ps[call] && is_member_[call] == 0 && !asked_before) {
            const auto held = std::ranges::max_element(
                here, {}, [&](const RecordedWait& wait) { return is_held(call, wait) ? arrival(wait) : INT64_MIN; });
            if (is_held(call, *held)) {  // all was there but the receiver's processor, which took others first
                held->lag_ps = leave_ps[call] - time(held->source);
                continue;
            }
            work_ps[call] = length_of(call);
            polls[call] = 0;  // it was there
            continue;
        }
        last.lag_ps = leave_ps[call] - time(last.source);
    }
}

std::vector<Dependency> RecordedGraph::dependencies() const {
    const auto n = calls();
    std::vector<Dependency> edges;
    edges.reserve(2 * static_cast<std::size_t>(n) + waits.size() + member.size());
    for (std::uint32_t call = 0; call < n; ++call) {
        if (has_before(call)) {
            edges.push_back({leave_node(call - 1), enter_node(call)});
        }
        edges.push_back({enter_node(call), leave_node(call)});
        for (const auto& wait : waits_of(call)) {
            edges.push_back({wait.source, leave_node(call)});
        }
    }
    for (std::size_t operation = 0; operation < last_member.size(); ++operation) {
        for (auto i = first_member[operation]; i < first_member[operation + 1]; ++i) {
            edges.push_back({enter_node(member[i]), meeting_node(operation)});
        }
    }
    return edges;
}

RecordedGraph::Ordered RecordedGraph::in_order(const std::vector<Dependency>& edges) const {
    const std::size_t nodes = 2 * static_cast<std::size_t>(calls()) + last_member.size();
    // Of what is left in a cycle, the earliest goes first.
    std::vector<std::uint32_t> by_time;
    std::size_t earliest = 0;
    auto found = topological_order(nodes, edges, [&](std::span<const std::uint32_t> waiting) {
        if (by_time.empty()) {
            by_time.resize(nodes);
            std::iota(by_time.begin(), by_time.end(), 0U);
            std::ranges::stable_sort(by_time, {}, [&](std::uint32_t node) { return time(node); });
        }
        while (waiting[by_time[earliest]] == 0) {
            ++earliest;
        }
        return by_time[earliest];
    });
    return {std::move(found), !by_time.empty()};
}

void RecordedGraph::put_in_order() {
    const auto n = calls();
    // Clocks may contradict each other at one instant: a call whose waits close a cycle lets them go.
    auto found = in_order(dependencies());
    order = std::move(found.order);
    if (!found.cyclic) {
        return;
    }
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < place.size(); ++i) {
        place[order[i]] = i;
    }
    auto kept = waits.begin();
    for (std::uint32_t call = 0; call < n; ++call) {
        const auto begin = first_wait[call];
        first_wait[call] = static_cast<std::uint32_t>(kept - waits.begin());
        auto latest = enter_ps[call] + work_ps[call];
        for (auto i = begin; i < first_wait[call + 1]; ++i) {
            if (place[waits[i].source] < place[leave_node(call)]) {
                latest = std::max(latest, time(waits[i].source) + waits[i].lag_ps);
                *kept++ = waits[i];
            }
        }
        const bool let_go =
            first_wait[call] + (first_wait[call + 1] - begin) != static_cast<std::size_t>(kept - waits.begin());
        if (let_go && latest < leave_ps[call]) {
            work_ps[call] = length_of(call);  // nothing explains its time any more
        }
    }
    first_wait[n] = static_cast<std::uint32_t>(kept - waits.begin());
    waits.erase(kept, waits.end());
}

std::uint32_t RecordedGraph::depth(std::uint32_t call) const {
    const auto begin = enter_ps[call];
    std::vector<std::int32_t> visited{location[call]};
    std::uint32_t depth = 0;
    const auto* last = binding(call);
    while (last != nullptr && last->reason == Reason::send) {
        auto at = call_of(last->source);
        if (enter_ps[at] <= begin || std::ranges::find(visited, location[at]) != visited.end()) {
            break;
        }
        visited.push_back(location[at]);
        std::int64_t computed = 0;
        last = nullptr;
        // Back on the sender until the call in which it waited itself.
        while (leave_ps[at] > begin) {
            computed += gap_ps[at];
            if (!has_before(at)) {
                break;
            }
            --at;
            last = binding(at);
            if (last != nullptr) {
                break;
            }
        }
        if (last == nullptr && leave_ps[at] <= begin) {
            computed += leave_ps[at] - begin;
        }
        depth += computed > 0 ? 1 : 0;
    }
    return depth;
}

}  // namespace logpost::replay
