#pragma once

/// Every matched message of a trace under a machine: its measured times, the model's stages, the waits that the
/// deterministic FIFO replays give it, and from these its partition.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "replay/native/cost/parameters.hpp"
#include "replay/native/memory/arena.hpp"
#include "replay/native/program/message_facts.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/windows.hpp"
#include "replay/native/split/departure.hpp"
#include "replay/native/split/network_contention.hpp"
#include "replay/native/split/nic_use.hpp"
#include "replay/native/split/partition.hpp"

namespace logpost::replay {

/// One message as the endpoints' replays see it: one cache line, filled once, so that no later pass chases its two ends
/// again. What few messages have (a handshake) and what only its receiver's processor adds are stored elsewhere.
struct MessageRecord {
    MessageTimes times;
    std::int64_t arrival = 0;        // when the payload starts to leave, before any wait for its NIC;
                                     // once the receiving endpoints are replayed: when it has arrived
    std::int64_t send_endpoint = 0;  // wait, see MessageWaits
    std::uint32_t stages = 0;        // row of the receiving location's table of stages
    Locality locality = Locality::same_node;
    bool matched = false;
    bool violation = false;  // received before it was sent
    bool queued = false;     // its send call starts other messages before it
};
static_assert(sizeof(MessageRecord) == 64);

/// What the replay of the receiver's processor says of one message, see MessageWaits.
struct ProcessorWaits {
    std::int64_t cpu_queue = 0;
    std::int64_t receiver_busy = 0;
    std::int64_t held_until = 0;
};

/// Traffic of one location as an endpoint in one direction and window.
struct EndpointLoad {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::int64_t busy_ps = 0;
    std::int64_t queued_ps = 0;
    std::int32_t peers = 0;
};

/// Locations whose messages one process splits while others split the rest of the program's.
struct SplitBlock {
    std::vector<std::size_t> locations;            ///< ascending
    std::vector<std::vector<std::uint32_t>> sent;  ///< by location of another block: its receives of what these send,
                                                   ///< ascending; empty: the block is the whole program
    std::vector<std::vector<std::size_t>> nics;    ///< locations that share a NIC; none shares one with other blocks
};

/// A wait that one block finds and another one needs.
struct MessageWait {
    enum class Server : std::uint8_t {
        sending_nic,  ///< the message waits for it
        receiver,     ///< the request waits for the receiver's processor
        sender,       ///< the clear-to-send waits for the sender's processor
    };
    Location location{};  ///< of the message's receiver
    std::uint32_t receive = 0;
    std::int64_t wait_ps = 0;
    Server server = Server::sending_nic;
};

class MessageModel {
  public:
    /// How often the queues are replayed at most: each round has the waits for processors of the one before.
    static constexpr int kRounds = 3;

    /// Takes the measured times of all messages, then replays the sending NICs, the receiving NICs and the processors:
    /// each stage needs the one before. `interest` says by location which messages count as load, by the enter of the
    /// call that completed the receive; empty: all. `nic_uses` says where NICs are busy with other things; empty:
    /// never. Program and parameters must outlive the model.
    MessageModel(const Program& program, const Parameters& parameters, Windows windows, std::vector<Span> interest,
                 unsigned threads, NicUses nic_uses = {});

    /// The measured times of a block's messages. A round of its replays is `take` of the waits for processors of the
    /// round before, `leave`, `take` of the waits for other blocks' sending NICs, and `arrive`.
    MessageModel(const Program& program, const Parameters& parameters, Windows windows, NicUses nic_uses,
                 SplitBlock block);
    /// What the trace shows of handshakes between messages to the block's locations.
    struct Attendance {
        std::uint64_t unattended = 0;  ///< over before a side that was outside of MPI could attend
        std::uint64_t attended = 0;    ///< waited for it
        std::uint64_t handshakes = 0;

