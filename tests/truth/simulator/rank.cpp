#include <algorithm>
#include <stdexcept>

#include "world.hpp"

namespace logpost::truth {
namespace {

constexpr Time kQuery = 50 * kNanosecond;  // what a call costs that only queries
constexpr Time kStartReceive = 50 * kNanosecond;

}  // namespace

int Rank::size() const noexcept {
    return static_cast<int>(world_.ranks_.size());
}
Time Rank::now() const noexcept {
    return world_.engine_.now();
}

/// Awaits a span of simulated time.
auto Rank::sleep(Time duration) {
    struct Awaiter {
        Rank& rank;
        Time duration;
        [[nodiscard]] bool await_ready() const noexcept { return duration <= 0; }
        void await_suspend(std::coroutine_handle<> self) {
            if (auto* cores = rank.world_.cores(rank.number_)) {
                cores->work(rank.number_, duration, [self] { self.resume(); });
            } else {
                auto& engine = rank.world_.engine_;
                engine.at(engine.now() + duration, [self] { self.resume(); });
            }
        }
        void await_resume() const noexcept {}
    };
    return Awaiter{*this, duration};
}

/// Awaits that something about this rank changes.
auto Rank::notified() {
    struct Awaiter {
        Rank& rank;
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> self) {
            rank.waiting_ = self;
            if (auto* cores = rank.world_.cores(rank.number_)) {
                cores->wait(rank.number_);
            }
        }
        void await_resume() const noexcept {}
    };
    return Awaiter{*this};
}

void Rank::notify() {
    if (waiting_) {
        // Through the engine: the rank that notifies finishes first.
        auto self = std::exchange(waiting_, {});
        world_.engine_.at(now(), [this, self] {
            if (auto* cores = world_.cores(number_)) {
                cores->work(number_, 0, [self] { self.resume(); });
            } else {
                self.resume();
            }
        });
    }
}

void Rank::push(Job job) {
    jobs_.push_back(std::move(job));
    notify();
}

Call& Rank::call() {
    return world_.record_.ranks[static_cast<std::size_t>(number_)].calls[current_];
}

std::size_t Rank::begin_call(std::string region) {
    auto& calls = world_.record_.ranks[static_cast<std::size_t>(number_)].calls;
    calls.push_back({.region = std::move(region), .enter = now(), .leave = now()});
    current_ = calls.size() - 1;
    return current_;
}

void Rank::end_call() {
    call().leave = now();
    current_ = kNone;
    in_collective_ = false;
}

Task<> Rank::work(Time duration, std::size_t message, Work kind) {
    if (duration > 0) {
        const Time begin = now();
        co_await sleep(duration);
        world_.record_.ranks[static_cast<std::size_t>(number_)].busy.push_back({begin, now(), message, kind});
    }
}

Task<> Rank::run_job() {
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    const Time begin = now();
    co_await work(job.first, job.message, job.first_work);
    co_await work(job.second, job.message, job.second_work);
    job.done(begin, now());
}

Task<> Rank::progress_until(std::function<bool()> reached) {
    while (!reached()) {
        if (!jobs_.empty()) {
            co_await run_job();
        } else {
            co_await notified();
        }
    }
}

Task<> Rank::compute(Time duration) {
    co_await sleep(duration);
}

Task<> Rank::compute(Time duration, std::string region) {
    enter(region);
    co_await sleep(duration);
    leave(std::move(region));
}

Task<> Rank::parallel(std::string region, std::vector<std::vector<Time>> phases) {
    auto& record = world_.record_.ranks[static_cast<std::size_t>(number_)];
    const auto name = parallel_name(region);
    record.parallels.push_back({now(), region, phases});
    record.marks.push_back({now(), name, true});
    auto until = now();
    for (std::size_t p = 0; p < phases.size(); ++p) {
        const auto barrier = barrier_name(region, p, phases.size());
        record.marks.push_back({until + phases[p].front(), barrier, true});
        until += std::ranges::max(phases[p]);
        record.marks.push_back({until, barrier, false});
    }
    record.marks.push_back({until, name, false});
    co_await sleep(until - now());
}

