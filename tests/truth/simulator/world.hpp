#pragma once

/// The simulated job: its ranks, its NICs, and messages in flight between them.
///
/// The rules (LogGP with queues and a processor that attends to messages only inside of calls that make progress):
/// - a send takes the sender's processor o_s and half of l_mw; an eager message is then ready for the NIC;
/// - a NIC serves messages in the order in which they are ready, max(g, B G) each, sending and receiving apart;
/// messages
///   within a node queue at the rank's own end of the memory instead;
/// - the first byte is at the receiver L after the sending NIC started, the last one (B - 1) G after the receiving NIC
/// did;
/// - a rendezvous sends a request (L), which the receiver grants when a receive for it is posted and its processor is
///   free inside a call that makes progress (o_ctl), by a clear-to-send (L), to which the sender replies likewise
///   (o_ctl) by handing the payload to its NIC; with asynchronous progress the NICs do both without a processor;
/// - a receive is completed by the receiver's processor inside the call that completes it: half of l_mw and o_r; it
///   serves what is ready in order, one at a time;
/// - a one-sided transfer takes o_s of its origin's processor and queues at the NICs like a message; what needs an
///   answer of the target (a get's data, a put's acknowledgement) is served by the target's processor (o_ctl) inside a
///   call that makes progress, or, with asynchronous progress, by its NIC; a get takes o_r of its origin at the end;
/// - a parallel region ends each phase when the last of its threads has done its work.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cores.hpp"
#include "engine.hpp"
#include "record.hpp"
#include "task.hpp"

namespace logpost::truth {

class World;

inline constexpr int kAnySource = -1;
inline constexpr int kAnyTag = -1;
inline constexpr std::size_t kMostCommunicators = 256;

enum class Mode : std::uint8_t { standard, synchronous, buffered };

struct SendOptions {
    int tag = 0;
    Mode mode = Mode::standard;
    Layout layout{};
};

/// A request of a nonblocking operation.
struct Request {
    std::uint64_t id = 0;
};

class Rank {
  public:
    Rank(World& world, int number) : world_(world), number_(number) {}
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    [[nodiscard]] int number() const noexcept { return number_; }
    [[nodiscard]] int size() const noexcept;
    [[nodiscard]] Time now() const noexcept;

    // Outside of MPI.
    Task<> compute(Time duration);
    Task<> compute(Time duration, std::string region);
    /// A parallel region of threads, of which none communicates: phases that end in a barrier, explicit but for the
    /// last one; in each, how long each thread works. Forks, joins and barriers themselves cost nothing.
    Task<> parallel(std::string region, std::vector<std::vector<Time>> phases);
    void enter(std::string region);
    void leave(std::string region);

    // Calls.
    Task<> init();
    Task<> finalize();
    Task<> send(int to, std::uint64_t bytes, SendOptions options = {});
    Task<int> recv(int from, int tag = 0);
    Task<Request> isend(int to, std::uint64_t bytes, SendOptions options = {});
    Task<Request> irecv(int from, int tag = 0);
    /// MPI_Startall of persistent sends: one starts after the other.
    struct Start {
        int to;
        std::uint64_t bytes;
        SendOptions options;
    };
    Task<std::vector<Request>> startall(std::vector<Start> sends);
    Task<> wait(Request request);
    Task<> waitall(std::vector<Request> requests);
    Task<std::size_t> waitany(std::vector<Request> requests);
    Task<bool> test(Request request);
    Task<> probe(int from, int tag = 0);
    Task<bool> iprobe(int from, int tag = 0);
    Task<> sendrecv(int to, std::uint64_t bytes, int from, int tag = 0);
    Task<> query(std::string name);  ///< a call that makes no progress: MPI_Comm_rank, MPI_Wtime
    // Of all ranks, or of those that are named in the order of their communicator; roots are ranks of all.
    Task<> barrier(Members on = {});
    Task<> allreduce(std::uint64_t bytes, Members on = {});
    Task<> bcast(int root, std::uint64_t bytes, Members on = {});
    Task<> reduce(int root, std::uint64_t bytes, Members on = {});
    Task<> alltoall(std::uint64_t bytes, Members on = {});
    Task<> allgather(std::uint64_t bytes, Members on = {});
    Task<> reduce_scatter(std::uint64_t bytes, Members on = {});  ///< of one rank's part of the result
    /// A nonblocking reduction: the first message leaves at once, the others in the calls that complete it.
    struct Started {
        Call call;          ///< that started it
        Request sending{};  ///< its first message, if it has one
        bool sends = false;
        std::uint64_t bytes = 0;
        int tag = 0;
    };
    Task<Started> iallreduce(std::uint64_t bytes);
    Task<> wait(Started started);
    /// With both neighbours on a ring of all ranks. OTF2 has no record for it: the archive has its call alone.
    Task<> neighbor_alltoall(std::uint64_t bytes);

    // One-sided, through one window of all ranks (one_sided.cpp).
    Task<> put(int target, std::uint64_t bytes);
    Task<> get(int target, std::uint64_t bytes);
    Task<> flush(int target);
    Task<> fence();
    Task<> post(std::vector<int> origins);
    Task<> start(std::vector<int> targets);
    Task<> complete();
    Task<> wait_exposed();
    Task<> lock(int target);  ///< exclusively
    Task<> unlock(int target);