        void add(const Attendance& other) noexcept {
            unattended += other.unattended;
            attended += other.attended;
            handshakes += other.handshakes;
        }
        /// Whether the NICs answer without a processor.
        [[nodiscard]] bool shows_progress() const noexcept { return unattended > attended; }
    };
    [[nodiscard]] const Attendance& attendance() const noexcept { return attendance_; }
    /// False: there is no such message.
    [[nodiscard]] bool take(const MessageWait& wait) noexcept;
    /// Replays the sending NICs.
    void leave();
    /// Replays the receiving NICs and the processors. True: a handshake waited otherwise than was assumed.
    bool arrive();
    /// The waits for sending NICs of messages that leave the block.
    [[nodiscard]] std::vector<MessageWait> left() const;
    /// The waits for the block's processors.
    [[nodiscard]] std::vector<MessageWait> replied() const;

    /// A message whose receiver permits its sender to send the data.
    struct Rendezvous {
        std::uint32_t receive;
        Handshake handshake;
        std::int64_t request_ready = 0;  // when the receiver could answer the request, had it nothing else to do
        std::int64_t clear_ready = 0;    // likewise the sender the clear-to-send
        std::int64_t request_wait = 0;   // for the receiver's processor
        std::int64_t clear_wait = 0;     // for the sender's
    };

    /// A reply whose request waited while the sender's processor worked for others.
    struct LateReply {
        MessageId message;
        std::int64_t from;  // the request was there, and the reply was awaited
        std::int64_t busy;
    };
    /// What replays find of one location.
    struct Found {
        std::span<MessageRecord> records;
        std::span<ProcessorWaits> processor;
        std::span<Rendezvous> rendezvous;
        std::span<MessageStages> stages;
        std::span<EndpointLoad> loads;      ///< where no location has any, they are not known
        std::span<LateReply> late_replies;  ///< of the messages that it sends
    };
    /// What they count.
    struct Totals {
        std::uint64_t messages = 0;
        std::uint64_t violations = 0;
        std::uint64_t beyond_sizes = 0;
        std::uint64_t beyond_strides = 0;
        bool between_nodes = false;          ///< some messages leave their node
        bool asynchronous_progress = false;  ///< stated, or seen in the trace
        void add(const Totals& other) noexcept;
    };
    [[nodiscard]] Found found(std::size_t location);
    [[nodiscard]] Totals totals() const noexcept;
    /// The model of the whole program, whose blocks were replayed elsewhere; they must outlive it.
    struct Replayed {
        std::vector<Found> found;  ///< by location
        Totals totals;
        std::vector<std::shared_ptr<const void>> files;  ///< where it lies
    };
    MessageModel(const Program& program, const Parameters& parameters, Windows windows, std::vector<Span> interest,
                 unsigned threads, const Replayed& blocks);

    [[nodiscard]] const MessageRecord& record(MessageId id) const noexcept {
        return records_[index(id.location)][place(id)];
    }
    [[nodiscard]] const MessageStages& stages(MessageId id) const noexcept {
        return stages_[index(id.location)][record(id).stages];
    }
    /// The message of a send, or receive == kNone where it has no partner.
    [[nodiscard]] static MessageId of_send(const MessageEnd& send) noexcept { return {send.peer, send.match}; }

