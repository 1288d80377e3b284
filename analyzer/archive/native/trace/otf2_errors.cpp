#include "analyzer/archive/native/trace/otf2_errors.hpp"

#include <otf2/otf2.h>

#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace logpost::analyzer {
namespace {

std::mutex mutex;
int users = 0;
OTF2_ErrorCallback previous = nullptr;

// The first message is the cause, the later ones are its way up the stack.
thread_local std::string first_message;

OTF2_ErrorCode keep(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                    va_list arguments) {
    if (first_message.empty()) {
        char text[256] = "";
        if (format != nullptr) {
            std::vsnprintf(text, sizeof text, format, arguments);
        }
        const char* description = OTF2_Error_GetDescription(code);
        try {
            first_message = description == nullptr ? "" : description;
            if (text[0] != '\0') {
                first_message += first_message.empty() ? text : std::string(": ") + text;
            }
            for (char& c : first_message) {
                c = c == '\n' ? ' ' : c;
            }
        } catch (...) {
            first_message.clear();
        }
    }
    return code;
}

}  // namespace

Otf2Errors::Otf2Errors() {
    const std::lock_guard lock(mutex);
    if (users++ == 0) {
        previous = OTF2_Error_RegisterCallback(keep, nullptr);
    }
}

Otf2Errors::~Otf2Errors() {
    const std::lock_guard lock(mutex);
    if (--users == 0) {
        OTF2_Error_RegisterCallback(previous, nullptr);
    }
}

std::string take_otf2_errors() {
    std::string out = first_message.empty() ? "libotf2 gives no reason" : "libotf2: " + first_message;
    first_message.clear();
    return out;
}

}  // namespace logpost::analyzer
