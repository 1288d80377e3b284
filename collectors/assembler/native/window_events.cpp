#include "window_events.hpp"

#include <algorithm>

namespace logpost::assembler {
namespace {

constexpr OTF2_RmaSyncLevel processes = OTF2_RMA_SYNC_LEVEL_PROCESS;
constexpr OTF2_RmaSyncLevel and_memory = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;

void begin(EventWriter& out, std::uint64_t time) {
    check(OTF2_EvtWriter_RmaCollectiveBegin(out.writer, nullptr, out.at(time)), "RmaCollectiveBegin");
}

void end(EventWriter& out, std::uint64_t time, OTF2_CollectiveOp operation, OTF2_RmaSyncLevel level,
         OTF2_RmaWinRef win) {
    check(OTF2_EvtWriter_RmaCollectiveEnd(out.writer, nullptr, out.at(time), operation, level, win,
                                          OTF2_UNDEFINED_UINT32, 0, 0),
          "RmaCollectiveEnd");
}

bool allocates(const lp_rma_call& call) {
    return call.kind == LP_RMA_ALLOCATED || call.kind == LP_RMA_SHARED;
}

OTF2_RmaAtomicType atomic_of(std::uint32_t operation) {
    switch (operation) {
        case LP_INCREMENT:
            return OTF2_RMA_ATOMIC_TYPE_INCREMENT;
        case LP_FETCH_AND_INCREMENT:
            return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_INCREMENT;
        case LP_SWAP:
            return OTF2_RMA_ATOMIC_TYPE_SWAP;
        case LP_COMPARE_AND_SWAP:
            return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
        case LP_FETCH_AND_ACCUMULATE:
#if OTF2_VERSION_MAJOR >= 3
            return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
#else
            return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD;
#endif
        default:
            return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
    }
}

}  // namespace

bool WindowEvents::ref(std::uint32_t local, OTF2_RmaWinRef& win) {
    const auto at = process_.window_refs.find(local);
    if (at == process_.window_refs.end()) {
        ++tally_.accesses_without_window;
        return false;
    }
    win = at->second;
    return true;
}

OTF2_GroupRef WindowEvents::group(std::uint32_t local, const std::vector<std::uint64_t>& ranks) {
    return ids_.group(process_.window_refs.at(local), ranks);
}

void WindowEvents::made(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_rma_call& call) {
    OTF2_RmaWinRef win = 0;
    if (ref(call.window, win) && halves_.operated_on_window(win)) {
        begin(out, enter);
        check(OTF2_EvtWriter_RmaWinCreate(out.writer, nullptr, out.at(leave), win), "RmaWinCreate");
        end(out, leave,
            allocates(call) ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE : OTF2_COLLECTIVE_OP_CREATE_HANDLE,
            processes, win);
    }
}

void WindowEvents::freed(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_rma_call& call) {
    OTF2_RmaWinRef win = 0;
    if (!ref(call.window, win)) {
        return;
    }
    if (!halves_.operated_on_window(win)) {
        complete(out, leave, call.window, LP_ANY_PEER, Where::target, true);
    } else {
        begin(out, enter);
        complete(out, leave, call.window, LP_ANY_PEER, Where::target, false);
        check(OTF2_EvtWriter_RmaWinDestroy(out.writer, nullptr, out.at(leave), win), "RmaWinDestroy");
        end(out, leave,
            allocates(call) ? OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE : OTF2_COLLECTIVE_OP_DESTROY_HANDLE,
            processes, win);
    }
    windows_.erase(call.window);
}

std::uint64_t WindowEvents::access(EventWriter& out, std::uint64_t time, const lp_transfer& x) {
    OTF2_RmaWinRef win = 0;
    if (x.target < 0 || !ref(x.window, win)) {
        return 0;
    }
    const std::uint64_t id = ++accesses_;
    const auto target = static_cast<std::uint32_t>(x.target);
    OTF2_AttributeList* layouts = ids_.layouts(out, x.layout, x.target_layout);
    if (x.operation == LP_PUT) {
        check(OTF2_EvtWriter_RmaPut(out.writer, layouts, out.at(time), win, target, x.sent, id), "RmaPut");
    } else if (x.operation == LP_GET) {
        check(OTF2_EvtWriter_RmaGet(out.writer, layouts, out.at(time), win, target, x.received, id), "RmaGet");
    } else {
        check(OTF2_EvtWriter_RmaAtomic(out.writer, layouts, out.at(time), win, target, atomic_of(x.operation), x.sent,
                                       x.received, id),
              "RmaAtomic");
    }
    windows_[x.window].targets[x.target].accesses.push_back({id, false});
    return id;
}

void WindowEvents::request_done(EventWriter& out, std::uint64_t time, const lp_transfer& x, std::uint64_t id) {
    OTF2_RmaWinRef win = 0;
    if (id == 0 || !ref(x.window, win)) {
        return;
    }
    auto& pending = windows_[x.window].targets[x.target].accesses;
    const auto at = std::ranges::lower_bound(pending, id, {}, &Access::id);
    if (at != pending.end() && at->id == id && !at->at_origin) {
        at->at_origin = true;
        check(OTF2_EvtWriter_RmaOpCompleteNonBlocking(out.writer, nullptr, out.at(time), win, id),
              "RmaOpCompleteNonBlocking");
    }
}

void WindowEvents::done(EventWriter& out, std::uint64_t time, const lp_transfer& x, std::uint64_t id) {
    OTF2_RmaWinRef win = 0;
    if (id == 0 || !ref(x.window, win)) {
        return;
    }
    auto& pending = windows_[x.window].targets[x.target].accesses;
    check(OTF2_EvtWriter_RmaOpCompleteBlocking(out.writer, nullptr, out.at(time), win, id), "RmaOpCompleteBlocking");
    if ((x.flags & LP_TRANSFER_BLOCKING) == 0) {
        pending.back().at_origin = true;
        return;
    }
    pending.pop_back();
    check(OTF2_EvtWriter_RmaOpCompleteRemote(out.writer, nullptr, out.at(time), win, id), "RmaOpCompleteRemote");
}

void WindowEvents::request_tested(EventWriter& out, std::uint64_t time, const lp_transfer& x, std::uint64_t id) {
    OTF2_RmaWinRef win = 0;
    if (id != 0 && ref(x.window, win)) {
        check(OTF2_EvtWriter_RmaOpTest(out.writer, nullptr, out.at(time), win, id), "RmaOpTest");
    }
}

void WindowEvents::complete(EventWriter& out, std::uint64_t time, std::uint32_t local, std::int32_t target, Where where,
                            bool written) {
    OTF2_RmaWinRef win = 0;
    const auto found = windows_.find(local);
    if (found == windows_.end() || !ref(local, win)) {
        return;
    }
    auto& targets = found->second.targets;
    for (auto t = targets.begin(); t != targets.end();) {
        if (target != LP_ANY_PEER && t->first != target) {
            ++t;
            continue;
        }
        auto& pending = t->second.accesses;
        for (std::size_t i = where == Where::origin ? t->second.first : 0; i < pending.size(); ++i) {
            if (!pending[i].at_origin) {
                check(OTF2_EvtWriter_RmaOpCompleteNonBlocking(out.writer, nullptr, out.at(time), win, pending[i].id),
                      "RmaOpCompleteNonBlocking");
                pending[i].at_origin = true;
            }
            if (written) {
                check(OTF2_EvtWriter_RmaOpCompleteRemote(out.writer, nullptr, out.at(time), win, pending[i].id),
                      "RmaOpCompleteRemote");
            }
        }
        if (where == Where::origin) {
            t->second.first = pending.size();
            ++t;
        } else {
            t = targets.erase(t);
        }
    }
}

void WindowEvents::collective(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_rma_collective& c,
                              OTF2_CollectiveOp operation) {
    OTF2_RmaWinRef win = 0;
    if (!ref(c.window, win)) {
        return;
    }
    if (!halves_.operated_on_window(win)) {
        if (c.completes != 0) {
            complete(out, leave, c.completes, LP_ANY_PEER, Where::target, true);
        }
        return;
    }
    begin(out, enter);
    if (c.completes != 0) {
        complete(out, leave, c.completes, LP_ANY_PEER, Where::target, true);
    }
    const auto level = c.apart != 0 ? OTF2_RmaSyncLevel{OTF2_RMA_SYNC_LEVEL_NONE} : processes;
    check(OTF2_EvtWriter_RmaCollectiveEnd(out.writer, nullptr, out.at(leave), operation, level, win,
                                          c.root < 0 ? OTF2_UNDEFINED_UINT32 : static_cast<std::uint32_t>(c.root),
                                          c.sent, c.received),
          "RmaCollectiveEnd");
}

void WindowEvents::resume(EventWriter& out, std::uint64_t time) {
    for (const lp_rma_def& def : process_.windows) {
        complete(out, time, def.window, LP_ANY_PEER, Where::target, true);
    }
}

void WindowEvents::finalized(EventWriter& out, std::uint64_t enter, std::uint64_t leave) {
    for (const lp_rma_def& def : process_.windows) {
        if (def.kind == LP_RMA_CONTEXT) {
            complete(out, leave, def.window, LP_ANY_PEER, Where::target, true);
        }
    }
    for (const lp_rma_def& def : process_.windows) {
        if (def.kind == LP_RMA_SYMMETRIC) {
            complete(out, leave, def.window, LP_ANY_PEER, Where::target, true);
            freed(out, enter, leave, {def.window, def.kind});
        }
    }
}

void WindowEvents::synchronize(EventWriter& out, std::uint64_t enter, std::uint64_t leave, const lp_lock& lock,
                               const std::vector<std::uint64_t>& ranks) {
    const lp_synchronize& y = lock.what;
    OTF2_RmaWinRef win = 0;
    if (!ref(y.window, win)) {
        return;
    }
    Window& window = windows_[y.window];
    const std::uint32_t remote = y.target < 0 ? OTF2_UNDEFINED_UINT32 : static_cast<std::uint32_t>(y.target);
    const auto group_sync = [&](std::uint64_t time, OTF2_RmaSyncLevel level, OTF2_GroupRef members) {
        if (members != OTF2_UNDEFINED_GROUP) {
            check(OTF2_EvtWriter_RmaGroupSync(out.writer, nullptr, out.at(time), level, win, members), "RmaGroupSync");
        }
    };
    switch (y.operation) {
        case LP_FENCE:
            if (!halves_.operated_on_window(win)) {
                complete(out, leave, y.window, LP_ANY_PEER, Where::target, true);
                break;
            }
            begin(out, enter);
            complete(out, leave, y.window, LP_ANY_PEER, Where::target, false);  // the end says so of all
            end(out, leave, OTF2_COLLECTIVE_OP_BARRIER, and_memory, win);
            break;
        case LP_FLUSH:
            complete(out, leave, y.window, y.target, Where::target, true);
            break;
        case LP_FLUSH_LOCAL:
            complete(out, leave, y.window, y.target, Where::origin, false);
            break;
        // That a lock has been acquired is not known: MPI may request it no sooner than with the first access.
        case LP_LOCK:
            check(OTF2_EvtWriter_RmaRequestLock(out.writer, nullptr, out.at(enter), win, remote, 0,
                                                y.exclusive != 0 ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED),
                  "RmaRequestLock");
            break;
        case LP_UNLOCK:
            complete(out, leave, y.window, y.target, Where::target, true);
            check(OTF2_EvtWriter_RmaReleaseLock(out.writer, nullptr, out.at(leave), win, remote, lock.lock),
                  "RmaReleaseLock");
            break;
        case LP_ACQUIRE:
            check(OTF2_EvtWriter_RmaRequestLock(out.writer, nullptr, out.at(enter), win, remote, lock.lock,
                                                OTF2_LOCK_EXCLUSIVE),
                  "RmaRequestLock");
            check(OTF2_EvtWriter_RmaAcquireLock(out.writer, nullptr, out.at(leave), win, remote, lock.lock,
                                                OTF2_LOCK_EXCLUSIVE),
                  "RmaAcquireLock");
            break;
        case LP_WAIT_CHANGE:
            check(OTF2_EvtWriter_RmaWaitChange(out.writer, nullptr, out.at(enter), win), "RmaWaitChange");
            break;
        case LP_POST:
            window.exposure = group(y.window, ranks);
            group_sync(leave, processes, window.exposure);
            break;
        case LP_START_EPOCH:
            window.access = group(y.window, ranks);
            group_sync(leave, processes, window.access);
            break;
        case LP_COMPLETE_EPOCH:
            complete(out, leave, y.window, LP_ANY_PEER, Where::target, false);  // the targets' waits end later
            group_sync(leave, and_memory, window.access);
            window.access = OTF2_UNDEFINED_GROUP;
            break;
        case LP_WAIT_EPOCH:
            group_sync(leave, and_memory, window.exposure);
            window.exposure = OTF2_UNDEFINED_GROUP;
            break;
        case LP_SYNC_MEMORY:
            check(OTF2_EvtWriter_RmaSync(out.writer, nullptr, out.at(leave), win, ids_.rank_in(win),
                                         OTF2_RMA_SYNC_TYPE_MEMORY),
                  "RmaSync");
            break;
        default:
            throw std::runtime_error("a record synchronizes a window in the unknown way " +
                                     std::to_string(y.operation));
    }
}

}  // namespace logpost::assembler
