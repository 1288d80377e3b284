// One-sided communication: transfers at their origins, what completes them, and the synchronization of windows.
// Transfers through windows that connect no processes (host and accelerator) are only counted.
#include <string_view>

#include "analyzer/archive/native/definitions/region_kind.hpp"
#include "analyzer/archive/native/events/decoding.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

/// A record of a window.
struct Record {
    std::int64_t now = 0;
    std::int32_t window = kUndefined;
    std::uint32_t call = kNone;  // kNone: nothing is kept of it
};

/// Takes a record's time and call. A record of a window that has no definition, or that no processes share, belongs to
/// no window.
Record record_of(Decoding& d, T ticks, OTF2_RmaWinRef ref) {
    Record record{d.at(ticks), d.ids.window(ref), kNone};
    if (record.window == kUndefined) {
        d.stack.count_record();
        count(d.quality, Quality::undefined_communicator);
    } else if (!d.trace.windows[static_cast<std::size_t>(record.window)].device) {
        record.call = d.stack.call_for_record(record.now);
    }
    return record;
}

/// The location of a rank of a window; kNoLocation: of all, or not known.
replay::Location location_of(Decoding& d, const Record& record, std::uint32_t rank) {
    const auto comm = d.trace.windows[static_cast<std::size_t>(record.window)].comm;
    if (comm == kUndefined || rank == OTF2_UNDEFINED_UINT32) {
        return kNoLocation;
    }
    const auto& members = d.trace.communicators[static_cast<std::size_t>(comm)].locations;
    count(d.quality, Quality::undefined_peer, rank < members.size() ? 0 : 1);
    return replay::location_of(members, replay::rank_at(rank));
}

void add(OneSidedTotals& to, Transfer::Kind kind, std::uint64_t bytes) {
    switch (kind) {
        case Transfer::Kind::put:
            ++to.puts;
            to.put_bytes += bytes;
            break;
        case Transfer::Kind::get:
            ++to.gets;
            to.get_bytes += bytes;
            break;
        case Transfer::Kind::atomic:
            ++to.atomics;
            to.atomic_bytes += bytes;
            break;
    }
}

void start(Decoding& d, T ticks, const A* attributes, OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes,
           std::uint64_t matching, Transfer::Kind kind) {
    const auto record = record_of(d, ticks, window);
    if (record.call == kNone) {
        if (record.window != kUndefined) {
            count(d.quality, Quality::device_transfer);
            d.stream.copy_begins(record.now, matching, d.size(bytes), kind == Transfer::Kind::get);
        }
        return;
    }
    bytes = d.size(bytes);
    add(d.out->one_sided, kind, bytes);
    const auto target = location_of(d, record, remote);
    d.out->transfers.push_back({bytes, record.call, kNone, kNone, target, record.window, kind,
                                d.layout_of(attributes, d.ids.layout_attribute()),
                                d.layout_of(attributes, d.ids.target_layout_attribute())});
    d.transfers.started(matching);
}

OTF2_CallbackCode on_put(L, T ticks, std::uint64_t, void* user, A* attributes, OTF2_RmaWinRef window,
                         std::uint32_t remote, std::uint64_t bytes, std::uint64_t matching) {
    return guarded(user, [&] {
        auto& d = self(user);
        start(d, ticks, attributes, window, remote, bytes, matching, Transfer::Kind::put);
    });
}

OTF2_CallbackCode on_get(L, T ticks, std::uint64_t, void* user, A* attributes, OTF2_RmaWinRef window,
                         std::uint32_t remote, std::uint64_t bytes, std::uint64_t matching) {
    return guarded(user, [&] {
        auto& d = self(user);
        start(d, ticks, attributes, window, remote, bytes, matching, Transfer::Kind::get);
    });
}

OTF2_CallbackCode on_atomic(L, T ticks, std::uint64_t, void* user, A* attributes, OTF2_RmaWinRef window,
                            std::uint32_t remote, OTF2_RmaAtomicType, std::uint64_t sent, std::uint64_t received,
                            std::uint64_t matching) {
    return guarded(user, [&] {
        auto& d = self(user);
        start(d, ticks, attributes, window, remote, d.size(sent) + d.size(received), matching, Transfer::Kind::atomic);
    });
}