  private:
    friend class World;

    /// Something that the processor does when it is inside a call that makes progress.
    struct Job {
        std::size_t message;
        Time first, second;  // durations of its two steps
        Work first_work, second_work;
        bool completion;  // of a receive: belongs to the call that awaits it
        std::function<void(Time begin, Time end)> done;
    };
    struct Pending {
        std::size_t message = kNone;  // of a receive: kNone until it is matched
        bool receive = false;
        int from = 0, tag = 0;
        bool complete = false;
        bool arrived = false;
        std::size_t call = kNone;
    };

    std::size_t begin_call(std::string region);
    void end_call();
    Call& call();
    auto sleep(Time duration);
    auto notified();
    void notify();
    void push(Job job);
    Task<> work(Time duration, std::size_t message, Work kind);
    Task<> run_job();
    Task<> progress_until(std::function<bool()> reached);
    void await_completions(std::span<const Request> requests);
    void drop_completions();
    void record_completion(Request request);
    Task<Request> start_send(int to, std::uint64_t bytes, SendOptions options, bool internal);
    Request post_receive(int from, int tag, bool internal);
    void matched(Pending& pending, std::uint64_t id);
    void arrived(std::size_t message);
    void completion_job(std::uint64_t id);
    [[nodiscard]] bool complete(Request request) const { return pending_.at(request.id).complete; }
    Task<> collective_send(int to, std::uint64_t bytes, int tag);
    Task<> collective_recv(int from, int tag);
    Task<> collective_exchange(int to, std::uint64_t bytes, int from, int tag);
    /// Recursive doubling; with a first message that has been sent before, where there is one.
    Task<> doubling(const Members& on, std::uint64_t bytes, int tag, Started* started = nullptr);
    struct Circle;
    [[nodiscard]] Circle circle(const Members& of) const;
    /// Its tag, which all members share.
    int begin_collective(std::string region, Collective kind, const Members& of, int root, std::uint64_t sent,
                         std::uint64_t received);
    Task<> transfer(int target, std::uint64_t bytes, bool put);
    Task<> completed(int target, bool remotely);  ///< its open transfers to a target; -1: to all

    World& world_;
    int number_;
    std::map<std::uint64_t, Pending> pending_;
    std::uint64_t next_request_ = 1;
    std::deque<Job> jobs_;
    std::map<std::uint64_t, bool> awaited_;  // requests that the current call completes
    std::coroutine_handle<> waiting_;
    std::size_t current_ = kNone;
    std::map<std::size_t, std::size_t> collectives_;  ///< by communicator: how many it has called
    bool in_collective_ = false;
    std::vector<std::size_t> open_;           // transfers that no call has completed
    std::vector<int> accessed_, exposed_to_;  // of the open epochs
    std::map<int, std::deque<Time>> posted_;  // by target: when it posted
    struct Completed {
        Time at;
        std::size_t transfer;
    };
    std::map<int, std::deque<Completed>> completed_;  // by origin
    std::map<int, Time> granted_;                     // by target of a lock: until when it was held before
};

class World {
  public:
    using Program = std::function<Task<>(Rank&)>;

    World(Machine machine, int ranks);

    /// Runs the program on every rank; throws std::runtime_error when it deadlocks.
    void run(const Program& program);

    [[nodiscard]] const Record& record() const noexcept { return record_; }

  private:
    friend class Rank;

    struct Nic {
        Time free_sending = 0, free_receiving = 0;
    };
    struct Posted {
        std::uint64_t request;
        int from, tag;
        bool internal;
    };
    struct Inbox {
        std::deque<Posted> posted;
        std::deque<std::size_t> unexpected;             // envelopes that arrived before their receive
        std::map<int, std::deque<std::size_t>> on_way;  // by sender, in the order of the sends
        std::map<std::size_t, bool> there;
    };

    Nic& nic(int rank, int peer);
    /// Of a rank's node; none where each rank has a core.
    Cores* cores(int rank);
    void inject(std::size_t message);
    void request(std::size_t message);
    void envelope(std::size_t message);
    void offer(std::size_t message);
    void match(std::size_t message, std::uint64_t request);
    void answer_request(std::size_t message);
    void handle_control(std::size_t message, int rank, Work kind, std::function<void(Time begin, Time end)> done);
    void clear_to_send(std::size_t message);
    static bool fits(const Message& message, const Posted& posted);
    void leave(std::size_t transfer);
    void attend(std::size_t transfer);
    void answer(std::size_t transfer);
    std::size_t communicator(const Members& of);
    void request_lock(int origin, int target);
    void release_lock(int target);

    /// A lock of a rank's memory, kept by its NIC.
    struct Lock {
        bool held = false;
        Time released = 0;
        std::deque<int> waiting;
    };

    Engine engine_;
    Record record_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::map<std::pair<int, int>, Nic> nics_;
    std::map<int, Cores> cores_;  // by node
    std::vector<Inbox> inboxes_;
    std::map<std::size_t, std::uint64_t> send_request_, receive_request_;  // by message
    std::map<int, Lock> locks_;                                            // by target
};

}  // namespace logpost::truth
