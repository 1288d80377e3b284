#include "request_events.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace logpost::assembler {
namespace {

// The oldest request of a handle that this thread started, else the oldest of any thread.
std::deque<Pending>::iterator oldest(std::deque<Pending>& queue, std::uint32_t thread) {
    const auto own = std::find_if(queue.begin(), queue.end(), [&](const Pending& p) { return p.thread == thread; });
    return own != queue.end() ? own : queue.begin();
}

}  // namespace

void RequestEvents::start(EventWriter& out, std::uint64_t time, std::uint64_t handle, Pending p) {
    using Kind = Pending::Kind;
    p.thread = out.thread;
    OTF2_CommRef ref = 0;
    if (p.kind == Kind::send || p.kind == Kind::both) {
        if (p.message.peer < 0 || !ids_.comm(p.message.comm, ref) ||
            !halves_.sent(ref, p.message.peer, p.message.tag)) {
            p.kind = p.kind == Kind::both ? Kind::receive : Kind::nothing;
            if (p.kind == Kind::receive) {
                p.message = p.second;
            }
        } else {
            p.id = ++requests_;
            check(OTF2_EvtWriter_MpiIsend(out.writer, ids_.layout(out, p.message.layout), out.at(time),
                                          static_cast<std::uint32_t>(p.message.peer), ref,
                                          static_cast<std::uint32_t>(p.message.tag), p.message.bytes, p.id),
                  "MpiIsend");
        }
    }
    if (p.kind == Kind::receive || p.kind == Kind::both) {
        const lp_message& m = p.kind == Kind::both ? p.second : p.message;
        if (m.peer == LP_NO_PEER || !ids_.comm(m.comm, ref)) {
            p.kind = p.kind == Kind::both ? Kind::send : Kind::nothing;
        } else {
            (p.kind == Kind::both ? p.second_id : p.id) = ++requests_;
            check(OTF2_EvtWriter_MpiIrecvRequest(out.writer, nullptr, out.at(time), requests_), "MpiIrecvRequest");
        }
    }
    if (p.kind == Kind::collective || p.kind == Kind::idup) {
        const std::uint32_t local = p.kind == Kind::idup ? p.comm.parent : p.collective.comm;
        if (!ids_.comm(local, ref) || !halves_.operated(ref, p.number)) {
            p.kind = Kind::nothing;
        } else {
            p.id = ++requests_;
            OTF2_AttributeList* numbered = nullptr;
            if (p.number != 0) {
                OTF2_AttributeList_AddUint32(out.attributes, persistent_attribute, p.number);
                numbered = out.attributes;  // the writer empties it
            }
            check(OTF2_EvtWriter_NonBlockingCollectiveRequest(out.writer, numbered, out.at(time), p.id),
                  "NonBlockingCollectiveRequest");
        }
    }
    if (p.kind == Kind::access) {
        p.id = windows_.access(out, time, p.access);
    }
    pending_[handle].push_back(p);
}

void RequestEvents::replaced(std::uint64_t before, std::uint64_t now) {
    if (const auto made = persistent_.find(before); made != persistent_.end()) {
        const Pending p = made->second;
        persistent_.erase(made);
        persistent_[now] = p;
    }
}

void RequestEvents::start_persistent(EventWriter& out, std::uint64_t time, std::uint64_t handle) {
    if (const auto made = persistent_.find(handle); made != persistent_.end()) {
        start(out, time, made->first, made->second);
    }
}