OTF2_CallbackCode on_complete(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window,
                              std::uint64_t matching) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto record = record_of(d, ticks, window);
        if (record.call == kNone) {
            d.stream.copy_ends(record.now, matching);
        } else if (!d.transfers.complete(record.window, matching, record.call)) {
            // A thread of the process may have started it: a flush completes those of all.
            count(d.quality, Quality::request_unknown);
            d.out->ended_transfers.push_back({record.window, matching});
        }
    });
}

OTF2_CallbackCode on_complete_remote(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window,
                                     std::uint64_t matching) {
    return guarded(user, [&] {
        auto& d = self(user);
        if (const auto record = record_of(d, ticks, window); record.call != kNone) {
            d.transfers.complete_remotely(record.window, matching, record.call);
        }
    });
}

bool is_one_sided(const Decoding& d, const Call& call) {
    const auto region = static_cast<std::size_t>(call.region);
    return region < d.definitions.kinds.size() && d.definitions.kinds[region] == CallKind::one_sided;
}

OTF2_CallbackCode on_collective_end(L, T ticks, std::uint64_t, void* user, A*, OTF2_CollectiveOp code,
                                    OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, std::uint32_t root_rank,
                                    std::uint64_t sent, std::uint64_t received) {
    return guarded(user, [&] {
        auto& d = self(user);
        d.stack.has_collective();
        const auto record = record_of(d, ticks, window);
        if (record.call == kNone) {
            return;
        }
        const auto& call = d.out->calls.back();
        auto operation = operation_of(code);
        if ((level & OTF2_RMA_SYNC_LEVEL_PROCESS) == 0) {
            operation = Operation::unknown;  // no process waits for another
        } else if (operation == Operation::barrier && is_one_sided(d, call)) {
            operation = Operation::fence;  // a barrier of SHMEM stays one
        } else if (operation == Operation::reduce && root_rank >= OTF2_COLLECTIVE_ROOT_THIS_GROUP) {
            operation = Operation::allreduce;  // SHMEM's reductions give everybody the result
        }
        const auto root = root_rank >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? kNoRank : replay::rank_at(root_rank);
        d.out->collectives.push_back({call.enter_ps, record.now, d.size(sent), d.size(received), record.call,
                                      record.call, d.trace.windows[static_cast<std::size_t>(record.window)].comm, root,
                                      kNone, operation, record.window});
        if ((level & OTF2_RMA_SYNC_LEVEL_MEMORY) != 0) {
            d.transfers.complete_all(record.window, replay::kNoLocation, record.call, true);
        }
    });
}

/// The open epoch of a lock; nullptr: there is none.
Epoch* open_lock(Decoding& d, const Record& record, replay::Location target, std::uint64_t lock) {
    for (auto i = d.out->epochs.size(); i-- > 0;) {
        auto& epoch = d.out->epochs[i];
        if (epoch.rma_window == record.window && epoch.peer == target && epoch.lock == lock && epoch.locks()) {
            return epoch.end_call == kNone ? &epoch : nullptr;
        }
    }
    return nullptr;
}

Epoch& lock(Decoding& d, const Record& record, replay::Location target, std::uint64_t which, OTF2_LockType type) {
    return d.out->epochs.push_back({Epoch::kNotRecorded, which, record.call, kNone, target, record.window, kNone,
                                    type == OTF2_LOCK_SHARED ? Epoch::Kind::lock_shared : Epoch::Kind::lock_exclusive});
}

OTF2_CallbackCode on_request_lock(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window,
                                  std::uint32_t remote, std::uint64_t which, OTF2_LockType type) {
    return guarded(user, [&] {
        auto& d = self(user);
        if (const auto record = record_of(d, ticks, window); record.call != kNone) {
            lock(d, record, location_of(d, record, remote), which, type);
        }
    });
}

