// Ranks over all worlds, hosts, and communicators and windows that all their members name alike.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model.hpp"

namespace logpost::assembler {
namespace {

using Id = std::pair<std::uint64_t, std::uint64_t>;
using Key = std::tuple<std::uint32_t, Id, Id>;

Key key_of(const lp_comm_def& def) {
    const Id own{def.agreed[0], def.agreed[1]};
    const Id remote{def.remote[0], def.remote[1]};
    if ((def.flags & LP_COMM_SELF) != 0) {
        return {LP_COMM_SELF, {}, {}};
    }
    const std::uint32_t kind = def.flags & (LP_COMM_INTER | LP_COMM_IS_IDUP | LP_COMM_UNAGREED);
    return {kind, std::min(own, remote), std::max(own, remote)};
}

// 0 for the group whose leader has the smaller id.
std::size_t side_of(const lp_comm_def& def) {
    return (def.flags & LP_COMM_INTER) != 0 && Id{def.agreed[0], def.agreed[1]} > Id{def.remote[0], def.remote[1]} ? 1
                                                                                                                   : 0;
}

// Processes without MPI_Init have no communicator of their world: they are of one where communicators connect them, and
// where they have different ranks among equally many processes.
std::vector<std::vector<Process*>> worlds_of_sessions(Job& job) {
    std::vector<std::vector<Process*>> found;
    std::map<Key, std::size_t> place;  // of the processes that a communicator connects
    for (auto& process : job.processes) {
        const auto has = [&](std::uint32_t flag) {
            return std::ranges::find_if(process->comms, [&](const auto& def) { return (def.flags & flag) != 0; });
        };
        const auto own = has(LP_COMM_SESSIONS);
        if (own == process->comms.end() || has(LP_COMM_WORLD) != process->comms.end()) {
            continue;
        }
        process->world_rank = static_cast<std::uint32_t>(own->rank);
        process->world_size = static_cast<std::uint32_t>(own->size);
        std::size_t at = found.size();
        found.push_back({process.get()});
        for (const auto& def : process->comms) {
            if ((def.flags & (LP_COMM_SESSIONS | LP_COMM_SELF | LP_COMM_UNAGREED | LP_COMM_INTER)) != 0) {
                continue;
            }
            const std::size_t other = place.try_emplace(key_of(def), at).first->second;
            if (other != at) {
                found[other].insert(found[other].end(), found[at].begin(), found[at].end());
                found[at].clear();
                for (auto& [key, of] : place) {
                    of = of == at ? other : of;
                }
                at = other;
            }
        }
    }
    std::vector<std::vector<Process*>> worlds;
    for (const auto& connected : found) {
        const auto fitting = std::ranges::find_if(worlds, [&](const auto& world) {
            return !connected.empty() && std::ranges::all_of(world, [&](const Process* a) {
                return std::ranges::all_of(connected, [&](const Process* b) {
                    return a->world_size == b->world_size && a->world_rank != b->world_rank;
                });
            });
        });
        if (fitting != worlds.end()) {
            fitting->insert(fitting->end(), connected.begin(), connected.end());
        } else if (!connected.empty()) {
            worlds.push_back(connected);
        }
    }
    return worlds;
}

void number_ranks(Job& job) {
    std::map<Id, std::vector<Process*>> members;
    for (auto& process : job.processes) {
        for (const auto& def : process->comms) {
            if ((def.flags & LP_COMM_WORLD) != 0) {
                members[{def.agreed[0], def.agreed[1]}].push_back(process.get());
                process->world_rank = static_cast<std::uint32_t>(def.rank);
                process->world_size = static_cast<std::uint32_t>(def.size);
            }
        }
    }
    std::vector<std::vector<Process*>> groups = worlds_of_sessions(job);
    for (auto& [id, processes] : members) {
        groups.push_back(processes);
    }
    std::vector<std::pair<World, std::vector<Process*>>> worlds;
    for (auto& processes : groups) {
        World world;
        for (Process* p : processes) {
            world.size = std::max(world.size, p->world_size);
            for (const auto& sync : p->syncs) {
                world.real_ns = std::min(world.real_ns, sync.real_ns);
            }
        }
        worlds.emplace_back(world, processes);
    }
    std::stable_sort(worlds.begin(), worlds.end(),
                     [](const auto& a, const auto& b) { return a.first.real_ns < b.first.real_ns; });
    std::uint32_t next = 0;
    for (auto& [world, processes] : worlds) {
        world.first_rank = next;
        next += world.size;
        for (Process* p : processes) {
            p->world = static_cast<std::uint32_t>(job.worlds.size());
            p->rank = world.first_rank + p->world_rank;
        }
        job.worlds.push_back(world);
    }
    job.by_rank.assign(next, nullptr);
    for (auto& process : job.processes) {
        job.by_rank[process->rank] = process.get();
    }
    std::sort(job.processes.begin(), job.processes.end(),
              [](const auto& a, const auto& b) { return a->rank < b->rank; });
    const auto missing = std::count(job.by_rank.begin(), job.by_rank.end(), nullptr);
    if (missing > 0) {
        job.warnings.push_back(std::to_string(missing) + " of " + std::to_string(next) + " ranks left no log");
    }
}

void number_hosts(Job& job) {
    std::map<std::string, std::uint32_t> hosts;
    for (auto& process : job.processes) {
        const std::string& name = process->info["host"];
        auto [at, fresh] = hosts.try_emplace(name, static_cast<std::uint32_t>(job.hosts.size()));
        if (fresh) {
            job.hosts.push_back({name, 0});
        }
        process->host = at->second;
        const std::string& cores = process->info["cores"];
        if (!cores.empty() && cores.find_first_not_of("0123456789") == std::string::npos) {
            job.hosts[at->second].cores = std::max<std::uint64_t>(job.hosts[at->second].cores, std::stoull(cores));
        }
    }
}

void put_member(Communicator& comm, std::size_t side, std::int32_t position, std::uint32_t rank, std::int32_t size) {
    auto& members = comm.members[side];
    if (size >= 0 && members.size() < static_cast<std::size_t>(size)) {
        members.resize(static_cast<std::size_t>(size), none);
    }
    if (position >= 0 && static_cast<std::size_t>(position) < members.size()) {
        members[static_cast<std::size_t>(position)] = rank;
    }
}

void number_comms(Job& job) {
    std::map<Key, std::uint32_t> refs;
    // The predefined ones first, so that they have the same numbers in every archive.
    const auto passes = {LP_COMM_WORLD, LP_COMM_SELF, 0U};
    for (const std::uint32_t pass : passes) {
        for (auto& process : job.processes) {
            for (const auto& def : process->comms) {
                if ((def.flags & (LP_COMM_WORLD | LP_COMM_SELF | LP_COMM_SESSIONS)) != pass) {
                    continue;
                }
                auto [at, fresh] = refs.try_emplace(key_of(def), static_cast<std::uint32_t>(job.comms.size()));
                if (fresh) {
                    job.comms.emplace_back();
                    Communicator& comm = job.comms.back();
                    comm.inter = (def.flags & LP_COMM_INTER) != 0;
                    comm.self = pass == LP_COMM_SELF;
                    comm.created = (def.flags & LP_COMM_UNAGREED) == 0;
                    if (pass == LP_COMM_WORLD) {
                        comm.name = process->world == 0
                                        ? "MPI_COMM_WORLD"
                                        : "MPI_COMM_WORLD (world " + std::to_string(process->world) + ")";
                    } else if (pass == LP_COMM_SELF) {
                        comm.name = "MPI_COMM_SELF";
                    }
                }
                Communicator& comm = job.comms[at->second];
                process->comm_refs[def.comm] = at->second;
                if (comm.self) {
                    continue;
                }
                put_member(comm, side_of(def), def.rank, process->rank, def.size);
                if (comm.inter) {
                    put_member(comm, 1 - side_of(def), -1, none, def.remote_size);
                }
                if (const auto parent = process->comm_refs.find(def.parent);
                    def.parent != 0 && parent != process->comm_refs.end() && comm.parent == none) {
                    comm.parent = parent->second;
                }
                const auto name = process->comm_names.find(def.comm);
                if (name != process->comm_names.end() && process->rank < comm.name_rank) {
                    comm.name = name->second;
                    comm.name_rank = process->rank;
                }
            }
        }
    }
}

const char* maker_of(std::uint32_t kind) {
    switch (kind) {
        case LP_RMA_ALLOCATED:
            return "MPI_Win_allocate";
        case LP_RMA_SHARED:
            return "MPI_Win_allocate_shared";
        case LP_RMA_SYMMETRIC:
            return "symmetric";
        case LP_RMA_DYNAMIC:
            return "MPI_Win_create_dynamic";
        default:
            return "MPI_Win_create";
    }
}

// Each process's own MPI_COMM_SELF as a communicator of its rank, where a window has to say which one it is.
std::uint32_t own_comm(Job& job, const Process& process) {
    Communicator comm;
    comm.members[0] = {process.rank};
    comm.name = "MPI_COMM_SELF of rank " + std::to_string(process.rank);
    job.comms.push_back(comm);
    return static_cast<std::uint32_t>(job.comms.size() - 1);
}

// Making windows is collective: the k-th that one member makes of a communicator is the k-th of all.
void number_windows(Job& job) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> refs;  // communicator and number in it
    for (auto& process : job.processes) {
        std::ranges::sort(process->windows, {}, &lp_rma_def::window);
        std::map<std::uint32_t, std::uint32_t> made;  // by communicator
        std::uint32_t own = none;
        for (const auto& def : process->windows) {
            if (def.kind == LP_RMA_CONTEXT) {  // each process has its own; the accesses are the window's
                if (const auto of = process->window_refs.find(def.of); of != process->window_refs.end()) {
                    process->window_refs[def.window] = of->second;
                }
                continue;
            }
            const auto found = process->comm_refs.find(def.comm);
            if (found == process->comm_refs.end()) {
                continue;
            }
            std::uint32_t comm = found->second;
            if (job.comms[comm].self) {
                own = own != none ? own : own_comm(job, *process);
                comm = own;
            }
            const auto next = static_cast<std::uint32_t>(job.windows.size());
            const auto ref = refs.try_emplace({comm, made[comm]++}, next).first->second;
            if (ref == next) {
                job.windows.push_back({comm, maker_of(def.kind) + (" window " + std::to_string(ref)), none});
            }
            process->window_refs[def.window] = ref;
            Window& window = job.windows[ref];
            if (const auto name = process->window_names.find(def.window);
                name != process->window_names.end() && process->rank < window.name_rank) {
                window.name = name->second;
                window.name_rank = process->rank;
            }
        }
    }
}

}  // namespace

bool Job::has_unknown_members() const {
    return std::any_of(comms.begin(), comms.end(), [](const Communicator& c) {
        return std::any_of(c.members.begin(), c.members.end(),
                           [](const auto& side) { return std::find(side.begin(), side.end(), none) != side.end(); });
    });
}

void unify(Job& job) {
    number_ranks(job);
    number_hosts(job);
    number_comms(job);
    number_windows(job);
}

}  // namespace logpost::assembler
