#include "archive.hpp"

#include <otf2/OTF2_Events.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "../../native/archive_builder.hpp"

namespace logpost::truth {
namespace {

OTF2_CollectiveOp operation(Collective kind) {
    switch (kind) {
        case Collective::barrier:
            return OTF2_COLLECTIVE_OP_BARRIER;
        case Collective::bcast:
            return OTF2_COLLECTIVE_OP_BCAST;
        case Collective::reduce:
            return OTF2_COLLECTIVE_OP_REDUCE;
        case Collective::allreduce:
            return OTF2_COLLECTIVE_OP_ALLREDUCE;
        case Collective::alltoall:
            return OTF2_COLLECTIVE_OP_ALLTOALL;
        case Collective::allgather:
            return OTF2_COLLECTIVE_OP_ALLGATHER;
        case Collective::reduce_scatter:
            return OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK;
        case Collective::gather:
            return OTF2_COLLECTIVE_OP_GATHER;
        default:
            return OTF2_COLLECTIVE_OP_SCATTER;
    }
}

/// Picoseconds to ticks, with noise, never backwards.
class Stamps {
  public:
    Stamps(const ClockView& clock, std::uint64_t rank) : clock_(clock), random_(clock.seed * 1000003 + rank) {}
    std::uint64_t at(Time time) {
        double shifted = static_cast<double>(time);
        if (clock_.noise > 0) {
            shifted += std::normal_distribution<double>(0.0, static_cast<double>(clock_.noise))(random_);
        }
        const auto exact = clock_.noise > 0 ? static_cast<Time>(std::max(0.0, shifted)) : time;
        last_ = std::max(last_, static_cast<std::uint64_t>(exact / clock_.tick));
        return last_;
    }

