#include "replay/native/waits/permissions.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace logpost::replay {
namespace {

/// When somebody had a lock at the latest: the first call that completed a transfer under it.
std::int64_t held_by(const Epoch& lock, std::int64_t first_complete) noexcept {
    return lock.acquired_ps == Epoch::kNotRecorded ? first_complete : std::min(first_complete, lock.acquired_ps);
}

}  // namespace

Permissions::Permissions(const Program& program)
    : epochs_(program.timelines.size()), permissions_(program.timelines.size()) {
    const auto found = find_epochs(program);
    permit_accesses(program, found);
    permit_locks(program, found);
}

/// To which epoch each transfer belongs: the latest that was open to its target, or to all, when it was started.
Permissions::Found Permissions::find_epochs(const Program& program) {
    Found found{std::vector<std::vector<std::int64_t>>(program.timelines.size()),
                std::vector<std::vector<std::uint32_t>>(program.timelines.size())};
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        const auto& timeline = program.timelines[l];
        epochs_[l].assign(timeline.transfers.size(), kNone);
        found.first_complete[l].assign(timeline.epochs.size(), INT64_MAX);
        found.last_started[l].assign(timeline.epochs.size(), kNone);
        permissions_[l].resize(timeline.epochs.size());
        std::map<std::pair<std::int32_t, Location>, std::uint32_t> open;  // by window and target
        std::uint32_t next = 0;
        for (std::uint32_t i = 0; i < timeline.transfers.size() && !timeline.epochs.empty(); ++i) {
            const auto& transfer = timeline.transfers[i];
            for (; next < timeline.epochs.size() && timeline.epochs[next].begin_call <= transfer.call; ++next) {
                const auto& epoch = timeline.epochs[next];
                if (epoch.kind != Epoch::Kind::exposure && epoch.kind != Epoch::Kind::change) {
                    open[{epoch.rma_window, epoch.peer}] = next;
                }
            }
            for (const auto target : {transfer.target, kNoLocation}) {
                const auto opened = open.find({transfer.rma_window, target});
                if (opened == open.end() || timeline.epochs[opened->second].end_call < transfer.call) {
                    continue;
                }
                epochs_[l][i] = opened->second;
                found.last_started[l][opened->second] = i;
                if (transfer.complete_call != kNone) {
                    auto& first = found.first_complete[l][opened->second];
                    first = std::min(first, timeline.calls[transfer.complete_call].leave_ps);
                }
                break;
            }
        }
    }
    return found;
}

void Permissions::permit_accesses(const Program& program, const Found& found) {
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        const auto& timeline = program.timelines[l];
        for (std::uint32_t i = 0; i < timeline.epochs.size(); ++i) {
            const auto& epoch = timeline.epochs[i];
            if (epoch.match == kNone) {
                continue;
            }
            const auto& peer = program.timelines[index(epoch.peer)];
            const auto& other = peer.epochs[epoch.match];
            if (epoch.kind == Epoch::Kind::access) {
                permissions_[l][i] = {peer.calls[other.begin_call].enter_ps, category_of(Part::late_receiver),
                                      epoch.peer, kNone, other.begin_call};
            } else if (other.end_call != kNone) {
                const auto origin = index(epoch.peer);
                permissions_[l][i] = {peer.calls[other.end_call].enter_ps, category_of(Part::late_sender), epoch.peer,
                                      found.last_started[origin][epoch.match], other.end_call};
            }
        }
    }
}

/// Locks that exclude each other are held one after the other, in the order of the times by which each was held for
/// sure: its first completed transfer, else its release. (A release may return late, when the next one has long been
/// through.) So each waits for the one released last before it, of those released after its own request.
void Permissions::permit_locks(const Program& program, const Found& found) {
    struct Held {
        std::int64_t held;       // by then
        std::int64_t releasing;  // from then
        std::int64_t released;   // to then
        Location location;
        std::uint32_t epoch;
    };
    std::map<std::pair<std::int32_t, std::uint64_t>, std::vector<Held>> locks;  // by window and lock
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        const auto& timeline = program.timelines[l];
        for (std::uint32_t i = 0; i < timeline.epochs.size(); ++i) {
            const auto& epoch = timeline.epochs[i];
            if (epoch.locks() && epoch.end_call != kNone) {
                const auto releasing = timeline.calls[epoch.end_call].enter_ps;
                const auto released = timeline.calls[epoch.end_call].leave_ps;
                locks[{epoch.rma_window, epoch.lock}].push_back(
                    {std::min(held_by(epoch, found.first_complete[l][i]), released), releasing, released,
                     location_at(l), i});
            }
        }
    }
    struct Last {
        std::int64_t released = INT64_MIN;
        std::int64_t releasing = INT64_MIN;
        Location by = kNoLocation;
        std::uint32_t call = kNone;
    };
    for (auto& [key, held] : locks) {
        std::ranges::stable_sort(held, {}, [](const Held& one) { return std::pair(one.held, one.released); });
        std::map<Location, Last> any, exclusive;  // by target; kNoLocation: of all of them
        Last of_any, of_exclusive;                // of whatever target
        for (const auto& one : held) {
            const auto& timeline = program.timelines[index(one.location)];
            const auto& epoch = timeline.epochs[one.epoch];
            const bool alone = epoch.kind == Epoch::Kind::lock_exclusive;
            auto& before = alone ? any : exclusive;
            Last last = epoch.peer == kNoLocation ? (alone ? of_any : of_exclusive) : Last{};
            for (const auto target : {epoch.peer, kNoLocation}) {
                if (const auto earlier = before.find(target);
                    earlier != before.end() && earlier->second.released > last.released) {
                    last = earlier->second;
                }
            }
            const auto& request = timeline.calls[epoch.begin_call];
            if (last.by != one.location && last.released > request.enter_ps) {
                auto at = std::min(last.released, one.held);
                if (request.enter_ps < last.releasing && last.releasing <= request.leave_ps) {
                    at = std::min(at, request.leave_ps);  // it waited until the release, and returned with the lock
                }
                permissions_[index(one.location)][one.epoch] = {at, kLockWait, last.by, kNone, last.call};
            }
            const Last mine{one.released, one.releasing, one.location, epoch.end_call};
            any[epoch.peer] = of_any = mine;
            if (alone) {
                exclusive[epoch.peer] = of_exclusive = mine;
            }
        }
    }
}

}  // namespace logpost::replay
