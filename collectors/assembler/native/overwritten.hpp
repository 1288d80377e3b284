// Which messages and operations of the archive have lost their other half to a ring, or have none because recording
// was off there.
//
// A channel's messages are numbered by both sides: those that a ring has overwritten, or that were skipped, are counted
// there, so the first one that is left has the next number. A send whose number the receiver has not is left out, and
// the other way round; an operation is left out where one of its members has no record of it. (Receives are numbered as
// they complete: of two that wait at once on one channel and complete in the other order than posted, around the cut,
// the wrong one may go.)
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model.hpp"

namespace logpost::assembler {

// What the rings of a job have overwritten and what was skipped, under the archive's numbers.
class Overwritten {
  public:
    // The numbers behind `before`, up to `last`.
    struct Range {
        std::uint64_t before;
        std::uint64_t last;
    };
    using Ranges = std::vector<Range>;  // in their order, apart from each other

    explicit Overwritten(const Job& job);

    bool any() const { return any_; }
    Ranges messages(const Process& process, lp_channel_kind what, std::uint32_t comm, std::int32_t peer,
                    std::int32_t tag) const;
    // Operations of which some member of a communicator, or of a window's, has no record.
    Ranges operations(const Process& process, lp_channel_kind what, std::uint32_t ref, std::int32_t persistent) const;

  private:
    using Key = std::tuple<std::uint64_t, std::uint64_t>;
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return (std::get<0>(key) ^ (std::get<1>(key) * 0x9E3779B97F4A7C15ULL)) * 0xC2B2AE3D27D4EB4FULL >> 8U;
        }
    };
    static Key key_of(lp_channel_kind what, std::uint32_t ref, std::int32_t peer, std::int32_t tag);
    Ranges* ranges_of(const Process& process, const lp_channel& channel);
    void add(const Process& process, const lp_channel& channel, std::uint64_t before);
    // The numbers of what was overwritten are the first of those that were not skipped.
    void add_first(const Process& process, const lp_channel& channel);

    const Job& job_;
    bool any_ = false;
    std::unordered_map<const Process*, std::unordered_map<Key, Ranges, Hash>> ranges_;
};

// Sums over the processes whose rings have overwritten something.
struct Lost {
    std::uint64_t ranks = 0;
    std::uint64_t calls = 0;
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    std::uint64_t operations = 0;
    std::uint64_t transfers = 0;
    std::uint64_t longest_ns = 0;  // the longest time that one of them has overwritten
    std::uint64_t inexact = 0;     // processes whose messages could not all be followed
    std::uint64_t whole_from = 0;  // global ticks from which no process has overwritten a call
};
Lost lost_of(const Job& job);

// The halves that one process wrote, in their order.
class Halves {
  public:
    Halves(const Job& job, const Process& process, const Overwritten& overwritten)
        : job_(job), process_(process), overwritten_(overwritten) {}

    // Whether the next message or operation has its other half; all refer to the archive's communicators and windows.
    // Starts of a persistent operation are numbered for themselves.
    bool sent(std::uint32_t comm, std::int32_t peer, std::int32_t tag);
    bool received(std::uint32_t comm, std::int32_t peer, std::int32_t tag);
    bool operated(std::uint32_t comm, std::uint32_t persistent = 0) {
        return operated(LP_OPERATED, comm, static_cast<std::int32_t>(persistent));
    }
    bool operated_on_window(std::uint32_t window) { return operated(LP_OPERATED_ON_WINDOW, window, 0); }

    // What was left out.
    std::uint64_t messages() const { return messages_; }
    std::uint64_t operations() const { return operations_; }

  private:
    struct Channel {
        std::uint64_t number = 0;   // of the last message
        Overwritten::Ranges own;    // without a record here,
        Overwritten::Ranges other;  // and at the peer
        std::size_t next_own = 0, next_other = 0;
        // Whether the other side has the next one, too.
        bool next();
    };
    struct Place {
        std::int32_t rank = -1;  // the process's own, as peers name it
        const std::vector<std::uint32_t>* peers = nullptr;
    };

    bool operated(lp_channel_kind what, std::uint32_t ref, std::int32_t persistent);
    bool has_half(lp_channel_kind own, lp_channel_kind other, std::uint32_t comm, std::int32_t peer, std::int32_t tag);
    const Place& place_in(std::uint32_t comm);

    const Job& job_;
    const Process& process_;
    const Overwritten& overwritten_;
    std::map<std::tuple<lp_channel_kind, std::uint32_t, std::int32_t, std::int32_t>, Channel> channels_;
    std::unordered_map<std::uint32_t, Place> places_;
    std::uint64_t messages_ = 0;
    std::uint64_t operations_ = 0;
};

}  // namespace logpost::assembler
