#include "overwritten.hpp"

#include <algorithm>
#include <utility>

namespace logpost::assembler {

namespace {

using Ranges = Overwritten::Ranges;

// Whether the operations of the start of the library are counted there.
bool counts_start(const lp_channel& channel, std::uint32_t world) {
    return channel.what == LP_OPERATED && channel.comm == world && channel.tag == 0;
}

// One behind the other, what overlaps or touches made one.
Ranges merged(Ranges ranges) {
    std::ranges::sort(ranges, {}, &Overwritten::Range::before);
    Ranges found;
    for (const auto& range : ranges) {
        if (found.empty() || range.before > found.back().last) {
            found.push_back(range);
        } else {
            found.back().last = std::max(found.back().last, range.last);
        }
    }
    return found;
}

}  // namespace

Overwritten::Overwritten(const Job& job) : job_(job) {
    for (const auto& process : job.processes) {
        std::uint32_t world = 0;
        for (const lp_comm_def& def : process->comms) {
            world = (def.flags & LP_COMM_WORLD) != 0 ? def.comm : world;
        }
        // The start of the library is the first operation there (CollectiveEvents::predefined), and always recorded.
        for (const auto& [channel, before] : process->skipped) {
            add(*process, channel, before + (counts_start(channel, world) ? 1 : 0));
        }
        if (process->ring == nullptr || !process->ring->overwrote()) {
            continue;
        }
        any_ = true;
        std::uint64_t started = process->ring->lost().started != 0 ? 1 : 0;
        for (lp_channel channel : process->ring->channels()) {
            if (counts_start(channel, world)) {
                channel.count += std::exchange(started, 0);
            }
            add_first(*process, channel);
        }
        add_first(*process, {world, 0, 0, LP_OPERATED, started});
    }
    for (auto& [process, channels] : ranges_) {
        for (auto& [key, ranges] : channels) {
            ranges = merged(std::move(ranges));
        }
    }
}

Overwritten::Key Overwritten::key_of(lp_channel_kind what, std::uint32_t ref, std::int32_t peer, std::int32_t tag) {
    return {std::uint64_t{ref} << 32U | static_cast<std::uint32_t>(peer),
            std::uint64_t{what} << 32U | static_cast<std::uint32_t>(tag)};
}

Overwritten::Ranges* Overwritten::ranges_of(const Process& process, const lp_channel& channel) {
    const auto what = static_cast<lp_channel_kind>(channel.what);
    const auto& refs = what == LP_OPERATED_ON_WINDOW ? process.window_refs : process.comm_refs;
    const auto at = refs.find(channel.comm);
    if (at == refs.end() || channel.count == 0) {
        return nullptr;
    }
    any_ = true;
    return &ranges_[&process][key_of(what, at->second, channel.peer, channel.tag)];
}

void Overwritten::add(const Process& process, const lp_channel& channel, std::uint64_t before) {
    if (Ranges* ranges = ranges_of(process, channel)) {
        ranges->push_back({before, before + channel.count});
    }
}

// Of several threads, one states what was skipped; what another one did behind it may be overwritten before that is.
void Overwritten::add_first(const Process& process, const lp_channel& channel) {
    Ranges* ranges = ranges_of(process, channel);
    if (ranges == nullptr) {
        return;
    }
    std::ranges::sort(*ranges, {}, &Range::before);
    std::uint64_t last = channel.count;
    for (const Range& skipped : *ranges) {
        last += skipped.before <= last ? skipped.last - skipped.before : 0;
    }
    ranges->push_back({0, last});
}

Overwritten::Ranges Overwritten::messages(const Process& process, lp_channel_kind what, std::uint32_t comm,
                                          std::int32_t peer, std::int32_t tag) const {
    const auto of = ranges_.find(&process);
    if (of == ranges_.end()) {
        return {};
    }
    const auto at = of->second.find(key_of(what, comm, peer, tag));
    return at != of->second.end() ? at->second : Ranges{};
}

Overwritten::Ranges Overwritten::operations(const Process& process, lp_channel_kind what, std::uint32_t ref,
                                            std::int32_t persistent) const {
    const std::uint32_t comm = what == LP_OPERATED_ON_WINDOW ? job_.windows.at(ref).comm : ref;
    Ranges all = messages(process, what, ref, 0, persistent);
    const Communicator& members = job_.comms.at(comm);
    for (const auto& side : members.members) {
        for (const std::uint32_t rank : side) {
            if (const Process* member = members.self ? nullptr : job_.process_of(rank)) {
                const Ranges theirs = messages(*member, what, ref, 0, persistent);
                all.insert(all.end(), theirs.begin(), theirs.end());
            }
        }
    }
    return merged(std::move(all));
}

Lost lost_of(const Job& job) {
    Lost sum;
    for (const auto& process : job.processes) {
        if (process->ring == nullptr || !process->ring->overwrote()) {
            continue;
        }
        const lp_lost& lost = process->ring->lost();
        ++sum.ranks;
        sum.calls += lost.calls;
        sum.sends += lost.sends;
        sum.receives += lost.receives;
        sum.operations += lost.collectives;
        sum.transfers += lost.transfers;
        sum.inexact += process->ring->inexact() ? 1U : 0U;
        const std::uint64_t first = to_global_ticks(job, *process, lost.first);
        const std::uint64_t last = to_global_ticks(job, *process, lost.last);
        sum.longest_ns = std::max(sum.longest_ns, job.ns(last - first));
        sum.whole_from = std::max(sum.whole_from, last);
    }
    return sum;
}

const Halves::Place& Halves::place_in(std::uint32_t comm) {
    const auto [at, fresh] = places_.try_emplace(comm);
    Place& place = at->second;
    if (!fresh) {
        return place;
    }
    const Communicator& of = job_.comms.at(comm);
    for (std::size_t side = 0; side < 2; ++side) {
        const auto& members = of.members[side];
        if (const auto own = std::ranges::find(members, process_.rank); own != members.end()) {
            place.rank = static_cast<std::int32_t>(own - members.begin());
            place.peers = &of.members[of.inter ? 1 - side : side];
            break;
        }
    }
    return place;
}

bool Halves::Channel::next() {
    ++number;
    while (next_own < own.size() && own[next_own].before < number) {
        number = std::max(number, own[next_own++].last + 1);
    }
    while (next_other < other.size() && other[next_other].last < number) {
        ++next_other;
    }
    return next_other == other.size() || number <= other[next_other].before;
}

bool Halves::has_half(lp_channel_kind own, lp_channel_kind other, std::uint32_t comm, std::int32_t peer,
                      std::int32_t tag) {
    if (!overwritten_.any()) {
        return true;
    }
    const auto [at, fresh] = channels_.try_emplace({own, comm, peer, tag});
    Channel& channel = at->second;
    if (fresh) {
        channel.own = overwritten_.messages(process_, own, comm, peer, tag);
        const bool self = job_.comms.at(comm).self;
        const Place place = self ? Place{0, nullptr} : place_in(comm);
        const auto index = static_cast<std::size_t>(peer);
        const Process* there = self ? &process_
                               : place.peers != nullptr && index < place.peers->size()
                                   ? job_.process_of((*place.peers)[index])
                                   : nullptr;
        if (there != nullptr) {
            channel.other = overwritten_.messages(*there, other, comm, place.rank, tag);
        }
    }
    const bool has = channel.next();
    messages_ += has ? 0U : 1U;
    return has;
}

bool Halves::sent(std::uint32_t comm, std::int32_t peer, std::int32_t tag) {
    return has_half(LP_SENT, LP_RECEIVED, comm, peer, tag);
}

bool Halves::received(std::uint32_t comm, std::int32_t peer, std::int32_t tag) {
    return has_half(LP_RECEIVED, LP_SENT, comm, peer, tag);
}

bool Halves::operated(lp_channel_kind what, std::uint32_t ref, std::int32_t persistent) {
    if (!overwritten_.any()) {
        return true;
    }
    const auto [at, fresh] = channels_.try_emplace({what, ref, 0, persistent});
    if (fresh) {
        at->second.own = overwritten_.messages(process_, what, ref, 0, persistent);
        at->second.other = overwritten_.operations(process_, what, ref, persistent);
    }
    const bool has = at->second.next();
    operations_ += has ? 0U : 1U;
    return has;
}

}  // namespace logpost::assembler