    [[nodiscard]] Partition partition(MessageId id) const noexcept;
    /// When its payload leaves the sender's NIC.
    [[nodiscard]] std::int64_t leaves(MessageId id) const noexcept;
    /// What messages waited for links, and the traffic on them; empty where the network is not known.
    [[nodiscard]] const NetworkContention& network() const noexcept { return network_; }
    /// When the model has the message at its receiver, waits for NICs included.
    [[nodiscard]] std::int64_t arrival(MessageId id) const noexcept { return record(id).arrival; }
    /// When the receiver's processor has completed the receive.
    [[nodiscard]] std::int64_t served(MessageId id) const noexcept;
    /// When the send is complete: a rendezvous' last byte has left, an eager message is out of the sender's hands.
    [[nodiscard]] std::int64_t sent(MessageId id) const noexcept;
    /// Whether any message to a location is sent by rendezvous.
    [[nodiscard]] bool has_rendezvous(Location receiver) const noexcept {
        return !rendezvous_[index(receiver)].empty();
    }
    /// When the processor starts to send, and when a rendezvous' request and clear-to-send are handled.
    [[nodiscard]] std::int64_t started(MessageId id) const noexcept { return record(id).times.s0 + begun(id); }
    /// The handshake of a rendezvous; of an eager message nothing.
    [[nodiscard]] Handshake handshake_of(MessageId id) const noexcept;
    /// Work of a location's processor for the handshakes of rendezvous: o_ctl at each instant, ascending.
    struct Control {
        std::int64_t begin;
        std::int64_t length;
        Part part;  ///< recv_overhead: a request; send_overhead: a clear-to-send
        MessageId message;
    };
    [[nodiscard]] std::vector<Control> controls(std::size_t location) const;
    /// Whether the NICs answer rendezvous without a processor: stated, or seen in the trace.
    [[nodiscard]] bool asynchronous_progress() const noexcept { return parameters_.asynchronous_progress; }
    /// Row of Program::layouts of the message's data; kUndefined: contiguous or not stated.
    [[nodiscard]] std::int32_t layout(MessageId id) const noexcept;

    [[nodiscard]] const Program& program() const noexcept { return program_; }
    [[nodiscard]] const Windows& windows() const noexcept { return windows_; }
    [[nodiscard]] const EndpointLoad& load(std::size_t location, bool receiving, std::int32_t window) const noexcept {
        return loads_[load_index(location, receiving, window)];
    }
    /// Whether a message is within the region of interest.
    [[nodiscard]] bool of_interest(MessageId id) const noexcept {
        return interest_.empty() || interest_[index(id.location)].contains(record(id).times.rw0);
    }
    /// Frees the records of messages; the sums stay. From then on no message may be looked up.
    void forget_messages() noexcept;
    [[nodiscard]] bool knows_messages() const noexcept { return !records_.empty(); }
    [[nodiscard]] std::uint64_t messages() const noexcept { return totals_.messages; }
    [[nodiscard]] std::uint64_t clock_violations() const noexcept { return totals_.violations; }
    /// Messages of which some term was read beyond the machine's largest measured size, or largest number of blocks.
    [[nodiscard]] std::uint64_t beyond_sizes() const noexcept { return totals_.beyond_sizes; }
    /// Messages whose stride is larger than the machine's largest measured one.
    [[nodiscard]] std::uint64_t beyond_strides() const noexcept { return totals_.beyond_strides; }

