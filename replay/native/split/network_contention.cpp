#include "replay/native/split/network_contention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "replay/native/memory/threads.hpp"
#include "replay/native/program/traffic_phases.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {
namespace {

__extension__ using Sum = unsigned __int128;

/// A link with more than this many times the mean load of the links in use is a hot one.
constexpr double kHot = 2.0;

struct Crossing {
    std::uint32_t receive;
    std::uint32_t phase;
    std::uint32_t pair;
    bool waited;          // the receiver waited for it
    std::uint64_t bytes;  //
    std::int64_t room;    // excess of one that was waited for; else how long it was there before its receiver
};

/// Open form of LoGPC (3)-(6), a sum over the dimensions: A_i / (x - e_i), with x the time between two messages of a
/// node, e_i = E[s] k_i / ch and A_i = (1 + 1/n)(k_i - 1) E[s^2] / ch.
struct OpenForm {
    double utilisation = 0;
    double contention_ps = 0;
};
OpenForm open_form(const Network& network, double between_ps, double mean_bytes, double mean_bytes2,
                   const std::vector<double>& k) {
    OpenForm result;
    const auto n = static_cast<double>(network.dimensions);
    for (std::size_t i = 0; i < k.size(); ++i) {
        const double k_i = k[i];
        const double byte = network.dimension_byte_ps[i];
        const double occupied = mean_bytes * byte * k_i / network.channels;
        result.utilisation = std::max(result.utilisation, occupied / between_ps);
        // With one dimension the equations do not hold; with k_i <= 1 no message waits.
        if (network.dimensions < 2 || k_i <= 1) {
            continue;
        }
        const double free = between_ps - occupied;
        result.contention_ps += free > 0 ? (1 + 1 / n) * (k_i - 1) * mean_bytes2 * byte * byte / network.channels / free
                                         : std::numeric_limits<double>::infinity();
    }
    return result;
}

/// Mean wait for a link that is free for the rest of the time (M/G/1).
double link_wait(double length_ps, std::uint64_t messages, double busy_ps, double squares_ps2) {
    if (messages < 2 || length_ps <= 0) {
        return 0;
    }
    const double utilisation = busy_ps / length_ps;
    return utilisation < 1 ? squares_ps2 / length_ps / (2 * (1 - utilisation))
                           : std::numeric_limits<double>::infinity();
}

/// What the messages of one kind in a phase may be granted, and what they ask for.
struct Budget {
    double most_ps = 0;
    WidePs excess_ps = 0;
    std::uint64_t messages = 0;
    [[nodiscard]] double share() const noexcept {
        return excess_ps > 0 ? std::min(1.0, most_ps / static_cast<double>(excess_ps)) : 0;
    }
};

}  // namespace

