#include "replay/native/split/samples.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "replay/native/program/message_facts.hpp"
#include "replay/native/split/collective_samples.hpp"

namespace logpost::replay {
namespace {

/// Messages before and after one that may have been in flight with it. What keeps a message from being alone is
/// nearly always its neighbour in the program.
constexpr std::uint32_t kNeighbours = 4;
/// A burst is cut after this many messages.
constexpr std::uint32_t kLongestBurst = 256;
/// A wait for a send that is at least this part of the code before it is no mere call.
constexpr std::int64_t kWorthATransfer = 8;

using Classes = std::array<LocalitySamples, kLocalities>;

void add(SampleColumn& column, std::uint64_t bytes, std::int64_t time) {
    column.bytes.push_back(bytes);
    column.time_ps.push_back(time);
}

bool is_multi(CallKind kind) noexcept {
    return kind == CallKind::wait_multi || kind == CallKind::test || kind == CallKind::send_receive;
}

/// What a call completes, of one locality class or of several.
struct Completions {
    std::uint32_t receives = 0;
    std::uint32_t sends = 0;  // that may have to wait in it
    std::uint64_t smallest = UINT64_MAX;
    std::uint64_t largest = 0;
    std::int64_t slack = INT64_MAX;
    Locality locality = Locality::self;
    bool alike = true;  // one class, and nothing else is unknown about them
};

class Sampler {
  public:
    Sampler(const Program& program, std::size_t limit) : program_(program) {
        std::size_t total = 0;
        for (const auto& location : program.timelines) {
            total += location.receives.size();
        }
        stride_ = total / std::max<std::size_t>(1, limit) + 1;
        std::vector<int> ranks(program.placement.nodes() + 1);
        for (std::size_t location = 0; location < program.timelines.size(); ++location) {
            ++ranks[node_of(location_at(location))];
        }
        for (std::size_t location = 0; location < program.timelines.size(); ++location) {
            own_node_.push_back(ranks[node_of(location_at(location))] == 1);
        }
    }

    Classes run() {
        for (std::size_t location = 0; location < program_.timelines.size(); ++location) {
            receives_of(location);
            bursts_of(location);
            spacings_of(location);
        }
        return std::move(result_);
    }

  private:
    [[nodiscard]] const Timeline& timeline(Location location) const noexcept {
        return program_.timelines[index(location)];
    }
    [[nodiscard]] LocalitySamples& of(Location sender, Location receiver) noexcept {
        return result_[static_cast<std::size_t>(program_.placement.between(sender, receiver))];
    }
    /// The message of a location's send or receive; none where it is unmatched.
    [[nodiscard]] std::optional<MessageTimes> times_of(Location here, bool sent, std::uint32_t index) const {
        const auto& ends = sent ? timeline(here).sends : timeline(here).receives;
        if (index >= ends.size() || ends[index].match == kNone) {
            return std::nullopt;
        }
        const auto id = sent ? MessageId{ends[index].peer, ends[index].match} : MessageId{here, index};
        if (timeline(id.location).receives[id.receive].complete_call == kNone) {
            return std::nullopt;
        }
        return measured_times(program_, id);
    }
    /// How many neighbours of a location's send or receive were in flight at some time of [begin, end].
    [[nodiscard]] std::uint32_t in_flight_with(Location here, bool sent, std::uint32_t index, std::int64_t begin,
                                               std::int64_t end) const {
        std::uint32_t found = 0;
        for (std::uint32_t step = 1; step <= kNeighbours; ++step) {
            for (const auto other : {index - step, index + step}) {  // below 0 it is beyond all
                const auto t = times_of(here, sent, other);
                found += t.has_value() && t->s0 <= end && t->rw1 >= begin ? 1 : 0;
            }
        }
        return found;
    }
    /// Whether a send's data are strided, as the trace states it: its calls then pack and unpack.
    [[nodiscard]] bool strided(const Timeline& sender, std::uint32_t send) const {
        const auto row = sender.layouts.empty() ? kUndefined : layout_of_send(sender, send);
        return row != kUndefined && program_.layouts[static_cast<std::size_t>(row)].blocks > 1;
    }
    /// The sends that a call starts.
    struct Started {
        std::uint32_t count = 1;
        std::uint64_t bytes = 0;  // of all of them
        bool alike = true;        // one locality class, and none is strided
    };
    [[nodiscard]] Started started_with(Location sender, std::uint32_t send) const {
        const auto& here = timeline(sender);
        const auto call = here.sends[send].call;
        const auto locality = program_.placement.between(sender, here.sends[send].peer);
        Started found{.count = 1, .bytes = here.sends[send].bytes, .alike = !strided(here, send)};
        const auto count = [&](std::uint32_t other) {
            ++found.count;
            found.bytes += here.sends[other].bytes;
            const auto peer = here.sends[other].peer;  // an unmatched send's may not be known
            found.alike = found.alike && peer != kNoLocation && program_.placement.between(sender, peer) == locality &&
                          !strided(here, other);
        };
        for (auto i = send; i > 0 && here.sends[i - 1].call == call; --i) {
            count(i - 1);
        }
        for (auto i = send + 1; i < here.sends.size() && here.sends[i].call == call; ++i) {
            count(i);
        }
        return found;
    }

