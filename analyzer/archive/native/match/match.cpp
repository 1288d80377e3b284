#include "analyzer/archive/native/match/match.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "analyzer/archive/native/match/channels.hpp"
#include "analyzer/archive/native/match/concurrent_pairs.hpp"
#include "analyzer/archive/native/match/lacking_sends.hpp"
#include "replay/native/memory/threads.hpp"

namespace logpost::analyzer {
namespace {

struct Ref {
    replay::Location location;
    std::uint32_t index;
};

/// The sends and receives that end at one process, and a table of channels reused from process to process.
class ProcessMatcher {
  public:
    ProcessMatcher(const TraceOf& traces, const std::vector<replay::Location>& owner)
        : traces_(traces), owner_(owner) {}

    /// `sends`: all that were sent to this process, in program order per sender.
    void match(std::span<const Ref> sends, std::span<const Ref> receives) {
        const auto pairs_before = pairs;
        const auto quality_before = quality;
        match_in_order(sends, receives, nullptr);
        const auto violations = static_cast<std::size_t>(Quality::receive_before_send);
        if (quality[violations] == quality_before[violations] || pairs - pairs_before == receives.size()) {
            return;
        }
        // The writer may have left out sends: without those, later ones take their places, and are received before they
        // were sent.
        auto lacking = sends_lacking(sends, receives);
        if (!lacking.any()) {
            return;
        }
        pairs = pairs_before;
        quality = quality_before;
        for (const auto& at : receives) {
            endpoint(traces_, &LocationTrace::receives, at).match = kNone;
        }
        for (const auto& at : sends) {
            endpoint(traces_, &LocationTrace::sends, at).match = kNone;
        }
        match_in_order(sends, receives, &lacking);
    }

    /// The same where threads share channels; `receives` of a location in its order.
    void match_concurrent(std::span<const Ref> sends, std::span<const Ref> receives) {
        std::vector<Sent> sent;
        sent.reserve(sends.size());
        for (const auto& at : sends) {
            const auto& send = endpoint(traces_, &LocationTrace::sends, at);
            sent.push_back({{send.comm, owner_[index(at.location)], send.tag},
                            at.location,
                            send.bytes,
                            traces_[index(at.location)]->calls[send.call].enter_ps});
        }
        std::vector<Posted> posted;
        std::vector<Ref> places;
        for (const auto& at : receives) {
            const auto& receive = endpoint(traces_, &LocationTrace::receives, at);
            if (receive.peer != kNoLocation && receive.comm != kUndefined) {
                const auto& calls = traces_[index(at.location)]->calls;
                posted.push_back(posted_of(at.location, owner_, receive, calls));
                places.push_back(at);
            }
        }
        const auto found = concurrent_pairs(sent, posted);
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] != kNone) {
                const auto from = sends[found[i]];
                pair(endpoint(traces_, &LocationTrace::sends, from), from,
                     endpoint(traces_, &LocationTrace::receives, places[i]), places[i]);
            }
        }
    }

    QualityCounts quality{};
    std::uint64_t pairs = 0;

  private:
    LackingSends sends_lacking(std::span<const Ref> sends, std::span<const Ref> receives) const {
        LackingSends lacking;
        for (const auto& at : receives) {
            const auto& receive = endpoint(traces_, &LocationTrace::receives, at);
            if (receive.peer != kNoLocation && receive.comm != kUndefined) {
                lacking.receive(receive.comm, owner_[index(receive.peer)], receive.tag);
            }
        }
        for (const auto& at : sends) {
            const auto& send = endpoint(traces_, &LocationTrace::sends, at);
            lacking.send(send.comm, owner_[index(at.location)], send.tag);
        }
        return lacking;
    }

    /// `lacking`: of those channels as many receives stay without a send as have none, first those that ended before
    /// the send that is next began.
    void match_in_order(std::span<const Ref> sends, std::span<const Ref> receives, LackingSends* lacking) {
        channels_.reset(sends.size());
        for (std::uint32_t i = 0; i < sends.size(); ++i) {
            const auto& send = endpoint(traces_, &LocationTrace::sends, sends[i]);
            channels_.push(i, send.comm, owner_[index(sends[i].location)], send.tag);
        }
        for (const auto& at : receives) {
            auto& receive = endpoint(traces_, &LocationTrace::receives, at);
            if (receive.peer == kNoLocation || receive.comm == kUndefined) {
                continue;
            }
            const auto sender = owner_[index(receive.peer)];
            if (lacking != nullptr && lacks_its_send(receive, at, sender, sends, *lacking)) {
                continue;
            }
            const auto first = channels_.pop(receive.comm, sender, receive.tag);
            if (first == kNone) {
                continue;
            }
            const auto from = sends[first];
            auto& send = endpoint(traces_, &LocationTrace::sends, from);
            pair(send, from, receive, at);
        }
    }

    bool lacks_its_send(const MessageEnd& receive, Ref at, replay::Location sender, std::span<const Ref> sends,
                        LackingSends& lacking) {
        if (!lacking.at(receive.comm, sender, receive.tag)) {
            return false;
        }
        const auto next = channels_.first(receive.comm, sender, receive.tag);
        if (next == kNone ||
            !violates_causality(endpoint(traces_, &LocationTrace::sends, sends[next]), sends[next], receive, at)) {
            return false;
        }
        lacking.take(receive.comm, sender, receive.tag);
        return true;
    }

    /// Scalasca's clock violation: the completing receive call left before the send was entered.
    bool violates_causality(const MessageEnd& send, Ref from, const MessageEnd& receive, Ref at) const {
        return receive.complete_call != kNone && traces_[index(at.location)]->calls[receive.complete_call].leave_ps <
                                                     traces_[index(from.location)]->calls[send.call].enter_ps;
    }

    template <class Member>
    static MessageEnd& endpoint(const TraceOf& traces, Member member, Ref at) {
        return (traces[index(at.location)]->*member)[at.index];
    }

    void pair(MessageEnd& send, Ref from, MessageEnd& receive, Ref at) {
        ++pairs;
        send.match = at.index;
        receive.match = from.index;
        send.peer = at.location;
        receive.peer = from.location;
        if (send.bytes != receive.bytes) {
            count(quality, Quality::bytes_differ);
        }
        if (violates_causality(send, from, receive, at)) {
            count(quality, Quality::receive_before_send);
        }
    }

    const TraceOf& traces_;
    const std::vector<replay::Location>& owner_;
    Channels channels_;
};

