#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// What a communication call started or completed.
struct CallOperation {
    enum class Kind : std::uint8_t {
        receive_complete,
        send_start,
        send_complete,
        send_whole,
        collective,
        transfer_start,
        transfer_complete,
        transfer_remote,  // completed at its target, after it was at its origin
        epoch,            // begins or ends
    };
    Kind kind;
    std::uint32_t index;  // in the location's receives, sends, collectives, transfers or epochs

    /// Whether it is a message's.
    [[nodiscard]] bool of_message() const noexcept { return kind <= Kind::send_whole; }
};

/// The operations of one location, by call (compressed rows). A blocking send is one operation, `send_whole`.
class CallOperations {
  public:
    explicit CallOperations(const Timeline& timeline);

    [[nodiscard]] std::span<const CallOperation> of(std::uint32_t call) const noexcept {
        return {operations_.data() + first_[call], first_[call + 1] - first_[call]};
    }

  private:
    std::vector<std::uint32_t> first_;  // calls + 1
    std::vector<CallOperation> operations_;
};

}  // namespace logpost::replay
