#pragma once

/// One-sided communication in the what-if graph.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "replay/native/graph/calibrated.hpp"
#include "replay/native/graph/draft.hpp"
#include "replay/native/split/transfer_model.hpp"
#include "replay/native/waits/collective_waits.hpp"

namespace logpost::replay {

/// What the calls of a graph under construction have started, by location.
struct Started {
    std::vector<std::vector<std::uint32_t>>& bases;  ///< node by [location][call]: what its completions follow
    std::vector<MessageQueue>& sending;              ///< at the NICs
    std::vector<MessageQueue>& receiving;
    std::vector<MessageQueue>& answering;  ///< at the processors of targets
    Exchanged& exchanged;                  ///< edges that are there only as the program ran
};

/// Transfers are sent to their targets and back, as the split has them (docs/split.md, section 13), and what permits
/// them is followed: exposures, locks, changes of memory.
///
/// Clocks may disagree, and they were not checked by transfers. So what one location waits for at another follows an
/// order of the recorded events that messages, collective operations and completed accesses have given: where that says
/// otherwise, the wait is left as measured. An edge that agrees with an order closes no cycle, however many there are.
class OneSided {
  public:
    /// Enters and leaves of all calls are in the draft. `asynchronous`: targets serve transfers without their
    /// processors on the machine that is planned. What is given must outlive this.
    OneSided(Draft& draft, const Program& program, const Events& events, bool asynchronous, Started started);

    /// Whether a program has any.
    [[nodiscard]] static bool in(const Program& program);
    /// The enters of all calls, but of the fences and barriers that complete transfers a node where they have: there
    /// they begin to wait for each other.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> gates();
    /// What the calls spend on starting transfers.
    void start();
    /// Edges for an order: an exposure is over behind the completions of its accesses, whatever the clocks say, and of
    /// a lock's release and grant at one instant, the release is first.
    void order_completions();
    /// The transfers' edges, and which of them waits for which. `order`: of the nodes that are there by now.
    void follow(const NodeOrder& order);

  private:
    /// A node, and the last of the recorded events that it waits for.
    struct Instant {
        std::uint32_t node = kNone;
        std::uint32_t event = kNone;
    };
    /// Where a member of an operation begins to wait for the others.
    struct Gate {
        std::uint32_t node = kNone;
        std::uint32_t instance = kNone;
    };

    template <class Body>
    void for_each_location(Body&& body) const;
    [[nodiscard]] bool takes_part(Location location) const noexcept;
    [[nodiscard]] std::uint32_t notices(Location from, Location to, std::uint16_t count);
    [[nodiscard]] bool before(std::uint32_t event, std::uint32_t other) const noexcept;
    bool wait(const Instant& instant, std::uint32_t target, std::uint32_t model);
    void find_closings();

    void permit(std::size_t l);
    void ask_for_lock(std::size_t l, const Epoch& epoch, const Permission& permission);
    [[nodiscard]] std::uint32_t notice(std::uint32_t source, const Epoch& epoch, Location by, Location here);

    void start(std::size_t l);
    void transfer(std::size_t l, std::uint32_t i);
    void fetch(std::size_t l, std::uint32_t i, const Instant& injected);
    void put(std::size_t l, std::uint32_t i, const Instant& injected);
    [[nodiscard]] Instant permitted(std::size_t l, std::uint32_t i);
    [[nodiscard]] std::uint32_t class_of(const Transfer& one, std::size_t l);
    [[nodiscard]] Instant attend(std::size_t l, std::uint32_t i, const Instant& there, std::uint32_t model,
                                 bool remotely);
    [[nodiscard]] std::uint8_t control() const noexcept;
    bool complete(std::size_t l, std::uint32_t call, const Instant& instant, std::uint32_t model);
    [[nodiscard]] std::uint32_t gate(std::size_t l, std::uint32_t call, const Instant& instant) const;
    void change_memory(std::size_t l, std::uint32_t i, const Instant& there, std::uint32_t model);
    void follow_changes(std::size_t l);

    Draft& draft_;
    const Program& program_;
    const Events& events_;
    Started started_;
    CollectiveWaits waits_;
    TransferModel model_;
    bool attended_;      // targets attended to transfers with their processors
    bool asynchronous_;  // and do not where the program would run
    const NodeOrder* order_ = nullptr;
    std::vector<std::vector<std::uint32_t>> injected_;            // node by [location][transfer]
    std::vector<std::vector<Instant>> granted_;                   // by [location][epoch]
    std::vector<std::vector<Instant>> there_;                     // by [location][transfer]: of puts
    std::unordered_map<std::uint64_t, std::uint32_t> closings_;   // completing call, by operation and location
    std::unordered_map<std::uint64_t, Gate> gates_;               // by completing call and location
    std::unordered_map<std::uint32_t, std::uint32_t> first_out_;  // by operation: the first leave
};

}  // namespace logpost::replay
