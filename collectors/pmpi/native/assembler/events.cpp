// Raw records to OTF2 events, one process at a time.
#include <algorithm>
#include <deque>
#include <stdexcept>

#include "archive.hpp"

namespace logpost::assembler {
namespace {

OTF2_CollectiveOp operation_named(const std::string& name) {
    static const std::unordered_map<std::string, OTF2_CollectiveOp> known{
        {"BARRIER", OTF2_COLLECTIVE_OP_BARRIER},
        {"BCAST", OTF2_COLLECTIVE_OP_BCAST},
        {"GATHER", OTF2_COLLECTIVE_OP_GATHER},
        {"GATHERV", OTF2_COLLECTIVE_OP_GATHERV},
        {"SCATTER", OTF2_COLLECTIVE_OP_SCATTER},
        {"SCATTERV", OTF2_COLLECTIVE_OP_SCATTERV},
        {"ALLGATHER", OTF2_COLLECTIVE_OP_ALLGATHER},
        {"ALLGATHERV", OTF2_COLLECTIVE_OP_ALLGATHERV},
        {"ALLTOALL", OTF2_COLLECTIVE_OP_ALLTOALL},
        {"ALLTOALLV", OTF2_COLLECTIVE_OP_ALLTOALLV},
        {"ALLTOALLW", OTF2_COLLECTIVE_OP_ALLTOALLW},
        {"ALLREDUCE", OTF2_COLLECTIVE_OP_ALLREDUCE},
        {"REDUCE", OTF2_COLLECTIVE_OP_REDUCE},
        {"REDUCE_SCATTER", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
        {"REDUCE_SCATTER_BLOCK", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
        {"SCAN", OTF2_COLLECTIVE_OP_SCAN},
        {"EXSCAN", OTF2_COLLECTIVE_OP_EXSCAN},
    };
    const auto at = known.find(name);
    if (at == known.end()) {
        throw std::runtime_error("functions.txt names the unknown collective " + name);
    }
    return at->second;
}

std::uint32_t root_of(std::int32_t root) {
    switch (root) {
#if OTF2_VERSION_MAJOR >= 3
        case LP_ROOT_SELF:
            return OTF2_COLLECTIVE_ROOT_SELF;
        case LP_ROOT_THIS_GROUP:
            return OTF2_COLLECTIVE_ROOT_THIS_GROUP;
#endif
        default:
            return root >= 0 ? static_cast<std::uint32_t>(root) : OTF2_UNDEFINED_UINT32;
    }
}

// A request that was started and not yet completed.
struct Pending {
    enum class Kind { nothing, send, receive, both, collective, idup };
    Kind kind = Kind::nothing;
    std::uint32_t thread = 0;
    std::uint64_t id = 0;         // of the send, the receive or the collective
    std::uint64_t second_id = 0;  // of the receive of a combined one
    lp_message message{};
    lp_message second{};
    lp_collective collective{};
    OTF2_CollectiveOp operation{};
    lp_comm_call comm{};
};

// The writer of one location: keeps the order of time and counts.
struct Out {
    OTF2_EvtWriter* writer = nullptr;
    OTF2_AttributeList* attributes = nullptr;
    std::uint32_t thread = 0;
    std::uint64_t events = 0;
    std::uint64_t last = 0;

    OTF2_TimeStamp at(std::uint64_t time) {
        ++events;
        last = std::max(last, time);
        return last;
    }
};

struct Source {
    const Thread* thread;
    std::size_t offset = 0;
    std::vector<Record> parts;    // of the call that follows
    std::vector<Record> windows;  // moved while the call that follows was being noted: they come after it
    std::optional<Record> call;

    // Moves to the next whole call.
    bool advance() {
        parts.clear();
        windows.clear();
        call.reset();
        while (auto record = thread->log.next(offset)) {
            if (record->head.kind == LP_WINDOW) {
                windows.push_back(*record);
            } else if (record->is_part()) {
                parts.push_back(*record);
            } else if (!record->is_note()) {
                call = record;
                return true;
            }
        }
        return false;
    }
};

class ProcessEvents {
  public:
    ProcessEvents(OTF2_Archive* archive, const Job& job, Process& process, Strings& strings, Tally& tally)
        : archive_(archive), job_(job), process_(process), strings_(strings), tally_(tally) {}

    void run(std::vector<LocationEvents>& locations) {
        std::vector<Source> sources;
        std::vector<Out> outs;
        for (const auto& thread : process_.threads) {
            sources.push_back({thread.get(), 0, {}, {}, {}});
            outs.push_back(open(thread->log.header().thread));
            sources.back().advance();
        }
        for (;;) {
            std::size_t next = sources.size();
            for (std::size_t i = 0; i < sources.size(); ++i) {
                if (sources[i].call &&
                    (next == sources.size() || sources[i].call->head.leave < sources[next].call->head.leave)) {
                    next = i;
                }
            }
            if (next == sources.size()) {
                break;
            }
            emit(outs[next], sources[next]);
            sources[next].advance();
        }
        for (Out& out : outs) {
            close(out, locations);
        }
        for (const auto& [handle, queue] : pending_) {
            tally_.pending += queue.size();
        }
    }

  private:
    std::uint64_t ticks(std::uint64_t raw) const { return to_archive_ticks(job_, process_, raw); }

    Out open(std::uint32_t thread) {
        Out out;
        out.thread = thread;
        out.writer = OTF2_Archive_GetEvtWriter(archive_, location_of(process_.rank, thread));
        out.attributes = OTF2_AttributeList_New();
        if (out.writer == nullptr || out.attributes == nullptr) {
            throw std::runtime_error("cannot open the events of rank " + std::to_string(process_.rank));
        }
        return out;
    }

    void close(Out& out, std::vector<LocationEvents>& locations) {
        if (out.events == 0) {
            out.events = write_nothing(out.writer, job_);
        } else {
            check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(out.last), program_region), "Leave");
            if (out.thread == 0) {
                check(OTF2_EvtWriter_ProgramEnd(out.writer, nullptr, out.at(out.last), OTF2_UNDEFINED_INT64),
                      "ProgramEnd");
            }
        }
        locations.push_back({location_of(process_.rank, out.thread), process_.rank, out.thread, out.events});
        tally_.events += out.events;
        OTF2_AttributeList_Delete(out.attributes);
        check(OTF2_Archive_CloseEvtWriter(archive_, out.writer), "closing events");
    }

    // The list with the layout of a message, or nothing.
    OTF2_AttributeList* layout(Out& out, std::uint32_t id) {
        if (id == 0) {
            return nullptr;
        }
        auto at = process_.layout_refs.find(id);
        if (at == process_.layout_refs.end()) {
            const auto found = process_.layouts.find(id);
            if (found == process_.layouts.end()) {
                return nullptr;
            }
            const lp_layout_def& l = found->second;
            const std::string text =
                "blocks=" + std::to_string(l.blocks) + " block_bytes=" + std::to_string(l.block_bytes) +
                " stride_bytes=" + std::to_string(l.stride_bytes) + " extent_bytes=" + std::to_string(l.extent_bytes) +
                (l.regular ? "" : " irregular=1");
            at = process_.layout_refs.emplace(id, strings_(text)).first;
        }
        OTF2_AttributeList_AddStringRef(out.attributes, layout_attribute, at->second);
        return out.attributes;  // the writer empties it
    }

    bool comm(std::uint32_t local, OTF2_CommRef& ref) {
        const auto at = process_.comm_refs.find(local);
        if (at == process_.comm_refs.end()) {
            ++tally_.messages_without_comm;
            return false;
        }
        ref = at->second;
        return true;
    }

    void send(Out& out, std::uint64_t time, const lp_message& m) {
        OTF2_CommRef ref = 0;
        if (m.peer >= 0 && comm(m.comm, ref)) {
            check(OTF2_EvtWriter_MpiSend(out.writer, layout(out, m.layout), out.at(time),
                                         static_cast<std::uint32_t>(m.peer), ref, static_cast<std::uint32_t>(m.tag),
                                         m.bytes),
                  "MpiSend");
        }
    }

    void receive(Out& out, std::uint64_t time, const lp_message& m) {
        OTF2_CommRef ref = 0;
        if (m.peer >= 0 && comm(m.comm, ref)) {
            check(OTF2_EvtWriter_MpiRecv(out.writer, layout(out, m.layout), out.at(time),
                                         static_cast<std::uint32_t>(m.peer), ref, static_cast<std::uint32_t>(m.tag),
                                         m.bytes),
                  "MpiRecv");
        }
    }

    // Starts a request: writes its first event and puts it into the queue of its handle.
    void start(Out& out, std::uint64_t time, std::uint64_t handle, Pending p) {
        using Kind = Pending::Kind;
        p.thread = out.thread;
        OTF2_CommRef ref = 0;
        if (p.kind == Kind::send || p.kind == Kind::both) {
            if (p.message.peer < 0 || !comm(p.message.comm, ref)) {
                p.kind = p.kind == Kind::both ? Kind::receive : Kind::nothing;
                if (p.kind == Kind::receive) {
                    p.message = p.second;
                }
            } else {
                p.id = ++requests_;
                check(OTF2_EvtWriter_MpiIsend(out.writer, layout(out, p.message.layout), out.at(time),
                                              static_cast<std::uint32_t>(p.message.peer), ref,
                                              static_cast<std::uint32_t>(p.message.tag), p.message.bytes, p.id),
                      "MpiIsend");
            }
        }
        if (p.kind == Kind::receive || p.kind == Kind::both) {
            const lp_message& m = p.kind == Kind::both ? p.second : p.message;
            if (m.peer == LP_NO_PEER || !comm(m.comm, ref)) {
                p.kind = p.kind == Kind::both ? Kind::send : Kind::nothing;
            } else {
                (p.kind == Kind::both ? p.second_id : p.id) = ++requests_;
                check(OTF2_EvtWriter_MpiIrecvRequest(out.writer, nullptr, out.at(time), requests_), "MpiIrecvRequest");
            }
        }
        if (p.kind == Kind::collective || p.kind == Kind::idup) {
            const std::uint32_t local = p.kind == Kind::idup ? p.comm.parent : p.collective.comm;
            if (!comm(local, ref)) {
                p.kind = Kind::nothing;
            } else {
                p.id = ++requests_;
                check(OTF2_EvtWriter_NonBlockingCollectiveRequest(out.writer, nullptr, out.at(time), p.id),
                      "NonBlockingCollectiveRequest");
            }
        }
        pending_[handle].push_back(p);
    }

    // The oldest request of a handle that this thread started, else the oldest of any thread.
    std::deque<Pending>::iterator oldest(std::deque<Pending>& queue, std::uint32_t thread) {
        const auto own = std::find_if(queue.begin(), queue.end(), [&](const Pending& p) { return p.thread == thread; });
        return own != queue.end() ? own : queue.begin();
    }

    bool take(std::uint64_t handle, std::uint32_t thread, Pending& p) {
        const auto at = pending_.find(handle);
        if (at == pending_.end()) {
            return false;
        }
        const auto which = oldest(at->second, thread);
        p = *which;
        at->second.erase(which);
        if (at->second.empty()) {
            pending_.erase(at);
        }
        return true;
    }

    void complete(Out& out, std::uint64_t time, const lp_done& done) {
        using Kind = Pending::Kind;
        Pending p;
        OTF2_CommRef ref = 0;
        if (!take(done.request, out.thread, p) || p.kind == Kind::nothing) {
            return;
        }
        if ((done.flags & LP_DONE_CANCELLED) != 0) {
            check(OTF2_EvtWriter_MpiRequestCancelled(out.writer, nullptr, out.at(time), p.id), "MpiRequestCancelled");
            return;
        }
        switch (p.kind) {
            case Kind::both:
            case Kind::send:
                check(OTF2_EvtWriter_MpiIsendComplete(out.writer, nullptr, out.at(time), p.id), "MpiIsendComplete");
                if (p.kind == Kind::both) {
                    receive_done(out, time, done, p.second, p.second_id);
                }
                break;
            case Kind::receive:
                receive_done(out, time, done, p.message, p.id);
                break;
            case Kind::collective:
                comm(p.collective.comm, ref);
                check(OTF2_EvtWriter_NonBlockingCollectiveComplete(out.writer, nullptr, out.at(time), p.operation, ref,
                                                                   root_of(p.collective.root), p.collective.sent,
                                                                   p.collective.received, p.id),
                      "NonBlockingCollectiveComplete");
                break;
            case Kind::idup:
                comm(p.comm.parent, ref);
                created(out, time, p.comm.comm);
                check(OTF2_EvtWriter_NonBlockingCollectiveComplete(out.writer, nullptr, out.at(time),
                                                                   OTF2_COLLECTIVE_OP_CREATE_HANDLE, ref,
                                                                   OTF2_UNDEFINED_UINT32, 0, 0, p.id),
                      "NonBlockingCollectiveComplete");
                break;
            case Kind::nothing:
                break;
        }
    }

    // MPICH 4.0 leaves the status of MPI_Isendrecv unfilled. Where a status contradicts what was asked for, what was
    // asked for holds, with the length of the buffer; without a named source there is nothing to hold on to.
    void receive_done(Out& out, std::uint64_t time, lp_done done, const lp_message& asked, std::uint64_t id) {
        OTF2_CommRef ref = 0;
        const bool other_peer = asked.peer != LP_ANY_PEER && done.peer != asked.peer;
        const bool other_tag = asked.tag != LP_ANY_TAG && done.tag != asked.tag;
        if (done.peer != LP_NO_PEER && (other_peer || other_tag)) {
            ++tally_.contradictory;
            done.peer = asked.peer;
            done.tag = asked.tag;
            done.bytes = asked.bytes;
        }
        if (done.peer >= 0 && comm(asked.comm, ref)) {
            check(OTF2_EvtWriter_MpiIrecv(out.writer, layout(out, asked.layout), out.at(time),
                                          static_cast<std::uint32_t>(done.peer), ref,
                                          static_cast<std::uint32_t>(done.tag), done.bytes, id),
                  "MpiIrecv");
        }
    }

    void tested(Out& out, std::uint64_t time, std::uint64_t handle) {
        const auto at = pending_.find(handle);
        if (at == pending_.end()) {
            return;
        }
        const Pending& p = *oldest(at->second, out.thread);
        if (p.kind != Pending::Kind::nothing) {
            check(OTF2_EvtWriter_MpiRequestTest(out.writer, nullptr, out.at(time), p.id), "MpiRequestTest");
        }
    }

    void created(Out& out, std::uint64_t time, std::uint32_t local) {
#if OTF2_VERSION_MAJOR >= 3
        OTF2_CommRef ref = 0;
        if (local != 0 && comm(local, ref) && job_.comms[ref].created) {
            check(OTF2_EvtWriter_CommCreate(out.writer, nullptr, out.at(time), ref), "CommCreate");
        }
#else
        (void)out, (void)time, (void)local;
#endif
    }

    void destroyed(Out& out, std::uint64_t time, std::uint32_t local) {
#if OTF2_VERSION_MAJOR >= 3
        OTF2_CommRef ref = 0;
        if (local != 0 && comm(local, ref) && job_.comms[ref].created) {
            check(OTF2_EvtWriter_CommDestroy(out.writer, nullptr, out.at(time), ref), "CommDestroy");
        }
#else
        (void)out, (void)time, (void)local;
#endif
    }

    void begin_collective(Out& out, std::uint64_t time) {
        check(OTF2_EvtWriter_MpiCollectiveBegin(out.writer, nullptr, out.at(time)), "MpiCollectiveBegin");
    }

    void end_collective(Out& out, std::uint64_t time, OTF2_CollectiveOp operation, OTF2_CommRef ref, std::uint32_t root,
                        std::uint64_t sent, std::uint64_t received) {
        check(OTF2_EvtWriter_MpiCollectiveEnd(out.writer, nullptr, out.at(time), operation, ref, root, sent, received),
              "MpiCollectiveEnd");
    }

    // The predefined communicators appear within MPI_Init and disappear within MPI_Finalize.
    void predefined(Out& out, std::uint64_t enter, std::uint64_t leave, bool appear) {
        OTF2_CommRef world = 0;
        begin_collective(out, enter);
        for (const auto& def : process_.comms) {
            if ((def.flags & (LP_COMM_WORLD | LP_COMM_SELF)) != 0) {
                appear ? created(out, leave, def.comm) : destroyed(out, leave, def.comm);
            }
            if ((def.flags & LP_COMM_WORLD) != 0) {
                comm(def.comm, world);
            }
        }
        end_collective(out, leave, appear ? OTF2_COLLECTIVE_OP_CREATE_HANDLE : OTF2_COLLECTIVE_OP_DESTROY_HANDLE, world,
                       OTF2_UNDEFINED_UINT32, 0, 0);
    }

    void begin_location(Out& out, std::uint64_t time) {
        if (out.thread == 0) {
            const OTF2_StringRef name = strings_(process_.info["executable"]);
            check(OTF2_EvtWriter_ProgramBegin(out.writer, nullptr, out.at(time), name, 0, nullptr), "ProgramBegin");
        }
        check(OTF2_EvtWriter_Enter(out.writer, nullptr, out.at(time), program_region), "Enter");
    }

    OTF2_RegionRef region_of(const Source& source, std::uint32_t function) {
        if (function >= tally_.regions.size()) {
            throw std::runtime_error(source.thread->log.path() +
                                     ": a record names a function that is not in the table");
        }
        OTF2_RegionRef& region = tally_.regions[function];
        if (region == program_region) {
            tally_.called.push_back(function);
            region = static_cast<OTF2_RegionRef>(tally_.called.size());
        }
        return region;
    }

    void emit(Out& out, const Source& source) {
        const Record& r = *source.call;
        const std::uint64_t enter = ticks(r.head.enter);
        const std::uint64_t leave = std::max(enter, ticks(r.head.leave));
        const OTF2_RegionRef region = region_of(source, r.head.function);
        if (out.events == 0) {
            begin_location(out, enter);
        }
        ++tally_.calls;
        check(OTF2_EvtWriter_Enter(out.writer, nullptr, out.at(enter), region), "Enter");
        body(out, source, r, enter, leave);
        check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(leave), region), "Leave");
        for (const Record& w : source.windows) {
            const std::uint64_t from = std::max(ticks(w.head.enter), out.last);
            const std::uint64_t to = std::max(ticks(w.head.leave), from);
            check(OTF2_EvtWriter_BufferFlush(out.writer, nullptr, out.at(from), to), "BufferFlush");
        }
        tally_.first = std::min(tally_.first, to_global_ticks(job_, process_, r.head.enter));
        tally_.last = std::max(tally_.last, to_global_ticks(job_, process_, r.head.leave));
    }

