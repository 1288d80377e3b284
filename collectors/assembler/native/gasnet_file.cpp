#include "gasnet_file.hpp"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace logpost::assembler::gasnet {
namespace {

constexpr std::size_t longest_about = 4096;  // lines about a process that are looked at

template <typename T>
bool take(std::string_view& text, T& value, int base = 10) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{}) {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool skip(std::string_view& text, std::string_view literal) {
    if (!text.starts_with(literal)) {
        return false;
    }
    text.remove_prefix(literal.size());
    return true;
}

// A decimal number times 10^digits, what lies below cut off.
bool take_decimal(std::string_view& text, std::uint64_t& value, int digits) {
    while (skip(text, " ")) {
    }
    if (!take(text, value)) {
        return false;
    }
    const bool point = skip(text, ".");
    for (int i = 0; i < digits; ++i) {
        const bool digit = point && !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
        value = value * 10 + (digit ? static_cast<std::uint64_t>(text.front() - '0') : 0);
        text.remove_prefix(digit ? 1 : 0);
    }
    while (point && !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
        text.remove_prefix(1);
    }
    return true;
}

// "[file:line] "; file names may hold any character but the bracket that ends it.
void take_place(std::string_view& text, Line& line) {
    if (!text.starts_with('[')) {
        return;
    }
    const auto end = text.find("] (");
    if (end == std::string_view::npos) {
        return;
    }
    const auto place = text.substr(1, end - 1);
    const auto colon = place.rfind(':');
    if (colon != std::string_view::npos) {
        auto digits = place.substr(colon + 1);
        if (take(digits, line.line) && digits.empty()) {
            line.file = place.substr(0, colon);
        }
    }
    text.remove_prefix(end + 2);
}

std::string_view behind(std::string_view text, std::string_view key) {
    const auto at = text.find(key);
    return at == std::string_view::npos ? std::string_view{} : text.substr(at + key.size());
}

std::string value_of(std::string_view line, std::string_view key) {
    return std::string(behind(line, key));
}

}  // namespace

std::optional<Line> parse(std::string_view text) {
    Line line;
    if (!take(text, line.process)) {
        return std::nullopt;
    }
    if (skip(text, "(") && (!take(text, line.thread, 16) || !skip(text, ")"))) {
        return std::nullopt;
    }
    if (!skip(text, " ") || !take_decimal(text, line.us, 6) || !skip(text, "s> ")) {
        return std::nullopt;
    }
    take_place(text, line);
    if (text.size() < 4 || text[0] != '(' || text[2] != ')' || text[3] != ' ') {
        return std::nullopt;
    }
    line.category = text[1];
    text.remove_prefix(4);
    auto end = text.find_first_of(":( ");
    constexpr std::string_view two_words = "Non-blocking Barrier";
    end = text.starts_with(two_words) ? two_words.size() : end == std::string_view::npos ? text.size() : end;
    line.name = text.substr(0, end);
    line.rest = text.substr(end);
    return line;
}

std::optional<std::uint64_t> number(std::string_view text, std::string_view key) {
    auto from = behind(text, key);
    while (skip(from, " ")) {
    }
    std::uint64_t value = 0;
    return take(from, value) ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> nanoseconds(std::string_view text, std::string_view key) {
    auto from = behind(text, key);
    std::uint64_t value = 0;
    return take_decimal(from, value, 3) ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> endpoint(std::string_view text, std::string_view key) {
    auto from = behind(text, key);
    std::uint32_t rank = 0;
    if (!skip(from, "TM0:") && !skip(from, "JOB:") && (from.empty() || from.front() == 'T')) {
        return std::nullopt;
    }
    return take(from, rank) ? std::optional(rank) : std::nullopt;
}

// The analyzer does not see that the pointer's deleter closes the file.
// NOLINTNEXTLINE(clang-analyzer-unix.Stream)
File::File(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "rb")) {
    if (!file_) {
        throw std::runtime_error(path_ + " cannot be read: " + std::strerror(errno));
    }
}

void File::Free::operator()(char* text) const {
    std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): it is getline's
}

std::optional<std::string_view> File::next() {
    if (again_) {
        current_ = std::move(*again_);
        again_.reset();
        return current_;
    }
    char* text = buffer_.release();
    const ssize_t length = ::getline(&text, &capacity_, file_.get());
    buffer_.reset(text);
    if (length < 0) {
        if (std::ferror(file_.get()) != 0) {
            throw std::runtime_error(path_ + " cannot be read: " + std::strerror(errno));
        }
        return std::nullopt;
    }
    std::string_view line(text, static_cast<std::size_t>(length));
    if (!line.ends_with('\n')) {
        cut_ = true;
        return std::nullopt;
    }
    line.remove_suffix(1);
    return line;
}

Header File::header() {
    Header header;
    for (std::size_t lines = 0; lines < longest_about; ++lines) {
        const auto text = next();
        if (!text) {
            break;
        }
        if (parse(*text)) {
            again_ = std::string(*text);
            break;
        }
        auto rest = *text;
        std::uint32_t process = 0;
        if (!take(rest, process) || !skip(rest, "> ")) {
            continue;
        }
        if (skip(rest, "Program ")) {
            const auto pid = rest.find(" (pid=");
            const auto host = rest.find(" starting on ");
            const auto at = rest.rfind(" at: ");
            if (pid != std::string_view::npos && host != std::string_view::npos && at != std::string_view::npos) {
                header.rank = process;
                header.program = rest.substr(0, pid);
                header.host = rest.substr(host + 13, at - host - 13);
                header.started = rest.substr(at + 5);
            }
        } else if (rest.starts_with("Command-line: ")) {
            header.command = value_of(rest, "Command-line: ");
        } else if (rest.starts_with("GASNET_CONFIG_STRING: ")) {
            header.config = value_of(rest, "GASNET_CONFIG_STRING: ");
        } else if (rest.starts_with("GASNET_TRACEMASK: ")) {
            header.mask = value_of(rest, "GASNET_TRACEMASK: ");
        } else if (rest.starts_with("gex_System_QueryJobSize(): ") || rest.starts_with("gasnet_nodes(): ")) {
            header.size = static_cast<std::uint32_t>(number(rest, "(): ").value_or(0));
        }
    }
    return header;
}

}  // namespace logpost::assembler::gasnet