    void receives_of(std::size_t location) {
        const auto here = location_at(location);
        const auto& mine = program_.timelines[location];
        completions_.clear();
        receives_.clear();
        for (std::uint32_t i = 0; i < mine.receives.size(); ++i) {
            const auto& received = mine.receives[i];
            if (received.complete_call == kNone || !chosen(received.complete_call, stride_)) {
                continue;
            }
            receives_.push_back(i);
            auto& call = completions_[received.complete_call];
            ++call.receives;
            if (received.match == kNone) {
                call.alike = false;
                continue;
            }
            message(here, i, call);
        }
        for (const auto i : receives_) {
            if (mine.receives[i].match != kNone && completions_.at(mine.receives[i].complete_call).receives == 1) {
                alone(here, i);
            }
        }
        for (std::uint32_t i = 0; i < mine.sends.size(); ++i) {
            const auto& sent = mine.sends[i];
            if (sent.complete_call == kNone || sent.complete_call == sent.call ||
                !chosen(sent.complete_call, stride_)) {
                continue;
            }
            const auto at = completions_.find(sent.complete_call);
            if (at != completions_.end()) {
                const auto t = times_of(here, true, i);
                at->second.sends += t.has_value() && t->rw1 <= mine.calls[sent.complete_call].enter_ps ? 0 : 1;
            }
        }
        for (const auto& [number, call] : completions_) {
            const auto kind = program_.kind(mine.calls[number]);
            if (!call.alike || call.receives == 0) {
                continue;
            }
            auto& into = result_[static_cast<std::size_t>(call.locality)];
            const auto length = mine.calls[number].leave_ps - mine.calls[number].enter_ps;
            add(into.receive, call.smallest, length / call.receives);
            // A test costs time itself, and so does a send: of o_r such a call's length is a bound only.
            const bool only = kind != CallKind::test && kind != CallKind::send_receive && call.smallest == call.largest;
            into.slack_ps.push_back(only ? call.slack : -1);
            into.sends.push_back(call.sends);
        }
    }