NetworkContention::NetworkContention(const MessageModel& model, unsigned threads) {
    const auto& program = model.program();
    const auto& network = program.network;
    if (!network.known()) {
        return;
    }
    const auto locations = program.timelines.size();
    std::vector<std::vector<Crossing>> crossings(locations);
    std::vector<std::vector<std::int64_t>> left(locations);
    for_each_parallel(locations, threads, 1, [&](std::size_t l, unsigned) {
        const auto& receives = program.timelines[l].receives;
        const auto here = program.placement[l].node;
        for (std::uint32_t i = 0; i < receives.size(); ++i) {
            const MessageId id{location_at(l), i};
            const auto& record = model.record(id);
            if (!record.matched || record.violation || record.locality != Locality::other_node) {
                continue;
            }
            const auto from = static_cast<std::size_t>(receives[i].peer);
            const auto pair = network.pair(program.placement[from].node, here);
            if (pair == Network::kNoPair) {
                continue;
            }
            const auto parts = model.partition(id);
            const bool waited = record.times.rw0 <= parts.planned_arrival;
            const auto room = waited ? parts.totals()[static_cast<std::size_t>(Part::residual)]
                                     : record.times.rw0 - parts.planned_arrival;
            const auto bytes = program.timelines[from].sends[receives[i].match].bytes;
            crossings[l].push_back({i, 0, static_cast<std::uint32_t>(pair), waited, bytes, room});
            left[l].push_back(model.leaves(id));
        }
    });

    std::vector<std::int64_t> sent;
    for (const auto& times : left) {
        sent.insert(sent.end(), times.begin(), times.end());
    }
    std::size_t nodes = 0;
    {
        std::vector<bool> taking_part(program.placement.nodes());
        for (const auto key : network.pairs) {
            for (const auto node : {key >> 32U, key & 0xffffffffU}) {
                nodes += taking_part[node] ? 0 : 1;
                taking_part[node] = true;
            }
        }
    }
    const auto spans = traffic_phases(program, sent, nodes);
    const auto count = spans.size();

    // Pass 1: traffic by phase, and by phase and link. Sums of integers, in any order the same.
    struct Traffic {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
        Sum squares = 0;
        void add(std::uint64_t size) {
            ++messages;
            bytes += size;
            squares += static_cast<Sum>(size) * size;
        }
    };
    std::vector<Traffic> of_phase(count);
    std::vector<std::uint64_t> hops(count * network.dimensions);
    std::vector<Traffic> of_link(count * static_cast<std::size_t>(network.links));
    const auto link_row = [&](std::size_t phase, std::int32_t link) {
        return phase * static_cast<std::size_t>(network.links) + static_cast<std::size_t>(link);
    };
    for (std::size_t l = 0; l < locations; ++l) {
        for (std::size_t c = 0; c < crossings[l].size(); ++c) {
            auto& crossing = crossings[l][c];
            const auto after = std::ranges::upper_bound(spans, left[l][c], {}, &Span::begin_ps);
            const auto phase = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, after - spans.begin()) - 1);
            crossing.phase = static_cast<std::uint32_t>(phase);
            of_phase[phase].add(crossing.bytes);
            for (std::size_t d = 0; d < network.dimensions; ++d) {
                hops[phase * network.dimensions + d] +=
                    static_cast<std::uint64_t>(network.hops[crossing.pair * network.dimensions + d]);
            }
            for (const auto link : network.links_of(crossing.pair)) {
                of_link[link_row(phase, link)].add(crossing.bytes);
            }
        }
        left[l] = {};
    }

    // The model's wait of a message, by phase; and by phase and link, with which links are hot.
    std::vector<double> wait_of_link(of_link.size());
    std::vector<bool> hot(of_link.size());
    for (std::size_t p = 0; p < count; ++p) {
        const auto& traffic = of_phase[p];
        auto& phase = phases_.emplace_back();
        phase.span = spans[p];
        phase.messages = traffic.messages;
        phase.bytes = traffic.bytes;
        if (traffic.messages == 0) {
            continue;
        }
        const auto messages = static_cast<double>(traffic.messages);
        const auto length = static_cast<double>(std::max<std::int64_t>(1, spans[p].end_ps - spans[p].begin_ps));
        std::vector<double> k(network.dimensions);
        for (std::size_t d = 0; d < network.dimensions; ++d) {
            k[d] = static_cast<double>(hops[p * network.dimensions + d]) / messages;
        }
        const auto open = open_form(network, static_cast<double>(nodes) * length / messages,
                                    static_cast<double>(traffic.bytes) / messages,
                                    static_cast<double>(traffic.squares) / messages, k);
        phase.contention_ps = open.contention_ps;
        phase.utilisation = open.utilisation;
        double carried = 0;
        std::uint64_t used = 0;
        for (std::int32_t link = 0; link < network.links; ++link) {
            const auto& load = of_link[link_row(p, link)];
            carried += static_cast<double>(load.bytes) * network.byte_on(link);
            used += load.messages > 0 ? 1 : 0;
        }
        for (std::int32_t link = 0; link < network.links; ++link) {
            const auto row = link_row(p, link);
            const auto& load = of_link[row];
            const double byte = network.byte_on(link);
            const double busy = static_cast<double>(load.bytes) * byte;
            hot[row] = busy * static_cast<double>(used) > kHot * carried;
            wait_of_link[row] = link_wait(length, load.messages, busy, static_cast<double>(load.squares) * byte * byte);
        }
    }

    // Pass 2: the excess of the messages that were waited for is shared in proportion to it, up to what the model has
    // for all of them; those that take a hot link among themselves. A last link is the receiver's endpoint, whose queue
    // is replayed.
    const auto before_last = [&](const Crossing& crossing) {
        const auto links = network.links_of(crossing.pair);
        return links.first(links.empty() ? 0 : links.size() - 1);
    };
    const auto over_hot = [&](const Crossing& crossing) {
        return std::ranges::any_of(before_last(crossing),
                                   [&](std::int32_t link) { return hot[link_row(crossing.phase, link)]; });
    };
    const auto most = [&](const Crossing& crossing) {
        double by_links = 0;
        for (const auto link : before_last(crossing)) {
            const auto row = link_row(crossing.phase, link);
            by_links += hot[row] || network.dimensions < 2 ? wait_of_link[row] : 0;
        }
        // A link of which other traffic takes a part is slower by that: bytes follow each other as on the slowest one.
        double slowest = network.byte_ps;
        for (const auto link : network.links_of(crossing.pair)) {
            slowest = std::max(slowest, network.byte_on(link));
        }
        return std::max(by_links, phases_[crossing.phase].contention_ps) +
               (slowest - network.byte_ps) * static_cast<double>(crossing.bytes);
    };
    std::vector<Budget> budgets(count * 2);
    for (const auto& of_location : crossings) {
        for (const auto& crossing : of_location) {
            if (crossing.waited) {
                auto& budget = budgets[crossing.phase * std::size_t{2} + (over_hot(crossing) ? 1 : 0)];
                budget.most_ps += most(crossing);
                budget.excess_ps += crossing.room;
                ++budget.messages;
                phases_[crossing.phase].excess_ps += crossing.room;
            }
        }
    }
    first_.resize(locations);
    std::size_t total = 0;
    for (std::size_t l = 0; l < locations; ++l) {
        first_[l] = total;
        total += program.timelines[l].receives.size();
    }
    granted_.assign(total, 0);
    std::vector<WidePs> granted_of_link(of_link.size());
    for (std::size_t l = 0; l < locations; ++l) {
        for (const auto& crossing : crossings[l]) {
            const auto& budget = budgets[crossing.phase * std::size_t{2} + (over_hot(crossing) ? 1 : 0)];
            double granted = 0;
            if (crossing.waited) {
                granted = static_cast<double>(crossing.room) * budget.share();
            } else {
                // Hidden: no receiver waited. What others were granted per message, or the model alone.
                const double known = budget.messages > 0
                                         ? std::min(static_cast<double>(budget.excess_ps), budget.most_ps) /
                                               static_cast<double>(budget.messages)
                                         : most(crossing);
                granted = std::isfinite(known) ? std::min(known, static_cast<double>(crossing.room)) : 0;
            }
            const auto whole = std::min(crossing.room, static_cast<std::int64_t>(granted));
            granted_[first_[l] + crossing.receive] = whole;
            if (crossing.waited) {
                phases_[crossing.phase].granted_ps += whole;
            }
            for (const auto link : network.links_of(crossing.pair)) {
                granted_of_link[link_row(crossing.phase, link)] += crossing.waited ? whole : 0;
            }
        }
    }
    for (std::size_t p = 0; p < count; ++p) {
        for (std::int32_t link = 0; link < network.links; ++link) {
            const auto row = link_row(p, link);
            if (of_link[row].messages > 0) {
                links_.push_back({static_cast<std::uint32_t>(p), link, of_link[row].messages, of_link[row].bytes,
                                  granted_of_link[row]});
            }
        }
    }
}

}  // namespace logpost::replay
