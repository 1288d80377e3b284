#include "replay/native/collectives/replay.hpp"

#include <algorithm>
#include <cmath>

#include "replay/native/collectives/schedule.hpp"

namespace logpost::replay {

CollectiveEndpoints::CollectiveEndpoints(const Program& program, const Parameters& parameters)
    : nic(program.placement.size()) {
    const auto per_node = static_cast<std::uint32_t>(std::max(1, parameters.nics_per_node));
    nics = static_cast<std::uint32_t>(program.placement.nodes()) * per_node;
    std::vector<std::uint32_t> seen(program.placement.nodes());
    for (std::size_t location = 0; location < nic.size(); ++location) {
        const auto& place = program.placement[location];
        if (place.node == kUndefined) {
            nic[location] = nics++;
        } else if (place.rank != kNoRank) {
            const auto node = static_cast<std::uint32_t>(place.node);
            nic[location] = node * per_node + seen[node]++ % per_node;
        } else {
            nic[location] = static_cast<std::uint32_t>(place.node) * per_node;
        }
    }
}

namespace {

/// Whether a part of what each member gives is for itself, which it copies before its messages (Open MPI, MPICH).
bool gives_itself(const Pattern& pattern) noexcept {
    const auto one = pattern.operation;
    return pattern.group == 0 &&
           (one == Operation::alltoall || one == Operation::alltoallv || one == Operation::alltoallw);
}

/// Whether members combine data with an operation.
bool is_reduction(Operation operation) noexcept {
    switch (operation) {
        case Operation::reduce:
        case Operation::allreduce:
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
        case Operation::scan:
        case Operation::exscan:
            return true;
        default:
            return false;
    }
}

}  // namespace

CollectiveReplay::CollectiveReplay(const Program& program, const Parameters& parameters,
                                   const CollectiveEndpoints& endpoints)
    : program_(program), parameters_(parameters), endpoints_(endpoints) {
    if (parameters.endpoints_queue) {
        sending_.resize(endpoints.nics + endpoints.nic.size());
        receiving_.resize(sending_.size());
        entered_.resize(sending_.size());
    }
}

std::uint32_t CollectiveReplay::add(std::int64_t t, std::uint32_t before, std::uint32_t cost, Path path,
                                    std::uint32_t run) {
    nodes_.push_back({t, before, cost, run, path});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

/// Work of one kind that follows itself is one step back.
std::uint32_t CollectiveReplay::add_work(std::int64_t t, std::uint32_t before, std::uint32_t cost, Path path) {
    const auto last = nodes_[before];
    return last.path == path && last.cost == cost ? add(t, last.before, cost, path, last.run + 1)
                                                  : add(t, before, cost, path, 1);
}

std::uint32_t CollectiveReplay::cost(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t repeat) {
    const auto a = members_[from].location;
    const auto b = members_[to].location;
    const auto locality = program_.placement.between(a, b);
    const bool far = parameters_.mean_hops.has_value() && locality == Locality::other_node;
    const auto& gives = members_[from].gives;
    const auto& gets = members_[to].gets;
    const CostKey key{bytes,     far ? program_.placement.hops(a, b) : kUndefined, repeat, locality, gives, gets,
                      combining_};
    auto& recent = recent_[static_cast<std::size_t>(locality)];
    if (recent < keys_.size() && keys_[recent] == key) {
        return recent;
    }
    const auto known = std::ranges::find(keys_, key);
    recent = static_cast<std::uint32_t>(known - keys_.begin());
    if (known == keys_.end()) {
        keys_.push_back(key);
        MessageCost one{message_cost(parameters_, locality, bytes, gives, 1, key.hops)};
        one.pack = one.l_mw / 2;
        if (gets != Blocks{}) {
            const auto l_mw = message_cost(parameters_, locality, bytes, gets, 1, key.hops).l_mw;
            one.unpack = l_mw - l_mw / 2;
        }
        if (combining_) {
            const auto length = std::round(parameters_.reduction_per_byte * static_cast<double>(bytes));
            one.reduction = static_cast<std::int64_t>(std::min(length, static_cast<double>(kMostCostPs)));
        }
        for (auto* term : {&one.o_s, &one.o_r, &one.L, &one.serialization, &one.service, &one.o_control, &one.L_control,
                           &one.pack, &one.unpack, &one.reduction}) {
            *term *= repeat;
        }
        costs_.push_back(one);
    }
    return recent;
}

/// First in, first out. Messages are visited round by round, so that one that is ready before the busy period at hand
/// found the endpoint free.
std::int64_t CollectiveReplay::queue(Busy& busy, std::int64_t ready, std::int64_t service) noexcept {
    if (ready >= busy.end) {
        busy = {ready, ready + service};
        return ready;
    }
    if (ready >= busy.begin) {
        const auto start = busy.end;
        busy.end += service;
        return start;
    }
    if (ready + service > busy.begin) {
        busy.begin = ready;
        busy.end += service;
    }
    return ready;
}

CollectiveReplay::Way CollectiveReplay::transfer(std::uint32_t from, std::uint32_t to, const Cost& cost,
                                                 std::int64_t ready) {
    if (sending_.empty()) {
        return {ready + cost.serialization, ready + cost.L + cost.serialization};
    }
    const auto a = index(members_[from].location);
    const auto b = index(members_[to].location);
    const bool far = program_.placement[a].node != program_.placement[b].node;
    const auto out = far ? endpoints_.nic[a] : endpoints_.nics + a;
    const auto in = far ? endpoints_.nic[b] : endpoints_.nics + b;
    if (ready < entered_[out]) {
        early_.push_back({ready, cost.service, from, far, false});
    }
    const auto start = queue(sending_[out], ready, cost.service);
    if (start + cost.L < entered_[in]) {
        early_.push_back({start + cost.L, cost.service, to, far, true});
    }
    const auto first = queue(receiving_[in], start + cost.L, cost.service);
    return {start + cost.serialization, first + cost.serialization};
}

void CollectiveReplay::run(const Pattern& pattern, Algorithm algorithm, std::span<const Member> members) {
    members_ = members;
    reduces_ = combining_ = is_reduction(pattern.operation);
    nodes_.clear();
    sums_.clear();
    early_.clear();
    if (keys_.size() > 64) {  // sizes that differ from operation to operation
        keys_.clear();
        costs_.clear();
    }
    at_.resize(members.size());
    for (std::uint32_t i = 0; i < members.size(); ++i) {
        at_[i] = add(members[i].enter_ps, 0, 0, Path::enter, 0);
        if (!sending_.empty()) {
            const auto location = index(members[i].location);
            for (auto* endpoints : {&sending_, &receiving_}) {
                (*endpoints)[endpoints_.nic[location]] = {};
                (*endpoints)[endpoints_.nics + location] = {};
            }
            entered_[endpoints_.nic[location]] = entered_[endpoints_.nics + location] = INT64_MIN;
        }
    }
    for (const auto& member : members) {
        if (!sending_.empty()) {
            const auto location = index(member.location);
            for (const std::size_t endpoint : {std::size_t{endpoints_.nic[location]}, endpoints_.nics + location}) {
                entered_[endpoint] = std::max(entered_[endpoint], member.enter_ps);
            }
        }
    }
    if (gives_itself(pattern)) {
        copy_own(pattern);
    }
    visit_schedule(pattern, algorithm, *this);
}

void CollectiveReplay::copy_own(const Pattern& pattern) {
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
        const auto& member = members_[i];
        if (member.gives == Blocks{} && member.gets == Blocks{}) {
            continue;
        }
        const auto& one = costs_[cost(i, i, pattern.bytes, 1)];
        if (const auto length = one.pack + one.unpack; length > 0) {
            at_[i] = add(nodes_[at_[i]].t + length, at_[i], 0, Path::copied, 1);
        }
    }
}

void CollectiveReplay::message(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    const auto index = cost(from, to, bytes, 1);
    const auto& one = costs_[index];
    const auto sender = at_[from];
    const auto receiver = at_[to];
    const auto sent = nodes_[sender].t + one.start();
    const auto posted = nodes_[receiver].t;
    if (!one.rendezvous) {
        const auto arrived = transfer(from, to, one, sent).arrived;
        at_[to] = arrived >= posted ? add(arrived + one.finish(), sender, index, Path::received, 1)
                                    : add_work(posted + one.finish(), receiver, index, Path::served);
        at_[from] = add_work(sent, sender, index, Path::sent);
        return;
    }
    const auto request = sent + one.L_control;
    const bool by_sender = request >= posted;
    const auto start = std::max(request, posted) + one.o_control + one.L_control + one.o_control;
    const auto way = transfer(from, to, one, start);
    const auto before = by_sender ? sender : receiver;
    at_[to] =
        add(way.arrived + one.finish(), before, index, by_sender ? Path::answered : Path::cleared, by_sender ? 1 : 0);
    at_[from] = add(way.left + one.unpack, before, index, by_sender ? Path::left : Path::let_go, by_sender ? 1 : 0);
}

void CollectiveReplay::exchange(std::uint32_t count, std::uint64_t bytes, std::uint32_t repeat) {
    target_.resize(count);
    cost_.resize(count);
    sent_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto from = source_[i];
        cost_[i] = cost(from, i, bytes, repeat);
        target_[from] = i;
        sent_[from] = nodes_[at_[from]].t + costs_[cost_[i]].start();
    }
    next_ = at_;
    left_.assign(count, kNone);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto from = source_[i];
        const auto& one = costs_[cost_[i]];
        if (!one.rendezvous) {
            const auto arrived = transfer(from, i, one, sent_[from]).arrived;
            next_[i] = arrived >= sent_[i] ? add(arrived + one.finish(), at_[from], cost_[i], Path::received, 1)
                                           : add(sent_[i] + one.finish(), at_[i], cost_[i], Path::served, 1);
            continue;
        }
        const auto request = sent_[from] + one.L_control;
        const bool by_sender = request >= sent_[i];
        const auto start = std::max(request, sent_[i]) + one.o_control + one.L_control + one.o_control;
        const auto way = transfer(from, i, one, start);
        const auto before = by_sender ? at_[from] : at_[i];
        next_[i] = add(way.arrived + one.finish(), before, cost_[i], by_sender ? Path::answered : Path::cleared, 1);
        left_[from] = add(way.left + one.unpack, before, cost_[i], by_sender ? Path::left : Path::let_go, 1);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        if (left_[i] != kNone && nodes_[left_[i]].t > nodes_[next_[i]].t) {
            next_[i] = left_[i];
        }
    }
    at_.swap(next_);
}