bool RequestEvents::take(std::uint64_t handle, std::uint32_t thread, Pending& p) {
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

void RequestEvents::began_unseen(std::uint64_t handle, std::uint32_t thread, Pending p, std::uint64_t closed) {
    p.thread = thread;
    unseen_[handle].push_back({p, closed});
}

void RequestEvents::take_over(std::uint32_t thread) {
    for (auto& [handle, queue] : unseen_) {
        std::erase_if(queue, [&](const Unseen& u) { return u.request.thread == thread && u.closed == open; });
    }
}

// What another thread has started unseen before any known event of the handle begins with the call that
// completes it.
void RequestEvents::begin_unseen(EventWriter& out, std::uint64_t time, std::uint64_t handle) {
    const auto at = unseen_.find(handle);
    const Pending* known = waiting(handle, out.thread);
    if (at == unseen_.end() || (known != nullptr && known->thread == out.thread)) {
        return;
    }
    const auto which = std::ranges::find_if(
        at->second, [&](const Unseen& u) { return u.request.thread != out.thread && u.closed >= time; });
    if (which != at->second.end()) {
        const Pending begun = which->request;
        at->second.erase(which);
        start(out, out.last, handle, begun);
    }
}

void RequestEvents::freed(std::uint64_t handle, std::uint32_t thread) {
    if (persistent_.erase(handle) == 0) {
        Pending forgotten;
        take(handle, thread, forgotten);
    }
}

void RequestEvents::end_unseen(EventWriter& out, std::uint64_t time, const Pending& p) {
    using Kind = Pending::Kind;
    lp_done done{};
    switch (p.kind) {
        case Kind::send:
        case Kind::both:
            check(OTF2_EvtWriter_MpiIsendComplete(out.writer, nullptr, out.at(time), p.id), "MpiIsendComplete");
            if (p.kind == Kind::both) {
                check(OTF2_EvtWriter_MpiRequestCancelled(out.writer, nullptr, out.at(time), p.second_id),
                      "MpiRequestCancelled");
            }
            break;
        case Kind::receive:  // its message is among those that were skipped
            check(OTF2_EvtWriter_MpiRequestCancelled(out.writer, nullptr, out.at(time), p.id), "MpiRequestCancelled");
            break;
        case Kind::collective:
        case Kind::idup:
            end(out, time, done, p);
            break;
        case Kind::access:
        case Kind::nothing:
            break;
    }
}

void RequestEvents::resume(EventWriter& out, std::uint64_t time, const std::vector<lp_carried>& carried) {
    std::unordered_map<std::uint64_t, std::size_t> still_pending;
    std::unordered_set<std::uint64_t> persistent;
    for (const lp_carried& c : carried) {
        lp_head head{};
        std::memcpy(&head, c.record, sizeof head);
        const bool made = head.kind == LP_SEND_INIT || head.kind == LP_RECV_INIT || head.kind == LP_COLL_INIT;
        if (made && c.active == 0) {
            persistent.insert(c.handle);
        } else if (c.logged != 0) {
            ++still_pending[c.handle];
        }
    }
    std::erase_if(persistent_, [&](const auto& entry) {
        return entry.second.thread == out.thread && !persistent.contains(entry.first);
    });
    std::vector<Pending> ended;
    for (auto at = pending_.begin(); at != pending_.end();) {
        auto& queue = at->second;
        const auto own = static_cast<std::size_t>(std::ranges::count(queue, out.thread, &Pending::thread));
        const auto left = still_pending.find(at->first);
        std::size_t gone = own - std::min(own, left != still_pending.end() ? left->second : 0);
        for (auto p = queue.begin(); p != queue.end() && gone != 0;) {
            if (p->thread == out.thread) {
                ended.push_back(*p);
                p = queue.erase(p);
                --gone;
            } else {
                ++p;
            }
        }
        at = queue.empty() ? pending_.erase(at) : std::next(at);
    }
    std::ranges::sort(ended, {}, &Pending::id);
    for (const Pending& p : ended) {
        end_unseen(out, time, p);
    }
}

void RequestEvents::resume(EventWriter& out, std::uint64_t time, const std::vector<lp_ended>& ended) {
    for (const lp_ended& e : ended) {
        const auto at = pending_.find(e.handle);
        if (Pending p;
            at != pending_.end() && oldest(at->second, e.thread)->thread == e.thread && take(e.handle, e.thread, p)) {
            end_unseen(out, time, p);
        }
    }
}

const Pending* RequestEvents::waiting(std::uint64_t handle, std::uint32_t thread) const {
    const auto at = pending_.find(handle);
    if (at == pending_.end()) {
        return nullptr;
    }
    const auto own = std::ranges::find(at->second, thread, &Pending::thread);
    return own != at->second.end() ? &*own : &at->second.front();
}

std::uint64_t RequestEvents::pending() const {
    std::uint64_t n = 0;
    for (const auto& [handle, queue] : pending_) {
        n += queue.size();
    }
    return n;
}

void RequestEvents::complete(EventWriter& out, std::uint64_t time, const lp_done& done) {
    using Kind = Pending::Kind;
    Pending p;
    begin_unseen(out, time, done.request);
    if (!take(done.request, out.thread, p) || p.kind == Kind::nothing) {
        return;
    }
    if (p.kind == Kind::access) {
        windows_.request_done(out, time, p.access, p.id);
        return;
    }
    if ((done.flags & LP_DONE_FAILED) != 0) {
        end_unseen(out, time, p);
        return;
    }
    if ((done.flags & LP_DONE_CANCELLED) != 0) {
        check(OTF2_EvtWriter_MpiRequestCancelled(out.writer, nullptr, out.at(time), p.id), "MpiRequestCancelled");
        return;
    }
    end(out, time, done, p);
}

void RequestEvents::end(EventWriter& out, std::uint64_t time, const lp_done& done, const Pending& p) {
    using Kind = Pending::Kind;
    OTF2_CommRef ref = 0;
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
            ids_.comm(p.collective.comm, ref);
            check(OTF2_EvtWriter_NonBlockingCollectiveComplete(
                      out.writer, ids_.layouts(out, p.collective.layout, p.collective.received_layout), out.at(time),
                      p.operation, ref, root_of(p.collective.root), p.collective.sent, p.collective.received, p.id),
                  "NonBlockingCollectiveComplete");
            break;
        case Kind::idup:
            ids_.comm(p.comm.parent, ref);
            collectives_.created(out, time, p.comm.comm);
            check(OTF2_EvtWriter_NonBlockingCollectiveComplete(out.writer, nullptr, out.at(time),
                                                               OTF2_COLLECTIVE_OP_CREATE_HANDLE, ref,
                                                               OTF2_UNDEFINED_UINT32, 0, 0, p.id),
                  "NonBlockingCollectiveComplete");
            break;
        case Kind::access:
        case Kind::nothing:
            break;
    }
}