/// Endpoints grouped by the process they end at: a counting sort, so each group keeps the order of its locations and of
/// their lists.
struct Grouped {
    std::vector<std::size_t> begin;  // per location, one more at the end
    std::unique_ptr<Ref[]> refs;
    [[nodiscard]] std::span<Ref> of(std::size_t process) const {
        return {refs.get() + begin[process], begin[process + 1] - begin[process]};
    }
};

/// Sends by the process they go to. Each thread sorts a contiguous range of senders, so the order is that of one
/// thread.
Grouped group_sends(const TraceOf& traces, const std::vector<replay::Location>& owner, unsigned threads) {
    const auto n = traces.size();
    const auto process_of = [&](const MessageEnd& send) { return index(owner[index(send.peer)]); };
    // Ranges with about the same number of sends.
    std::size_t total = 0;
    for (const auto* location : traces) {
        total += location->sends.size();
    }
    std::vector<std::size_t> range = {0};
    std::size_t so_far = 0;
    for (std::size_t l = 0; l < n; ++l) {
        if (so_far >= total / threads * range.size() && range.size() < threads && l > range.back()) {
            range.push_back(l);
        }
        so_far += traces[l]->sends.size();
    }
    range.push_back(n);
    const auto ranges = static_cast<unsigned>(range.size() - 1);
    const auto for_each_send = [&](unsigned r, auto&& visit) {
        for (auto l = range[r]; l < range[r + 1]; ++l) {
            traces[l]->sends.for_each([&](std::size_t i, const MessageEnd& send) {
                if (send.peer != kNoLocation) {
                    visit(process_of(send), Ref{replay::location_at(l), static_cast<std::uint32_t>(i)});
                }
            });
        }
    };

    std::vector<std::vector<std::size_t>> at(ranges, std::vector<std::size_t>(n, 0));
    replay::on_threads(ranges,
                       [&](unsigned r) { for_each_send(r, [&](std::size_t process, Ref) { ++at[r][process]; }); });
    Grouped grouped;
    grouped.begin.resize(n + 1);
    std::size_t sum = 0;
    for (std::size_t process = 0; process < n; ++process) {
        grouped.begin[process] = sum;
        for (auto& counts : at) {
            sum += std::exchange(counts[process], sum);
        }
    }
    grouped.begin[n] = sum;
    grouped.refs = std::make_unique_for_overwrite<Ref[]>(sum);
    replay::on_threads(ranges, [&](unsigned r) {
        for_each_send(r, [&](std::size_t process, Ref ref) { grouped.refs[at[r][process]++] = ref; });
    });
    return grouped;
}

/// Receives of one process in the order of their requests.
void collect_receives(const TraceOf& traces, const std::vector<replay::Location>& locations, std::vector<Ref>& out) {
    out.clear();
    for (const auto location : locations) {
        const auto n = traces[index(location)]->receives.size();
        for (std::uint32_t i = 0; i < n; ++i) {
            out.push_back({location, i});
        }
    }
}

/// Of one location's ends without the other one: those of processes whose measurement was switched off are no errors.
void excuse(const Column<MessageEnd>& ends, std::size_t location, const std::vector<char>& off,
            const std::vector<replay::Location>& owner, Quality unmatched, QualityCounts& quality) {
    const auto is_off = [&](std::size_t at) { return off[index(owner[at])] != 0; };
    ends.for_each([&](std::size_t, const MessageEnd& end) {
        if (end.match == kNone && (unmatched == Quality::send_unmatched || end.complete_call != kNone) &&
            (is_off(location) || (end.peer != kNoLocation && is_off(index(end.peer))))) {
            --quality[static_cast<std::size_t>(unmatched)];
            count(quality, Quality::message_while_off);
        }
    });
}