    /// One message: its sending side, its bounds, and what it adds to the call that completes it.
    void message(Location here, std::uint32_t i, Completions& call) {
        const auto& received = timeline(here).receives[i];
        const MessageId id{here, i};
        const auto t = measured_times(program_, id);
        const auto locality = program_.placement.between(received.peer, here);
        auto& into = result_[static_cast<std::size_t>(locality)];
        ++into.messages;
        const auto& sender = timeline(received.peer);
        const auto& sent = sender.sends[received.match];
        call.alike = call.alike && (call.receives == 1 || call.locality == locality) && !t.violates_causality();
        call.locality = locality;
        call.smallest = std::min(call.smallest, sent.bytes);
        call.largest = std::max(call.largest, sent.bytes);
        if (t.violates_causality()) {
            return;
        }
        const auto company = in_flight_with(received.peer, true, received.match, t.s0, t.rw0) +
                             in_flight_with(here, false, i, t.s0, t.rw0);
        const bool packed = strided(sender, received.match);
        call.slack = std::min(call.slack, packed || company > kNeighbours ? -1 : (t.rw0 - t.s0) / (1 + company));
        const auto kind = program_.kind(sender.calls[sent.call]);
        const auto matched = std::min(t.rw1 - t.s0, t.rw1 - attended(here, i, t));
        add(into.whole, sent.bytes, kind == CallKind::send_synchronous ? matched : t.rw1 - t.s0);
        const bool nonblocking = kind == CallKind::send_nonblocking || kind == CallKind::start ||
                                 (kind == CallKind::send_synchronous && sent.complete_call != sent.call);
        const bool buffered = kind == CallKind::send_buffered;
        const bool over = sent.complete_call != kNone && completion_of_send(program_, id).leave <= t.r0;
        if (kind != CallKind::send_receive && !packed) {
            const auto started = started_with(received.peer, received.match);
            auto& column = nonblocking || buffered || over ? into.send_at_once : into.send_blocking;
            if (started.alike) {
                // A sum of lines over sizes is the line at the mean size, as often.
                add(column, started.bytes / started.count, (t.s1 - t.s0) / started.count);
            } else {
                add(into.send_among_others, sent.bytes, t.s1 - t.s0);
            }
        }
        if (kind != CallKind::send_receive && kind != CallKind::send_synchronous && !buffered) {
            handshake(here, i, t, into);
        }
        if (sent.complete_call == kNone || kind == CallKind::send_synchronous ||
            is_multi(program_.kind(sender.calls[sent.complete_call]))) {
            return;
        }
        const auto completed = completion_of_send(program_, id).leave;
        if (completed <= t.r0) {
            add(into.early_complete, sent.bytes, t.r0 - completed);
        } else if (t.s0 < t.r0) {
            add(into.late_complete, sent.bytes, completed - t.r0);
        }
    }

    /// Whether a location makes no progress between two of its calls.
    [[nodiscard]] bool away(Location location, std::uint32_t from, std::uint32_t to) const {
        const auto& calls = timeline(location).calls;
        for (auto call = from + 1; call < to; ++call) {
            if (makes_progress(program_.kind(calls[call]), true)) {
                return false;
            }
        }
        return from < to;
    }
    /// Time that a location spends outside of calls from `since` until it enters a call, behind another one of its.
    [[nodiscard]] std::int64_t code_between(Location location, std::uint32_t from, std::uint32_t to,
                                            std::int64_t since) const {
        const auto& calls = timeline(location).calls;
        std::int64_t time = 0;
        for (auto call = from + 1; call <= to; ++call) {
            time += std::max<std::int64_t>(0, calls[call].enter_ps - std::max(since, calls[call - 1].leave_ps));
        }
        return time;
    }

    /// When both sides had begun, and were back where they went away.
    [[nodiscard]] std::int64_t attended(Location here, std::uint32_t i, const MessageTimes& t) const {
        const auto& received = timeline(here).receives[i];
        const auto& sender = timeline(received.peer);
        const auto& sent = sender.sends[received.match];
        auto time = std::max(t.s0, t.r0);
        if (away(here, received.call, received.complete_call)) {
            time = std::max(time, t.rw0);
        }
        if (sent.complete_call != kNone && away(received.peer, sent.call, sent.complete_call)) {
            time = std::max(time, sender.calls[sent.complete_call].enter_ps);
        }
        return std::min(time, t.rw1);
    }

    /// Does the message wait for a side that is away?
    void handshake(Location here, std::uint32_t i, const MessageTimes& t, LocalitySamples& into) {
        const auto& received = timeline(here).receives[i];
        const auto& sent = timeline(received.peer).sends[received.match];
        if (sent.complete_call == kNone) {
            return;
        }
        const bool stays = sent.complete_call == sent.call;
        std::int64_t code = 0;   // how long the one side was outside of calls,
        std::int64_t back = 0;   // when it came back,
        std::int64_t ended = 0;  // when the other one's call ended,
        bool held = false;       // and whether the call in which it came back took most of the time until then
        if (!stays && t.rw0 <= t.s1 && away(received.peer, sent.call, sent.complete_call)) {
            code = code_between(received.peer, sent.call, sent.complete_call, t.s1);
            const auto& completes = timeline(received.peer).calls[sent.complete_call];
            back = completes.enter_ps;
            ended = t.rw1;
            // An eager send is long complete.
            held = !is_multi(program_.kind(completes)) && completes.leave_ps - back >= (ended - back) / 2 &&
                   completes.leave_ps - back >= code / kWorthATransfer;
        } else if (stays && t.r0 < t.s0 && away(here, received.call, received.complete_call)) {
            code = code_between(here, received.call, received.complete_call, t.s0);
            back = t.rw0;
            ended = t.s1;
        }
        if (ended < back) {
            add(into.answered, sent.bytes, code);
        } else if (code > 0 && (held || ended - back <= code / 2)) {
            add(into.unanswered, sent.bytes, code);
            into.unanswered_rest.push_back(t.rw1 - back);
        }
    }