// MPICH 4.0 leaves the status of MPI_Isendrecv unfilled. Where a status contradicts the request, the
// request holds, with the length of the buffer; without a named source there is nothing to hold on to.
void RequestEvents::receive_done(EventWriter& out, std::uint64_t time, lp_done done, const lp_message& requested,
                                 std::uint64_t id) {
    OTF2_CommRef ref = 0;
    const bool other_peer = requested.peer != LP_ANY_PEER && done.peer != requested.peer;
    const bool other_tag = requested.tag != LP_ANY_TAG && done.tag != requested.tag;
    if (done.peer != LP_NO_PEER && (other_peer || other_tag)) {
        ++tally_.contradictory;
        done.peer = requested.peer;
        done.tag = requested.tag;
        done.bytes = requested.bytes;
    }
    if (done.peer < 0 || !ids_.comm(requested.comm, ref)) {
        return;
    }
    if (!halves_.received(ref, done.peer, done.tag)) {  // nothing else in OTF2 ends a request without a message
        check(OTF2_EvtWriter_MpiRequestCancelled(out.writer, nullptr, out.at(time), id), "MpiRequestCancelled");
    } else {
        check(OTF2_EvtWriter_MpiIrecv(out.writer, ids_.received(out, requested), out.at(time),
                                      static_cast<std::uint32_t>(done.peer), ref, static_cast<std::uint32_t>(done.tag),
                                      done.bytes, id),
              "MpiIrecv");
    }
}

void RequestEvents::tested(EventWriter& out, std::uint64_t time, std::uint64_t handle) {
    const auto at = pending_.find(handle);
    if (at == pending_.end()) {
        return;
    }
    const Pending& p = *oldest(at->second, out.thread);
    if (p.kind == Pending::Kind::access) {
        windows_.request_tested(out, time, p.access, p.id);
    } else if (p.kind != Pending::Kind::nothing) {
        check(OTF2_EvtWriter_MpiRequestTest(out.writer, nullptr, out.at(time), p.id), "MpiRequestTest");
    }
}

}  // namespace logpost::assembler