    void parts(Out& out, const Source& source, std::uint64_t enter, std::uint64_t leave) {
        for (const Record& part : source.parts) {
            const std::size_t entry = part.head.kind == LP_DONE ? sizeof(lp_done) : sizeof(std::uint64_t);
            for (std::size_t at = 0; at + entry <= part.data_bytes; at += entry) {
                if (part.head.kind == LP_DONE) {
                    complete(out, leave, part.get<lp_done>(at));
                } else if (part.head.kind == LP_TESTED) {
                    tested(out, leave, part.get<std::uint64_t>(at));
                } else if (const auto made = persistent_.find(part.get<std::uint64_t>(at)); made != persistent_.end()) {
                    start(out, enter, made->first, made->second);
                }
            }
        }
    }

    void body(Out& out, const Source& source, const Record& r, std::uint64_t enter, std::uint64_t leave) {
        using Kind = Pending::Kind;
        constexpr std::size_t after_message = sizeof(lp_message);
        const auto message = r.get<lp_message>();
        Pending p;
        p.message = message;
        switch (r.head.kind) {
            case LP_CALL:
                if (job_.functions[r.head.function].name.starts_with("MPI_Init") && out.thread == 0 && tally_begin_) {
                    tally_begin_ = false;
                    predefined(out, enter, leave, true);
                }
                parts(out, source, enter, leave);
                break;
            case LP_FINALIZE:
                predefined(out, enter, leave, false);
                break;
            case LP_SEND:
                send(out, enter, message);
                break;
            case LP_RECV:
                receive(out, leave, message);
                break;
            case LP_SENDRECV:
                send(out, enter, message);
                receive(out, leave, r.get<lp_message>(after_message));
                break;
            case LP_ISEND:
            case LP_IRECV:
                p.kind = r.head.kind == LP_ISEND ? Kind::send : Kind::receive;
                start(out, enter, r.get<std::uint64_t>(after_message), p);
                break;
            case LP_ISENDRECV:
                p.kind = Kind::both;
                p.second = r.get<lp_message>(after_message);
                start(out, enter, r.get<std::uint64_t>(2 * after_message), p);
                break;
            case LP_SEND_INIT:
            case LP_RECV_INIT:
                p.kind = r.head.kind == LP_SEND_INIT ? Kind::send : Kind::receive;
                persistent_[r.get<std::uint64_t>(after_message)] = p;
                break;
            case LP_MPROBE:
                matched_[r.get<std::uint64_t>(after_message)].push_back(message);
                break;
            case LP_MRECV:
                p.message.comm = matched(r.get<std::uint64_t>(after_message)).comm;
                receive(out, leave, p.message);
                break;
            case LP_IMRECV:
                p.kind = Kind::receive;
                p.message = matched(r.get<std::uint64_t>(after_message + 8));
                p.message.layout = message.layout;
                start(out, enter, r.get<std::uint64_t>(after_message), p);
                break;
            case LP_REQUEST_FREE: {
                const auto handle = r.get<std::uint64_t>();
                if (persistent_.erase(handle) == 0) {
                    take(handle, out.thread, p);
                }
                break;
            }
            case LP_COLL:
            case LP_ICOLL:
            case LP_COLL_INIT:
                collective(out, r, enter, leave);
                break;
            case LP_COMM_NEW:
            case LP_COMM_IDUP:
            case LP_COMM_FREE:
                communicator(out, r, enter, leave);
                break;
            default:
                throw std::runtime_error(source.thread->log.path() + ": record of unknown kind " +
                                         std::to_string(r.head.kind));
        }
    }