void Rank::enter(std::string region) {
    world_.record_.ranks[static_cast<std::size_t>(number_)].marks.push_back({now(), std::move(region), true});
}
void Rank::leave(std::string region) {
    world_.record_.ranks[static_cast<std::size_t>(number_)].marks.push_back({now(), std::move(region), false});
}

Task<Request> Rank::start_send(int to, std::uint64_t bytes, SendOptions options, bool internal) {
    auto& record = world_.record_;
    const auto& machine = record.machine;
    const auto& between = machine.between(number_, to);
    const std::size_t id = record.messages.size();
    Message message;
    message.sender = number_;
    message.receiver = to;
    message.tag = options.tag;
    message.bytes = bytes;
    message.layout = options.layout;
    message.internal = internal;
    message.L = between.L;
    message.send_call = current_;
    message.rendezvous =
        options.mode == Mode::synchronous ||
        (options.mode == Mode::standard && machine.eager_limit.has_value() && bytes > *machine.eager_limit);
    record.messages.push_back(message);
    world_.inboxes_[static_cast<std::size_t>(to)].on_way[number_].push_back(id);
    const Request request{next_request_++};
    pending_[request.id] = {.message = id, .call = current_};
    world_.send_request_[id] = request.id;

    const Time middleware = machine.middleware(bytes, options.layout) / 2;
    record.messages[id].overhead_begin = now();
    co_await work(between.o_s, id, internal ? Work::collective : Work::send_overhead);
    world_.record_.messages[id].overhead_end = now();
    co_await work(middleware, id, internal ? Work::collective : Work::middleware);
    world_.record_.messages[id].middleware_end = now();
    if (world_.record_.messages[id].rendezvous) {
        world_.request(id);
    } else {
        world_.inject(id);
        pending_.at(request.id).complete = true;
    }
    co_return request;
}

Request Rank::post_receive(int from, int tag, bool internal) {
    const Request request{next_request_++};
    pending_[request.id] = {.receive = true, .from = from, .tag = tag, .call = current_};
    auto& inbox = world_.inboxes_[static_cast<std::size_t>(number_)];
    const World::Posted posted{.request = request.id, .from = from, .tag = tag, .internal = internal};
    const auto at = std::ranges::find_if(
        inbox.unexpected, [&](std::size_t id) { return World::fits(world_.record_.messages[id], posted); });
    if (at == inbox.unexpected.end()) {
        inbox.posted.push_back(posted);
    } else {
        const auto id = *at;
        inbox.unexpected.erase(at);
        world_.match(id, request.id);
    }
    return request;
}

/// The whole message is here. Its receive completes once a call awaits it.
void Rank::arrived(std::size_t message) {
    const auto at = world_.receive_request_.find(message);
    if (at == world_.receive_request_.end()) {
        return;  // not posted yet; the match notifies again
    }
    auto& pending = pending_.at(at->second);
    if (pending.arrived) {
        return;
    }
    pending.arrived = true;
    if (awaited_.contains(at->second)) {
        completion_job(at->second);
    }
    notify();
}

void Rank::completion_job(std::uint64_t id) {
    const std::size_t m = pending_.at(id).message;
    const auto& message = world_.record_.messages[m];
    const auto& machine = world_.record_.machine;
    const auto& between = machine.between(message.sender, number_);
    const Time whole = machine.middleware(message.bytes, message.layout);
    push({.message = m,
          .first = whole - whole / 2,
          .second = between.o_r,
          .first_work = message.internal ? Work::collective : Work::middleware,
          .second_work = message.internal ? Work::collective : Work::recv_overhead,
          .completion = true,
          .done = [this, id, m](Time begin, Time end) {
              world_.record_.messages[m].serve_begin = begin;
              world_.record_.messages[m].serve_end = end;
              world_.record_.messages[m].receive_call = current_;
              pending_.at(id).complete = true;
          }});
}

