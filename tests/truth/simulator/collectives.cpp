/// Collectives as trees of internal messages: dissemination barrier, recursive doubling (with folding where the ranks
/// are no power of two) and halving, binomial trees, pairwise exchange, Bruck's allgather.

#include <algorithm>

#include "world.hpp"

namespace logpost::truth {

/// Its members by their numbers in it, and this rank's own one.
struct Rank::Circle {
    Members members;
    int me, n;
    [[nodiscard]] int at(int number) const { return members[static_cast<std::size_t>((number + n) % n)]; }
};

Rank::Circle Rank::circle(const Members& of) const {
    const auto& members = world_.record_.communicators[world_.communicator(of)];
    const auto me = std::ranges::find(members, number_) - members.begin();
    return {members, static_cast<int>(me), static_cast<int>(members.size())};
}

int Rank::begin_collective(std::string region, Collective kind, const Members& of, int root, std::uint64_t sent,
                           std::uint64_t received) {
    begin_call(std::move(region));
    in_collective_ = true;
    auto& here = call();
    here.collective = kind;
    here.root = root;
    here.sent = sent;
    here.received = received;
    here.communicator = world_.communicator(of);
    // Members call them in the same order, so that their count is one that all share.
    const auto count = collectives_[here.communicator]++;
    here.instance = count * kMostCommunicators + here.communicator;
    return static_cast<int>(here.instance);
}

Task<> Rank::collective_send(int to, std::uint64_t bytes, int tag) {
    const auto request = co_await start_send(to, bytes, {.tag = tag}, true);
    co_await progress_until([&] { return complete(request); });
    pending_.erase(request.id);
}

Task<> Rank::collective_recv(int from, int tag) {
    const auto request = post_receive(from, tag, true);
    const std::vector<Request> one{request};
    await_completions(one);
    co_await progress_until([&] { return complete(request); });
    pending_.erase(request.id);
    drop_completions();
}

Task<> Rank::collective_exchange(int to, std::uint64_t bytes, int from, int tag) {
    const auto receiving = post_receive(from, tag, true);
    const auto sending = co_await start_send(to, bytes, {.tag = tag}, true);
    const std::vector<Request> one{receiving};
    await_completions(one);
    co_await progress_until([&] { return complete(receiving) && complete(sending); });
    pending_.erase(receiving.id);
    pending_.erase(sending.id);
    drop_completions();
}

Task<> Rank::barrier(Members on) {
    const auto in = circle(on);
    const int tag = begin_collective("MPI_Barrier", Collective::barrier, on, -1, 0, 0);
    for (int distance = 1; distance < in.n; distance *= 2) {
        co_await collective_exchange(in.at(in.me + distance), 0, in.at(in.me - distance), tag);
    }
    end_call();
}

Task<> Rank::doubling(const Members& on, std::uint64_t bytes, int tag, Started* started) {
    const auto in = circle(on);
    int power = 1;
    while (power * 2 <= in.n) {
        power *= 2;
    }
    const int rest = in.n - power;
    if (in.me >= power) {
        co_await collective_send(in.at(in.me - power), bytes, tag);
        co_await collective_recv(in.at(in.me - power), tag);
        co_return;
    }
    if (in.me < rest) {
        co_await collective_recv(in.at(in.me + power), tag);
    }
    for (int distance = 1; distance < power; distance *= 2) {
        const int partner = in.at(in.me ^ distance);
        if (distance == 1 && started != nullptr && started->sends) {
            const auto sending = started->sending;
            co_await collective_recv(partner, tag);
            co_await progress_until([&] { return complete(sending); });
            pending_.erase(sending.id);
        } else {
            co_await collective_exchange(partner, bytes, partner, tag);
        }
    }
    if (in.me < rest) {
        co_await collective_send(in.at(in.me + power), bytes, tag);
    }
}

Task<> Rank::allreduce(std::uint64_t bytes, Members on) {
    const auto n = static_cast<std::uint64_t>(circle(on).n);
    const int tag = begin_collective("MPI_Allreduce", Collective::allreduce, on, -1, n * bytes, n * bytes);
    co_await doubling(on, bytes, tag);
    end_call();
}

Task<Rank::Started> Rank::iallreduce(std::uint64_t bytes) {
    const Members all;
    const auto n = static_cast<std::uint64_t>(size());
    Started started;
    started.bytes = bytes;
    started.tag = begin_collective("MPI_Iallreduce", Collective::allreduce, all, -1, n * bytes, n * bytes);
    call().part = Part::start;
    call().request = next_request_++;
    if ((size() & (size() - 1)) == 0 && size() > 1) {  // else the rank that folds has to wait first
        started.sending = co_await start_send(number_ ^ 1, bytes, {.tag = started.tag}, true);
        started.sends = true;
    }
    started.call = call();
    end_call();
    co_return started;
}

Task<> Rank::wait(Started started) {
    begin_call("MPI_Wait");
    in_collective_ = true;
    auto& here = call();
    const auto& there = started.call;
    here.collective = there.collective;
    here.part = Part::completion;
    here.request = there.request;
    here.instance = there.instance;
    here.communicator = there.communicator;
    here.sent = there.sent;
    here.received = there.received;
    const Members all;
    co_await doubling(all, started.bytes, started.tag, &started);
    end_call();
}

Task<> Rank::neighbor_alltoall(std::uint64_t bytes) {
    const Members all;
    const int tag = begin_collective("MPI_Neighbor_alltoall", Collective::none, all, -1, 0, 0);
    const int left = (number_ + size() - 1) % size();
    const int right = (number_ + 1) % size();
    std::vector<Request> receives, every;
    for (const int from : {left, right}) {
        receives.push_back(post_receive(from, tag, true));
    }
    every = receives;
    for (const int to : {left, right}) {
        every.push_back(co_await start_send(to, bytes, {.tag = tag}, true));
    }
    await_completions(receives);
    co_await progress_until([&] { return std::ranges::all_of(every, [&](Request r) { return complete(r); }); });
    for (const auto request : every) {
        pending_.erase(request.id);
    }
    drop_completions();
    end_call();
}

Task<> Rank::bcast(int root, std::uint64_t bytes, Members on) {
    const auto in = circle(on);
    const auto n = static_cast<std::uint64_t>(in.n);
    const int tag = begin_collective("MPI_Bcast", Collective::bcast, on, root, root == number_ ? n * bytes : 0, bytes);
    const int first = static_cast<int>(std::ranges::find(in.members, root) - in.members.begin());
    const int relative = (in.me - first + in.n) % in.n;
    int distance = 1;
    while (distance < in.n) {
        if ((relative & distance) != 0) {
            co_await collective_recv(in.at(relative - distance + first), tag);
            break;
        }
        distance *= 2;
    }
    for (distance /= 2; distance > 0; distance /= 2) {
        if (relative + distance < in.n) {
            co_await collective_send(in.at(relative + distance + first), bytes, tag);
        }
    }
    end_call();
}

Task<> Rank::reduce(int root, std::uint64_t bytes, Members on) {
    const auto in = circle(on);
    const auto n = static_cast<std::uint64_t>(in.n);
    const int tag =
        begin_collective("MPI_Reduce", Collective::reduce, on, root, bytes, root == number_ ? n * bytes : 0);
    const int first = static_cast<int>(std::ranges::find(in.members, root) - in.members.begin());
    const int relative = (in.me - first + in.n) % in.n;
    for (int distance = 1; distance < in.n; distance *= 2) {
        if ((relative & distance) != 0) {
            co_await collective_send(in.at(relative - distance + first), bytes, tag);
            break;
        }
        if (relative + distance < in.n) {
            co_await collective_recv(in.at(relative + distance + first), tag);
        }
    }
    end_call();
}

Task<> Rank::alltoall(std::uint64_t bytes, Members on) {
    const auto in = circle(on);
    const auto n = static_cast<std::uint64_t>(in.n);
    const int tag = begin_collective("MPI_Alltoall", Collective::alltoall, on, -1, n * bytes, n * bytes);
    for (int step = 1; step < in.n; ++step) {
        co_await collective_exchange(in.at(in.me + step), bytes, in.at(in.me - step), tag);
    }
    end_call();
}

Task<> Rank::allgather(std::uint64_t bytes, Members on) {
    const auto in = circle(on);
    const auto n = static_cast<std::uint64_t>(in.n);
    const int tag = begin_collective("MPI_Allgather", Collective::allgather, on, -1, n * bytes, n * bytes);
    for (int distance = 1; distance < in.n; distance *= 2) {
        const auto blocks = static_cast<std::uint64_t>(std::min(distance, in.n - distance));
        co_await collective_exchange(in.at(in.me + distance), blocks * bytes, in.at(in.me - distance), tag);
    }
    end_call();
}

Task<> Rank::reduce_scatter(std::uint64_t bytes, Members on) {
    const auto in = circle(on);
    const auto n = static_cast<std::uint64_t>(in.n);
    const int tag = begin_collective("MPI_Reduce_scatter_block", Collective::reduce_scatter, on, -1, n * bytes, bytes);
    int power = 1;
    while (power * 2 <= in.n) {
        power *= 2;
    }
    const int rest = in.n - power;
    if (in.me >= power) {
        co_await collective_send(in.at(in.me - power), n * bytes, tag);
        co_await collective_recv(in.at(in.me - power), tag);
    } else {
        if (in.me < rest) {
            co_await collective_recv(in.at(in.me + power), tag);
        }
        for (int distance = power / 2; distance > 0; distance /= 2) {
            const int partner = in.at(in.me ^ distance);
            const auto part = bytes * static_cast<std::uint64_t>(distance * in.n / power);
            co_await collective_exchange(partner, part, partner, tag);
        }
        if (in.me < rest) {
            co_await collective_send(in.at(in.me + power), bytes, tag);
        }
    }
    end_call();
}

}  // namespace logpost::truth
