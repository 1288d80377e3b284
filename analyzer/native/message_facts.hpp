#pragma once

/// What the trace itself says of a matched message: when its calls were, and how far apart its ends are.

#include <cstdint>
#include <vector>

#include "replay/native/parameters.hpp"
#include "replay/native/partition.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

/// A message, named by its receiving end.
struct MessageId {
    std::int32_t location;  // of the receiver
    std::uint32_t receive;  // index in its `receives`
};

/// Where each location is, without the names: a message's locality is asked for millions of times.
class Places {
  public:
    explicit Places(const Trace& trace);
    [[nodiscard]] replay::Locality between(std::int32_t a, std::int32_t b) const noexcept {
        const auto& one = places_[static_cast<std::size_t>(a)];
        const auto& other = places_[static_cast<std::size_t>(b)];
        if (a == b || (one.group == other.group && one.group != kUndefined)) {
            return replay::Locality::self;
        }
        return one.node == other.node ? replay::Locality::same_node : replay::Locality::other_node;
    }

  private:
    struct Place {
        std::int32_t group;
        std::int32_t node;
    };
    std::vector<Place> places_;
};

/// The measured times of a matched message.
replay::MessageTimes measured_times(const Trace& trace, MessageId id) noexcept;

/// The call that completed a send; the send call itself where that was blocking or never completed.
struct SendCompletion {
    std::int64_t enter;
    std::int64_t leave;
};
SendCompletion completion_of_send(const Trace& trace, MessageId id) noexcept;

/// Whether a send's call decides its protocol: Ssend always waits for the match, Bsend never does, and a send that was
/// complete before its receive was posted cannot have waited for it. Else `by_size`.
bool is_rendezvous(const Trace& trace, MessageId id, bool by_size) noexcept;

/// The first time at or after `time` at which a location is inside a communication call; INT64_MAX: never again.
std::int64_t first_in_mpi(const LocationTrace& location, std::int64_t time) noexcept;

}  // namespace logpost::analyzer