/// From here on the current call completes these; what is here already is served in the order of arrival.
void Rank::await_completions(std::span<const Request> requests) {
    std::vector<std::uint64_t> here;
    for (const auto request : requests) {
        const auto& pending = pending_.at(request.id);
        if (pending.receive && !pending.complete) {
            awaited_[request.id] = true;
            if (pending.arrived) {
                here.push_back(request.id);
            }
        }
    }
    std::ranges::stable_sort(
        here, {}, [&](std::uint64_t id) { return world_.record_.messages[pending_.at(id).message].arrival; });
    for (const auto id : here) {
        completion_job(id);
    }
}

/// The call ends: what it did not complete is completed by a later one.
void Rank::drop_completions() {
    awaited_.clear();
    std::erase_if(jobs_, [](const Job& job) { return job.completion; });
}

void Rank::record_completion(Request request) {
    const auto& pending = pending_.at(request.id);
    auto& message = world_.record_.messages[pending.message];
    if (pending.receive) {
        message.receive_call = current_;
        call().operations.push_back({Operation::Kind::irecv_complete, pending.message, request.id});
    } else {
        message.complete_call = current_;
        call().operations.push_back({Operation::Kind::isend_complete, pending.message, request.id});
    }
    pending_.erase(request.id);
}

Task<> Rank::init() {
    begin_call("MPI_Init");
    co_await sleep(20 * kMicrosecond);
    end_call();
}

Task<> Rank::finalize() {
    begin_call("MPI_Finalize");
    co_await sleep(5 * kMicrosecond);
    end_call();
}

Task<> Rank::send(int to, std::uint64_t bytes, SendOptions options) {
    static constexpr const char* kNames[] = {"MPI_Send", "MPI_Ssend", "MPI_Bsend"};
    begin_call(kNames[static_cast<std::size_t>(options.mode)]);
    const auto request = co_await start_send(to, bytes, options, false);
    const auto message = pending_.at(request.id).message;
    call().operations.push_back({Operation::Kind::send, message, 0});
    co_await progress_until([&] { return complete(request); });
    world_.record_.messages[message].complete_call = current_;
    pending_.erase(request.id);
    end_call();
}

Task<int> Rank::recv(int from, int tag) {
    begin_call("MPI_Recv");
    const auto request = post_receive(from, tag, false);
    const std::vector<Request> one{request};
    await_completions(one);
    co_await progress_until([&] { return complete(request); });
    const auto message = pending_.at(request.id).message;
    call().operations.push_back({Operation::Kind::recv, message, 0});
    world_.record_.messages[message].receive_call = current_;
    pending_.erase(request.id);
    drop_completions();
    end_call();
    co_return world_.record_.messages[message].sender;
}

Task<Request> Rank::isend(int to, std::uint64_t bytes, SendOptions options) {
    static constexpr const char* kNames[] = {"MPI_Isend", "MPI_Issend", "MPI_Ibsend"};
    begin_call(kNames[static_cast<std::size_t>(options.mode)]);
    const auto request = co_await start_send(to, bytes, options, false);
    call().operations.push_back({Operation::Kind::isend, pending_.at(request.id).message, request.id});
    end_call();
    co_return request;
}

Task<Request> Rank::irecv(int from, int tag) {
    begin_call("MPI_Irecv");
    const auto request = post_receive(from, tag, false);
    call().operations.push_back({Operation::Kind::irecv, kNone, request.id});
    co_await sleep(kStartReceive);
    end_call();
    co_return request;
}