void CollectiveReplay::burst(std::uint32_t count, std::uint32_t rounds, std::uint64_t bytes) {
    const auto single = std::min(rounds, kSingleRounds);
    const auto each = (rounds + single - 1) / single;
    const auto heads = at_;
    // First the sends of all members, then the arrivals.
    sent_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        auto sent = nodes_[heads[i]].t;
        std::uint32_t index = 0;
        for (std::uint32_t k = 0; k < single; ++k) {
            index = cost(i, (i + 1 + k * rounds / single) % count, bytes, each);
            sent += costs_[index].start();
        }
        at_[i] = add(sent, heads[i], index, Path::sent, single);
        sent_[i] = nodes_[heads[i]].t;
    }
    for (std::uint32_t k = 0; k < single; ++k) {
        const auto distance = 1 + k * rounds / single;
        for (std::uint32_t from = 0; from < count; ++from) {
            const auto to = (from + distance) % count;
            const auto index = cost(from, to, bytes, each);
            const auto& one = costs_[index];
            sent_[from] += one.start();
            const auto receiver = at_[to];
            const auto posted = nodes_[receiver].t;
            if (!one.rendezvous) {
                const auto arrived = transfer(from, to, one, sent_[from]).arrived;
                at_[to] = arrived >= posted ? add(arrived + one.finish(), heads[from], index, Path::received, k + 1)
                                            : add_work(posted + one.finish(), receiver, index, Path::served);
                continue;
            }
            // All receives are posted before the sends; the handshakes of both sides overlap with other messages.
            const auto request = std::max(sent_[from] + one.L_control, nodes_[heads[to]].t);
            const auto arrived =
                transfer(from, to, one, request + one.o_control + one.L_control + one.o_control).arrived;
            at_[to] = arrived >= posted ? add(arrived + one.finish(), heads[from], index, Path::answered, k + 1)
                                        : add_work(posted + one.finish(), receiver, index, Path::served);
        }
    }
}

