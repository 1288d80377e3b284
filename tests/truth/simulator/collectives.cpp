/// Collectives as trees of internal messages: dissemination barrier, recursive doubling (with folding where the ranks
/// are no power of two) and halving, binomial trees, pairwise exchange, Bruck's allgather.

#include "world.hpp"

namespace logpost::truth {

/// Collectives are called in the same order everywhere, so their count is a tag that all ranks share.
int Rank::next_tag() {
    return collectives_++;
}

void Rank::begin_collective(std::string region, Collective kind, int root, std::uint64_t sent, std::uint64_t received) {
    begin_call(std::move(region));
    in_collective_ = true;
    auto& here = call();
    here.collective = kind;
    here.root = root;
    here.sent = sent;
    here.received = received;
    here.instance = static_cast<std::size_t>(collectives_);
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

Task<> Rank::barrier() {
    begin_collective("MPI_Barrier", Collective::barrier, -1, 0, 0);
    const int tag = next_tag();
    for (int distance = 1; distance < size(); distance *= 2) {
        co_await collective_exchange((number_ + distance) % size(), 0, (number_ - distance + size()) % size(), tag);
    }
    end_call();
}

Task<> Rank::allreduce(std::uint64_t bytes) {
    const auto n = static_cast<std::uint64_t>(size());
    begin_collective("MPI_Allreduce", Collective::allreduce, -1, n * bytes, n * bytes);
    const int tag = next_tag();
    int power = 1;
    while (power * 2 <= size()) {
        power *= 2;
    }
    const int rest = size() - power;
    if (number_ >= power) {
        co_await collective_send(number_ - power, bytes, tag);
        co_await collective_recv(number_ - power, tag);
    } else {
        if (number_ < rest) {
            co_await collective_recv(number_ + power, tag);
        }
        for (int distance = 1; distance < power; distance *= 2) {
            const int partner = number_ ^ distance;
            co_await collective_exchange(partner, bytes, partner, tag);
        }
        if (number_ < rest) {
            co_await collective_send(number_ + power, bytes, tag);
        }
    }
    end_call();
}

Task<> Rank::bcast(int root, std::uint64_t bytes) {
    const auto n = static_cast<std::uint64_t>(size());
    begin_collective("MPI_Bcast", Collective::bcast, root, number_ == root ? n * bytes : 0, bytes);
    const int tag = next_tag();
    const int relative = (number_ - root + size()) % size();
    int distance = 1;
    while (distance < size()) {
        if ((relative & distance) != 0) {
            co_await collective_recv((relative - distance + root) % size(), tag);
            break;
        }
        distance *= 2;
    }
    for (distance /= 2; distance > 0; distance /= 2) {
        if (relative + distance < size()) {
            co_await collective_send((relative + distance + root) % size(), bytes, tag);
        }
    }
    end_call();
}

Task<> Rank::reduce(int root, std::uint64_t bytes) {
    const auto n = static_cast<std::uint64_t>(size());
    begin_collective("MPI_Reduce", Collective::reduce, root, bytes, number_ == root ? n * bytes : 0);
    const int tag = next_tag();
    const int relative = (number_ - root + size()) % size();
    for (int distance = 1; distance < size(); distance *= 2) {
        if ((relative & distance) != 0) {
            co_await collective_send((relative - distance + root) % size(), bytes, tag);
            break;
        }
        if (relative + distance < size()) {
            co_await collective_recv((relative + distance + root) % size(), tag);
        }
    }
    end_call();
}

Task<> Rank::alltoall(std::uint64_t bytes) {
    const auto n = static_cast<std::uint64_t>(size());
    begin_collective("MPI_Alltoall", Collective::alltoall, -1, n * bytes, n * bytes);
    const int tag = next_tag();
    for (int step = 1; step < size(); ++step) {
        co_await collective_exchange((number_ + step) % size(), bytes, (number_ - step + size()) % size(), tag);
    }
    end_call();
}

Task<> Rank::allgather(std::uint64_t bytes) {
    const auto n = static_cast<std::uint64_t>(size());
    begin_collective("MPI_Allgather", Collective::allgather, -1, n * bytes, n * bytes);
    const int tag = next_tag();
    for (int distance = 1; distance < size(); distance *= 2) {
        const auto blocks = static_cast<std::uint64_t>(std::min(distance, size() - distance));
        co_await collective_exchange((number_ + distance) % size(), blocks * bytes,
                                     (number_ - distance + size()) % size(), tag);
    }
    end_call();
}

Task<> Rank::reduce_scatter(std::uint64_t bytes) {
    const auto n = static_cast<std::uint64_t>(size());
    begin_collective("MPI_Reduce_scatter_block", Collective::reduce_scatter, -1, n * bytes, bytes);
    const int tag = next_tag();
    int power = 1;
    while (power * 2 <= size()) {
        power *= 2;
    }
    const int rest = size() - power;
    if (number_ >= power) {
        co_await collective_send(number_ - power, n * bytes, tag);
        co_await collective_recv(number_ - power, tag);
    } else {
        if (number_ < rest) {
            co_await collective_recv(number_ + power, tag);
        }
        for (int distance = power / 2; distance > 0; distance /= 2) {
            const int partner = number_ ^ distance;
            const auto part = bytes * static_cast<std::uint64_t>(distance * size() / power);
            co_await collective_exchange(partner, part, partner, tag);
        }
        if (number_ < rest) {
            co_await collective_send(number_ + power, bytes, tag);
        }
    }
    end_call();
}

}  // namespace logpost::truth
