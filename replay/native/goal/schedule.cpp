#include "replay/native/goal/schedule.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace logpost::replay {
namespace {

/// Words apart by blanks; braces and the colon behind a label are words, too.
class GoalReader {
  public:
    explicit GoalReader(const std::filesystem::path& file) : text_(file), name_(file.string()) {
        if (!text_) {
            throw GoalError(name_ + ": the file cannot be read");
        }
    }

    GoalSchedule read() {
        while (next_line()) {
            if (words_.front() == "num_ranks" && words_.size() == 2 && schedule_.ranks.empty()) {
                const auto ranks = number<std::uint32_t>(words_[1]);
                if (ranks == 0 || ranks > kMostRanks) {
                    refuse("num_ranks must be 1 to " + std::to_string(kMostRanks));
                }
                schedule_.ranks.resize(ranks);
            } else if (words_.front() == "rank") {
                open();
            } else if (rank_ == nullptr) {
                refuse("a statement outside of all ranks");
            } else if (words_.front() == "}") {
                close();
            } else if (words_.size() == 3 && (words_[1] == "requires" || words_[1] == "irequires")) {
                const auto later = known(words_[0]);
                auto& edges = words_[1] == "requires" ? rank_->on_end : rank_->on_start;
                edges.push_back({known(words_[2]), later});
                ++rank_->operations[later].waits;
            } else {
                operation();
            }
        }
        if (rank_ != nullptr) {
            refuse("the last rank has no closing brace");
        }
        if (schedule_.ranks.empty()) {
            throw GoalError(name_ + ": no schedule: num_ranks is missing");
        }
        return std::move(schedule_);
    }

  private:
    static constexpr std::uint32_t kMostRanks = 1U << 24U;

    [[noreturn]] void refuse(const std::string& why) const {
        throw GoalError(name_ + ", line " + std::to_string(line_number_) + ": " + why + ": " + line_.substr(0, 60));
    }

    bool next_line() {
        while (std::getline(text_, line_)) {
            ++line_number_;
            bare_.clear();
            for (std::size_t i = 0; i < line_.size(); ++i) {
                const auto two = std::string_view(line_).substr(i, 2);
                if (in_comment_) {
                    if (two == "*/") {
                        in_comment_ = false;
                        ++i;
                    }
                } else if (two == "//") {
                    break;
                } else if (two == "/*") {
                    in_comment_ = true;
                    ++i;
                } else if (line_[i] == '{' || line_[i] == '}' || line_[i] == ':') {
                    bare_ += {' ', line_[i], ' '};
                } else {
                    bare_ += line_[i];
                }
            }
            words_.clear();
            for (std::size_t at = 0; (at = bare_.find_first_not_of(" \t\r", at)) != std::string::npos;) {
                const auto end = std::min(bare_.find_first_of(" \t\r", at), bare_.size());
                words_.push_back(std::string_view(bare_).substr(at, end - at));
                at = end;
            }
            if (!words_.empty()) {
                return true;
            }
        }
        return false;
    }

    template <class T>
    T number(std::string_view text) const {
        T value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size()) {
            refuse("'" + std::string(text) + "' is no number, or too large");
        }
        return value;
    }

    void open() {
        if (words_.size() != 3 || words_[2] != "{" || rank_ != nullptr) {
            refuse("expected 'rank NUMBER {' outside of other ranks");
        }
        const auto rank = number<std::uint32_t>(words_[1]);
        if (rank >= schedule_.ranks.size() || !schedule_.ranks[rank].operations.empty()) {
            refuse("the rank is not below num_ranks, or there twice");
        }
        rank_ = &schedule_.ranks[rank];
        labels_.clear();
    }

    void close() {
        for (auto* edges : {&rank_->on_start, &rank_->on_end}) {
            std::ranges::stable_sort(*edges, {}, &GoalEdge::from);
        }
        rank_ = nullptr;
    }

    [[nodiscard]] std::uint32_t known(std::string_view label) {
        key_ = label;
        const auto at = labels_.find(key_);
        if (at == labels_.end()) {
            refuse("no operation of this rank has the label '" + key_ + "'");
        }
        return at->second;
    }

    void operation() {
        std::size_t at = 0;
        const auto number_of = static_cast<std::uint32_t>(rank_->operations.size());
        if (words_.size() > 1 && words_[1] == ":") {
            if (!labels_.try_emplace(std::string(words_[0]), number_of).second) {
                refuse("the label is there twice");
            }
            at = 2;
        }
        const auto word = [&] { return at < words_.size() ? words_[at++] : std::string_view(); };
        GoalOperation made;
        const auto kind = word();
        if (kind == "calc") {
            made.value = number<std::uint64_t>(word());
        } else if (kind == "send" || kind == "recv") {
            made.kind = kind == "send" ? GoalOperation::Kind::send : GoalOperation::Kind::receive;
            auto bytes = word();
            if (bytes.empty() || bytes.back() != 'b') {
                refuse("a message's size ends in b");
            }
            bytes.remove_suffix(1);
            made.value = number<std::uint64_t>(bytes);
            if (word() != (kind == "send" ? "to" : "from")) {
                refuse("expected 'send BYTESb to RANK' or 'recv BYTESb from RANK'");
            }
            made.peer = number<std::uint32_t>(word());
            if (made.peer >= schedule_.ranks.size()) {
                refuse("the other rank is not below num_ranks");
            }
        } else {
            refuse("neither calc, send, recv, requires nor irequires");
        }
        while (at < words_.size()) {
            const auto name = word();
            const auto value = word();
            if (name == "tag") {
                made.tag = number<std::uint32_t>(value);
            } else if (name == "cpu") {
                made.cpu = number<std::uint8_t>(value);
            } else if (name == "nic") {
                made.nic = number<std::uint8_t>(value);
            } else {
                refuse("'" + std::string(name) + "' is neither tag, cpu nor nic");
            }
        }
        schedule_.cpus = std::max(schedule_.cpus, made.cpu + 1U);
        schedule_.nics = std::max(schedule_.nics, made.nic + 1U);
        rank_->operations.push_back(made);
    }

    std::ifstream text_;
    std::string name_, line_, bare_, key_;
    std::size_t line_number_ = 0;
    bool in_comment_ = false;
    std::vector<std::string_view> words_;
    GoalSchedule schedule_;
    GoalRank* rank_ = nullptr;
    std::unordered_map<std::string, std::uint32_t> labels_;
};

}  // namespace

GoalSchedule read_goal(const std::filesystem::path& file) {
    return GoalReader(file).read();
}

}  // namespace logpost::replay