    /// A message whose receive was completed alone: was it alone in flight, and the receiver there before it?
    void alone(Location here, std::uint32_t i) {
        const auto& received = timeline(here).receives[i];
        const auto t = measured_times(program_, {here, i});
        const auto& sender = timeline(received.peer);
        const auto& sent = sender.sends[received.match];
        const auto kind = program_.kind(sender.calls[sent.call]);
        const bool stays = sent.complete_call == sent.call;
        const bool synchronous = kind == CallKind::send_synchronous;
        // The receiver may enter its call while a nonblocking send is still at work: the message has not left.
        const bool there = t.rw0 <= t.s0 || (!stays && !synchronous && t.rw0 <= t.s1);
        if (t.violates_causality() || !there || started_with(received.peer, received.match).count > 1 ||
            strided(sender, received.match) || (synchronous && !stays) ||
            program_.kind(timeline(here).calls[received.complete_call]) == CallKind::test) {
            return;
        }
        if (in_flight_with(received.peer, true, received.match, t.s0, t.rw1) +
                in_flight_with(here, false, i, t.s0, t.rw1) ==
            0) {
            auto& into = of(received.peer, here);
            auto& column = synchronous ? into.undisturbed_synchronous
                           : stays     ? into.undisturbed_blocking
                                       : into.undisturbed_nonblocking;
            add(column, sent.bytes, t.rw1 - t.s0);
        }
    }

    [[nodiscard]] std::size_t node_of(Location location) const {
        return static_cast<std::size_t>(program_.placement[index(location)].node) + 1;
    }
    /// Whether some neighbour of a receive was from another sender, and in flight at some time of [begin, end].
    [[nodiscard]] bool others_in_flight(Location receiver, std::uint32_t receive, Location sender, std::int64_t begin,
                                        std::int64_t end) const {
        for (std::uint32_t step = 1; step <= kNeighbours; ++step) {
            for (const auto other : {receive - step, receive + step}) {  // below 0 it is beyond all
                const auto t = times_of(receiver, false, other);
                if (t.has_value() && timeline(receiver).receives[other].peer != sender && t->s0 <= end &&
                    t->rw1 >= begin) {
                    return true;
                }
            }
        }
        return false;
    }
    /// Receives that the call which completes a receive completes.
    [[nodiscard]] static std::uint32_t completed_with(const Timeline& receiver, std::uint32_t receive) {
        const auto call = receiver.receives[receive].complete_call;
        std::uint32_t found = 1;
        for (std::uint32_t step = 1; step <= kNeighbours; ++step) {
            for (const auto other : {receive - step, receive + step}) {
                found += other < receiver.receives.size() && receiver.receives[other].complete_call == call ? 1 : 0;
            }
        }
        return found;
    }

    /// Pairs of messages that follow each other from one sender.
    void spacings_of(std::size_t location) {
        const auto here = location_at(location);
        const auto& sends = timeline(here).sends;
        for (std::uint32_t i = 0; i + 1 < sends.size(); ++i) {
            if (chosen(sends[i].call, stride_) && sends[i].bytes == sends[i + 1].bytes &&
                sends[i].call != sends[i + 1].call && sends[i].match != kNone && sends[i + 1].match != kNone) {
                spacing(here, i);
            }
        }
    }