  private:
    [[nodiscard]] MessageRecord& change(MessageId id) noexcept { return records_[index(id.location)][place(id)]; }
    /// Where the record of a message is among those of its receiver.
    [[nodiscard]] std::size_t place(MessageId id) const noexcept {
        return block_.sent.empty() ? id.receive : place_in_block(id);
    }
    [[nodiscard]] std::size_t place_in_block(MessageId id) const noexcept;
    [[nodiscard]] std::size_t load_index(std::size_t location, bool receiving, std::int32_t window) const noexcept {
        const std::size_t row = load_rows_.empty() ? location : load_rows_[location];
        return (row * 2 + (receiving ? 1 : 0)) * static_cast<std::size_t>(windows_.count) +
               static_cast<std::size_t>(window);
    }
    /// One message at an endpoint.
    struct QueuedMessage {
        static constexpr std::uint32_t kOther = kNone, kBusy = kNone - 1;
        std::int64_t time;
        std::int64_t service;
        Location here;        // that acts as the endpoint
        std::uint32_t index;  // of the message's end there: among its sends, or its receives; else a NicUse
    };
    struct Queue;
    void leaving(std::size_t location, Queue& within_node, Queue& between_nodes) const;
    void arriving(std::size_t location, Queue& within_node, Queue& between_nodes) const;
    void enqueue(std::size_t location, bool receiving, Queue& within_node, Queue& between_nodes) const;
    /// The layout of a send's data in memory; contiguous where the trace does not state it.
    [[nodiscard]] Blocks blocks(const Timeline& sender, std::uint32_t send) const noexcept;
    /// Whether the call that completes a message has also started or completes data with gaps to its sender.
    [[nodiscard]] bool is_exchanged(MessageId id) const noexcept;
    [[nodiscard]] const Rendezvous* rendezvous_of(MessageId id) const noexcept;
    [[nodiscard]] Rendezvous* rendezvous_of(MessageId id) noexcept {
        return const_cast<Rendezvous*>(std::as_const(*this).rendezvous_of(id));
    }
    /// How long the message's send call works for others that it starts before it.
    [[nodiscard]] std::int64_t begun(MessageId id) const noexcept;
    /// The first time from `time` on, before `limit`, at which a location is inside a call that makes progress. `near`
    /// is a call at about that time.
    [[nodiscard]] std::int64_t attends(std::size_t location, std::int64_t time, std::int64_t limit,
                                       std::uint32_t near) const noexcept;
    [[nodiscard]] std::int64_t answered(MessageId id, std::int64_t clear) const noexcept;
    [[nodiscard]] bool progresses(std::size_t location, std::size_t call) const noexcept;
    /// How many messages the sender began back to back with this one; 1 where the machine does not ask.
    [[nodiscard]] std::uint32_t burst(Location sender, std::uint32_t send) const noexcept {
        return bursts_.empty() ? 1 : bursts_[index(sender)][send];
    }
    /// Links between two locations; kUndefined where they are not known or the machine does not ask.
    [[nodiscard]] std::int32_t hops(Location from, Location to) const noexcept {
        return parameters_.mean_hops.has_value() ? program_.placement.hops(from, to) : kUndefined;
    }
    void reserve();
    void count_bursts();
    /// What the messages to one location are like.
    struct Counts {
        Totals totals;
        Attendance attendance;
        bool sizes_differ = false;
    };
    Counts build_records(std::size_t location);
    void plan_departures(std::size_t location);
    void build_records();
    void judge_attendance(MessageId id, const MessageStages& planned, std::int64_t request, std::int64_t ready,
                          Attendance& counts) const noexcept;
    void share_links();
    void settle_handshakes();
    void forget_queues();
    void replay_queues();
    void replay_endpoint(std::span<const std::size_t> locations, Queue& queue, bool receiving);
    void replay_endpoints(bool receiving);
    struct Job;
    void collect_late_replies();
    bool replay_processor(std::size_t location);
    bool replay_processors();

    const Program& program_;
    Parameters parameters_;
    Windows windows_;
    std::vector<Span> interest_;
    unsigned threads_;
    SplitBlock block_;
    std::vector<std::uint32_t> load_rows_;              // by location; empty: all have one, in their order
    std::unique_ptr<Arena> memory_;                     // of records_, processor_ and departures_
    std::unique_ptr<Arena> found_memory_;               // of what each round of build_records finds
    std::vector<std::span<MessageRecord>> records_;     // [receiving location][receive]
    std::vector<std::span<ProcessorWaits>> processor_;  // likewise
    std::vector<std::span<Rendezvous>> rendezvous_;     // [receiving location], by receive
    std::vector<std::span<MessageStages>> stages_;      // [receiving location]: the distinct ones
    std::vector<std::vector<LateReply>> late_replies_;  // [sending location]; once collected, [receiving location]
    std::vector<std::vector<std::uint32_t>> bursts_;    // [sending location][send]; empty: not needed
    std::vector<EndpointLoad> loads_;
    // Until the queues are replayed:
    NicUses nic_uses_;
    std::vector<std::span<Departure>> departures_;            // [sending location][send], where processor_ will be
    std::vector<std::span<MessageStages>> departure_stages_;  // [sending location]: the distinct ones
    NetworkContention network_;
    Attendance attendance_;
    Totals totals_;
    bool sizes_differ_ = false;  // a receive's record states another size than its send's
};

}  // namespace logpost::replay
