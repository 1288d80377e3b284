#include "machine.h"

#include <smpi/smpi.h>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sg = simgrid::s4u;

namespace {

// SMPI sends an envelope of 16 bytes with each message, which is no part of our machines.
constexpr double envelope_bytes = 16;

// SimGrid gives a flow without any latency another weight than the rest.
constexpr double least_latency = 1e-12;

struct Range {
    std::uint64_t up_to = 0;
    double L = 0, o_s = 0, o_s_per_byte = 0, o_r = 0, o_r_per_byte = 0, g = 0, G = 0;
};

using Ranges = std::vector<Range>;

const Range& range_of(const Ranges& ranges, std::uint64_t bytes) {
    const auto at = std::find_if(ranges.begin(), ranges.end(), [&](const Range& r) { return bytes <= r.up_to; });
    return at != ranges.end() ? *at : ranges.back();
}

struct Waiter {
    std::uint64_t bytes;
    sg::SemaphorePtr signal;
};

// A node's receiving side as its ranks' senders see it.
struct Queue {
    std::uint64_t bytes = 0;
    std::deque<Waiter> waiters;
};

struct Nic {
    double may_send_at = 0;
    double may_receive_at = 0;
};

struct Actor {
    std::vector<std::size_t> charged;  // sizes of the receives that SMPI has charged since the call began
    bool one_sided = false;
};

struct Machine {
    bool open = false;
    double per_hop = 0, mean_hops = 0, injection = 0;
    std::int64_t eager = -1, capacity = -1;
    std::uint64_t header = 0;
    Ranges remote, local;
    std::unordered_map<int, const sg::Host*>
        hosts;                              // by rank; kept, for a rank may end before its messages are received
    std::unordered_map<int, Queue> queues;  // by rank
    std::unordered_map<const sg::Host*, Nic> nics;
    std::unordered_map<aid_t, Actor> actors;
};

Machine machine;

void read_settings(const char* path) {
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "per_hop") {
            words >> machine.per_hop;
        } else if (key == "mean_hops") {
            words >> machine.mean_hops;
        } else if (key == "injection") {
            words >> machine.injection;
        } else if (key == "eager") {
            words >> machine.eager;
        } else if (key == "capacity") {
            words >> machine.capacity;
        } else if (key == "header") {
            words >> machine.header;
        } else if (key == "remote" || key == "local") {
            Range r;
            words >> r.up_to >> r.L >> r.o_s >> r.o_s_per_byte >> r.o_r >> r.o_r_per_byte >> r.g >> r.G;
            (key == "remote" ? machine.remote : machine.local).push_back(r);
        }
        if (words.fail()) {
            std::cerr << "logpost: cannot read the line \"" << line << "\" of " << path << std::endl;
            std::exit(3);
        }
    }
    if (machine.remote.empty() || machine.local.empty() || machine.injection <= 0) {
        std::cerr << "logpost: " << path << " is not complete" << std::endl;
        std::exit(3);
    }
}

const Ranges& ranges_between(const sg::Host* a, const sg::Host* b) {
    return a == b ? machine.local : machine.remote;
}

// o_s, and the wait for the NIC, which the message before occupies for max(g, B / injection rate), as in LogGP.
double send_cost(std::size_t bytes, const sg::Host* from, const sg::Host* to) {
    const Range& r = range_of(ranges_between(from, to), bytes);
    const double overhead = r.o_s + r.o_s_per_byte * static_cast<double>(bytes);
    if (from == to) {
        return overhead;
    }
    Nic& nic = machine.nics[from];
    const double leaves = std::max(sg::Engine::get_clock() + overhead, nic.may_send_at);
    nic.may_send_at = leaves + std::max(r.g, static_cast<double>(bytes) / machine.injection);
    return leaves - sg::Engine::get_clock();
}

// The wait for the NIC, which hands over a message every g, and o_r.
double hand_over(std::size_t bytes, const sg::Host* from, const sg::Host* to) {
    const Range& r = range_of(ranges_between(from, to), bytes);
    const double overhead = r.o_r + r.o_r_per_byte * static_cast<double>(bytes);
    if (r.g <= 0 || from == to) {
        return overhead;
    }
    Nic& nic = machine.nics[to];
    const double starts = std::max(sg::Engine::get_clock(), nic.may_receive_at);
    nic.may_receive_at = starts + r.g;
    return starts - sg::Engine::get_clock() + overhead;
}

double receive_cost(std::size_t bytes, const sg::Host* from, const sg::Host* to) {
    Actor& actor = machine.actors[sg::this_actor::get_pid()];
    if (actor.one_sided) {
        return 0;
    }
    actor.charged.push_back(bytes);
    return hand_over(bytes, from, to);
}