/// The labels between a node and the one before it, in the order of time; what no term explains is the wait for NICs,
/// or of a message that was there, the work before it.
std::int64_t CollectiveReplay::last_work(std::uint32_t member) const noexcept {
    std::int64_t work = 0;
    for (auto at = at_[member];;) {
        const auto& node = nodes_[at];
        switch (node.path) {
            case Path::copied:
            case Path::sent:
            case Path::served:
                work += node.t - nodes_[node.before].t;
                at = node.before;
                break;
            case Path::received:
            case Path::answered:
            case Path::cleared:
                return work + costs_[node.cost].finish();
            case Path::enter:
            case Path::left:
            case Path::let_go:
                return work;
        }
    }
}

std::size_t CollectiveReplay::stretches(const Node& node, std::int64_t since,
                                        std::array<Stretch, kMostStretches>& found) const noexcept {
    using enum CollectivePart;
    const auto& one = costs_[node.cost];
    const auto whole = node.t - since;
    std::size_t count = 0;
    const auto put = [&](CollectivePart part, std::int64_t length) { found[count++] = {part, length}; };
    std::size_t wait = 0;
    switch (node.path) {
        case Path::enter:
            return 0;
        case Path::copied:
            put(middleware, whole);
            return count;
        case Path::sent: {
            const auto packs = std::min(whole, one.pack * node.run);
            put(send_overhead, whole - packs);
            put(middleware, packs);
            return count;
        }
        case Path::served: {
            const auto sends = whole - one.finish() * node.run;
            const auto packs = std::clamp<std::int64_t>(sends, 0, one.pack);
            put(send_overhead, sends - packs);
            put(middleware, packs + one.unpack * node.run);
            put(recv_overhead, one.o_r * node.run);
            put(reduction, one.reduction * node.run);
            return count;
        }
        case Path::received:
            put(send_overhead, one.o_s * node.run);
            put(middleware, one.pack * node.run);
            wait = count;
            put(endpoint_contention, 0);
            put(latency, one.L);
            put(serialization, one.serialization);
            put(middleware, one.unpack);
            put(recv_overhead, one.o_r);
            put(reduction, one.reduction);
            break;
        case Path::answered:
        case Path::cleared:
        case Path::left:
        case Path::let_go:
            put(send_overhead, one.o_s * node.run);
            put(middleware, one.pack * node.run);
            if (node.path == Path::answered || node.path == Path::left) {
                put(latency, one.L_control);
            }
            put(recv_overhead, one.o_control);
            put(latency, one.L_control);
            put(send_overhead, one.o_control);
            wait = count;
            put(endpoint_contention, 0);
            if (node.path == Path::answered || node.path == Path::cleared) {
                put(latency, one.L);
            }
            put(serialization, one.serialization);
            put(middleware, one.unpack);
            if (node.path == Path::answered || node.path == Path::cleared) {
                put(recv_overhead, one.o_r);
                put(reduction, one.reduction);
            }
            break;
    }
    std::int64_t explained = 0;
    for (std::size_t i = 0; i < count; ++i) {
        explained += found[i].length;
    }
    // A sender in a burst may have had cheaper neighbours before: its first stretch gives way.
    found[wait].length = std::max<std::int64_t>(0, whole - explained);
    found[0].length -= std::max<std::int64_t>(0, explained - whole);
    return count;
}

