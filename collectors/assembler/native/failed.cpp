// Which collective operations that returned an error had their members' part all the same.
//
// An error may be found before anybody is waited for (an argument is wrong), or in the operation itself (the group of
// MPI_Comm_create has a stranger, a message is too long): then other members have done the operation, and the one that
// failed counts it, too. No single log shows it; all logs together do. The member with the most successes on the
// communicator says which operations there were. A failed call is one of them where that member did the same there,
// and has more left to do than the own successes account for.
//
// Logs may hold 10^7 operations: they are counted, and only that one member's are listed, by their functions.
#include <algorithm>
#include <cstddef>
#include <set>
#include <unordered_map>
#include <vector>

#include "calls.hpp"

namespace logpost::assembler {
namespace {

using Refs = std::set<std::uint32_t>;
using Successes = std::unordered_map<std::uint32_t, std::uint64_t>;  // by communicator

// The communicator that a call is collective over; 0: none.
std::uint32_t comm_of(const Record& r) {
    switch (r.head.kind) {
        case LP_COLL:
        case LP_ICOLL:
            return r.get<lp_collective>().comm;
        case LP_COMM_NEW:
        case LP_COMM_IDUP:
        case LP_COMM_FREE: {
            const auto call = r.get<lp_comm_call>();
            return call.parent != 0 ? call.parent : call.comm;
        }
        default:
            return 0;
    }
}

// The archive's communicator; none: no log states it.
std::uint32_t ref_of(const Process& process, std::uint32_t local) {
    const auto at = process.comm_refs.find(local);
    return at != process.comm_refs.end() ? at->second : none;
}

// Shows a process's calls, with the numbers of their threads, in the order in which they ended.
template <class Visit>
void in_order(const Process& process, Visit&& visit) {
    std::vector<Calls> sources;
    for (const auto& thread : process.threads) {
        sources.emplace_back(*thread);
    }
    for_each_in_order(sources, [&](std::size_t thread) { visit(thread, *sources[thread].call()); });
}

// Counts a process's successes on some communicators, those before each failure too.
Successes count(const Process& process, const Refs& refs) {
    Successes found;
    std::vector<std::size_t> failures(process.threads.size());
    in_order(process, [&](std::size_t thread, const Record& r) {
        if (const std::uint32_t local = comm_of(r); local != 0) {
            if (const std::uint32_t ref = ref_of(process, local); refs.contains(ref)) {
                ++found[ref];
            }
        } else if (failed_over(r) != 0) {
            Failed& failed = process.threads[thread]->failed.at(failures[thread]++);
            failed.before = found[ref_of(process, failed.comm)];
        }
    });
    return found;
}

std::vector<std::uint16_t> functions_of(const Process& process, std::uint32_t ref) {
    std::vector<std::uint16_t> found;
    in_order(process, [&](std::size_t, const Record& r) {
        if (const std::uint32_t local = comm_of(r); local != 0 && ref_of(process, local) == ref) {
            found.push_back(r.head.function);
        }
    });
    return found;
}

// A process's failures on a communicator, in their order.
std::vector<Failed*> failures_of(const Process& process, std::uint32_t ref) {
    std::vector<Failed*> found;
    for (const auto& thread : process.threads) {
        for (Failed& failed : thread->failed) {
            if (ref_of(process, failed.comm) == ref) {
                found.push_back(&failed);
            }
        }
    }
    std::ranges::sort(found, {}, &Failed::leave);
    return found;
}

// Marks those of a member's failures that are among all operations; the own successes are `successes`.
void align(const std::vector<Failed*>& failures, std::uint64_t successes, const std::vector<std::uint16_t>& all) {
    std::uint64_t counted = 0;
    for (Failed* failed : failures) {
        const std::uint64_t at = failed->before + counted;
        if (at < all.size() && all[at] == failed->function && all.size() - at > successes - failed->before) {
            failed->counts = true;
            ++counted;
        }
    }
}

// Numbers of operations that were overwritten, or made while recording was off, are not known one by one.
bool is_whole(const Process& process) {
    return process.skipped.empty() && (process.ring == nullptr || !process.ring->overwrote());
}

}  // namespace

std::uint32_t failed_over(const Record& record) {
    return record.head.kind == LP_CALL ? record.get<lp_collective>().comm : 0;
}

void judge_failed(Job& job) {
    Refs refs;
    for (const auto& process : job.processes) {
        for (const auto& thread : process->threads) {
            for (const Failed& failed : thread->failed) {
                const std::uint32_t ref = ref_of(*process, failed.comm);
                if (ref != none && !job.comms[ref].self) {
                    refs.insert(ref);
                }
            }
        }
    }
    if (refs.empty() || !std::ranges::all_of(job.processes, [](const auto& p) { return is_whole(*p); })) {
        return;
    }
    std::unordered_map<const Process*, Successes> successes;
    for (const auto& process : job.processes) {
        successes[process.get()] = count(*process, refs);
    }
    for (const std::uint32_t ref : refs) {
        const Process* most = nullptr;
        std::vector<const Process*> members;
        for (const auto& side : job.comms[ref].members) {
            for (const std::uint32_t rank : side) {
                if (const Process* member = job.process_of(rank); member != nullptr) {
                    members.push_back(member);
                    most = most == nullptr || successes[member][ref] > successes[most][ref] ? member : most;
                }
            }
        }
        std::erase_if(members, [&](const Process* p) { return successes[p][ref] == successes[most][ref]; });
        const auto all = members.empty() ? std::vector<std::uint16_t>{} : functions_of(*most, ref);
        for (const Process* member : members) {
            align(failures_of(*member, ref), successes[member][ref], all);
        }
    }
}

}  // namespace logpost::assembler
