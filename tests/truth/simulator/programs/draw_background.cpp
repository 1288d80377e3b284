/// Phases without a cause: what programs do in addition to their faults.

#include "draw.hpp"

namespace logpost::truth {
namespace {

/// Exchange with the ranks at some distances to both sides.
Phase neighbours(const std::vector<int>& distances, std::uint64_t bytes) {
    return [=](Rank& rank, int) -> Task<> {
        const int n = rank.size();
        std::vector<Request> requests;
        for (const int distance : distances) {
            requests.push_back(co_await rank.irecv((rank.number() + n - distance) % n, distance));
        }
        for (const int distance : distances) {
            requests.push_back(co_await rank.isend((rank.number() + distance) % n, bytes, {.tag = distance}));
        }
        co_await rank.waitall(requests);
    };
}

Phase shift(int distance, std::uint64_t bytes) {
    return [=](Rank& rank, int) -> Task<> {
        const int n = rank.size();
        co_await rank.sendrecv((rank.number() + distance) % n, bytes, (rank.number() + n - distance) % n);
    };
}

/// Pairs talk there and back once.
Phase pairs(std::uint64_t bytes) {
    return [=](Rank& rank, int) -> Task<> {
        const int partner = rank.number() ^ 1;
        if (partner >= rank.size()) {
            co_return;
        }
        if (rank.number() < partner) {
            co_await rank.send(partner, bytes);
            co_await rank.recv(partner);
        } else {
            co_await rank.recv(partner);
            co_await rank.send(partner, bytes);
        }
    };
}

Phase reduction(std::uint64_t bytes) {
    return [=](Rank& rank, int) -> Task<> { co_await rank.allreduce(bytes); };
}

/// Messages beyond the eager limit, with room for their handshakes.
Phase large_exchange(std::uint64_t bytes) {
    return [=](Rank& rank, int) -> Task<> { co_await halo(rank, bytes); };
}

/// Persistent sends to both neighbours.
Phase persistent(std::uint64_t bytes) {
    return [=](Rank& rank, int) -> Task<> {
        const int n = rank.size();
        const int left = (rank.number() + n - 1) % n;
        const int right = (rank.number() + 1) % n;
        std::vector<Request> requests;
        requests.push_back(co_await rank.irecv(left, 1));
        requests.push_back(co_await rank.irecv(right, 2));
        std::vector<Rank::Start> sends;
        sends.push_back({right, bytes, {.tag = 1}});
        sends.push_back({left, bytes, {.tag = 2}});
        for (const auto request : co_await rank.startall(sends)) {
            requests.push_back(request);
        }
        co_await rank.waitall(requests);
    };
}

/// One message is received behind two Iprobes.
Phase probed(int distance, std::uint64_t bytes) {
    return [=](Rank& rank, int) -> Task<> {
        const int n = rank.size();
        const auto receive = co_await rank.irecv((rank.number() + n - distance) % n);
        const auto send = co_await rank.isend((rank.number() + distance) % n, bytes);
        const bool done = co_await rank.test(receive);
        std::vector<Request> rest;
        if (!done) {
            rest.push_back(receive);
        }
        rest.push_back(send);
        co_await rank.waitall(rest);
    };
}

/// A reduction to one rank, and a broadcast of its result.
Phase up_and_down(int root, std::uint64_t bytes) {
    return [=](Rank& rank, int) -> Task<> {
        co_await rank.reduce(root, bytes);
        co_await rank.bcast(root, bytes);
    };
}

/// An all-to-all, an allgather, a reduction with scattered or with whole result.
Phase exchange(int kind, std::uint64_t bytes) {
    return [=](Rank& rank, int) -> Task<> {
        switch (kind) {
            case 0:
                co_await rank.alltoall(bytes);
                break;
            case 1:
                co_await rank.allgather(bytes);
                break;
            case 2:
                co_await rank.reduce_scatter(bytes);
                break;
            default:
                co_await rank.allreduce(bytes);
        }
    };
}

}  // namespace

Phase draw_exchange(Draw& draw, const Setting& on) {
    const auto most = static_cast<double>(draw.chance(0.2) ? on.large : on.small);
    const auto bytes = static_cast<std::uint64_t>(draw.scale(8.0, most));
    return exchange(draw.number(0, 3), bytes);
}

Background draw_background(Draw& draw, const Setting& on) {
    const auto bytes = static_cast<std::uint64_t>(draw.scale(8.0, static_cast<double>(on.small)));
    const int distance = draw.number(1, on.ranks / 2);
    switch (draw.number(0, 7)) {
        case 0:
            return {neighbours(distance == 1 ? std::vector<int>{1} : std::vector<int>{1, distance}, bytes)};
        case 1:
            return {shift(distance, bytes)};
        case 2:
            return {pairs(bytes)};
        case 3:
            return {large_exchange(on.large)};
        case 4:
            return {persistent(bytes)};
        case 5:
            return {probed(distance, bytes)};
        case 6: {
            const auto size = static_cast<std::uint64_t>(draw.one_of<int>({8, 64, 512}));
            return {up_and_down(distance, size), reduction(size)};
        }
        default:
            return {reduction(static_cast<std::uint64_t>(draw.one_of<int>({8, 64, 512})))};
    }
}

}  // namespace logpost::truth
