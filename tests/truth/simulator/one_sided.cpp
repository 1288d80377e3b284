/// One-sided communication through one window of all ranks: transfers, and what opens and closes epochs.
///
/// Synchronization costs no processor: a post reaches its origins, a completion its targets, L later; locks of memory
/// are kept by the NIC of the rank that owns it, in FIFO order. A completion without its target (MPI_Win_complete) only
/// waits until the origin's memory is free.

#include <algorithm>

#include "world.hpp"

namespace logpost::truth {
namespace {

constexpr Time kSynchronize = 50 * kNanosecond;  // what a call costs that only notifies others

}  // namespace

/// The origin's NIC takes a transfer: a put's data, or the request of a get.
void World::leave(std::size_t id) {
    auto& t = record_.transfers[id];
    const auto& between = record_.machine.between(t.origin, t.target);
    if (!t.put) {
        t.sent_begin = engine_.now();
        t.received_begin = t.at_target = t.sent_begin + t.L;
        engine_.at(t.at_target, [this, id] { attend(id); });
        return;
    }
    auto& out = nic(t.origin, t.target);
    t.sent_begin = std::max(engine_.now(), out.free_sending);
    out.free_sending = t.sent_begin + between.service(t.bytes);
    engine_.at(t.sent_begin + between.serialization(t.bytes),
               [this, id] { ranks_[static_cast<std::size_t>(record_.transfers[id].origin)]->notify(); });
    engine_.at(t.sent_begin + t.L, [this, id] {
        auto& arriving = record_.transfers[id];
        const auto& here = record_.machine.between(arriving.origin, arriving.target);
        auto& in = nic(arriving.target, arriving.origin);
        arriving.received_begin = std::max(engine_.now(), in.free_receiving);
        in.free_receiving = arriving.received_begin + here.service(arriving.bytes);
        arriving.at_target = arriving.received_begin + here.serialization(arriving.bytes);
        engine_.at(arriving.at_target, [this, id] { attend(id); });
    });
}

/// It is at its target, whose processor has to serve it, or whose NIC does.
void World::attend(std::size_t id) {
    auto& t = record_.transfers[id];
    if (record_.machine.asynchronous_progress) {
        t.attend_begin = t.attend_end = engine_.now();
        answer(id);
        return;
    }
    ranks_[static_cast<std::size_t>(t.target)]->push({.message = kNone,
                                                      .first = record_.machine.between(t.origin, t.target).o_s,
                                                      .second = 0,
                                                      .first_work = Work::recv_overhead,
                                                      .second_work = Work::recv_overhead,
                                                      .completion = false,
                                                      .done = [this, id](Time begin, Time end) {
                                                          record_.transfers[id].attend_begin = begin;
                                                          record_.transfers[id].attend_end = end;
                                                          answer(id);
                                                      }});
}

/// The target acknowledges a put, or sends the data of a get.
void World::answer(std::size_t id) {
    auto& t = record_.transfers[id];
    if (t.put) {
        t.answer_begin = engine_.now();
        t.answer_received = t.answered = t.answer_begin + t.L;
        engine_.at(t.answered, [this, id] {
            auto& known = record_.transfers[id];
            if (known.complete_call == kNone) {  // else its origin did not wait for this
                known.done = engine_.now();
            }
            ranks_[static_cast<std::size_t>(record_.transfers[id].origin)]->notify();
        });
        return;
    }
    const auto& between = record_.machine.between(t.origin, t.target);
    auto& out = nic(t.target, t.origin);
    t.answer_begin = std::max(engine_.now(), out.free_sending);
    out.free_sending = t.answer_begin + between.service(t.bytes);
    engine_.at(t.answer_begin + t.L, [this, id] {
        auto& arriving = record_.transfers[id];
        const auto& here = record_.machine.between(arriving.origin, arriving.target);
        auto& in = nic(arriving.origin, arriving.target);
        arriving.answer_received = std::max(engine_.now(), in.free_receiving);
        in.free_receiving = arriving.answer_received + here.service(arriving.bytes);
        arriving.answered = arriving.answer_received + here.serialization(arriving.bytes);
        engine_.at(arriving.answered, [this, id, o_r = here.o_r] {
            ranks_[static_cast<std::size_t>(record_.transfers[id].origin)]->push(
                {.message = kNone,
                 .first = o_r,
                 .second = 0,
                 .first_work = Work::recv_overhead,
                 .second_work = Work::recv_overhead,
                 .completion = false,
                 .done = [this, id](Time, Time end) { record_.transfers[id].done = end; }});
        });
    });
}

void World::request_lock(int origin, int target) {
    auto& lock = locks_[target];
    if (lock.held) {
        lock.waiting.push_back(origin);
        return;
    }
    lock.held = true;
    engine_.at(engine_.now() + record_.machine.between(target, origin).L, [this, origin, target] {
        auto& rank = *ranks_[static_cast<std::size_t>(origin)];
        rank.granted_[target] = locks_[target].released;
        rank.notify();
    });
}

void World::release_lock(int target) {
    auto& lock = locks_[target];
    lock.held = false;
    if (!lock.waiting.empty()) {
        const int next = lock.waiting.front();
        lock.waiting.pop_front();
        request_lock(next, target);
    }
}

Task<> Rank::transfer(int target, std::uint64_t bytes, bool put) {
    begin_call(put ? "MPI_Put" : "MPI_Get");
    call().one_sided = true;
    const auto& between = world_.record_.machine.between(number_, target);
    const std::size_t id = world_.record_.transfers.size();
    Transfer transfer;
    transfer.origin = number_;
    transfer.target = target;
    transfer.bytes = bytes;
    transfer.put = put;
    transfer.L = between.L;
    transfer.call = current_;
    transfer.overhead_begin = now();
    world_.record_.transfers.push_back(transfer);
    call().operations.push_back({Operation::Kind::transfer, id, 0});
    open_.push_back(id);
    co_await work(between.o_s, kNone, Work::send_overhead);
    world_.record_.transfers[id].overhead_end = now();
    world_.leave(id);
    end_call();
}

Task<> Rank::put(int target, std::uint64_t bytes) {
    return transfer(target, bytes, true);
}

Task<> Rank::get(int target, std::uint64_t bytes) {
    return transfer(target, bytes, false);
}

Task<> Rank::completed(int target, bool remotely) {
    const auto chosen = [&](std::size_t id) { return target < 0 || world_.record_.transfers[id].target == target; };
    const auto complete = [&](std::size_t id) {
        const auto& t = world_.record_.transfers[id];
        if (remotely || !t.put) {
            return t.done != kNever;
        }
        const auto& between = world_.record_.machine.between(t.origin, t.target);
        return t.sent_begin != kNever && t.sent_begin + between.serialization(t.bytes) <= now();
    };
    co_await progress_until(
        [&] { return std::ranges::all_of(open_, [&](std::size_t id) { return !chosen(id) || complete(id); }); });
    for (const auto id : open_) {
        if (chosen(id)) {
            auto& t = world_.record_.transfers[id];
            t.complete_call = current_;
            t.remotely = remotely;
            if (!remotely && t.put) {
                t.done = t.sent_begin + world_.record_.machine.between(t.origin, t.target).serialization(t.bytes);
            }
            call().operations.push_back({Operation::Kind::transfer_complete, id, 0});
        }
    }
    std::erase_if(open_, chosen);
}

Task<> Rank::flush(int target) {
    begin_call("MPI_Win_flush");
    call().one_sided = true;
    co_await completed(target, true);
    end_call();
}

Task<> Rank::fence() {
    const int tag = begin_collective("MPI_Win_fence", Collective::fence, {}, -1, 0, 0);
    call().one_sided = true;
    co_await completed(-1, true);
    for (int distance = 1; distance < size(); distance *= 2) {
        co_await collective_exchange((number_ + distance) % size(), 0, (number_ - distance + size()) % size(), tag);
    }
    end_call();
}

Task<> Rank::post(std::vector<int> origins) {
    begin_call("MPI_Win_post");
    call().one_sided = true;
    for (const int origin : origins) {
        call().operations.push_back({Operation::Kind::post, static_cast<std::size_t>(origin), 0});
        const Time at = now();
        world_.engine_.at(at + world_.record_.machine.between(number_, origin).L, [this, origin, at] {
            auto& rank = *world_.ranks_[static_cast<std::size_t>(origin)];
            rank.posted_[number_].push_back(at);
            rank.notify();
        });
    }
    exposed_to_ = std::move(origins);
    co_await compute(kSynchronize);
    end_call();
}

Task<> Rank::start(std::vector<int> targets) {
    begin_call("MPI_Win_start");
    call().one_sided = true;
    co_await progress_until(
        [&] { return std::ranges::all_of(targets, [&](int target) { return !posted_[target].empty(); }); });
    Time latest = 0;
    for (const int target : targets) {
        call().operations.push_back({Operation::Kind::start, static_cast<std::size_t>(target), 0});
        latest = std::max(latest, posted_[target].front());
        posted_[target].pop_front();
    }
    call().permission = Permission{.kind = Permission::Kind::post, .until = latest, .transfer = kNone};
    accessed_ = std::move(targets);
    end_call();
}

Task<> Rank::complete() {
    begin_call("MPI_Win_complete");
    call().one_sided = true;
    const Time entered = now();
    const auto mine = open_;
    co_await completed(-1, false);
    for (const int target : accessed_) {
        call().operations.push_back({Operation::Kind::complete, static_cast<std::size_t>(target), 0});
        Time there = now() + world_.record_.machine.between(number_, target).L;
        std::size_t last = kNone;
        for (const auto id : mine) {
            const auto& t = world_.record_.transfers[id];
            if (t.target == target) {
                there = std::max(there, t.at_target == kNever ? there : t.at_target);
                last = id;
            }
        }
        world_.engine_.at(there, [this, target, entered, last] {
            auto& rank = *world_.ranks_[static_cast<std::size_t>(target)];
            rank.completed_[number_].push_back({entered, last});
            rank.notify();
        });
    }
    accessed_.clear();
    end_call();
}

Task<> Rank::wait_exposed() {
    begin_call("MPI_Win_wait");
    call().one_sided = true;
    co_await progress_until([&] {
        return jobs_.empty() &&  // what has arrived is in place
               std::ranges::all_of(exposed_to_, [&](int origin) { return !completed_[origin].empty(); });
    });
    Permission permission{.kind = Permission::Kind::complete, .until = 0, .transfer = kNone};
    for (const int origin : exposed_to_) {
        call().operations.push_back({Operation::Kind::wait, static_cast<std::size_t>(origin), 0});
        const auto notice = completed_[origin].front();
        completed_[origin].pop_front();
        if (notice.at > permission.until) {
            permission.until = notice.at;
            permission.transfer = notice.transfer;
        }
    }
    call().permission = permission;
    exposed_to_.clear();
    end_call();
}

Task<> Rank::lock(int target) {
    begin_call("MPI_Win_lock");
    call().one_sided = true;
    call().operations.push_back({Operation::Kind::request_lock, static_cast<std::size_t>(target), 0});
    world_.engine_.at(now() + world_.record_.machine.between(number_, target).L,
                      [this, target] { world_.request_lock(number_, target); });
    co_await progress_until([&] { return granted_.contains(target); });
    call().permission = Permission{.kind = Permission::Kind::lock, .until = granted_.at(target), .transfer = kNone};
    granted_.erase(target);
    end_call();
}

Task<> Rank::unlock(int target) {
    begin_call("MPI_Win_unlock");
    call().one_sided = true;
    co_await completed(target, true);
    call().operations.push_back({Operation::Kind::release_lock, static_cast<std::size_t>(target), 0});
    const Time at = now();
    world_.engine_.at(at + world_.record_.machine.between(number_, target).L, [this, target, at] {
        world_.locks_[target].released = at;
        world_.release_lock(target);
    });
    end_call();
}

}  // namespace logpost::truth