    void spacing(Location here, std::uint32_t i) {
        const auto& sends = timeline(here).sends;
        const auto one = times_of(here, true, i);
        const auto two = times_of(here, true, i + 1);
        const auto locality = program_.placement.between(here, sends[i].peer);
        if (!one.has_value() || !two.has_value() || one->violates_causality() || two->violates_causality() ||
            locality != program_.placement.between(here, sends[i + 1].peer) || two->rw1 <= one->rw1 ||
            two->s0 >= one->rw1) {
            return;
        }
        auto shortest = INT64_MAX;
        for (const auto& [send, t] : {std::pair{i, *one}, std::pair{i + 1, *two}}) {
            const auto peer = sends[send].peer;
            const auto receive = sends[send].match;
            const auto& receiver = timeline(peer);
            const auto kind = program_.kind(receiver.calls[receiver.receives[receive].complete_call]);
            const bool shared = locality == Locality::other_node && !(own_node_[index(here)] && own_node_[index(peer)]);
            if (shared || started_with(here, send).count > 1 || strided(timeline(here), send) ||
                kind == CallKind::test || kind == CallKind::send_receive || completed_with(receiver, receive) > 1 ||
                others_in_flight(peer, receive, here, one->s0, two->rw1)) {
                return;
            }
            if (t.rw0 > t.s0 || sends[i].peer == sends[i + 1].peer) {
                shortest = std::min(shortest, t.rw1 - t.rw0);
            }
        }
        auto& into = result_[static_cast<std::size_t>(locality)];
        add(into.spacing, sends[i].bytes, two->rw1 - one->rw1);
        into.spacing_of_sends.push_back(two->s0 - one->s0);
        into.spacing_calls.push_back(shortest);
    }

    /// Runs of messages that were in flight together, leaving a location or reaching it.
    void bursts_of(std::size_t location) {
        const auto here = location_at(location);
        for (const bool sent : {true, false}) {
            const auto& ends = sent ? timeline(here).sends : timeline(here).receives;
            std::uint32_t begin = 0;
            while (begin < ends.size()) {
                const auto end =
                    std::min<std::uint32_t>(begin + kLongestBurst, static_cast<std::uint32_t>(ends.size()));
                if (chosen(begin / kLongestBurst, stride_)) {
                    burst(here, sent, begin, end);
                }
                begin = end;
            }
        }
    }

    /// Messages of one class that were in flight together, so far.
    struct Burst {
        std::int64_t first = 0;
        std::int64_t last = 0;
        std::uint64_t smallest = 0;
        std::int64_t members = 0;
    };
    void close(Burst& of, LocalitySamples& into) {
        if (of.members > 1) {
            add(into.burst, of.smallest, (of.last - of.first) / (of.members - 1));
        }
        of.members = 0;
    }

    void burst(Location here, bool sent, std::uint32_t begin, std::uint32_t end) {
        const auto& ends = sent ? timeline(here).sends : timeline(here).receives;
        // Messages of another class between two of one do not keep them from waiting for each other.
        std::array<Burst, kLocalities> bursts;
        for (auto i = begin; i < end; ++i) {
            const auto t = times_of(here, sent, i);
            if (!t.has_value() || t->violates_causality()) {
                continue;
            }
            const auto with = static_cast<std::size_t>(program_.placement.between(here, ends[i].peer));
            auto& now = bursts[with];
            if (now.members > 1 && t->s0 > now.last) {
                close(now, result_[with]);  // two that were not in flight together are a bound, too, if a loose one
            }
            now.first = now.members == 0 ? t->s0 : std::min(now.first, t->s0);
            now.last = now.members == 0 ? t->rw1 : std::max(now.last, t->rw1);
            now.smallest = now.members == 0 ? ends[i].bytes : std::min(now.smallest, ends[i].bytes);
            ++now.members;
        }
        for (std::size_t with = 0; with < bursts.size(); ++with) {
            close(bursts[with], result_[with]);
        }
    }

    const Program& program_;
    std::size_t stride_ = 1;
    std::vector<bool> own_node_;  // by location: none other on its node
    Classes result_;
    std::map<std::uint32_t, Completions> completions_;  // by chosen call of one location
    std::vector<std::uint32_t> receives_;               // that these complete
};

}  // namespace

std::array<LocalitySamples, kLocalities> samples(const Program& program, std::size_t limit) {
    auto found = Sampler(program, limit).run();
    sample_collectives(program, limit, found);
    return found;
}

}  // namespace logpost::replay