OTF2_CallbackCode on_acquire_lock(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window,
                                  std::uint32_t remote, std::uint64_t which, OTF2_LockType type) {
    return guarded(user, [&] {
        auto& d = self(user);
        if (const auto record = record_of(d, ticks, window); record.call != kNone) {
            const auto target = location_of(d, record, remote);
            auto* open = open_lock(d, record, target, which);
            (open != nullptr ? *open : lock(d, record, target, which, type)).acquired_ps = record.now;
        }
    });
}

OTF2_CallbackCode on_release_lock(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window,
                                  std::uint32_t remote, std::uint64_t which) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto record = record_of(d, ticks, window);
        if (record.call == kNone) {
            return;
        }
        const auto target = location_of(d, record, remote);
        if (auto* open = open_lock(d, record, target, which); open != nullptr) {
            open->end_call = record.call;
        }
        d.transfers.complete_all(record.window, target, record.call, true);
    });
}

/// Begins an epoch with each member of a group.
void begin(Decoding& d, const Record& record, OTF2_GroupRef group, Epoch::Kind kind) {
    const auto members = d.ids.group(group);
    if (members == kUndefined) {
        count(d.quality, Quality::undefined_communicator);
        return;
    }
    for (const auto peer : d.definitions.group_members[static_cast<std::size_t>(members)]) {
        d.out->epochs.push_back({Epoch::kNotRecorded, 0, record.call, kNone, peer, record.window, kNone, kind});
    }
}

void end(Decoding& d, const Record& record, Epoch::Kind kind) {
    for (auto i = d.out->epochs.size(); i-- > 0;) {
        auto& epoch = d.out->epochs[i];
        if (epoch.kind == kind && epoch.rma_window == record.window) {
            if (epoch.end_call != kNone) {
                return;  // one at a time is open
            }
            epoch.end_call = record.call;
        }
    }
}

OTF2_CallbackCode on_group_sync(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaSyncLevel, OTF2_RmaWinRef window,
                                OTF2_GroupRef group) {
    return guarded(user, [&] {
        auto& d = self(user);
        const auto record = record_of(d, ticks, window);
        if (record.call == kNone || record.call >= d.out->calls.size()) {
            return;
        }
        const auto region = static_cast<std::size_t>(d.out->calls.back().region);
        switch (region < d.trace.regions.size() ? group_synchronization(d.trace.regions[region].name)
                                                : GroupSynchronization::none) {
            case GroupSynchronization::post:
                begin(d, record, group, Epoch::Kind::exposure);
                break;
            case GroupSynchronization::start:
                begin(d, record, group, Epoch::Kind::access);
                break;
            case GroupSynchronization::complete:
                end(d, record, Epoch::Kind::access);
                d.transfers.complete_all(record.window, replay::kNoLocation, record.call, false);
                break;
            case GroupSynchronization::wait:
                end(d, record, Epoch::Kind::exposure);
                break;
            case GroupSynchronization::none:
                break;
        }
    });
}

OTF2_CallbackCode on_wait_change(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window) {
    return guarded(user, [&] {
        auto& d = self(user);
        if (const auto record = record_of(d, ticks, window); record.call != kNone) {
            d.out->epochs.push_back({Epoch::kNotRecorded, 0, record.call, record.call, replay::kNoLocation,
                                     record.window, kNone, Epoch::Kind::change});
        }
    });
}

}  // namespace

void set_one_sided_callbacks(OTF2_EvtReaderCallbacks* c) {
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, on_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, on_atomic);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(c, on_complete);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(c, on_complete);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(c, on_complete_remote);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, on_collective_end);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(c, on_request_lock);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(c, on_acquire_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(c, on_release_lock);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(c, on_group_sync);
    OTF2_EvtReaderCallbacks_SetRmaWaitChangeCallback(c, on_wait_change);

#define LOGPOST_COUNT(name) OTF2_EvtReaderCallbacks_Set##name##Callback(c, on_communication)
    LOGPOST_COUNT(RmaWinCreate);
    LOGPOST_COUNT(RmaWinDestroy);
    LOGPOST_COUNT(RmaCollectiveBegin);
    LOGPOST_COUNT(RmaTryLock);
    LOGPOST_COUNT(RmaSync);
    LOGPOST_COUNT(RmaOpTest);
#undef LOGPOST_COUNT
}

}  // namespace logpost::analyzer
