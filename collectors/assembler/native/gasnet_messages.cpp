#include "gasnet_messages.hpp"

namespace logpost::assembler::gasnet {

std::optional<ActiveMessage> Messages::of(const Line& line, bool& known) {
    known = true;
    ActiveMessage message;
    message.reply = line.name.find("REPLY") != std::string_view::npos;
    if (const auto at = line.rest.find("args:"); at != std::string_view::npos) {
        message.arguments = line.rest.substr(at + 5);
    }
    message.bytes = number(line.rest, "nbytes=").value_or(0);
    const auto handler = number(line.rest, "handler=");
    message.handler = static_cast<std::uint32_t>(handler.value_or(0));
    if (line.name.starts_with("PREP_")) {
        if (line.rest.find("dest=") != std::string_view::npos) {
            prepared_ = endpoint(line.rest, "dest=");
        }
        return std::nullopt;
    }
    if (line.name.starts_with("COMMIT_") && handler) {
        message.peer = prepared_;
        return message;
    }
    if (!line.name.starts_with("AMREQUEST_") && !line.name.starts_with("AMREPLY_")) {
        known = false;
        return std::nullopt;
    }
    if (line.name.ends_with("_HANDLER")) {
        if (line.rest.find("handler execution complete") != std::string_view::npos) {
            message.what = ActiveMessage::What::handled;
            return message;
        }
        if (!handler || line.rest.find("src=") == std::string_view::npos) {
            known = line.rest.starts_with(": handler:");
            return std::nullopt;
        }
        message.what = ActiveMessage::What::received;
        message.peer = endpoint(line.rest, "src=");
        return message;
    }
    if (!handler || line.rest.find("dest=") == std::string_view::npos) {
        known = false;
        return std::nullopt;
    }
    message.peer = endpoint(line.rest, "dest=");
    return message;
}

}  // namespace logpost::assembler::gasnet