  private:
    ClockView clock_;
    std::mt19937_64 random_;
    std::uint64_t last_ = 0;
};

std::string layout_text(const Layout& layout) {
    return "blocks=" + std::to_string(layout.blocks) + " block_bytes=" + std::to_string(layout.block_bytes) +
           " stride_bytes=" + std::to_string(layout.stride_bytes) +
           " extent_bytes=" + std::to_string((layout.blocks - 1) * layout.stride_bytes + layout.block_bytes);
}

/// The peers of a call of post, start, complete and wait.
std::vector<std::uint64_t> group_of(const Call& call) {
    std::vector<std::uint64_t> peers;
    for (const auto& done : call.operations) {
        if (done.kind == Operation::Kind::post || done.kind == Operation::Kind::start ||
            done.kind == Operation::Kind::complete || done.kind == Operation::Kind::wait) {
            peers.push_back(done.message);
        }
    }
    return peers;
}

void one_sided(tests::Events& events, const Record& record, const Call& call, std::uint64_t enter, std::uint64_t leave,
               std::uint32_t window, const std::map<std::vector<std::uint64_t>, std::uint32_t>& groups) {
    for (const auto& done : call.operations) {
        const auto peer = static_cast<std::uint32_t>(done.message);
        switch (done.kind) {
            case Operation::Kind::transfer: {
                const auto& t = record.transfers[done.message];
                const auto to = static_cast<std::uint32_t>(t.target);
                if (t.put) {
                    events.put(enter, window, to, t.bytes, done.message + 1);
                } else {
                    events.get(enter, window, to, t.bytes, done.message + 1);
                }
                break;
            }
            case Operation::Kind::transfer_complete:
                if (call.region == "MPI_Win_flush") {
                    events.completed_remotely(leave, window, done.message + 1);
                }
                break;
            case Operation::Kind::request_lock:
                events.request_lock(enter, window, peer, OTF2_LOCK_EXCLUSIVE);
                events.acquire_lock(leave, window, peer, OTF2_LOCK_EXCLUSIVE);
                break;
            case Operation::Kind::release_lock:
                events.release_lock(leave, window, peer);
                break;
            default:
                break;
        }
    }
    if (const auto peers = group_of(call); !peers.empty()) {
        events.group_sync(leave, window, groups.at(peers));
    }
    if (call.collective == Collective::fence) {
        events.rma_collective(enter, leave, OTF2_COLLECTIVE_OP_BARRIER, window);
    }
}

std::uint64_t thread_location(std::size_t rank, std::size_t thread) {
    return (thread << 32U) + rank;
}

/// What a thread that is not its rank's first one does in a parallel region.
template <class RegionOf>
void work(tests::Events& events, Stamps& stamps, const Parallel& parallel, std::size_t thread, const RegionOf& region) {
    if (thread >= parallel.phases.front().size()) {
        return;
    }
    const auto name = parallel_name(parallel.region);
    auto now = parallel.begin;
    events.enter(stamps.at(now), region(name));
    for (std::size_t p = 0; p < parallel.phases.size(); ++p) {
        const auto barrier = barrier_name(parallel.region, p, parallel.phases.size());
        events.enter(stamps.at(now + parallel.phases[p][thread]), region(barrier));
        now += std::ranges::max(parallel.phases[p]);
        events.leave(stamps.at(now), region(barrier));
    }
    events.leave(stamps.at(now), region(name));
}

/// Whether any rank uses the window.
bool uses_window(const Record& record) {
    return !record.transfers.empty() || std::ranges::any_of(record.ranks, [](const auto& rank) {
        return std::ranges::any_of(rank.calls, [](const Call& call) { return call.region.starts_with("MPI_Win_"); });
    });
}

}  // namespace

void write_archive(const Record& record, const std::filesystem::path& directory, const ClockView& clock) {
    tests::ArchiveBuilder archive(directory);
    archive.ticks_per_second = static_cast<std::uint64_t>(1'000'000'000'000 / clock.tick);
    std::vector<std::uint64_t> members;
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
        archive.location(rank, "node" + std::to_string(record.machine.node(static_cast<int>(rank))));
        members.push_back(rank);
    }
    // Threads are behind all ranks, which are numbered as the truth has them.
    std::vector<std::size_t> threads(record.ranks.size(), 1);
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
        for (const auto& parallel : record.ranks[rank].parallels) {
            threads[rank] = std::max(threads[rank], parallel.phases.front().size());
        }
        for (std::size_t thread = 1; thread < threads[rank]; ++thread) {
            archive.thread_of(rank, thread_location(rank, thread));
        }
    }
    archive.numbering(OTF2_PARADIGM_MPI, members);
    archive.communicator(members, 0, "MPI_COMM_WORLD");
    for (std::uint32_t c = 1; c < record.communicators.size(); ++c) {
        archive.communicator({record.communicators[c].begin(), record.communicators[c].end()}, c);
    }
    const auto window = uses_window(record) ? archive.window(0, 0) : 0U;
    std::map<std::vector<std::uint64_t>, std::uint32_t> groups;
    for (const auto& rank : record.ranks) {
        for (const auto& call : rank.calls) {
            if (auto peers = group_of(call); !peers.empty() && !groups.contains(peers)) {
                groups[peers] = archive.group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, peers);
            }
        }
    }
    const auto layout_attribute = archive.attribute("logpost:layout", OTF2_TYPE_STRING);
    std::map<std::string, std::uint32_t> regions;
    const auto region = [&](const std::string& name) {
        const auto at = regions.find(name);
        if (at != regions.end()) {
            return at->second;
        }
        const auto paradigm = name.starts_with("MPI_")    ? OTF2_PARADIGM_MPI
                              : name.starts_with("!$omp") ? OTF2_PARADIGM_OPENMP
                                                          : OTF2_PARADIGM_USER;
        return regions[name] = archive.region(name, paradigm);
    };
    for (std::size_t number = 0; number < record.ranks.size(); ++number) {
        const auto& rank = record.ranks[number];
        Stamps stamps(clock, number);
        archive.events(number, [&](tests::Events& events) {
            auto mark = rank.marks.begin();
            const auto marks_until = [&](Time time) {
                for (; mark != rank.marks.end() && mark->time <= time; ++mark) {
                    if (mark->enter) {
                        events.enter(stamps.at(mark->time), region(mark->region));
                    } else {
                        events.leave(stamps.at(mark->time), region(mark->region));
                    }
                }
            };
            for (const auto& call : rank.calls) {
                marks_until(call.enter);
                const auto enter = stamps.at(call.enter);
                const auto leave = stamps.at(call.leave);
                events.enter(enter, region(call.region));
                if (call.one_sided) {
                    one_sided(events, record, call, enter, leave, window, groups);
                    events.leave(leave, region(call.region));
                    continue;
                }
                for (const auto& done : call.operations) {
                    if (done.kind == Operation::Kind::irecv) {
                        events.irecv_request(enter, done.request);
                        continue;
                    }
                    const auto& m = record.messages[done.message];
                    OTF2_AttributeList* attributes = nullptr;
                    if (m.layout.strided()) {
                        attributes = OTF2_AttributeList_New();
                        OTF2_AttributeList_AddStringRef(attributes, layout_attribute,
                                                        archive.text(layout_text(m.layout)));
                    }
                    const auto to = static_cast<std::uint32_t>(m.receiver);
                    const auto tag = static_cast<std::uint32_t>(m.tag);
                    if (done.kind == Operation::Kind::send) {
                        events.send(enter, to, 0, tag, m.bytes, attributes);
                    } else if (done.kind == Operation::Kind::isend) {
                        events.isend(enter, to, 0, tag, m.bytes, done.request, attributes);
                    }
                    if (attributes != nullptr) {
                        OTF2_AttributeList_Delete(attributes);
                    }
                }
                if (call.part == Part::start) {
                    events.collective_request(enter, call.request);
                } else if (call.part == Part::completion) {
                    events.collective_complete(leave, operation(call.collective),
                                               static_cast<std::uint32_t>(call.communicator), call.request, call.sent,
                                               call.received);
                } else if (call.collective != Collective::none) {
                    const auto& in = record.communicators[call.communicator];
                    const auto root = call.root < 0
                                          ? OTF2_UNDEFINED_UINT32
                                          : static_cast<std::uint32_t>(std::ranges::find(in, call.root) - in.begin());
                    events.collective(enter, leave, operation(call.collective),
                                      static_cast<std::uint32_t>(call.communicator), root, call.sent, call.received);
                }
                for (const auto& done : call.operations) {
                    if (done.message == kNone) {
                        continue;
                    }
                    const auto& m = record.messages[done.message];
                    const auto from = static_cast<std::uint32_t>(m.sender);
                    const auto tag = static_cast<std::uint32_t>(m.tag);
                    if (done.kind == Operation::Kind::recv) {
                        events.recv(leave, from, 0, tag, m.bytes);
                    } else if (done.kind == Operation::Kind::irecv_complete) {
                        events.irecv(leave, from, 0, tag, m.bytes, done.request);
                    } else if (done.kind == Operation::Kind::isend_complete) {
                        events.isend_complete(leave, done.request);
                    }
                }
                events.leave(leave, region(call.region));
            }
            marks_until(rank.end);
        });
        for (std::size_t thread = 1; thread < threads[number]; ++thread) {
            Stamps own(clock, thread_location(number, thread));
            archive.events(thread_location(number, thread), [&](tests::Events& events) {
                for (const auto& parallel : rank.parallels) {
                    work(events, own, parallel, thread, region);
                }
            });
        }
    }
    archive.finish();
}

}  // namespace logpost::truth