    lp_message matched(std::uint64_t handle) {
        const auto at = matched_.find(handle);
        if (at == matched_.end()) {
            lp_message nobody{};
            nobody.peer = LP_NO_PEER;
            return nobody;
        }
        const lp_message m = at->second.front();
        at->second.pop_front();
        if (at->second.empty()) {
            matched_.erase(at);
        }
        return m;
    }

    void collective(Out& out, const Record& r, std::uint64_t enter, std::uint64_t leave) {
        Pending p;
        p.kind = Pending::Kind::collective;
        p.collective = r.get<lp_collective>();
        p.operation = operation_named(job_.functions[r.head.function].operation);
        if (r.head.kind == LP_ICOLL) {
            start(out, enter, r.get<std::uint64_t>(sizeof(lp_collective)), p);
        } else if (r.head.kind == LP_COLL_INIT) {
            persistent_[r.get<std::uint64_t>(sizeof(lp_collective))] = p;
        } else if (OTF2_CommRef ref = 0; comm(p.collective.comm, ref)) {
            begin_collective(out, enter);
            end_collective(out, leave, p.operation, ref, root_of(p.collective.root), p.collective.sent,
                           p.collective.received);
        }
    }

    void communicator(Out& out, const Record& r, std::uint64_t enter, std::uint64_t leave) {
        const auto call = r.get<lp_comm_call>();
        OTF2_CommRef ref = 0;
        if (r.head.kind == LP_COMM_IDUP) {
            Pending p;
            p.kind = Pending::Kind::idup;
            p.comm = call;
            start(out, enter, r.get<std::uint64_t>(sizeof call), p);
            return;
        }
        const std::uint32_t over = call.parent != 0 ? call.parent : call.comm;
        if (over == 0 || !comm(over, ref)) {
            return;
        }
        begin_collective(out, enter);
        if (r.head.kind == LP_COMM_NEW) {
            created(out, leave, call.comm);
        } else {
            destroyed(out, leave, call.parent);
        }
        end_collective(
            out, leave,
            r.head.kind == LP_COMM_NEW ? OTF2_COLLECTIVE_OP_CREATE_HANDLE : OTF2_COLLECTIVE_OP_DESTROY_HANDLE, ref,
            OTF2_UNDEFINED_UINT32, 0, 0);
    }

