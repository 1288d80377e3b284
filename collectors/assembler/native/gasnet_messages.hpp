// Active messages among the lines of a thread: what was sent to which rank, what a handler received from which rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "gasnet_file.hpp"

namespace logpost::assembler::gasnet {

struct ActiveMessage {
    enum class What : std::uint8_t { sent, received, handled /* the handler is over */ };
    What what = What::sent;
    bool reply = false;
    std::optional<std::uint32_t> peer;  // rank in the job; nothing: of a team whose members no line states
    std::uint32_t handler = 0;
    std::uint64_t bytes = 0;  // payload; of short messages 0
    std::string_view arguments;
};

// A message that is prepared and then committed has its destination in the first line, its size in the second.
class Messages {
  public:
    // What a line of category A says; nothing: no more than details, or nothing that is known (see `known`).
    std::optional<ActiveMessage> of(const Line& line, bool& known);

  private:
    std::optional<std::uint32_t> prepared_;
};

}  // namespace logpost::assembler::gasnet