// The latency that makes an uncontended message take L + (B-1) G, as a multiple of the platform's nominal one.
double latency_factor(double size, const sg::Host* from, const sg::Host* to, const std::vector<sg::Link*>& links,
                      const std::unordered_set<sg::NetZone*>& /*zones*/) {
    const double bytes = std::max(0.0, size - envelope_bytes);
    const Range& r = range_of(ranges_between(from, to), static_cast<std::uint64_t>(bytes));
    double nominal = 0;
    double slowest = 0;  // seconds per byte
    for (const sg::Link* link : links) {
        nominal += link->get_latency();
        slowest = std::max(slowest, 1 / link->get_bandwidth());
    }
    double wanted = r.L + std::max(0.0, bytes - 1) * r.G - bytes * slowest;
    if (from != to) {
        wanted += machine.per_hop * (static_cast<double>(links.size()) - 2 - machine.mean_hops);
    }
    return nominal > 0 ? std::max(wanted, least_latency) / nominal : 1.0;
}

// Takes the envelope out of the flow: size bytes at this multiple of the rate last as long as the message's own.
double rate_factor(double size, const sg::Host* /*from*/, const sg::Host* /*to*/,
                   const std::vector<sg::Link*>& /*links*/, const std::unordered_set<sg::NetZone*>& /*zones*/) {
    const double bytes = size - envelope_bytes;
    return bytes > 0 ? size / bytes : 1e9;
}

std::uint64_t takes(std::size_t bytes) {
    return bytes + machine.header;
}

bool fits(const Queue& queue, std::uint64_t bytes) {
    return queue.bytes == 0 || queue.bytes + bytes <= static_cast<std::uint64_t>(machine.capacity);
}

const sg::Host* host_of(int rank) {
    const auto at = machine.hosts.find(rank);
    return at != machine.hosts.end() ? at->second : nullptr;
}

}  // namespace

void lpt_open() {
    machine.hosts[static_cast<int>(sg::this_actor::get_pid()) - 1] = sg::this_actor::get_host();
    if (machine.open) {
        return;
    }
    machine.open = true;
    const char* path = std::getenv("LOGPOST_TESTBED");
    if (path == nullptr) {
        return;
    }
    read_settings(path);
    smpi_register_op_cost_callback(SmpiOperation::SEND, send_cost);
    smpi_register_op_cost_callback(SmpiOperation::ISEND, send_cost);
    smpi_register_op_cost_callback(SmpiOperation::RECV, receive_cost);
    auto* model = sg::Engine::get_instance()->get_netzone_root()->get_network_model();
    model->set_lat_factor_cb(latency_factor);
    model->set_bw_factor_cb(rate_factor);
}

int lpt_is_rendezvous(std::size_t bytes) {
    return machine.eager >= 0 && bytes > static_cast<std::uint64_t>(machine.eager);
}

int lpt_is_finite() {
    return machine.capacity >= 0;
}

int lpt_has_room(int rank, std::size_t bytes) {
    const Queue& queue = machine.queues[rank];
    return machine.capacity < 0 || (queue.waiters.empty() && fits(queue, takes(bytes)));
}

void lpt_wait_for_room(int rank, std::size_t bytes) {
    if (lpt_has_room(rank, bytes)) {
        lpt_sent(rank, bytes);
        return;
    }
    auto signal = sg::Semaphore::create(0);
    machine.queues[rank].waiters.push_back({takes(bytes), signal});
    signal->acquire();  // the rank that makes room has counted the message
}

void lpt_sent(int rank, std::size_t bytes) {
    if (machine.capacity >= 0) {
        machine.queues[rank].bytes += takes(bytes);
    }
}

void lpt_received(int rank, std::size_t bytes) {
    if (machine.capacity < 0) {
        return;
    }
    Queue& queue = machine.queues[rank];
    queue.bytes -= std::min(queue.bytes, takes(bytes));
    while (!queue.waiters.empty() && fits(queue, queue.waiters.front().bytes)) {
        const Waiter next = queue.waiters.front();
        queue.waiters.pop_front();
        queue.bytes += next.bytes;
        next.signal->release();
    }
}

void lpt_begin() {
    machine.actors[sg::this_actor::get_pid()].charged.clear();
}

void lpt_finish(std::size_t bytes, int from) {
    std::vector<std::size_t>& charged = machine.actors[sg::this_actor::get_pid()].charged;
    const auto at = std::find(charged.begin(), charged.end(), bytes);
    if (at != charged.end()) {
        charged.erase(at);
    } else if (!machine.remote.empty()) {
        sg::this_actor::sleep_for(hand_over(bytes, host_of(from), sg::this_actor::get_host()));
    }
}

void lpt_one_sided(int inside) {
    machine.actors[sg::this_actor::get_pid()].one_sided = inside != 0;
}