/// Of the nodes on the path every few are noted: to note one costs as much as to sum up two.
CollectiveReplay::Parts CollectiveReplay::parts(std::uint32_t member, std::int64_t from_ps) {
    if (from_ps != summed_from_) {
        summed_from_ = from_ps;
        sums_.clear();
    }
    if (sum_of_.size() < nodes_.size()) {
        sum_of_.resize(nodes_.size());
    }
    way_.clear();
    Sum sum;
    for (auto at = at_[member]; nodes_[at].t > from_ps && way_.size() <= kMostSteps; at = nodes_[at].before) {
        if (const auto place = sum_of_[at]; place < sums_.size() && sums_[place].node == at) {
            sum = sums_[place];
            break;
        }
        way_.push_back(at);
        if (nodes_[at].path == Path::enter) {
            break;
        }
    }
    if (sum.steps + way_.size() > kMostSteps) {
        Parts parts{};
        back(member, from_ps, [&](CollectivePart part, std::int64_t begin, std::int64_t end) {
            parts[static_cast<std::size_t>(part)] += end - begin;
        });
        return parts;
    }
    for (auto next = way_.rbegin(); next != way_.rend(); ++next) {
        label(nodes_[*next], from_ps, [&](CollectivePart part, std::int64_t begin, std::int64_t end) {
            sum.parts[static_cast<std::size_t>(part)] += end - begin;
        });
        if (++sum.steps % kStepsApart == 0) {
            sum.node = *next;
            sum_of_[*next] = static_cast<std::uint32_t>(sums_.size());
            sums_.push_back(sum);
        }
    }
    return sum.parts;
}

}  // namespace logpost::replay