/// Receives without a send that never ended, and so have no sender: they are counted as requests that did not.
std::uint64_t never_ended(const Trace& trace) {
    std::uint64_t found = 0;
    for (const auto& location : trace.traces) {
        location.receives.for_each([&](std::size_t, const MessageEnd& receive) {
            found += receive.match == kNone && receive.complete_call == kNone ? 1U : 0U;
        });
    }
    return found;
}

/// Whether the archive is of logpost's own recorder, and no part of what the recorder saw is missing.
bool is_whole_recording(const Trace& trace, const QualityCounts& quality) {
    const auto of = [&](std::string_view name) -> std::string_view {
        const auto at = std::ranges::find(trace.properties_names, name);
        return at == trace.properties_names.end()
                   ? std::string_view()
                   : trace.properties_values[static_cast<std::size_t>(at - trace.properties_names.begin())];
    };
    return of("LOGPOST::STOPPED_THREADS") == "0" && of("LOGPOST::OVERWRITTEN_RANKS").empty() &&
           quality[static_cast<std::size_t>(Quality::event_file_missing)] == 0 &&
           quality[static_cast<std::size_t>(Quality::event_file_damaged)] == 0;
}

void rename(QualityCounts& quality, Quality from, Quality to) {
    count(quality, to, std::exchange(quality[static_cast<std::size_t>(from)], 0));
}

}  // namespace

std::vector<char> processes_off(const Trace& trace, const std::vector<replay::Location>& owner) {
    std::vector<char> off(trace.traces.size(), 0);
    for (std::size_t l = 0; l < off.size(); ++l) {
        if (trace.traces[l].has_been_off) {
            off[index(owner[l])] = 1;
        }
    }
    return off;
}

TraceOf traces_of(Trace& trace) {
    TraceOf traces;
    traces.reserve(trace.traces.size());
    for (auto& location : trace.traces) {
        traces.push_back(&location);
    }
    return traces;
}

std::uint64_t pair_messages(const TraceOf& traces, const std::vector<replay::Location>& owner, unsigned threads,
                            QualityCounts& quality) {
    const auto n = traces.size();
    threads = std::max(threads, 1U);
    const auto grouped = group_sends(traces, owner, threads);
    std::vector<std::vector<replay::Location>> locations_of(n);
    for (std::size_t l = 0; l < n; ++l) {
        if (!traces[l]->receives.empty()) {
            locations_of[index(owner[l])].push_back(replay::location_at(l));
        }
    }
    std::vector<ProcessMatcher> matchers;
    matchers.reserve(threads);
    for (unsigned t = 0; t < threads; ++t) {
        matchers.emplace_back(traces, owner);
    }
    std::vector<std::vector<Ref>> receives(matchers.size());
    replay::for_each_parallel(n, threads, 1, [&](std::size_t process, unsigned thread) {
        const auto sends = grouped.of(process);
        auto& mine = receives[thread];
        collect_receives(traces, locations_of[process], mine);
        const auto from_thread = [&](const Ref& at) { return owner[index(at.location)] != at.location; };
        if (locations_of[process].size() > 1 || std::ranges::any_of(sends, from_thread)) {
            matchers[thread].match_concurrent(sends, mine);
        } else {
            matchers[thread].match(sends, mine);
        }
    });
    std::uint64_t pairs = 0;
    for (const auto& matcher : matchers) {
        pairs += matcher.pairs;
        for (std::size_t i = 0; i < kQualityCount; ++i) {
            quality[i] += matcher.quality[i];
        }
    }
    return pairs;
}

void count_unmatched(const Trace& trace, const std::vector<replay::Location>& owner, std::uint64_t pairs,
                     QualityCounts& quality) {
    for (const auto& location : trace.traces) {
        count(quality, Quality::send_unmatched, location.sends.size());
        count(quality, Quality::receive_unmatched, location.receives.size());
    }
    quality[static_cast<std::size_t>(Quality::send_unmatched)] -= pairs;
    quality[static_cast<std::size_t>(Quality::receive_unmatched)] -= pairs;
    if (quality[static_cast<std::size_t>(Quality::receive_unmatched)] > 0) {
        quality[static_cast<std::size_t>(Quality::receive_unmatched)] -= never_ended(trace);
    }
    const auto off = processes_off(trace, owner);
    const bool always_on = std::ranges::find(off, 1) == off.end();
    if (!always_on) {
        for (std::size_t l = 0; l < trace.traces.size(); ++l) {
            excuse(trace.traces[l].sends, l, off, owner, Quality::send_unmatched, quality);
            excuse(trace.traces[l].receives, l, off, owner, Quality::receive_unmatched, quality);
        }
    }
    if (is_whole_recording(trace, quality)) {
        rename(quality, Quality::send_unmatched, Quality::send_not_received);
        if (always_on) {
            rename(quality, Quality::request_never_completed, Quality::request_left);
        }
    }
}

void match_messages(Trace& trace, const std::vector<replay::Location>& owner, unsigned threads,
                    QualityCounts& quality) {
    const auto pairs = pair_messages(traces_of(trace), owner, threads, quality);
    count_unmatched(trace, owner, pairs, quality);
}

}  // namespace logpost::analyzer