    OTF2_Archive* archive_;
    const Job& job_;
    Process& process_;
    Strings& strings_;
    Tally& tally_;
    std::uint64_t requests_ = 0;
    bool tally_begin_ = true;
    std::unordered_map<std::uint64_t, std::deque<Pending>> pending_;
    std::unordered_map<std::uint64_t, Pending> persistent_;
    std::unordered_map<std::uint64_t, std::deque<lp_message>> matched_;
};

}  // namespace

std::uint64_t write_nothing(OTF2_EvtWriter* writer, const Job& job) {
    std::uint64_t first = UINT64_MAX;
    for (const auto& process : job.processes) {
        for (const auto& thread : process->threads) {
            if (thread->calls != 0) {
                first = std::min(first, to_global_ticks(job, *process, thread->first));
            }
        }
    }
    check(OTF2_EvtWriter_MeasurementOnOff(writer, nullptr, first != UINT64_MAX ? first : 0, OTF2_MEASUREMENT_OFF),
          "MeasurementOnOff");
    return 1;
}

void write_events(OTF2_Archive* archive, const Job& job, Process& process, Strings& strings, Tally& tally,
                  std::vector<LocationEvents>& locations) {
    ProcessEvents(archive, job, process, strings, tally).run(locations);
}

}  // namespace logpost::assembler
