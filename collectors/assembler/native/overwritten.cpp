#include "overwritten.hpp"

#include <algorithm>

namespace logpost::assembler {

Overwritten::Overwritten(const Job& job) : job_(job) {
    for (const auto& process : job.processes) {
        if (process->ring == nullptr || !process->ring->overwrote()) {
            continue;
        }
        any_ = true;
        for (const lp_channel& channel : process->ring->channels()) {
            add(*process, channel);
        }
        for (const lp_comm_def& def : process->comms) {
            if ((def.flags & LP_COMM_WORLD) != 0 && process->ring->lost().started != 0) {
                add(*process, {def.comm, 0, 0, LP_OPERATED, 1});
            }
        }
    }
}

Overwritten::Key Overwritten::key_of(lp_channel_kind what, std::uint32_t ref, std::int32_t peer, std::int32_t tag) {
    return {std::uint64_t{ref} << 32U | static_cast<std::uint32_t>(peer),
            std::uint64_t{what} << 32U | static_cast<std::uint32_t>(tag)};
}

void Overwritten::add(const Process& process, const lp_channel& channel) {
    const auto what = static_cast<lp_channel_kind>(channel.what);
    const auto& refs = what == LP_OPERATED_ON_WINDOW ? process.window_refs : process.comm_refs;
    if (const auto at = refs.find(channel.comm); at != refs.end()) {
        counts_[&process][key_of(what, at->second, channel.peer, channel.tag)] += channel.count;
    }
}

std::uint64_t Overwritten::messages(const Process& process, lp_channel_kind what, std::uint32_t comm, std::int32_t peer,
                                    std::int32_t tag) const {
    const auto of = counts_.find(&process);
    if (of == counts_.end()) {
        return 0;
    }
    const auto at = of->second.find(key_of(what, comm, peer, tag));
    return at != of->second.end() ? at->second : 0;
}

std::uint64_t Overwritten::operations(const Process& process, lp_channel_kind what, std::uint32_t ref) const {
    const std::uint32_t comm = what == LP_OPERATED_ON_WINDOW ? job_.windows.at(ref).comm : ref;
    std::uint64_t most = messages(process, what, ref, 0, 0);
    const Communicator& members = job_.comms.at(comm);
    for (const auto& side : members.members) {
        for (const std::uint32_t rank : side) {
            if (const Process* member = members.self ? nullptr : job_.process_of(rank)) {
                most = std::max(most, messages(*member, what, ref, 0, 0));
            }
        }
    }
    return most;
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
        channel.other = there != nullptr ? overwritten_.messages(*there, other, comm, place.rank, tag) : 0;
    }
    const bool has = ++channel.own > channel.other;
    messages_ += has ? 0U : 1U;
    return has;
}

bool Halves::sent(std::uint32_t comm, std::int32_t peer, std::int32_t tag) {
    return has_half(LP_SENT, LP_RECEIVED, comm, peer, tag);
}

bool Halves::received(std::uint32_t comm, std::int32_t peer, std::int32_t tag) {
    return has_half(LP_RECEIVED, LP_SENT, comm, peer, tag);
}

bool Halves::operated(lp_channel_kind what, std::uint32_t ref) {
    if (!overwritten_.any()) {
        return true;
    }
    const auto [at, fresh] = channels_.try_emplace({what, ref, 0, 0});
    if (fresh) {
        at->second.own = overwritten_.messages(process_, what, ref, 0, 0);
        at->second.other = overwritten_.operations(process_, what, ref);
    }
    const bool has = ++at->second.own > at->second.other;
    operations_ += has ? 0U : 1U;
    return has;
}

}  // namespace logpost::assembler