Task<std::vector<Request>> Rank::startall(std::vector<Start> sends) {
    begin_call("MPI_Startall");
    std::vector<Request> requests;
    for (const auto& one : sends) {
        const auto request = co_await start_send(one.to, one.bytes, one.options, false);
        call().operations.push_back({Operation::Kind::isend, pending_.at(request.id).message, request.id});
        requests.push_back(request);
    }
    end_call();
    co_return requests;
}

Task<> Rank::wait(Request request) {
    begin_call("MPI_Wait");
    const std::vector<Request> one{request};
    await_completions(one);
    co_await progress_until([&] { return complete(request); });
    record_completion(request);
    drop_completions();
    end_call();
}

Task<> Rank::waitall(std::vector<Request> requests) {
    begin_call("MPI_Waitall");
    await_completions(requests);
    co_await progress_until([&] { return std::ranges::all_of(requests, [&](Request r) { return complete(r); }); });
    for (const auto request : requests) {
        record_completion(request);
    }
    drop_completions();
    end_call();
}

Task<std::size_t> Rank::waitany(std::vector<Request> requests) {
    begin_call("MPI_Waitany");
    await_completions(requests);
    const auto first = [&] { return std::ranges::find_if(requests, [&](Request r) { return complete(r); }); };
    co_await progress_until([&] { return first() != requests.end(); });
    const auto index = static_cast<std::size_t>(first() - requests.begin());
    record_completion(requests[index]);
    drop_completions();
    end_call();
    co_return index;
}

Task<bool> Rank::test(Request request) {
    begin_call("MPI_Test");
    co_await sleep(kQuery);
    const std::vector<Request> one{request};
    await_completions(one);
    while (!jobs_.empty() && !complete(request)) {
        co_await run_job();
    }
    const bool done = complete(request);
    if (done) {
        record_completion(request);
    }
    drop_completions();
    end_call();
    co_return done;
}

Task<> Rank::probe(int from, int tag) {
    begin_call("MPI_Probe");
    const World::Posted wanted{.request = 0, .from = from, .tag = tag, .internal = false};
    const auto& unexpected = world_.inboxes_[static_cast<std::size_t>(number_)].unexpected;
    co_await progress_until([&] {
        return std::ranges::any_of(unexpected,
                                   [&](std::size_t id) { return World::fits(world_.record_.messages[id], wanted); });
    });
    co_await sleep(kQuery);
    end_call();
}

Task<bool> Rank::iprobe(int from, int tag) {
    begin_call("MPI_Iprobe");
    co_await sleep(kQuery);
    while (!jobs_.empty()) {
        co_await run_job();
    }
    const World::Posted wanted{.request = 0, .from = from, .tag = tag, .internal = false};
    const auto& unexpected = world_.inboxes_[static_cast<std::size_t>(number_)].unexpected;
    const bool found = std::ranges::any_of(
        unexpected, [&](std::size_t id) { return World::fits(world_.record_.messages[id], wanted); });
    end_call();
    co_return found;
}

Task<> Rank::sendrecv(int to, std::uint64_t bytes, int from, int tag) {
    begin_call("MPI_Sendrecv");
    const auto receiving = post_receive(from, tag, false);
    const auto sending = co_await start_send(to, bytes, {.tag = tag}, false);
    const auto sent = pending_.at(sending.id).message;
    const std::vector<Request> both{receiving};
    await_completions(both);
    co_await progress_until([&] { return complete(receiving) && complete(sending); });
    const auto received = pending_.at(receiving.id).message;
    call().operations.push_back({Operation::Kind::send, sent, 0});
    call().operations.push_back({Operation::Kind::recv, received, 0});
    world_.record_.messages[sent].complete_call = current_;
    world_.record_.messages[received].receive_call = current_;
    pending_.erase(receiving.id);
    pending_.erase(sending.id);
    drop_completions();
    end_call();
}

Task<> Rank::query(std::string name) {
    begin_call(std::move(name));
    co_await sleep(kQuery);
    end_call();
}

}  // namespace logpost::truth
